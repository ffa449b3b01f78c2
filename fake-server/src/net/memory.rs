//! A network in memory: listeners by authority and a duplex pipe that behaves like a TCP connection
//! on loopback where it matters to a client. Bytes sent before a reset are still read before the
//! reset is, closing with unread bytes resets the peer, a full window holds the writer back, and the
//! writer can know how many bytes the peer has not read yet.
//!
//! Nothing here sleeps or spins: every wait is a waker that the other side wakes, so that tokio's
//! paused clock advances only when everybody really waits for time.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt, io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::{Notify, mpsc},
};

/// Bytes in flight one way before the writer has to wait, as a small TCP window.
pub const WINDOW_BYTES: usize = 64 << 10;

/// Locks without caring for poison: the states here are valid between any two statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Listeners by authority (`name:port`). Clones are handles to the same network.
#[derive(Clone, Default)]
pub struct MemoryNet(Arc<Mutex<NetState>>, Arc<Notify>);

#[derive(Default)]
struct NetState {
    listeners: BTreeMap<String, mpsc::UnboundedSender<Pipe>>,
    refused: BTreeMap<String, u32>,
    next_port: u32,
}

impl MemoryNet {
    /// A network on which nobody listens.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Listens on an authority nobody has used before, as a bind to port 0 does.
    #[must_use]
    pub fn listen(&self) -> MemoryListener {
        let authority = {
            let mut net = lock(&self.0);
            net.next_port += 1;
            // `.invalid` never resolves (RFC 6761), so such a URL cannot reach a real host by mistake.
            format!("memory-{}.invalid:80", net.next_port)
        };
        self.listen_on(&authority)
    }

    /// Listens on this authority; a listener that is there already is replaced.
    #[must_use]
    pub fn listen_on(&self, authority: &str) -> MemoryListener {
        let (sender, backlog) = mpsc::unbounded_channel();
        lock(&self.0).listeners.insert(authority.to_owned(), sender);
        MemoryListener {
            net: self.clone(),
            authority: authority.to_owned(),
            backlog,
        }
    }

    /// Connects.
    ///
    /// # Errors
    /// `ConnectionRefused` when nobody listens there.
    pub fn connect(&self, authority: &str) -> io::Result<Pipe> {
        let mut net = lock(&self.0);
        let (ours, theirs) = Pipe::pair();
        let accepted = net
            .listeners
            .get(authority)
            .is_some_and(|listener| listener.send(theirs).is_ok());
        if accepted {
            Ok(ours)
        } else {
            *net.refused.entry(authority.to_owned()).or_default() += 1;
            drop(net);
            self.1.notify_waiters();
            Err(io::ErrorKind::ConnectionRefused.into())
        }
    }

    /// Connections that were refused at this authority so far.
    #[must_use]
    pub fn refused(&self, authority: &str) -> u32 {
        lock(&self.0).refused.get(authority).copied().unwrap_or(0)
    }

    /// Waits until more connections than `before` were refused at this authority.
    pub async fn refused_more_than(&self, authority: &str, before: u32) {
        loop {
            let mut heard = std::pin::pin!(self.1.notified());
            heard.as_mut().enable();
            if self.refused(authority) > before {
                return;
            }
            heard.await;
        }
    }
}

impl fmt::Debug for MemoryNet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let net = lock(&self.0);
        f.debug_set().entries(net.listeners.keys()).finish()
    }
}

/// Accepts connections; dropping it refuses later ones and resets those not yet accepted, which counts as refused.
#[derive(Debug)]
pub struct MemoryListener {
    net: MemoryNet,
    authority: String,
    backlog: mpsc::UnboundedReceiver<Pipe>,
}

impl MemoryListener {
    /// Where it listens.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The next connection; pending while there is none.
    pub fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<Pipe> {
        match self.backlog.poll_recv(cx) {
            Poll::Ready(Some(pipe)) => Poll::Ready(pipe),
            // The sender lives in the network as long as we do, unless another listener took our place.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

impl Drop for MemoryListener {
    fn drop(&mut self) {
        // Under the network's lock, so that no connection slips in between.
        let mut net = lock(&self.net.0);
        self.backlog.close();
        let ours = net
            .listeners
            .get(&self.authority)
            .is_some_and(mpsc::UnboundedSender::is_closed);
        if ours {
            net.listeners.remove(&self.authority);
        }
        drop(net);
        let mut reset = 0;
        while let Ok(pipe) = self.backlog.try_recv() {
            pipe.reset();
            reset += 1;
        }
        if reset > 0 {
            let mut net = lock(&self.net.0);
            *net.refused.entry(self.authority.clone()).or_default() += reset;
            drop(net);
            self.net.1.notify_waiters();
        }
    }
}

/// One direction of a pipe.
#[derive(Default)]
struct Way {
    bytes: VecDeque<u8>,
    /// The writer has sent FIN.
    fin: bool,
    /// The writer has reset the connection.
    reset: bool,
    /// The reader has gone: what is written from here on can't arrive.
    reader_gone: bool,
    /// Bytes that were in flight when the reader went: never read.
    lost: usize,
    reader: Option<Waker>,
    writer: Option<Waker>,
    drained: Option<Waker>,
}

impl Way {
    fn wake_reader(&mut self) {
        if let Some(waker) = self.reader.take() {
            waker.wake();
        }
    }

    fn wake_writer(&mut self) {
        for waker in [self.writer.take(), self.drained.take()]
            .into_iter()
            .flatten()
        {
            waker.wake();
        }
    }
}

/// What was sent into a pipe, for whoever does not hold the pipe.
pub(super) struct Sending(Arc<Mutex<Way>>);

impl Sending {
    /// Bytes that the peer has not read. A peer that has gone never reads the rest.
    pub(super) fn unread(&self) -> usize {
        let way = lock(&self.0);
        way.bytes.len() + way.lost
    }

    /// Ready when the peer has read everything, or never will because it has gone.
    pub(super) fn poll_drained(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut way = lock(&self.0);
        if way.bytes.is_empty() || way.reader_gone {
            Poll::Ready(())
        } else {
            way.drained = Some(cx.waker().clone());
            Poll::Pending
        }
    }
}

impl fmt::Debug for Sending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sending").field(&self.unread()).finish()
    }
}

/// One end of a duplex connection in memory. Dropping it closes it, as `close(2)` does: by FIN, or by
/// a reset if bytes that arrived were never read.
pub struct Pipe {
    outgoing: Arc<Mutex<Way>>,
    incoming: Arc<Mutex<Way>>,
}

impl Pipe {
    /// Both ends of a new connection.
    #[must_use]
    pub fn pair() -> (Self, Self) {
        let (there, back) = (Arc::<Mutex<Way>>::default(), Arc::<Mutex<Way>>::default());
        let one = Self {
            outgoing: Arc::clone(&there),
            incoming: Arc::clone(&back),
        };
        let other = Self {
            outgoing: back,
            incoming: there,
        };
        (one, other)
    }

    /// Bytes written here that the peer has not read. A peer that has gone never reads the rest.
    #[must_use]
    pub fn unread(&self) -> usize {
        self.sending().unread()
    }

    /// What was sent, to be asked from outside.
    pub(super) fn sending(&self) -> Sending {
        Sending(Arc::clone(&self.outgoing))
    }

    /// Ready when the peer has read everything, or never will because it has gone.
    pub fn poll_drained(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.sending().poll_drained(cx)
    }

    /// Resets the connection: the peer reads what was sent before, then `ConnectionReset`.
    pub fn reset(mut self) {
        self.break_off();
    }

    /// [`Self::reset`]. Drop, which is to follow, does the other direction.
    pub(super) fn break_off(&mut self) {
        let mut way = lock(&self.outgoing);
        way.reset = true;
        way.wake_reader();
    }

    /// What writing to a peer that is no longer there gives.
    fn broken(&self) -> io::ErrorKind {
        if lock(&self.incoming).reset {
            io::ErrorKind::ConnectionReset
        } else {
            io::ErrorKind::BrokenPipe
        }
    }
}

impl fmt::Debug for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipe")
            .field("unread", &self.unread())
            .finish_non_exhaustive()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let unread = {
            let mut way = lock(&self.incoming);
            way.reader_gone = true;
            way.lost = way.bytes.len();
            way.bytes = VecDeque::new();
            way.wake_writer();
            way.lost > 0
        };
        let mut way = lock(&self.outgoing);
        way.fin = true;
        way.reset |= unread;
        way.wake_reader();
    }
}

impl AsyncRead for Pipe {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut way = lock(&self.incoming);
        if way.bytes.is_empty() {
            return if way.reset {
                Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
            } else if way.fin {
                Poll::Ready(Ok(()))
            } else {
                way.reader = Some(cx.waker().clone());
                Poll::Pending
            };
        }
        let (front, back) = way.bytes.as_slices();
        let first = front.len().min(buf.remaining());
        buf.put_slice(&front[..first]);
        let second = back.len().min(buf.remaining());
        buf.put_slice(&back[..second]);
        way.bytes.drain(..first + second);
        if way.bytes.is_empty() {
            way.wake_writer();
        } else if let Some(waker) = way.writer.take() {
            waker.wake();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut way = lock(&self.outgoing);
        if way.reader_gone || way.fin {
            drop(way);
            return Poll::Ready(Err(self.broken().into()));
        }
        let room = WINDOW_BYTES.saturating_sub(way.bytes.len());
        if room == 0 && !bytes.is_empty() {
            way.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let taken = room.min(bytes.len());
        way.bytes.extend(&bytes[..taken]);
        if taken > 0 {
            way.wake_reader();
        }
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut way = lock(&self.outgoing);
        way.fin = true;
        way.wake_reader();
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[tokio::test(start_paused = true)]
    async fn bytes_before_a_reset_are_read_before_it() {
        let (mut client, mut server) = Pipe::pair();
        server.write_all(b"earlier").await.unwrap();
        server.reset();
        let mut read = [0; 7];
        client.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"earlier");
        let error = client.read(&mut read).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        let error = client.write(b"x").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }

    #[tokio::test(start_paused = true)]
    async fn closing_with_unread_bytes_resets_and_closing_without_is_a_fin() {
        let (client, mut server) = Pipe::pair();
        drop(client);
        assert_eq!(server.read(&mut [0; 8]).await.unwrap(), 0);
        let (client, mut server) = Pipe::pair();
        server.write_all(b"unread").await.unwrap();
        drop(client);
        let error = server.read(&mut [0; 8]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(server.unread(), 6);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_window_holds_the_writer_until_the_peer_reads() {
        let (mut client, mut server) = Pipe::pair();
        let writer = tokio::spawn(async move {
            server
                .write_all(&vec![b'x'; WINDOW_BYTES + 1])
                .await
                .unwrap();
            std::future::poll_fn(|cx| server.poll_drained(cx)).await;
            assert_eq!(server.unread(), 0);
        });
        tokio::task::yield_now().await;
        assert!(!writer.is_finished());
        let mut all = Vec::new();
        client.read_to_end(&mut all).await.unwrap();
        assert_eq!(all.len(), WINDOW_BYTES + 1);
        writer.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_dropped_listener_refuses_counts_and_can_come_back() {
        let net = MemoryNet::new();
        let listener = net.listen();
        let authority = listener.authority().to_owned();
        let mut waiting = net.connect(&authority).unwrap();
        drop(listener);
        let error = waiting.read(&mut [0; 8]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(net.refused(&authority), 1);
        let error = net.connect(&authority).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        assert_eq!(net.refused(&authority), 2);
        let mut listener = net.listen_on(&authority);
        let _client = net.connect(&authority).unwrap();
        std::future::poll_fn(|cx| listener.poll_accept(cx)).await;
    }
}
