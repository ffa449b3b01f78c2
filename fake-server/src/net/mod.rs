//! Everything that touches sockets and the clock.

pub mod memory;
pub mod socket;

pub use memory::MemoryNet;
pub use socket::{Connector, Socket};
