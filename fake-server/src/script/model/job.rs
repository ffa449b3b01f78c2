//! What the client is asked: the op's own fields, and when it is asked to stop.

use crate::wire::{Blob, Call};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The op's fields as the adapter gets them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Working folder.
    pub cwd: Option<String>,
    /// Environment.
    pub env: Vec<(String, String)>,
    /// Standard input.
    pub stdin: Option<Blob>,
    /// Cursor to start from (`follow`, `connect`).
    pub after: u64,
    /// The client's own deadline for the whole op.
    pub timeout_ms: Option<u64>,
    /// When the harness asks the client to stop.
    pub cancel: Option<Cancel>,
    /// Other fields of ops that come later, as they are sent.
    pub extra: Map<String, Value>,
}

/// When a `cancel` is sent: bound to an event on the wire, never to the clock alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cancel {
    /// On which call.
    pub on: Call,
    /// The nth such call, from 1.
    pub attempt: u32,
    /// At which moment of it.
    pub at: CancelPoint,
    /// Milliseconds after that moment.
    pub plus_ms: u64,
}

/// A moment of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CancelPoint {
    /// The request has arrived whole.
    Sent,
    /// The answer has left whole (for a stream: it ended).
    Answered,
    /// The nth data frame of that answer has been acknowledged.
    Frame(u64),
}
