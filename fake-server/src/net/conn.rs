//! One connection: hyper reads requests and writes ordinary answers; for everything else the service
//! parks what was decided and stays pending, hyper is taken apart, and our own writer goes on with
//! the socket. Afterwards a new hyper connection reads on, with the bytes that came early in front.
//!
//! The whole body of a request is read before anything is answered, so that its rest is never taken
//! for the next request.

use super::{
    request::{self, Body},
    trial::{Arrived, Trial},
    wire::{Gauge, Wire},
    writer::{self, Asked},
};
use crate::{
    script::model::Cut,
    session::{Act, Answer, RawAnswer},
};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Response, StatusCode,
    body::Incoming,
    header::{CONNECTION, HeaderName, HeaderValue},
    server::conn::http1,
};
use hyper_util::rt::TokioIo;
use std::{
    convert::Infallible,
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{sleep, sleep_until},
};

/// When acknowledgements of an answer are first looked for over TCP, and how far apart looks become.
const FIRST_LOOK: Duration = Duration::from_millis(2);
const LAST_LOOK: Duration = Duration::from_millis(20);

/// Serves a connection to its end.
pub(super) async fn serve(trial: Arc<Trial>, socket: super::Socket) {
    let (connection, cut) = trial.accepted();
    let wire = Wire::new(socket);
    match cut {
        Some(cut) => writer::end_unread(&trial, connection, cut.reset, wire).await,
        None => converse(&trial, connection, wire).await,
    }
    trial.closed(connection);
}

async fn converse(trial: &Arc<Trial>, connection: u32, mut wire: Wire) {
    while let Some((parked, taken)) = listen(trial, connection, wire).await {
        let Parked {
            arrived,
            asked,
            act,
        } = *parked;
        match act {
            Taken::Raw(answer) => {
                let kept = writer::play(trial, connection, &arrived, asked, *answer, taken).await;
                match kept {
                    Some(kept) => wire = kept,
                    None => return,
                }
            }
            Taken::Cut(cut) => {
                writer::cut(trial, connection, &arrived, cut, taken).await;
                return;
            }
            Taken::Hold { ms } => {
                writer::hold(trial, connection, &arrived, ms, taken).await;
                return;
            }
        }
    }
}

/// A decision for which the connection has to be taken over.
struct Parked {
    arrived: Arrived,
    asked: Asked,
    act: Taken,
}

enum Taken {
    Raw(Box<RawAnswer>),
    Cut(Cut),
    Hold { ms: u64 },
}

/// What the service and the connection's driver share.
struct Desk {
    trial: Arc<Trial>,
    connection: u32,
    gauge: Arc<Gauge>,
    slot: Mutex<Slot>,
}

#[derive(Default)]
struct Slot {
    /// Waits for the connection to be taken over.
    parked: Option<Box<Parked>>,
    /// The exchange whose ordinary answer hyper is writing.
    writing: Option<Arc<Arrived>>,
    /// The exchange that the service is busy with.
    busy: Option<Arc<Arrived>>,
}

impl Desk {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer that hyper was writing has left whole, if nothing of it is stuck. Says whether one has.
    fn place(&self) -> bool {
        if self.gauge.blocked() || self.gauge.broken() {
            return false;
        }
        let Some(arrived) = self.slot().writing.take() else {
            return false;
        };
        self.trial.placed(
            arrived.exchange,
            self.gauge.written(),
            self.gauge.last_write(),
        );
        true
    }

    /// What was under way when hyper gave up: the client has gone, or what it sent was no HTTP.
    fn given_up(&self) -> impl Iterator<Item = Arc<Arrived>> + use<> {
        let mut slot = self.slot();
        let parked = slot.parked.take().map(|parked| Arc::new(parked.arrived));
        [slot.writing.take(), slot.busy.take(), parked]
            .into_iter()
            .flatten()
    }
}

/// What comes next on a connection that hyper drives.
enum Turn {
    /// An ordinary answer has left.
    Answered,
    /// The parked decision takes over.
    TakeOver(Box<Parked>),
    /// hyper is done with it.
    Done(hyper::Result<()>),
}

/// Lets hyper read requests and write ordinary answers until the connection is to be taken over.
/// `None`: it is closed.
async fn listen(trial: &Arc<Trial>, connection: u32, wire: Wire) -> Option<(Box<Parked>, Wire)> {
    let desk = Arc::new(Desk {
        trial: Arc::clone(trial),
        connection,
        gauge: Arc::clone(wire.gauge()),
        slot: Mutex::default(),
    });
    let wire = Arc::new(Mutex::new(wire));
    let mut http = http1::Builder::new()
        .header_read_timeout(None)
        .auto_date_header(false)
        .serve_connection(
            TokioIo::new(Lent(Arc::clone(&wire))),
            Calls(Arc::clone(&desk)),
        );
    let mut idle_closes = trial.idle_closes();
    let (mut first_look, mut pause) = (FIRST_LOOK, FIRST_LOOK);
    let turn = loop {
        let outstanding = look_at_acks(trial, connection, &wire);
        let looks = outstanding && lock(&wire).tells_nothing();
        let next = std::future::poll_fn(|cx| {
            let polled = http.poll_without_shutdown(cx);
            let answered = desk.place();
            if let Poll::Ready(result) = polled {
                return Poll::Ready(Turn::Done(result));
            }
            if answered {
                return Poll::Ready(Turn::Answered);
            }
            // A response before, or `100 Continue`, may still be in hyper's buffer.
            if !desk.gauge.blocked()
                && let Some(parked) = desk.slot().parked.take()
            {
                return Poll::Ready(Turn::TakeOver(parked));
            }
            Poll::Pending
        });
        let drained = std::future::poll_fn(|cx| lock(&wire).poll_drained(cx));
        tokio::select! {
            biased;
            turn = next => match turn {
                Turn::Answered => {
                    // A connection that is asked again and again says itself what has arrived.
                    first_look = (first_look + FIRST_LOOK).min(LAST_LOOK);
                    pause = first_look;
                }
                other => break other,
            },
            () = drained, if outstanding && !looks => {}
            () = sleep(pause), if looks => pause = (pause * 2).min(LAST_LOOK),
            // The sender lives in the trial, which we hold.
            _ = idle_closes.changed() => Pin::new(&mut http).graceful_shutdown(),
        }
    };
    let parts = http.into_parts();
    drop((parts.io, parts.service));
    // hyper's handle was the only other one.
    let mut wire = Arc::into_inner(wire)?
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    match turn {
        Turn::TakeOver(parked) => {
            wire.put_back(&parts.read_buf);
            Some((parked, wire))
        }
        Turn::Done(result) => {
            if let Err(error) = result
                && error.is_parse()
            {
                trial.unreadable(connection, &error);
            }
            for exchange in desk.given_up() {
                trial.abandoned(exchange.exchange, connection);
                trial.ending(&exchange).await;
            }
            if wire.left() {
                trial.acked(connection, wire.acked(), wire.gauge().written());
                trial.client_left(connection);
            } else {
                writer::close(trial, connection, &mut wire).await;
            }
            None
        }
        // The loop goes on after those.
        Turn::Answered => None,
    }
}

/// Tells the log what the peer has acknowledged; whether something is outstanding.
fn look_at_acks(trial: &Trial, connection: u32, wire: &Mutex<Wire>) -> bool {
    let (acked, written) = {
        let wire = lock(wire);
        (wire.acked(), wire.gauge().written())
    };
    trial.acked(connection, acked, written);
    acked < written
}

/// The service: every request of one hyper connection.
struct Calls(Arc<Desk>);

impl hyper::service::Service<hyper::Request<Incoming>> for Calls {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    // hyper wants it to be `Unpin` to be taken apart.
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: hyper::Request<Incoming>) -> Self::Future {
        let desk = Arc::clone(&self.0);
        Box::pin(async move { Ok(answer(&desk, request).await) })
    }
}

/// Answers a request, or parks what takes the connection over and never returns.
async fn answer(desk: &Desk, request: hyper::Request<Incoming>) -> Response<Full<Bytes>> {
    let trial = &desk.trial;
    // What came before on this connection has been written, else hyper would not have read on.
    desk.place();
    let (parts, incoming) = request.into_parts();
    let asked = request::asked(&parts);
    let told = request::head(&parts);
    drop(parts);
    let arrived = Arc::new(trial.arrive(desk.connection, told));
    desk.slot().busy = Some(Arc::clone(&arrived));
    if let Some(cut) = arrived.arrival.cut {
        delay(arrived.arrival.delay_ms).await;
        return park(desk, arrived, asked, Taken::Cut(cut)).await;
    }
    let body = match request::body(incoming).await {
        Body::Whole(body) => body,
        Body::TooLong(body) => {
            trial.broken_body(arrived.exchange, body);
            return ordinary(desk, &arrived, asked, too_long()).await;
        }
        Body::Broken(body) => {
            trial.broken_body(arrived.exchange, body);
            return ordinary(desk, &arrived, asked, broken()).await;
        }
    };
    let mut changes = trial.changes();
    let decision = trial.answer(&arrived, body.into());
    delay(decision.delay_ms).await;
    let mut act = decision.act;
    loop {
        let taken = match act {
            Act::Answer(answer) => return ordinary(desk, &arrived, asked, answer).await,
            Act::Wait(waiting) => {
                let until = trial.at_ms(waiting.until_ms);
                tokio::select! {
                    biased;
                    // The sender lives in the trial, which we hold.
                    _ = changes.changed() => {}
                    () = sleep_until(until) => {}
                }
                act = trial.resume(waiting);
                continue;
            }
            Act::Raw(answer) => Taken::Raw(Box::new(answer)),
            Act::Cut(cut) => Taken::Cut(cut),
            Act::Hold { ms } => Taken::Hold { ms },
        };
        return park(desk, arrived, asked, taken).await;
    }
}

async fn delay(ms: u64) {
    if ms > 0 {
        sleep_until(super::later(tokio::time::Instant::now(), ms)).await;
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
        slot.parked = Arc::into_inner(arrived).map(|arrived| {
            Box::new(Parked {
                arrived,
                asked,
                act,
            })
        });
    }
    std::future::pending().await
}

/// Hands an ordinary answer to hyper.
async fn ordinary(
    desk: &Desk,
    arrived: &Arc<Arrived>,
    asked: Asked,
    mut answer: Answer,
) -> Response<Full<Bytes>> {
    let refusing = desk.trial.ending(arrived).await;
    if !matches!(answer.status, 100..=199 | 204 | 304) {
        let length = answer.body.len().to_string();
        answer.headers.push(("content-length".to_owned(), length));
    }
    if refusing || !asked.keep_alive {
        answer
            .headers
            .push(("connection".to_owned(), "close".to_owned()));
    }
    let shown = if asked.is_head {
        Vec::new()
    } else {
        answer.body.clone()
    };
    let body = std::mem::replace(&mut answer.body, shown);
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in &answer.headers {
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_bytes(value.as_bytes()),
        ) {
            response.headers_mut().append(name, value);
        }
    }
    desk.trial.ordinary(arrived.exchange, answer);
    let mut slot = desk.slot();
    slot.busy = None;
    slot.writing = Some(Arc::clone(arrived));
    response
}

fn too_long() -> Answer {
    refusal(413, "Payload Too Large", "the body is larger than 64 MiB")
}

fn broken() -> Answer {
    refusal(400, "Bad Request", "the body broke off or is no valid HTTP")
}

/// An answer to a request that never reached the session.
fn refusal(status: u16, reason: &str, message: &str) -> Answer {
    let body = serde_json::json!({"status": "fail", "data": {"message": message}});
    Answer {
        status,
        reason: reason.to_owned(),
        headers: vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            (CONNECTION.as_str().to_owned(), "close".to_owned()),
        ],
        body: body.to_string().into_bytes(),
    }
}

/// A wire lent to hyper; the driver looks at it meanwhile.
struct Lent(Arc<Mutex<Wire>>);

fn lock(wire: &Mutex<Wire>) -> MutexGuard<'_, Wire> {
    wire.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AsyncRead for Lent {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *lock(&self.0)).poll_read(cx, buf)
    }
}

impl AsyncWrite for Lent {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *lock(&self.0)).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *lock(&self.0)).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *lock(&self.0)).poll_shutdown(cx)
    }
}
