//! What a file says beyond what the oracle derives.

use crate::wire::{Blob, Call, StreamName};
use serde::{Deserialize, Serialize};

/// What a file says beyond what the oracle derives. Everything narrows; nothing set means: as derived.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expect {
    /// Outcomes that are right (`exited`, `error`, ...).
    pub outcome: Option<Vec<String>>,
    /// Error kinds that are right.
    pub kind: Option<Vec<String>>,
    /// The status the error must tell.
    pub http_status: Option<u16>,
    /// `after=` of each connect: exact (`"0"`), a range (`"0..2"`), or `"same"` as before.
    pub connects: Option<Vec<String>>,
    /// How often each call was made.
    pub calls: Vec<(Call, u32)>,
    /// Output that must at least have been handed over, by stream.
    pub output_at_least: Vec<(StreamName, Blob)>,
    /// Output that may at most have been handed over, by stream.
    pub output_at_most: Vec<(StreamName, Blob)>,
    /// Texts (with placeholders) that must not stand in anything reported.
    pub never_reported: Vec<String>,
    /// Requests that may reach the trap.
    pub trap: Option<u32>,
    /// Alternatives: one of them must hold as a whole.
    pub any_of: Vec<Self>,
}
