//! Judging: what was expected, seen and said, put side by side.

mod verdict;

pub use verdict::{Check, CheckStatus, Place, Verdict, Violation};
