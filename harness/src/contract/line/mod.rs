//! What one line of a stream means to a right client. Where the contract leaves a choice, every
//! allowed meaning is an alternative, so that the acceptor can follow the client into each.

mod base64;
pub mod json;
mod meaning;
mod number;

pub use base64::{Decoded, decode};
pub use meaning::{Alternative, Data, Exit, Meaning, Problem, Reader, Reading, Signal, Streams};
pub use number::{Whole, whole};

#[cfg(test)]
mod tests;
