//! The service that hyper asks: every request of one connection, from its head to the answer that
//! hyper writes, or to what takes the connection over.
//!
//! Most requests have no body and are answered at once. They are, in the call itself: nothing is put
//! aside for later.

use super::{
    super::{
        heard::Heard,
        later, refusal,
        request::{self, Body},
        trial::{Arrived, Begun},
        writer::Asked,
    },
    Desk, Parked, Taken,
};
use crate::session::{Act, Answer, Decision};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Response, StatusCode,
    body::{Body as _, Incoming},
    header::{CONTENT_TYPE, HeaderName, HeaderValue, InvalidHeaderValue},
};
use std::{
    borrow::Cow,
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};
use tokio::time::sleep_until;

/// The service.
pub(super) struct Calls(Arc<Desk>);

impl Calls {
    pub(super) const fn new(desk: Arc<Desk>) -> Self {
        Self(desk)
    }
}

impl hyper::service::Service<hyper::Request<Incoming>> for Calls {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: hyper::Request<Incoming>) -> Answering {
        begin(&self.0, request)
    }
}

/// An answer in the making. hyper wants it to be `Unpin` to be taken apart.
pub(super) enum Answering {
    /// It is there (none: it was taken).
    AtOnce(Option<Response<Full<Bytes>>>),
    /// It has to be waited for.
    Later(Pin<Box<dyn Future<Output = Response<Full<Bytes>>> + Send>>),
}

impl Future for Answering {
    type Output = Result<Response<Full<Bytes>>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::AtOnce(answer) => answer
                .take()
                .map_or(Poll::Pending, |answer| Poll::Ready(Ok(answer))),
            Self::Later(answer) => answer.as_mut().poll(cx).map(Ok),
        }
    }
}

/// Takes a request's head, and answers at once if that can be.
fn begin(desk: &Arc<Desk>, request: hyper::Request<Incoming>) -> Answering {
    let (parts, incoming) = request.into_parts();
    let asked = request::asked(&parts);
    let heard = desk.hear(&parts);
    let is_hostless = refusal::is_hostless(&parts);
    drop(parts);
    if is_hostless {
        let arrived = Arc::new(desk.trial.arrive(desk.connection, &heard));
        return desk.later(arrived, |desk, arrived| async move {
            desk.trial.broken_body(arrived.exchange, &[]);
            ordinary(&desk, arrived, asked, refusal::hostless()).await
        });
    }
    if !incoming.is_end_stream() {
        let arrived = Arc::new(desk.trial.arrive(desk.connection, &heard));
        return desk.later(arrived, |desk, arrived| {
            read(desk, arrived, asked, incoming)
        });
    }
    let (arrived, begun) = desk.trial.begin(desk.connection, &heard, |answer| {
        frame(answer, asked, false);
        asked.is_head
    });
    let arrived = Arc::new(arrived);
    match begun {
        Begun::Answered { answer, .. } => {
            desk.write(&mut desk.slot(), arrived);
            Answering::AtOnce(Some(response(answer)))
        }
        Begun::Decided(decision) => desk.later(arrived, |desk, arrived| {
            decided(desk, arrived, asked, *decision)
        }),
        Begun::Cut => desk.later(arrived, |desk, arrived| {
            read(desk, arrived, asked, incoming)
        }),
    }
}

impl Desk {
    /// A request's head, which shares with the one before what is the same.
    fn hear(&self, parts: &hyper::http::request::Parts) -> Heard {
        let mut slot = self.slot();
        // What came before on this connection has been written, else hyper would not have read on.
        self.place(&mut slot);
        let heard = Heard::of(parts, self.trial.names(), slot.heard.as_ref());
        slot.heard = Some(heard.clone());
        heard
    }

    fn later<F>(
        self: &Arc<Self>,
        arrived: Arc<Arrived>,
        answer: impl FnOnce(Arc<Self>, Arc<Arrived>) -> F,
    ) -> Answering
    where
        F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
    {
        self.slot().busy = Some(Arc::clone(&arrived));
        Answering::Later(Box::pin(answer(Arc::clone(self), arrived)))
    }
}

/// Reads the body of a request and answers it.
async fn read(
    desk: Arc<Desk>,
    arrived: Arc<Arrived>,
    asked: Asked,
    incoming: Incoming,
) -> Response<Full<Bytes>> {
    let trial = &desk.trial;
    if let Some(cut) = arrived.arrival.cut {
        delay(arrived.arrival.delay_ms).await;
        return park(&desk, arrived, asked, Taken::Cut(cut)).await;
    }
    let body = match request::body(incoming).await {
        Body::Whole(body) => body,
        Body::TooLong(body) => {
            trial.broken_body(arrived.exchange, &body);
            return ordinary(&desk, arrived, asked, refusal::too_long()).await;
        }
        Body::Broken(body) => {
            trial.broken_body(arrived.exchange, &body);
            return ordinary(&desk, arrived, asked, refusal::broken()).await;
        }
    };
    let decision = trial.answer(&arrived, &body);
    drop(body);
    decided(desk, arrived, asked, decision).await
}

/// Does what was decided about a request: answers it, or parks what takes the connection over and
/// never returns.
async fn decided(
    desk: Arc<Desk>,
    arrived: Arc<Arrived>,
    asked: Asked,
    decision: Decision,
) -> Response<Full<Bytes>> {
    delay(decision.delay_ms).await;
    let mut act = decision.act;
    let mut changes = None;
    let taken = loop {
        act = match act {
            Act::Answer(answer) => return ordinary(&desk, arrived, asked, answer).await,
            Act::Raw(answer) => break Taken::Raw(Box::new(answer)),
            Act::Cut(cut) => break Taken::Cut(cut),
            Act::Hold { ms } => break Taken::Hold { ms },
            Act::Wait(waiting) => {
                match &mut changes {
                    // What changed since it was decided is looked at once more.
                    None => changes = Some(desk.trial.changes()),
                    Some(changes) => {
                        tokio::select! {
                            biased;
                            // The sender lives in the trial, which we hold.
                            _ = changes.changed() => {}
                            () = sleep_until(desk.trial.at_ms(waiting.until_ms)) => {}
                        }
                    }
                }
                desk.trial.resume(waiting)
            }
        };
    };
    park(&desk, arrived, asked, taken).await
}

async fn delay(ms: u64) {
    if ms > 0 {
        sleep_until(later(tokio::time::Instant::now(), ms)).await;
    }
}

/// Leaves the rest to the writer. Never returns: the driver takes the connection apart.
async fn park(
    desk: &Desk,
    arrived: Arc<Arrived>,
    asked: Asked,
    act: Taken,
) -> Response<Full<Bytes>> {
    {
        let mut slot = desk.slot();
        slot.busy = None;
        slot.parked = Some(Box::new(Parked {
            arrived,
            asked,
            act,
        }));
    }
    std::future::pending().await
}

/// Hands an ordinary answer to hyper, when nothing stands against its leaving.
async fn ordinary(
    desk: &Desk,
    arrived: Arc<Arrived>,
    asked: Asked,
    mut answer: Answer,
) -> Response<Full<Bytes>> {
    let refusing = desk.trial.ending(&arrived).await;
    frame(&mut answer, asked, refusing);
    desk.trial
        .ordinary(arrived.exchange, &answer, asked.is_head);
    let mut slot = desk.slot();
    slot.busy = None;
    desk.write(&mut slot, arrived);
    response(answer)
}

/// Adds the headers that say how the answer is framed.
fn frame(answer: &mut Answer, asked: Asked, refusing: bool) {
    if !matches!(answer.status, 100..=199 | 204 | 304) {
        let length = answer.body.len().to_string();
        answer
            .headers
            .push(("content-length".into(), length.into()));
    }
    if refusing || !asked.keep_alive {
        answer.headers.push(("connection".into(), "close".into()));
    }
}

/// An answer as hyper takes it. Of the answer to a HEAD hyper needs the body too, for its length.
fn response(answer: Answer) -> Response<Full<Bytes>> {
    let Answer {
        status,
        mut headers,
        body,
        ..
    } = answer;
    // hyper writes it as the last one by itself.
    headers.pop_if(|(name, _)| name == "content-length");
    let mut response = Response::new(Full::new(body));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let map = response.headers_mut();
    map.reserve(headers.len());
    for (name, value) in headers {
        if let (Some(name), Ok(value)) = (header_name(&name), header_value(value)) {
            map.append(name, value);
        }
    }
    response
}

/// A header's name. The names of nearly all headers need no parsing.
fn header_name(name: &str) -> Option<HeaderName> {
    const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
    match name {
        "content-type" => Some(CONTENT_TYPE),
        "x-request-id" => Some(REQUEST_ID),
        name => HeaderName::from_bytes(name.as_bytes()).ok(),
    }
}

/// A header's value, without a copy.
fn header_value(value: Cow<'static, str>) -> Result<HeaderValue, InvalidHeaderValue> {
    HeaderValue::from_maybe_shared(match value {
        Cow::Borrowed(text) => Bytes::from_static(text.as_bytes()),
        Cow::Owned(text) => Bytes::from(text),
    })
}
