//! A connection on either transport, with what a fault needs beyond reading and writing: how much
//! the peer has not acknowledged, and a reset.

use super::memory::{MemoryNet, Pipe, Sending};
use socket2::SockRef;
use std::{
    io,
    mem::MaybeUninit,
    os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, RawFd},
    pin::Pin,
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// One connection.
#[derive(Debug)]
pub enum Socket {
    /// Over the kernel.
    Tcp(TcpStream),
    /// In memory.
    Memory(Pipe),
}

impl Socket {
    /// Takes a TCP connection with Nagle's algorithm off: the sizes of writes are ours to choose.
    ///
    /// # Errors
    /// What the system says about the socket.
    pub fn tcp(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self::Tcp(stream))
    }

    /// Bytes written here that the peer has not acknowledged (in memory: not read).
    ///
    /// # Errors
    /// What the system says about the socket.
    pub fn unacked(&self) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => send_queue(stream.as_fd()),
            Self::Memory(pipe) => Ok(pipe.unread()),
        }
    }

    /// The send queue, to be asked from outside; not after the socket is closed.
    pub(super) fn queue(&self) -> Queue {
        match self {
            Self::Tcp(stream) => Queue::Tcp(stream.as_raw_fd()),
            Self::Memory(pipe) => Queue::Memory(pipe.sending()),
        }
    }

    /// Whether the peer's FIN or RST is next to be read. In memory false: there, reading tells at once.
    #[must_use]
    pub fn peer_is_gone(&self) -> bool {
        let Self::Tcp(stream) = self else {
            return false;
        };
        let mut byte = [MaybeUninit::uninit()];
        match SockRef::from(stream).peek(&mut byte) {
            Ok(read) => read == 0,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }

    /// Closes by RST. Over TCP, what the peer has not acknowledged may be lost; what it has, it reads
    /// before it meets the reset.
    pub fn reset(mut self) {
        self.break_off();
    }

    /// [`Self::reset`], which is over when the socket is dropped.
    pub(super) fn break_off(&mut self) {
        match self {
            // Zero linger makes the close that follows a reset. It fails only on a dead socket,
            // which needs no reset.
            Self::Tcp(stream) => drop(stream.set_zero_linger()),
            Self::Memory(pipe) => pipe.break_off(),
        }
    }
}

/// The send queue of a connection that somebody else holds.
#[derive(Debug)]
pub(super) enum Queue {
    /// The socket's descriptor. Whoever closes the socket puts `Closed` here first.
    Tcp(RawFd),
    /// What was sent into the pipe.
    Memory(Sending),
    /// It is gone.
    Closed,
}

impl Queue {
    /// Bytes that the peer has not acknowledged. A socket that can't be asked is dead: all of them, as
    /// nothing more is known than before.
    pub(super) fn unacked(&self) -> Option<usize> {
        match self {
            Self::Tcp(descriptor) => {
                // SAFETY: `Closed` is put here before the socket is closed, and that waits for the lock
                // that whoever borrows `self` holds, so the descriptor is open meanwhile.
                #[expect(unsafe_code, reason = "the socket belongs to the connection's task")]
                let descriptor = unsafe { BorrowedFd::borrow_raw(*descriptor) };
                Some(send_queue(descriptor).unwrap_or(usize::MAX))
            }
            Self::Memory(sending) => Some(sending.unread()),
            Self::Closed => None,
        }
    }

    /// Ready when a peer in memory has read everything.
    pub(super) fn poll_drained(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Self::Memory(sending) => sending.poll_drained(cx),
            Self::Tcp(_) | Self::Closed => Poll::Pending,
        }
    }
}

/// How many bytes in the send queue the peer's TCP has not acknowledged.
#[cfg(target_os = "linux")]
fn send_queue(descriptor: BorrowedFd<'_>) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open as long as it is borrowed, and for SIOCOUTQ (the same
    // number as TIOCOUTQ) the kernel writes exactly one int through the pointer.
    #[expect(
        unsafe_code,
        reason = "no safe wrapper for this ioctl in the dependencies"
    )]
    let result = unsafe { libc::ioctl(descriptor.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// How many bytes the send buffer holds (macOS keeps them there until they are acknowledged).
#[cfg(target_os = "macos")]
fn send_queue(descriptor: BorrowedFd<'_>) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    let mut size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the descriptor is open as long as it is borrowed; the kernel writes at most
    // `size` bytes, one int, through the pointer.
    #[expect(
        unsafe_code,
        reason = "no safe wrapper for this option in the dependencies"
    )]
    let result = unsafe {
        libc::getsockopt(
            descriptor.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NWRITE,
            (&raw mut bytes).cast(),
            &raw mut size,
        )
    };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(usize::try_from(bytes).unwrap_or(0))
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Memory(pipe) => Pin::new(pipe).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Memory(pipe) => Pin::new(pipe).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            Self::Memory(pipe) => Pin::new(pipe).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Memory(pipe) => Pin::new(pipe).poll_shutdown(cx),
        }
    }
}

/// How connections are made on a transport.
#[derive(Clone, Debug)]
pub enum Connector {
    /// Over the kernel.
    Tcp,
    /// In memory.
    Memory(MemoryNet),
}

impl Connector {
    /// Connects to `host:port`.
    ///
    /// # Errors
    /// As the transport says; `ConnectionRefused` when nobody listens there.
    pub async fn connect(&self, authority: &str) -> io::Result<Socket> {
        match self {
            Self::Tcp => Socket::tcp(TcpStream::connect(authority).await?),
            Self::Memory(net) => net.connect(authority).map(Socket::Memory),
        }
    }
}
