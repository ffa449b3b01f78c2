//! The CreateOS protocol as data: ids, limits, frames, envelopes, views, requests and their checks.
//! Decoding of frames is left to the clients under test and to the judge, so that they cannot share
//! a mistake.

mod blob;
pub mod call;
pub mod catalog;
pub mod envelope;
pub mod fields;
pub mod frame;
pub mod ids;
pub mod limits;
mod problem;
pub mod requests;
pub mod view;

pub use blob::Blob;
pub use call::{Call, Op};
pub use frame::{ProcessKind, StreamName};
pub use problem::Problem;
