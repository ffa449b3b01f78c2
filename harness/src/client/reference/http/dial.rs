//! How a connection is made. Sockets, the harness's memory pipe and the tests' own pipes are alike here.

use std::{future::Future, io};
use tokio::io::{AsyncRead, AsyncWrite};

/// Makes connections.
pub(in crate::client::reference) trait Dial: Sync {
    /// What a connection is.
    type Socket: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Connects to `HOST:PORT`.
    fn dial(&self, authority: &str) -> impl Future<Output = io::Result<Self::Socket>> + Send;
}
