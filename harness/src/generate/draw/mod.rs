//! Drawing a plan: a truth first, then what goes wrong with it, call by call, in the order of time.
//!
//! What is drawn keeps to the rules of a scenario file, so that every plan can be written as one: frames that are
//! named exist, an answer has one body, a stream says how it ends. Waiting is short, and nothing waits for ever
//! unless the job has a deadline or a cancel of its own: a case costs a spawned client its real time.

mod answers;
mod bytes;
mod calls;
mod connects;
mod defects;
mod exec;
mod files;
mod finish;
mod frames;
mod framing;
mod lease;
mod noise;
mod plan;
mod refusals;
mod truth;

pub(super) use plan::plan;
pub(super) use truth::truth;
