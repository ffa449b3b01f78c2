//! The truth: what the process really wrote, how it ended, and the sandbox it ran in.

use crate::wire::{Blob, ProcessKind, StreamName};
use serde::{Deserialize, Serialize};

/// The sandbox of the trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SandboxTruth {
    /// Its state when the trial begins.
    pub state: String,
    /// Polls that still show the old state after an accepted change.
    pub lag: u32,
    /// Files that are there when the trial begins, in the order of the scenario.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<TruthFile>,
}

/// A file in the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TruthFile {
    /// Absolute path.
    pub path: String,
    /// Contents.
    pub data: Blob,
}

/// What really happened in the process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// Pipe or terminal.
    pub kind: ProcessKind,
    /// Seq of the first frame, 1 unless said.
    pub first_seq: u64,
    /// Every frame ever written, in order, seqs without holes.
    pub frames: Vec<TruthFrame>,
    /// How the leader ended.
    pub exit: TruthExit,
    /// Milliseconds of quiet after which a live stream carries a heartbeat.
    pub heartbeat_ms: u64,
    /// Raw bytes the journal keeps.
    pub journal_bytes: u64,
    /// Descendants that outlive the leader (`tree_exited`, `wait?scope=tree`).
    pub children: u32,
    /// Written while the client watches (with pauses), or all there from the beginning.
    pub live: bool,
}

/// One data frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TruthFrame {
    /// Its number.
    pub seq: u64,
    /// Its stream.
    pub stream: StreamName,
    /// Its bytes.
    pub data: Blob,
    /// Milliseconds of quiet before it (live processes).
    pub pause_ms: u64,
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TruthExit {
    /// It ran to its end with this status; one of the two at least.
    Status {
        /// Exit code.
        code: Option<i64>,
        /// Signal name.
        signal: Option<String>,
        /// Milliseconds of quiet before it (live processes).
        pause_ms: u64,
    },
    /// It never ends by itself.
    Never,
}
