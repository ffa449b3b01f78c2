//! The server over real sockets and in memory, judged by its bytes.

#![cfg(feature = "net")]

mod doors;
mod ends;
mod framing;
mod giving_back;
mod planned;
mod refusals;
mod support;
mod takeover;
mod transports;
