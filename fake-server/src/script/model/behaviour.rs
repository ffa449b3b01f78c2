//! What a call gets instead of the faithful answer, part by part.

use super::{End, Step};
use crate::wire::Blob;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a call gets instead of the faithful answer. Every part is optional and they combine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Behaviour {
    /// Milliseconds before anything is answered.
    pub delay_ms: Option<u64>,
    /// The port refuses connections just before this call would arrive.
    pub refuse: bool,
    /// The connection ends without an answer.
    pub cut: Option<Cut>,
    /// Milliseconds without an answer; then the connection is closed.
    pub hold_ms: Option<u64>,
    /// Answer as HTTP/1.0, body ended by close.
    pub http10: bool,
    /// Announce a Content-Length that differs from the body by this many bytes.
    pub content_length: Option<i64>,
    /// Send Transfer-Encoding beside Content-Length.
    pub transfer_encoding_also: bool,
    /// A content coding nobody asked for.
    pub encoding: Option<Encoding>,
    /// Status, absent = faithful.
    pub status: Option<u16>,
    /// Reason phrase, absent = the usual one.
    pub reason: Option<String>,
    /// Headers set (a name given here replaces the faithful one), values may repeat; may hold placeholders.
    pub headers: Vec<(String, Vec<String>)>,
    /// The body.
    pub content: Content,
    /// Whether the call takes effect on the world; absent: as the answer says (2xx and faithful: done, else none).
    pub effect: Option<Effect>,
    /// How writes are cut.
    pub segments: Segments,
    /// How HTTP chunks are cut.
    pub chunks: Chunks,
    /// Where the body breaks off, whatever was to come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub break_at: Option<Break>,
}

/// A body that breaks off at a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Break {
    /// The last byte that leaves is the one before.
    pub at: BreakPlace,
    /// How it ends there: `Fin`, `Reset` or `Hold`; at a byte of the payload `Chunk` too.
    pub by: End,
}

/// A place in a body, in bytes from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BreakPlace {
    /// As it stands on the wire: sizes and ends of chunks and the zero chunk counted.
    Wire(u64),
    /// Of what it carries. The framing is right up to there: the last chunk announces what comes.
    Payload(u64),
}

/// The connection ends without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// When.
    pub at: CutPoint,
    /// By RST; else by FIN.
    pub reset: bool,
}

/// A moment of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutPoint {
    /// The connection was accepted; nothing is read.
    Accept,
    /// The request's head was read.
    HeadRead,
    /// The whole request was read.
    BodyRead,
}

/// Whether the call took effect although the answer says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// It did.
    Done,
    /// It did not.
    None,
}

/// What the answer's body is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// What a healthy server would say (for a non-2xx status: a JSend error of that status).
    #[default]
    Faithful,
    /// The faithful success envelope with its data changed.
    Data {
        /// Fields set.
        with: Map<String, Value>,
        /// Fields left out.
        without: Vec<String>,
    },
    /// Text; may hold placeholders.
    Text(String),
    /// JSON; strings may hold placeholders.
    Json(Value),
    /// Any bytes.
    Bytes(Blob),
    /// This byte without end.
    Endless(u8),
    /// Frames, step by step.
    Stream(Vec<Step>),
    /// A redirect (status 302 unless said).
    Redirect(Redirect),
}

/// Where a redirect points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Redirect {
    /// The trap listener, on another port.
    OtherOrigin,
    /// Another path of this server.
    SameOrigin,
    /// The same URL again.
    Loop,
    /// The same host by plain http (with TLS), else the trap.
    Downgrade,
}

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Encoding {
    /// Which.
    pub coding: Coding,
    /// Flush after each frame; else only at the end.
    pub flush_frames: bool,
    /// Leave out this many bytes at the end of the coded body.
    pub cut: Option<u64>,
    /// Only the header says so; the body is plain.
    pub lie: bool,
    /// This many foreign bytes after the coded body.
    pub extra: u64,
}

/// Content codings we can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coding {
    /// gzip.
    Gzip,
}

/// How writes are cut; each is acknowledged before the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Segments {
    /// What stands between two waits of the script leaves together, in writes of 64 KiB, not waited for.
    #[default]
    Frame,
    /// One byte a write.
    Byte,
    /// These sizes, round and round. `random` in a file is resolved to such a list by the seed.
    Sizes(Vec<usize>),
    /// One write for what stands between two waits, however large.
    All,
}

/// How HTTP chunks are cut, apart from the writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chunks {
    /// One a frame.
    #[default]
    Frame,
    /// One for the whole body.
    One,
    /// One a step.
    Step,
    /// These sizes, round and round.
    Sizes(Vec<usize>),
}
