//! The server over real sockets and in memory, judged by its bytes.

#![cfg(feature = "net")]

mod support;
mod takeover;
