//! How a connection is made. Sockets, the harness's memory pipe and the tests' own pipes are alike here.

use fake_server::net::{Connector, Socket};
use std::{future::Future, io};
use tokio::io::{AsyncRead, AsyncWrite};

/// What a connection is.
pub(in crate::client::reference) trait Wire:
    AsyncRead + AsyncWrite + Unpin + Send + 'static
{
}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + 'static> Wire for T {}

/// Makes connections.
pub(in crate::client::reference) trait Dial: Sync {
    /// What a connection is.
    type Socket: Wire;

    /// Connects to `HOST:PORT`.
    fn dial(&self, authority: &str) -> impl Future<Output = io::Result<Self::Socket>> + Send;
}

impl Dial for Connector {
    type Socket = Socket;

    async fn dial(&self, authority: &str) -> io::Result<Socket> {
        self.connect(authority).await
    }
}
