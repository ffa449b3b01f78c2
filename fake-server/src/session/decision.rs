//! What the session decides about a request: plain data that the shell acts on.

use crate::{
    script::{
        expand::{Faithful, Piece},
        model::{Break, Chunks, Cut, Encoding, Segments},
    },
    wire::Call,
};
use bytes::Bytes;
use std::{borrow::Cow, sync::Arc};

/// A request whose head is there: counted, and the fault that meets it chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// How many requests arrived before; the place of its exchange in the wire log.
    pub index: usize,
    /// What its first line means.
    pub meant: Arc<super::Meant>,
    /// It carries the key.
    pub authorised: bool,
    /// The call, if the path is one of the protocol's.
    pub call: Option<Call>,
    /// The nth such call, from 1; 0 if it is no call.
    pub attempt: u32,
    /// The fault that meets it, by number in the file.
    pub fault: Option<usize>,
    /// Milliseconds to wait before anything is done about it.
    pub delay_ms: u64,
    /// The connection ends now, before the body is read (after the delay).
    pub cut: Option<Cut>,
}

/// What to do about a request.
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The call, if the path is one of the protocol's.
    pub call: Option<Call>,
    /// The nth such call, from 1; 0 if it is no call.
    pub attempt: u32,
    /// The fault that met it, by number in the file.
    pub fault: Option<usize>,
    /// Milliseconds to wait before acting.
    pub delay_ms: u64,
    /// What to do then.
    pub act: Act,
}

/// What to do.
#[must_use]
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// An ordinary answer, which any HTTP library may write.
    Answer(Answer),
    /// An answer that needs a writer of its own.
    Raw(RawAnswer),
    /// End the connection without an answer.
    Cut(Cut),
    /// Say nothing for so many milliseconds, then close.
    Hold {
        /// Milliseconds.
        ms: u64,
    },
    /// Not yet: give it to [`super::Session::resume`] at its time, or as soon as
    /// [`super::Session::changes`] says that the world changed.
    Wait(Waiting),
}

/// An ordinary answer. `Content-Length` and `Connection` are the writer's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Status.
    pub status: u16,
    /// Reason phrase, the usual one.
    pub reason: &'static str,
    /// Headers in order, names in lower case.
    pub headers: Headers,
    /// Body.
    pub body: Bytes,
}

/// Headers in order, names in lower case. Most of them are the same in every answer.
pub type Headers = Vec<(Cow<'static, str>, Cow<'static, str>)>;

/// An answer that needs a writer of its own: a stream, or HTTP that is not quite right.
#[derive(Clone, Debug, PartialEq)]
pub struct RawAnswer {
    /// Answer as HTTP/1.0; the body ends by close.
    pub http10: bool,
    /// Status.
    pub status: u16,
    /// Reason phrase.
    pub reason: String,
    /// Headers in order, names in lower case, placeholders replaced. Framing headers stand here only
    /// when the scenario sets them itself; then the writer adds none of that name.
    pub headers: Vec<(String, String)>,
    /// What follows the head.
    pub body: RawBody,
    /// `Content-Length` is announced, and differs from the body by this many bytes.
    pub content_length: Option<i64>,
    /// `Transfer-Encoding` beside `Content-Length`.
    pub transfer_encoding_also: bool,
    /// A content coding (its header is not among `headers`).
    pub encoding: Option<Encoding>,
    /// How writes are cut.
    pub segments: Segments,
    /// How chunks are cut.
    pub chunks: Chunks,
    /// Where the body breaks off.
    pub break_at: Option<Break>,
    /// Milliseconds of quiet after which a pause that allows it carries a heartbeat.
    pub heartbeat_ms: u64,
    /// The process whose forced end ends this stream too (faithful streams only): ask
    /// [`super::Session::exit_line`] when the world changed.
    pub follows: Option<Follow>,
}

/// What follows the head of a [`RawAnswer`].
#[derive(Clone, Debug, PartialEq)]
pub enum RawBody {
    /// Pieces with waits between (chunked unless something else is said).
    Pieces(Vec<Piece>),
    /// The pieces of a healthy stream, made as they are asked for.
    Faithful(Faithful),
    /// Plain bytes, placeholders replaced (`Content-Length` unless something else is said).
    Bytes(Bytes),
    /// This byte without end, until the client leaves.
    Endless(u8),
}

impl RawBody {
    /// The pieces of a stream, in order; none for a body that is no stream.
    pub fn into_pieces(self) -> impl Iterator<Item = Piece> {
        let (list, faithful) = match self {
            Self::Pieces(pieces) => (pieces, None),
            Self::Faithful(faithful) => (Vec::new(), Some(faithful)),
            Self::Bytes(_) | Self::Endless(_) => (Vec::new(), None),
        };
        list.into_iter().chain(faithful.into_iter().flatten())
    }
}

/// A process, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follow {
    /// Sandbox id.
    pub sandbox: String,
    /// Process id.
    pub process: String,
}

/// A long poll that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// When to resume at the latest, in milliseconds since the trial began.
    pub until_ms: u64,
    /// What it waits for.
    pub(super) goal: Goal,
    /// The process.
    pub(super) follow: Follow,
    /// Whether the call takes effect.
    pub(super) effect: bool,
    /// The request it answers.
    pub(super) arrival: Box<Arrival>,
}

/// What a long poll waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The leader has exited, or the deadline (milliseconds since the trial began) is over.
    Leader { deadline_ms: u64, timeout_ms: u64 },
    /// The whole tree has exited, or the deadline is over.
    Tree { deadline_ms: u64, timeout_ms: u64 },
    /// The grace of a delete is over.
    Grace,
}

/// A refusal that is due: the port stops listening (and idle kept connections are closed, else a
/// client never meets it) until one connection was refused or the time is over; then
/// [`super::Session::refused`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalDue {
    /// The fault's number.
    pub fault: usize,
    /// Milliseconds to refuse where refused connections cannot be counted (sockets).
    pub hold_ms: u64,
}
