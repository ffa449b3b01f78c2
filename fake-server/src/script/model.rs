//! A plan: everything one trial does, with all randomness spent and every default filled in.
//! It is a value: it can be saved, compared, shrunk and judged again later.

use crate::wire::{Blob, Call, Op, ProcessKind, StreamName, call::Capability};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One trial, complete. Made from a scenario file by [`crate::script::Scenario::plan`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// `area/name`, with `[how=fin]` for an instance of a matrix.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// Requirement ids this trial is about, as the file lists them.
    pub requirements: Vec<String>,
    /// Ids of the fault taxonomy (`CT03`).
    pub fault_kinds: Vec<String>,
    /// Why a client gets this wrong and what it costs.
    pub why: String,
    /// What the client is asked.
    pub op: Op,
    /// Capabilities beyond the op, declared and implied, sorted, no doubles.
    pub needs: Vec<Capability>,
    /// Milliseconds until the trial gives up waiting (before the rule of the contract raises it).
    pub deadline_ms: u64,
    /// The job's own fields.
    pub job: Job,
    /// The sandbox that exists when the trial begins.
    pub sandbox: SandboxTruth,
    /// What the process really wrote and how it ended.
    pub truth: Truth,
    /// Deviations from the truth, in file order.
    pub faults: Vec<Fault>,
    /// What the file says beyond what the oracle derives.
    pub expect: Expect,
    /// The seed that this plan was made with.
    pub seed: u64,
}

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

/// The sandbox of the trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SandboxTruth {
    /// Its state when the trial begins.
    pub state: String,
    /// Polls that still show the old state after an accepted change.
    pub lag: u32,
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
