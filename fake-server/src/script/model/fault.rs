//! A deviation: which calls it meets.

use super::Behaviour;
use crate::wire::Call;
use serde::{Deserialize, Serialize};

/// A deviation: which calls it meets and what they get.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Which call; `None` is `any`.
    pub on: Option<Call>,
    /// Which of them.
    pub attempts: Attempts,
    /// Only when the request's cursor is this.
    pub when_after: Option<u64>,
    /// Only on such a connection.
    pub on_connection: Option<ConnectionUse>,
    /// A right client never gets here: no receipt is wanted.
    pub bait: bool,
    /// What happens.
    pub behaviour: Behaviour,
}

/// Which of the calls, counted from 1 as they arrive. Explicit numbers stand above ranges, ranges above `Every`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attempts {
    /// The nth.
    Nth(u32),
    /// From, to, both included.
    Range(u32, u32),
    /// The nth and all later ones.
    From(u32),
    /// All.
    Every,
}

impl Attempts {
    /// Whether the nth call is meant.
    #[must_use]
    pub const fn covers(self, attempt: u32) -> bool {
        match self {
            Self::Nth(n) => attempt == n,
            Self::Range(from, to) => from <= attempt && attempt <= to,
            Self::From(from) => from <= attempt,
            Self::Every => true,
        }
    }

    /// The first call that is meant.
    #[must_use]
    pub const fn first(self) -> u32 {
        match self {
            Self::Nth(n) | Self::Range(n, _) | Self::From(n) => n,
            Self::Every => 1,
        }
    }
}

/// Whether a request came on a fresh connection or on one that has answered before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionUse {
    /// The first request of its connection.
    Fresh,
    /// A later one.
    Reused,
}
