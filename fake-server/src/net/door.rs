//! Where connections come in: a listening port on either transport, which can refuse for a while and
//! then listen on the same port again.
//!
//! Over TCP a port that was bound as 0 comes back as another one after it was shut, so a free port is
//! learned first and then bound by its number. On Linux shutting a listening socket down makes the
//! port refuse while it stays ours; elsewhere the socket is closed and bound anew.

use super::{
    memory::{MemoryListener, MemoryNet},
    socket::Socket,
};
use socket2::{Domain, Protocol, SockRef, Type};
use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};
use tokio::net::TcpListener;

/// Connections that may wait to be accepted. A short queue shows as SYN retries of a second.
const BACKLOG: i32 = 4096;
/// How often a free port is looked for, should another program take the learned one first.
const TRIES: u32 = 32;

/// A port that listens, or refuses for now.
#[derive(Debug)]
pub(super) enum Door {
    Tcp(TcpDoor),
    Memory {
        net: MemoryNet,
        authority: String,
        listener: Option<MemoryListener>,
    },
}

/// A TCP port.
#[derive(Debug)]
pub(super) struct TcpDoor {
    address: SocketAddr,
    /// Our hold on the port, listening or not.
    socket: socket2::Socket,
    listener: Option<TcpListener>,
}

impl Door {
    /// Listens on this address; port 0 is any free port.
    pub(super) fn tcp(address: SocketAddr) -> io::Result<Self> {
        let mut tries = 0;
        loop {
            let chosen = if address.port() == 0 {
                free_port(address.ip())?
            } else {
                address
            };
            match TcpDoor::open(chosen) {
                Ok(door) => return Ok(Self::Tcp(door)),
                Err(error)
                    if error.kind() == io::ErrorKind::AddrInUse
                        && address.port() == 0
                        && tries < TRIES =>
                {
                    tries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Listens in memory.
    pub(super) fn memory(net: &MemoryNet) -> Self {
        let listener = net.listen();
        Self::Memory {
            net: net.clone(),
            authority: listener.authority().to_owned(),
            listener: Some(listener),
        }
    }

    /// Where it is, as a URL without a path.
    pub(super) fn url(&self) -> String {
        match self {
            Self::Tcp(door) => {
                // Nobody can connect to the unspecified address; loopback reaches it.
                let mut address = door.address;
                if address.ip().is_unspecified() {
                    address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
                }
                format!("http://{address}")
            }
            Self::Memory { authority, .. } => format!("http://{authority}"),
        }
    }

    /// The next connection; for ever pending while the door refuses.
    pub(super) async fn accept(&mut self) -> io::Result<Socket> {
        match self {
            Self::Tcp(TcpDoor {
                listener: Some(listener),
                ..
            }) => {
                let (stream, _) = listener.accept().await?;
                Socket::tcp(stream)
            }
            Self::Memory {
                listener: Some(listener),
                ..
            } => {
                let pipe = std::future::poll_fn(|cx| listener.poll_accept(cx)).await;
                Ok(Socket::Memory(pipe))
            }
            Self::Tcp(_) | Self::Memory { .. } => std::future::pending().await,
        }
    }

    /// Refuses from here on, if it does not yet; connections not yet accepted are reset.
    pub(super) fn shut(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(door) => door.shut(),
            Self::Memory { listener, .. } => {
                *listener = None;
                Ok(())
            }
        }
    }

    /// Listens again.
    pub(super) fn reopen(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(door) => door.reopen(),
            Self::Memory {
                net,
                authority,
                listener,
            } => {
                *listener = Some(net.listen_on(authority));
                Ok(())
            }
        }
    }

    /// Connections that were refused so far, where that can be known.
    pub(super) fn refused(&self) -> u32 {
        match self {
            Self::Tcp(_) => 0,
            Self::Memory { net, authority, .. } => net.refused(authority),
        }
    }

    /// Waits until another connection was refused; for ever where that cannot be known.
    pub(super) async fn refused_more_than(&self, before: u32) {
        match self {
            Self::Tcp(_) => std::future::pending().await,
            Self::Memory { net, authority, .. } => net.refused_more_than(authority, before).await,
        }
    }
}

/// A port that is free at this moment.
fn free_port(ip: IpAddr) -> io::Result<SocketAddr> {
    let probe = socket(ip)?;
    probe.bind(&SocketAddr::new(ip, 0).into())?;
    probe
        .local_addr()?
        .as_socket()
        .ok_or_else(|| io::Error::other("the bound socket has no port"))
}

fn socket(ip: IpAddr) -> io::Result<socket2::Socket> {
    let domain = if ip.is_ipv4() {
        Domain::IPV4
    } else {
        Domain::IPV6
    };
    socket2::Socket::new(domain, Type::STREAM, Some(Protocol::TCP))
}

impl TcpDoor {
    fn open(address: SocketAddr) -> io::Result<Self> {
        let mut door = Self {
            address,
            socket: Self::bound(address)?,
            listener: None,
        };
        door.listen()?;
        Ok(door)
    }

    fn bound(address: SocketAddr) -> io::Result<socket2::Socket> {
        let socket = socket(address.ip())?;
        // Connections of before, which share the port, must not keep it from listening again.
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&address.into())?;
        Ok(socket)
    }

    fn listen(&mut self) -> io::Result<()> {
        self.socket.listen(BACKLOG)?;
        let listener = self.socket.try_clone()?.into();
        self.listener = Some(TcpListener::from_std(listener)?);
        Ok(())
    }

    fn shut(&mut self) -> io::Result<()> {
        // Shutting a socket down that does not listen would mark it for good, and all it accepts later.
        let Some(listener) = self.listener.take() else {
            return Ok(());
        };
        if cfg!(target_os = "linux") {
            drop(listener);
            SockRef::from(&self.socket).shutdown(std::net::Shutdown::Both)
        } else {
            // A fresh socket that is bound but does not listen would be refused by bind here, as long
            // as the old one lives; so the old one goes first.
            drop(listener);
            self.socket = socket(self.address.ip())?;
            Ok(())
        }
    }

    fn reopen(&mut self) -> io::Result<()> {
        if !cfg!(target_os = "linux") {
            self.socket = Self::bound(self.address)?;
        }
        self.listen()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpStream;

    #[tokio::test]
    async fn a_shut_port_refuses_and_comes_back_as_the_same_port() {
        let mut door = Door::tcp((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let address = door.url().strip_prefix("http://").unwrap().to_owned();
        for _ in 0..3 {
            let client = TcpStream::connect(&address).await.unwrap();
            let accepted = door.accept().await.unwrap();
            door.shut().unwrap();
            let error = TcpStream::connect(&address).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
            door.reopen().unwrap();
            drop((client, accepted));
        }
    }

    #[tokio::test]
    async fn a_port_in_use_is_an_error() {
        let door = Door::tcp((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let address: SocketAddr = door.url()["http://".len()..].parse().unwrap();
        let error = Door::tcp(address).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }
}
