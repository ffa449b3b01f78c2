//! Everything that touches sockets and the clock. hyper parses requests and writes ordinary answers;
//! our own writer takes the connection over for everything else.

mod conn;
mod door;
mod event;
mod gauge;
mod heard;
mod lines;
pub mod memory;
mod recorder;
mod refusal;
mod request;
mod server;
pub mod socket;
mod trap;
mod trial;
mod wire;
mod writer;

pub use event::{Observer, WireEvent};
pub use memory::MemoryNet;
pub use server::{Held, LOG_LIMIT_BYTES, Options, Server, Transport};
pub use socket::{Connector, Socket};

use std::time::Duration;
use tokio::time::Instant;

/// A moment so many milliseconds after another; half a century later where that is too far for the clock.
fn later(from: Instant, ms: u64) -> Instant {
    const FAR: Duration = Duration::from_secs(50 * 365 * 24 * 3600);
    from.checked_add(Duration::from_millis(ms))
        .unwrap_or_else(|| from + FAR)
}
