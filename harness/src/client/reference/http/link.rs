//! One HTTP/1.1 connection. It has no task of its own: whoever waits for something on it drives it, so
//! dropping it closes it there and then, and nothing happens on it behind the caller's back.

use super::{Broken, Dial, Phase, dial::Wire};

use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    client::conn::http1::{Connection, SendRequest, handshake},
};
use hyper_util::rt::TokioIo;
use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
};

/// An open connection.
pub(super) struct Link<S: Wire> {
    sender: SendRequest<Full<Bytes>>,
    driver: Driver<S>,
}

impl<S: Wire> Link<S> {
    pub(super) async fn open<D: Dial<Socket = S>>(
        dial: &D,
        authority: &str,
    ) -> Result<Self, Broken> {
        let socket = dial
            .dial(authority)
            .await
            .map_err(|error| Broken::io(Phase::Connecting, &error))?;
        let (sender, connection) = handshake(TokioIo::new(socket))
            .await
            .map_err(|error| Broken::hyper(Phase::Connecting, &error))?;
        Ok(Self {
            sender,
            driver: Driver(Some(Box::pin(connection))),
        })
    }

    /// Whether the connection can take another request. A close by the peer, or bytes that belong to no
    /// answer, have ended it.
    pub(super) async fn is_ready(&mut self) -> bool {
        let Self { sender, driver } = self;
        driver.drive(sender.ready()).await.is_ok() && driver.0.is_some()
    }

    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Broken> {
        let Self { sender, driver } = self;
        let answer = sender.send_request(request);
        driver
            .drive(answer)
            .await
            .map_err(|error| Broken::hyper(Phase::Asking, &error))
    }
}

/// An answer's body and the connection that it comes on.
pub(in crate::client::reference) struct Body<S: Wire> {
    link: Link<S>,
    incoming: Incoming,
    over: bool,
}

impl<S: Wire> Body<S> {
    pub(super) const fn new(link: Link<S>, incoming: Incoming) -> Self {
        Self {
            link,
            incoming,
            over: false,
        }
    }

    /// Whether the body was read to its clean end.
    pub(in crate::client::reference) const fn is_over(&self) -> bool {
        self.over
    }

    /// The next bytes as the framing gives them; `None` at a clean end.
    ///
    /// # Errors
    /// The connection or its framing broke.
    pub(in crate::client::reference) async fn chunk(&mut self) -> Result<Option<Bytes>, Broken> {
        loop {
            let frame = self.link.driver.drive(self.incoming.frame()).await;
            match frame {
                None => {
                    self.over = true;
                    return Ok(None);
                }
                Some(Err(error)) => return Err(Broken::hyper(Phase::Body, &error)),
                Some(Ok(frame)) => {
                    // Trailers are no data.
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }

    pub(super) fn into_link(self) -> Link<S> {
        self.link
    }
}

/// The connection's own future, `None` once it is over.
struct Driver<S: Wire>(Option<Pin<Box<Protocol<S>>>>);

/// HTTP/1.1 over a socket, as a future that moves bytes.
type Protocol<S> = Connection<TokioIo<S>, Full<Bytes>>;

impl<S: Wire> Driver<S> {
    /// Waits for `wanted` and moves the connection meanwhile. The connection goes first, so that what has
    /// arrived already counts: a peer's close before a request, an error before a silence.
    async fn drive<F: Future>(&mut self, wanted: F) -> F::Output {
        let mut wanted = pin!(wanted);
        poll_fn(|context| {
            if let Some(connection) = &mut self.0
                && connection.as_mut().poll(context).is_ready()
            {
                // How it ended is told to whoever waits for an answer or a body.
                self.0 = None;
            }
            wanted.as_mut().poll(context)
        })
        .await
    }
}
