//! The CreateOS protocol as data: ids, limits, frames, envelopes. Encoding and nothing else;
//! decoding is left to the clients under test and to the judge, so that they cannot share a mistake.

mod blob;
pub mod call;
pub mod frame;
pub mod limits;

pub use blob::Blob;
pub use call::{Call, Op};
pub use frame::{ProcessKind, StreamName};
