//! The peer: a plain hyper server. One body frame (and so one HTTP chunk) a line, which is how one writes a stream
//! with hyper; small JSON from a constant.

use bytes::Bytes;
use fake_server::{
    script::model::{Plan, TruthExit},
    wire::frame,
};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::{
    Request, Response,
    body::{Body, Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    net::TcpListener,
    time::{Instant, Sleep, sleep_until},
};

/// Listens. `json` is the body of every answer that is no stream.
pub(crate) async fn start(plan: Arc<Plan>, json: Bytes) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let _ = socket.set_nodelay(true);
            let (plan, json) = (Arc::clone(&plan), json.clone());
            tokio::spawn(async move {
                let service = service_fn(move |request| {
                    let answer = answer(&request, &plan, &json);
                    async move { Ok::<_, Infallible>(answer) }
                });
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(socket), service)
                    .await;
            });
        }
    });
    Ok(address)
}

fn answer(
    request: &Request<Incoming>,
    plan: &Arc<Plan>,
    json: &Bytes,
) -> Response<BoxBody<Bytes, Infallible>> {
    if request.uri().path() == "/connect" {
        let body = Lines {
            plan: Arc::clone(plan),
            next: 0,
            timer: None,
            due: Instant::now(),
        };
        return Response::new(body.boxed());
    }
    Response::new(Full::new(json.clone()).boxed())
}

/// A body frame a line, encoded as it is asked for.
struct Lines {
    plan: Arc<Plan>,
    next: usize,
    timer: Option<Pin<Box<Sleep>>>,
    due: Instant,
}

impl Body for Lines {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        let truth = &this.plan.truth;
        if let Some(written) = truth.frames.get(this.next) {
            if written.pause_ms > 0 {
                if this.timer.is_none() {
                    this.due += Duration::from_millis(written.pause_ms);
                    this.timer = Some(Box::pin(sleep_until(this.due)));
                }
                if let Some(timer) = &mut this.timer
                    && timer.as_mut().poll_unpin_ready(cx).is_pending()
                {
                    return Poll::Pending;
                }
                this.timer = None;
            }
            this.next += 1;
            let line = frame::data_line(written.seq, written.stream, &written.data);
            return Poll::Ready(Some(Ok(Frame::data(line.into()))));
        }
        this.next += 1;
        match &truth.exit {
            TruthExit::Status { code, signal, .. } if this.next == truth.frames.len() + 1 => {
                Poll::Ready(Some(Ok(Frame::data(
                    frame::exit_line(*code, signal.as_deref()).into(),
                ))))
            }
            _ => Poll::Ready(None),
        }
    }
}

/// Polling a pinned sleep by hand.
trait PollReady {
    fn poll_unpin_ready(self, cx: &mut Context<'_>) -> Poll<()>;
}

impl PollReady for Pin<&mut Sleep> {
    fn poll_unpin_ready(self, cx: &mut Context<'_>) -> Poll<()> {
        std::future::Future::poll(self, cx)
    }
}
