//! What crossed the wire. Meaning, not sizes of writes: requests as they arrived, answers grouped by
//! the step that caused them, ends, receipts. Times are kept beside, in microseconds since the trial
//! began, and never enter the canonical form.

use crate::{
    script::model::{Break, Cut, End, FrameRef},
    wire::{Blob, Call},
};
use serde::{Deserialize, Serialize};

pub use crate::canonical::canonical;

/// Microseconds since the trial began.
pub type Micros = u64;

/// Everything one trial saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WireLog {
    /// The names of this trial.
    pub names: Names,
    /// Every connection accepted, in order.
    pub connections: Vec<Connection>,
    /// Every request that arrived, in order of arrival, with its answer.
    pub exchanges: Vec<Exchange>,
    /// What arrived at the trap listener.
    pub trap: Vec<TrapRequest>,
    /// Refusals: the port did not listen, and what proves that the client met it.
    pub refusals: Vec<Refusal>,
    /// What exists at the end.
    pub ledger: Vec<LedgerEntry>,
    /// Bytes of bodies and headers that were not kept because the log's limit was reached.
    pub dropped_bytes: u64,
}

/// Names and secrets of a trial; canonical logs show the placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// `{api-key}`
    pub api_key: String,
    /// `{canary}`: a marker that must never be reported.
    pub canary: String,
    /// `{base-url}`
    pub base_url: String,
    /// `{trap-url}`
    pub trap_url: String,
    /// `{sandbox}`
    pub sandbox_id: String,
    /// `{process}`
    pub process_id: String,
}

/// One accepted connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    /// From 1, in order of acceptance.
    pub number: u32,
    /// When it was accepted.
    pub accepted_us: Micros,
    /// When the client's FIN or RST arrived, if it did.
    pub client_closed_us: Option<Micros>,
    /// When our side was gone.
    pub closed_us: Option<Micros>,
    /// A fault met it before any request (`close`/`reset` at accept).
    pub cut: Option<(usize, Cut)>,
}

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The connection's number.
    pub connection: u32,
    /// From 1 on that connection; above 1 it was reused.
    pub number: u32,
    /// The call, if the path is one of the protocol's.
    pub call: Option<Call>,
    /// The nth such call of the trial, from 1 (0 if no call).
    pub attempt: u32,
    /// What arrived.
    pub request: Request,
    /// The fault that met it, by number in the file.
    pub fault: Option<usize>,
    /// What left, in order.
    pub answer: Vec<Sent>,
    /// When the request's head was there.
    pub head_us: Micros,
    /// When the last byte, FIN or RST of the answer left.
    pub last_sent_us: Option<Micros>,
    /// When the client closed during the answer (or while we held it), if it did.
    pub client_closed_us: Option<Micros>,
    /// Whether the answer was open (unfinished, client still there) when the log was taken.
    pub open: bool,
    /// How the writes of a segmented answer (`byte`, sizes) fared.
    #[serde(default)]
    pub segmented: Option<Segmented>,
    /// Where its body really broke off, by the count of what left, if the scenario wanted that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broke_off: Option<Break>,
}

/// The writes of an answer whose segments were chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segmented {
    /// Writes in all.
    pub writes: u64,
    /// Writes that the peer had acknowledged before the next one left.
    pub alone: u64,
}

/// A request as it arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Method.
    pub method: String,
    /// Path and query as they stood in the request line.
    pub target: String,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body, at most the log's limit.
    pub body: Blob,
    /// The whole body was read.
    pub body_complete: bool,
    /// Percent-decoded path segments after `/v1`.
    pub path: Vec<String>,
    /// Percent-decoded query pairs in order.
    pub query: Vec<(String, String)>,
}

impl Request {
    /// Values of a query parameter, in order.
    pub fn query_values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.query
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Values of a header (name in lower case), in order.
    pub fn header_values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// One thing that left the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sent {
    /// Status line and headers.
    Head {
        /// HTTP/1.0 instead of 1.1.
        http10: bool,
        /// Status.
        status: u16,
        /// Reason phrase.
        reason: String,
        /// Headers in order, names in lower case.
        headers: Vec<(String, String)>,
    },
    /// Payload bytes (before chunking and content coding).
    Body {
        /// What they are.
        what: Payload,
        /// The bytes.
        bytes: Blob,
        /// They lie inside what the HTTP framing announces (false: beyond Content-Length).
        framed: bool,
        /// The peer has acknowledged them (in memory: has read them).
        acked: bool,
    },
    /// A run of whole true frames, kept short: their bytes follow from the plan.
    Frames {
        /// First seq.
        from: u64,
        /// Last seq.
        to: u64,
        /// The peer has acknowledged them all.
        acked: bool,
    },
    /// A wait of the script was over (`until`), for the story.
    Waited(crate::script::model::Until),
    /// How the answer ended. Absent while it is open, or when the client left first.
    End {
        /// How.
        how: AnswerEnd,
        /// Everything before it was acknowledged when it happened.
        acked: bool,
    },
}

/// What payload bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Payload {
    /// A whole true frame's line.
    True(FrameRef),
    /// The beginning of a true frame's line.
    Part(FrameRef),
    /// A true frame, changed.
    Edited(FrameRef),
    /// Forged, standing for nothing or for a true frame.
    Forged(Option<FrameRef>),
    /// Raw, standing for nothing or for a true frame.
    Raw(Option<FrameRef>),
    /// A heartbeat.
    Heartbeat,
    /// An exit frame said by the script.
    Exit,
    /// An error frame.
    Error,
    /// A body that is no stream.
    Plain,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerEnd {
    /// As its framing promised; connection kept. `Content-Length` reached or zero chunk sent.
    Complete,
    /// As a close-delimited body ends: FIN is the end (HTTP/1.0).
    CloseDelimited,
    /// By a step of the script.
    Scripted(End),
    /// Without any answer.
    Cut(Cut),
    /// Held without an answer, then closed.
    Held,
    /// Fewer bytes than Content-Length announced, then FIN.
    Short,
    /// The trial was over.
    TrialOver,
}

impl AnswerEnd {
    /// Whether it ends short of what the framing promised, without a reset: no request can follow on the connection, and
    /// it is there until the client closes it. (Where FIN is the framing's own end, `fin` breaks nothing off.)
    #[must_use]
    pub const fn breaks_off(self) -> bool {
        matches!(
            self,
            Self::Short | Self::Scripted(End::Fin | End::TruncatedChunk | End::BadChunk)
        )
    }
}

/// A request at the trap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrapRequest {
    /// What arrived.
    pub request: Request,
    /// It carried the key, in any header or in the target.
    pub key: bool,
    /// When.
    pub at_us: Micros,
}

/// A time in which the port refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The fault's number.
    pub fault: usize,
    /// When the port stopped listening.
    pub from_us: Micros,
    /// When it listened again.
    pub until_us: Option<Micros>,
    /// Connection attempts that were seen refused (known in memory only).
    pub refused: u32,
    /// Requests that had arrived before: what the clock says is no order where it stands still.
    #[serde(default)]
    pub after_requests: usize,
}

/// A sandbox or process and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// `sandbox` or `process`.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// State at the end.
    pub state: String,
    /// Made by which exchange (index), or there from the beginning.
    pub made_by: Option<usize>,
    /// Deleted, or ended by a signal, by which exchange (index).
    pub deleted_by: Option<usize>,
    /// A process whose leader has exited while its descendants run on, and nobody deletes them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub descendants: bool,
}
