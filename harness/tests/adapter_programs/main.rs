//! Adapters that misbehave, as small shell scripts: each is told for what it is, the run goes on, and
//! nothing is left behind.

#![expect(
    clippy::disallowed_methods,
    reason = "tests write scripts and read what these leave behind"
)]

mod ends;
mod faults;
mod jobs;
mod start;
mod support;
