//! A connection on either transport, with what a fault needs beyond reading and writing: how much
//! the peer has not acknowledged, and a reset.

use super::memory::{MemoryNet, Pipe};
use socket2::SockRef;
use std::{
    io,
    mem::MaybeUninit,
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
            Self::Tcp(stream) => send_queue(stream),
            Self::Memory(pipe) => Ok(pipe.unread()),
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
    pub fn reset(self) {
        match self {
            // Zero linger makes the close that follows a reset. It fails only on a dead socket,
            // which needs no reset.
            Self::Tcp(stream) => drop(stream.set_zero_linger()),
            Self::Memory(pipe) => pipe.reset(),
        }
    }
}

/// How many bytes in the send queue the peer's TCP has not acknowledged.
#[cfg(target_os = "linux")]
fn send_queue(stream: &TcpStream) -> io::Result<usize> {
    use std::os::fd::AsRawFd as _;
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open as long as `stream` is borrowed, and for SIOCOUTQ (the same
    // number as TIOCOUTQ) the kernel writes exactly one int through the pointer.
    #[expect(
        unsafe_code,
        reason = "no safe wrapper for this ioctl in the dependencies"
    )]
    let result = unsafe { libc::ioctl(stream.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// How many bytes the send buffer holds (macOS keeps them there until they are acknowledged).
#[cfg(target_os = "macos")]
fn send_queue(stream: &TcpStream) -> io::Result<usize> {
    use std::os::fd::AsRawFd as _;
    let mut bytes: libc::c_int = 0;
    let mut size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the descriptor is open as long as `stream` is borrowed; the kernel writes at most
    // `size` bytes, one int, through the pointer.
    #[expect(
        unsafe_code,
        reason = "no safe wrapper for this option in the dependencies"
    )]
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
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
