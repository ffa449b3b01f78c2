//! The steps of a stream: what is sent, what is waited for, how it ends.

use crate::wire::Blob;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A frame of the truth: a data frame by seq, or the exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameRef {
    /// The data frame with this seq.
    Seq(u64),
    /// The exit frame.
    Exit,
}

/// True frames by range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Span {
    /// From the request's cursor up to this seq.
    UpTo(u64),
    /// This absolute range, both included; may repeat old frames.
    Range(u64, u64),
    /// Everything left (after what this answer has sent already) with the exit, as a live stream would.
    Rest,
}

/// One step of a stream. What the list leaves unsaid is not sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// True frames.
    Send(Span),
    /// One true frame.
    SendOne(FrameRef),
    /// The first bytes of a true frame's line.
    Part {
        /// Which.
        frame: FrameRef,
        /// How many bytes.
        bytes: usize,
    },
    /// A true frame with fields changed or missing.
    Edited {
        /// Which.
        frame: FrameRef,
        /// Fields set.
        with: Map<String, Value>,
        /// Fields left out.
        without: Vec<String>,
    },
    /// A forged frame.
    Frame {
        /// All its fields.
        fields: Map<String, Value>,
        /// The true frame it stands for.
        is: Option<FrameRef>,
    },
    /// Raw bytes (`line` comes with its LF here); may hold placeholders when `text`.
    Raw {
        /// The bytes.
        bytes: Blob,
        /// The true frame it stands for.
        is: Option<FrameRef>,
    },
    /// Heartbeats.
    Heartbeat(u64),
    /// An exit frame that need not be the true one.
    Exit {
        /// Exit code.
        code: Option<i64>,
        /// Signal.
        signal: Option<String>,
    },
    /// The server's error frame.
    Error {
        /// Its code.
        code: String,
        /// `oldest_available_seq`, any JSON.
        oldest: Option<Value>,
    },
    /// Quiet.
    Pause {
        /// Milliseconds.
        ms: u64,
    },
    /// A step's bytes, a few at a time.
    Trickle {
        /// Bytes a write.
        bytes: usize,
        /// Milliseconds between writes.
        every_ms: u64,
        /// What is trickled.
        step: Box<Self>,
    },
    /// A step again and again until the client leaves.
    Every {
        /// Milliseconds between.
        every_ms: u64,
        /// What.
        step: Box<Self>,
    },
    /// Steps repeated.
    Loop {
        /// How often.
        count: u64,
        /// What.
        steps: Vec<Self>,
    },
    /// Wait.
    Until(Until),
    /// The end of the answer.
    End(End),
    /// What this replica's journal holds from here on (both seqs included).
    Journal {
        /// Oldest seq kept.
        oldest: u64,
        /// Newest seq.
        newest: u64,
    },
}

impl Step {
    /// Whether this step, or one in it, waits until the client has handed a frame to its caller.
    #[must_use]
    pub fn awaits_delivery(&self) -> bool {
        match self {
            Self::Until(Until::Delivered(_)) => true,
            Self::Trickle { step, .. } | Self::Every { step, .. } => step.awaits_delivery(),
            Self::Loop { steps, .. } => steps.iter().any(Self::awaits_delivery),
            _ => false,
        }
    }
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// The peer's TCP has acknowledged everything.
    Acked,
    /// The client has handed this frame to its caller.
    Delivered(u64),
    /// The client has closed.
    Closed,
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The zero chunk; the connection is kept.
    Chunk,
    /// FIN, without the zero chunk.
    Fin,
    /// RST, after everything was acknowledged.
    Reset,
    /// RST at once, a race.
    ResetNow,
    /// Nothing more, the socket stays open.
    Hold,
    /// A chunk header announces more than comes, then FIN.
    TruncatedChunk,
    /// A chunk header that is no number, then FIN.
    BadChunk,
}

impl End {
    /// Whether the framing says that the body is complete (for a chunked body).
    #[must_use]
    pub const fn is_clean(self) -> bool {
        matches!(self, Self::Chunk)
    }
}
