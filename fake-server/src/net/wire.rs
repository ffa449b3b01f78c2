//! The server's end of one connection: a socket, the bytes that came too early, and a gauge. hyper
//! reads and writes through it, and so does our own writer after it has taken the connection over.
//!
//! While the writer owns it, it also reads: the peer's close is an event, and bytes of later requests
//! are kept for the next hyper connection. A FIN counts as leaving: no client of this protocol
//! half-closes, and a stack that has given up on a response looks the same.

use super::{gauge::Gauge, refusal, socket::Socket};
use bytes::BytesMut;
use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, sleep_until},
};

/// Early bytes kept while an answer is written; a peer that sends more is read later.
const EARLY_BYTES: usize = 64 << 10;
/// How long a wait for an acknowledgement over TCP spins before it sleeps between two looks.
const SPIN: Duration = Duration::from_millis(1);
/// What a reader gets between two segments over TCP.
const READ_TIME: Duration = Duration::from_micros(20);
/// Longest sleep between two looks at the send queue. A delayed acknowledgement takes 40 ms.
const LOOK: Duration = Duration::from_millis(20);

/// The peer has closed or reset the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left;

/// How a wait for acknowledgement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Drained {
    /// Everything is acknowledged.
    Yes,
    /// Not within the bound.
    NotYet,
    /// The peer left first.
    Left,
}

/// One connection as the server holds it.
#[derive(Debug)]
pub(super) struct Wire {
    socket: Socket,
    early: BytesMut,
    gauge: Arc<Gauge>,
    /// Our side has ended.
    finished: bool,
    /// hyper holds it: so it speaks for itself when what it reads is no request.
    lent: bool,
    /// What is being said instead, and how much of it has left.
    instead: Option<(Vec<u8>, usize)>,
}

impl Wire {
    pub(super) fn new(socket: Socket) -> Self {
        Self {
            gauge: Arc::new(Gauge::new(socket.queue())),
            socket,
            early: BytesMut::new(),
            finished: false,
            lent: false,
            instead: None,
        }
    }

    pub(super) const fn gauge(&self) -> &Arc<Gauge> {
        &self.gauge
    }

    /// Whether hyper holds it.
    pub(super) const fn lend(&mut self, lent: bool) {
        self.lent = lent;
    }

    /// Writes what is said instead of hyper's words. Ready with as many bytes as those were, when it has left.
    fn poll_instead(&mut self, cx: &mut Context<'_>, words: usize) -> Poll<io::Result<usize>> {
        while let Some((text, gone)) = &mut self.instead {
            let before = self.gauge.moment();
            let result = Pin::new(&mut self.socket).poll_write(cx, &text[*gone..]);
            self.gauge.wrote(before, &result);
            *gone += ready!(result)?;
            if *gone >= text.len() {
                self.instead = None;
            }
        }
        Poll::Ready(Ok(words))
    }

    /// Puts bytes that were read but not used in front of what is read next.
    pub(super) fn put_back(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            let later = std::mem::replace(&mut self.early, BytesMut::from(bytes));
            self.early.extend_from_slice(&later);
        }
    }

    pub(super) fn left(&self) -> bool {
        self.gauge.left()
    }

    /// Whether the peer has left, asked of the kernel: the runtime may not have told us yet.
    pub(super) fn has_just_left(&self) -> bool {
        if self.socket.peer_is_gone() {
            self.gauge.has_left();
        }
        self.left()
    }

    /// Bytes of all that was written that the peer has acknowledged.
    pub(super) fn acked(&self) -> u64 {
        // A socket that can't be asked is dead; then nothing more is known than before.
        let unacked = self.socket.unacked().unwrap_or(usize::MAX);
        self.gauge
            .written()
            .saturating_sub(u64::try_from(unacked).unwrap_or(u64::MAX))
    }

    /// Ready when the peer has left; what it sends until then is kept.
    pub(super) fn poll_left(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut chunk = [0; 4096];
        loop {
            if self.gauge.left() {
                return Poll::Ready(());
            }
            if self.early.len() >= EARLY_BYTES {
                return Poll::Pending;
            }
            let mut buf = ReadBuf::new(&mut chunk);
            let read = ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buf));
            if read.is_err() || buf.filled().is_empty() {
                self.gauge.has_left();
            } else if !self.finished {
                self.early.extend_from_slice(buf.filled());
            }
        }
    }

    /// Waits until the peer has left.
    pub(super) async fn until_left(&mut self) {
        std::future::poll_fn(|cx| self.poll_left(cx)).await;
    }

    /// Writes all of it, unless the peer leaves. Returns how many bytes left and whether that was all.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> (usize, Result<(), Left>) {
        let mut sent = 0;
        let result = std::future::poll_fn(|cx| {
            while sent < bytes.len() {
                match Pin::new(&mut *self).poll_write(cx, &bytes[sent..]) {
                    Poll::Ready(Ok(n)) if n > 0 => sent += n,
                    Poll::Ready(_) => {
                        self.gauge.has_left();
                        return Poll::Ready(Err(Left));
                    }
                    Poll::Pending => {
                        ready!(self.poll_left(cx));
                        return Poll::Ready(Err(Left));
                    }
                }
            }
            Poll::Ready(Ok(()))
        })
        .await;
        (sent, result)
    }

    /// Whether something written has not been acknowledged.
    pub(super) fn outstanding(&self) -> bool {
        self.acked() < self.gauge.written()
    }

    /// Ready when the peer has read everything. Only a connection in memory tells; over TCP one has to look.
    pub(super) fn poll_drained(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.gauge.poll_drained(cx)
    }

    /// Whether acknowledgements have to be looked for from time to time.
    pub(super) fn tells_nothing(&self) -> bool {
        self.gauge.tells_nothing()
    }

    /// Waits until everything written is acknowledged, at most for `bound`.
    pub(super) async fn drained(&mut self, bound: Duration) -> Drained {
        let began = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            if self.acked() == self.gauge.written() {
                return Drained::Yes;
            }
            if self.left() {
                return Drained::Left;
            }
            let waited = began.elapsed();
            if waited >= bound {
                return Drained::NotYet;
            }
            if self.tells_nothing() && waited < SPIN {
                tokio::task::yield_now().await;
                continue;
            }
            self.look(Some(began + bound), &mut pause).await;
        }
    }

    /// Gives a peer on the same machine time to read what was just written. Loopback acknowledges at
    /// once, before the reader has woken up, and two writes would often be one read.
    pub(super) async fn let_read(&self) {
        if self.tells_nothing() {
            let began = Instant::now();
            tokio::task::yield_now().await;
            while began.elapsed() < READ_TIME {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Waits for whatever comes first: the peer's leaving, a further look at the acknowledgements if
    /// some are outstanding, or `until`.
    pub(super) async fn look(&mut self, until: Option<Instant>, pause: &mut Duration) {
        let outstanding = self.outstanding();
        let look_at = (outstanding && self.tells_nothing()).then(|| Instant::now() + *pause);
        *pause = (*pause * 2).min(LOOK);
        let wake_at = match (look_at, until) {
            (Some(look), Some(until)) => Some(look.min(until)),
            (one, other) => one.or(other),
        };
        let events = std::future::poll_fn(|cx| {
            if self.poll_left(cx).is_ready() {
                return Poll::Ready(());
            }
            if outstanding {
                self.poll_drained(cx)
            } else {
                Poll::Pending
            }
        });
        match wake_at {
            None => events.await,
            Some(at) => {
                tokio::select! {
                    biased;
                    () = events => {}
                    () = sleep_until(at) => {}
                }
            }
        }
    }

    /// Ends our side by FIN. What the peer still sends is thrown away.
    pub(super) async fn finish(&mut self) {
        self.finished = true;
        self.early = BytesMut::new();
        // It fails only where the peer is gone, which is seen by reading.
        let _ = std::future::poll_fn(|cx| Pin::new(&mut self.socket).poll_shutdown(cx)).await;
    }

    /// Closes by RST.
    pub(super) fn reset(mut self) {
        self.socket.break_off();
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // Before the socket is closed: its number may belong to another one then.
        self.gauge.close();
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.early.is_empty() {
            let taken = self.early.len().min(buf.remaining());
            buf.put_slice(&self.early.split_to(taken));
            if self.early.is_empty() {
                self.early = BytesMut::new();
            }
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        let result = ready!(Pin::new(&mut self.socket).poll_read(cx, buf));
        if result.is_err() || (buf.filled().len() == before && buf.remaining() > 0) {
            self.gauge.has_left();
        }
        Poll::Ready(result)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.lent && self.instead.is_none() && !self.gauge.answers() {
            self.instead = refusal::instead(bytes).map(|text| (text, 0));
        }
        if self.instead.is_some() {
            return self.poll_instead(cx, bytes.len());
        }
        let before = self.gauge.moment();
        let result = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.gauge.wrote(before, &result);
        result
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = ready!(Pin::new(&mut self.socket).poll_flush(cx));
        // hyper flushes when its buffer is empty: what it writes next is another answer, or its own words.
        self.gauge.answering(false);
        Poll::Ready(result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
