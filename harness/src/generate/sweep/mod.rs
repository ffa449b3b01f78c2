//! The cut sweep: one passing scenario, its streams broken at every byte in every way, and written in every shape.
//! What the client delivers must be the same each time.
//!
//! - [`Sweep`]: the streams that a right client is served, byte by byte; lists the cuts and makes the plan of each.
//! - [`Cut`]: one of them. Its name replays it.
//! - [`same`]: whether two plays delivered the same, from what the client said alone: a second opinion beside the
//!   judge's.
//! - `place`: which frame a byte stands in, in words and as a picture.
//!
//! Two kinds of byte are counted. FIN, RST and silence cut the body as it stands on the wire, so also inside the size of
//! a chunk, between CR and LF and inside the zero chunk. A missing zero chunk and a clean end cut the lines: the
//! framing is right up to there, which is what a server does that has no more to say.

mod cut;
mod outcome;
mod place;
#[cfg(feature = "run")]
mod play;
mod same;
#[cfg(test)]
mod tests;

pub use cut::{By, Cut, NotACut, Shape};
pub use outcome::{Group, Outcome, Tally};
pub use place::{Picture, picture};
#[cfg(feature = "run")]
pub use play::{play, unbroken};
pub use same::{delivered, same};

use crate::{
    contract::oracle::{Stream, expected, streams},
    profile::Promises,
};
use cut::ONE_SEGMENT;
use fake_server::{
    script::{
        expand::{Piece, may_hold_placeholders},
        framing::{Extent, Framing, Layout, PartOf, layout},
        model::{Attempts, Behaviour, Expect, Fault, FrameRef, Plan, Segments},
    },
    session::RawBody,
    wire::{Call, Op},
    wirelog::Payload,
};
use std::collections::BTreeSet;

/// Longest body that is written in segments of a byte or a few: each waits to be acknowledged.
const SLOW_BODY: usize = 4 << 10;

/// Which cuts are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// What happens.
    pub by: BTreeSet<By>,
    /// At every byte, or at edges only.
    pub at: At,
    /// How the stream is written that is cut.
    pub shapes: BTreeSet<Shape>,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            by: By::ALL.iter().copied().collect(),
            at: At::Bytes,
            shapes: Shape::OF_CUTS.iter().copied().collect(),
        }
    }
}

/// At which bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum At {
    /// All.
    #[default]
    Bytes,
    /// Where a line, a chunk or one of its parts begins or ends.
    Edges,
}

/// A stream that is swept.
#[derive(Clone, Debug, PartialEq)]
pub struct Swept {
    /// The answer to the nth connect.
    pub attempt: u32,
    /// The fault that makes it, by number.
    pub fault: Option<usize>,
    /// What the server says, piece by piece.
    pub pieces: Vec<Piece>,
    /// As it stands on the wire.
    pub layout: Layout,
    /// In chunks; else ended by the end of the connection.
    pub is_chunked: bool,
    /// How the scenario writes it.
    pub segments: Segments,
    /// Bytes of its lines.
    pub payload: usize,
}

/// A scenario case that can be swept.
#[derive(Clone, Debug)]
pub struct Sweep {
    base: Plan,
    promises: Promises,
    /// Outcomes that are right for the unbroken case.
    outcomes: Vec<String>,
    /// The streams.
    pub streams: Vec<Swept>,
    /// Streams, or parts of them, that can't be swept, and why.
    pub left_out: Vec<String>,
}

/// Why a case can't be swept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSwept {
    /// Its op has no stream that can be followed.
    #[error("{id} can't be swept: op `{op}` opens no stream of a process")]
    NoStream {
        /// The case.
        id: String,
        /// Its op.
        op: Op,
    },
    /// Nobody right is served a stream that can be cut.
    #[error("{id} can't be swept: {}", why(.left_out))]
    NothingToCut {
        /// The case.
        id: String,
        /// Why not each of its streams.
        left_out: Vec<String>,
    },
}

fn why(left_out: &[String]) -> String {
    if left_out.is_empty() {
        "a right client is never served a stream".to_owned()
    } else {
        left_out.join("; ")
    }
}

impl Sweep {
    /// Looks at the streams that a right client with these promises is served.
    ///
    /// # Errors
    /// Where there is none that can be cut.
    pub fn new(base: &Plan, promises: &Promises) -> Result<Self, NotSwept> {
        let id = base.id.clone();
        if !matches!(
            base.op,
            Op::Follow | Op::Execute | Op::Terminal | Op::Connect
        ) {
            return Err(NotSwept::NoStream { id, op: base.op });
        }
        let mut swept = Vec::new();
        let mut left_out = Vec::new();
        for stream in streams(base, promises) {
            let attempt = stream.attempt;
            match sweepable(stream) {
                Ok(stream) => {
                    let why = match stream.layout.extent {
                        Extent::Whole => None,
                        Extent::Heartbeats => Some("heartbeats come as time allows"),
                        Extent::Endless => Some("something repeats until the client leaves"),
                    };
                    if let Some(why) = why {
                        let bytes = stream.layout.bytes.len();
                        left_out.push(format!(
                            "connect {attempt} is swept up to byte {bytes} only: from there {why}"
                        ));
                    }
                    swept.push(stream);
                }
                Err(why) => left_out.push(format!("connect {attempt} is left out: {why}")),
            }
        }
        if swept.is_empty() {
            return Err(NotSwept::NothingToCut { id, left_out });
        }
        Ok(Self {
            base: base.clone(),
            promises: promises.clone(),
            outcomes: expected(base, promises).outcomes,
            streams: swept,
            left_out,
        })
    }

    /// The case as it is, unbroken.
    #[must_use]
    pub const fn base(&self) -> &Plan {
        &self.base
    }

    /// Whether every play that delivers all delivers the same: the streams carry nothing but the truth. Where the server
    /// says something else on one connect, a cut before it makes it the truth's turn.
    #[must_use]
    pub fn is_true(&self) -> bool {
        let is_true = |what: &Payload| {
            matches!(
                what,
                Payload::True(_) | Payload::Part(_) | Payload::Heartbeat
            )
        };
        self.streams
            .iter()
            .flat_map(|stream| &stream.pieces)
            .all(|piece| match piece {
                Piece::Bytes { what, .. } | Piece::Trickle { what, .. } => is_true(what),
                _ => true,
            })
    }

    /// The stream of a cut.
    #[must_use]
    pub fn stream(&self, cut: &Cut) -> Option<&Swept> {
        self.streams
            .iter()
            .find(|stream| stream.attempt == cut.attempt)
    }

    /// Every cut that is wanted: stream by stream, kind by kind, byte by byte.
    #[must_use]
    pub fn cuts(&self, wanted: &Wanted) -> Vec<Cut> {
        let mut cuts = Vec::new();
        for stream in &self.streams {
            for by in &wanted.by {
                for shape in shapes(stream, *by, wanted) {
                    cuts.extend(places(stream, *by, wanted.at).into_iter().map(|at| Cut {
                        attempt: stream.attempt,
                        by: *by,
                        at,
                        shape,
                    }));
                }
            }
        }
        cuts
    }

    /// Whether there is such a cut in this case.
    #[must_use]
    pub fn has(&self, cut: &Cut) -> bool {
        self.stream(cut).is_some_and(|stream| {
            let last = places(stream, cut.by, At::Bytes).last().copied();
            last.is_some_and(|last| cut.at <= last) && !(cut.by == By::Split && cut.at == 0)
        })
    }

    /// Why a cut says nothing about this client, if so: a stream that falls silent is ended by nothing that the client
    /// promises.
    ///
    /// # Errors
    /// Why it does not apply.
    pub fn applies(&self, cut: &Cut) -> Result<(), String> {
        if cut.by != By::Silence || self.promises.profile.silence_limit_ms.is_some() {
            return Ok(());
        }
        // Where the exit has been said before, no silence needs to be noticed.
        if expected(&self.plan(cut), &self.promises).outcomes == self.outcomes {
            return Ok(());
        }
        Err(
            "the client promises no `silence-limit-ms`: nothing ends a stream that falls silent"
                .to_owned(),
        )
    }

    /// The plan of a cut.
    #[must_use]
    pub fn plan(&self, cut: &Cut) -> Plan {
        let mut plan = self.base.clone();
        plan.id = format!("{}[cut={cut}]", self.base.id);
        // What the file says beyond the oracle is about the unbroken case.
        plan.expect = Expect::default();
        let exit_said = self
            .stream(cut)
            .is_some_and(|stream| stream.exit_stands_before(cut));
        plan.requirements = requirements(plan.op, cut.by, exit_said)
            .iter()
            .map(|id| (*id).to_owned())
            .collect();
        plan.fault_kinds = Vec::new();
        plan.why = why_cut(cut.by).to_owned();
        plan.title = format!("{}; connect {} {}", plan.title, cut.attempt, words(cut));
        let Some(stream) = self.stream(cut) else {
            return plan;
        };
        let met = stream
            .fault
            .and_then(|number| plan.faults.iter().position(|fault| fault.number == number));
        let at = match met {
            Some(at) if matches!(plan.faults[at].attempts, Attempts::Nth(_)) => at,
            met => {
                let number = 1 + plan
                    .faults
                    .iter()
                    .map(|fault| fault.number)
                    .max()
                    .unwrap_or(0);
                let mut fault = met.map_or_else(healthy, |at| plan.faults[at].clone());
                fault.number = number;
                fault.on = Some(Call::Connect);
                fault.attempts = Attempts::Nth(cut.attempt);
                fault.bait = false;
                plan.faults.push(fault);
                plan.faults.len() - 1
            }
        };
        let behaviour = &mut plan.faults[at].behaviour;
        behaviour.break_at = cut.by.break_at(cut.at);
        if let Some(segments) = cut.shape.segments() {
            behaviour.segments = segments;
        }
        if let Some(chunks) = cut.shape.chunks() {
            behaviour.chunks = chunks;
        }
        if cut.by == By::Split {
            behaviour.segments = Segments::Sizes(split(&stream.layout, cut.at));
        }
        // One more back-off, and the silence before it.
        let profile = &self.promises.profile;
        plan.deadline_ms += profile.reconnect_delay_ms;
        if cut.by == By::Silence {
            plan.deadline_ms += profile.silence_limit_ms.unwrap_or(0);
        }
        plan
    }
}

impl Swept {
    /// Whether a whole exit frame leaves before the stream is cut, LF or not.
    fn exit_stands_before(&self, cut: &Cut) -> bool {
        let at = usize::try_from(cut.at).unwrap_or(usize::MAX);
        let payload = if cut.by.counts_payload() {
            at
        } else {
            self.layout.payload_before(at)
        };
        let mut before = 0;
        self.pieces.iter().any(|piece| {
            let (Piece::Bytes { what, bytes, .. } | Piece::Trickle { what, bytes, .. }) = piece
            else {
                return false;
            };
            before += bytes.len();
            *what == Payload::True(FrameRef::Exit) && before <= payload + 1
        })
    }
}

/// What a cut is about. The invariants hold everything else.
const fn requirements(op: Op, by: By, exit_said: bool) -> &'static [&'static str] {
    match (op, by) {
        (Op::Connect, By::Split | By::Whole) => &["raw/segmentation"],
        (Op::Connect, _) => &["raw/truncation-visible"],
        (_, By::Split | By::Whole) => &["frames/any-segmentation"],
        _ if exit_said => &["stream/exit-ends-it"],
        _ => &[
            "stream/drop-is-not-the-end",
            "stream/resume-cursor",
            "frames/last-line",
        ],
    }
}

const fn why_cut(by: By) -> &'static str {
    match by {
        By::Split | By::Whole => {
            "Networks part a stream wherever they like. What is delivered must not depend on where."
        }
        _ => {
            "Connections break at any byte. Whichever it is, all of the output must arrive, once, or the caller must be told."
        }
    }
}

/// A cut in words, as a predicate of its connect.
#[must_use]
pub fn words(cut: &Cut) -> String {
    let mut words = match (cut.by.break_at(cut.at), cut.by) {
        (Some(at), _) => fake_server::script::describe::break_off(at),
        (None, By::Split) => format!("is split before byte {} on the wire", cut.at),
        (None, _) => "is written whole".to_owned(),
    };
    if cut.shape != Shape::Own {
        words.push_str(&format!(", in the shape `{}`", cut.shape.name()));
    }
    words
}

/// A fault that changes nothing yet.
fn healthy() -> Fault {
    Fault {
        number: 1,
        on: Some(Call::Connect),
        attempts: Attempts::Nth(1),
        when_after: None,
        on_connection: None,
        bait: false,
        behaviour: Behaviour::default(),
    }
}

/// A stream whose bytes are known before they are sent.
fn sweepable(stream: Stream) -> Result<Swept, String> {
    let answer = stream.answer;
    if answer.status != 200 {
        return Err(format!("it is answered {}", answer.status));
    }
    if answer.encoding.is_some() {
        return Err("its body has a content coding".to_owned());
    }
    let own = ["content-length", "transfer-encoding"];
    if answer.content_length.is_some()
        || answer
            .headers
            .iter()
            .any(|(name, _)| own.contains(&name.as_str()))
    {
        return Err("its length is announced, and not as it is".to_owned());
    }
    if answer.break_at.is_some() {
        return Err("it breaks off already".to_owned());
    }
    let is_chunked = !answer.http10;
    let framing = if is_chunked {
        Framing::Chunked(answer.chunks.clone())
    } else {
        Framing::Plain
    };
    let heartbeat_ms = answer.heartbeat_ms;
    if matches!(answer.body, RawBody::Bytes(_) | RawBody::Endless(_)) {
        return Err("its body is no stream of frames".to_owned());
    }
    let pieces: Vec<Piece> = answer.body.into_pieces().collect();
    if pieces.iter().any(holds_placeholder) {
        return Err("it holds placeholders, whose length differs from trial to trial".to_owned());
    }
    let layout = layout(&pieces, &framing, heartbeat_ms);
    if layout.bytes.is_empty() {
        return Err("nothing is sent on it".to_owned());
    }
    let payload = layout.payload_before(layout.bytes.len());
    Ok(Swept {
        attempt: stream.attempt,
        fault: stream.fault,
        pieces,
        layout,
        is_chunked,
        segments: answer.segments,
        payload,
    })
}

fn holds_placeholder(piece: &Piece) -> bool {
    /// What a trial may replace.
    const NAMES: [&[u8]; 6] = [
        b"{api-key}",
        b"{canary}",
        b"{base-url}",
        b"{trap-url}",
        b"{sandbox}",
        b"{process}",
    ];
    match piece {
        Piece::Bytes { what, bytes, .. } | Piece::Trickle { what, bytes, .. } => {
            may_hold_placeholders(*what)
                && NAMES
                    .iter()
                    .any(|name| bytes.windows(name.len()).any(|part| part == *name))
        }
        Piece::Every { pieces, .. } => pieces.iter().any(holds_placeholder),
        _ => false,
    }
}

/// The shapes in which a stream is cut so.
fn shapes(stream: &Swept, by: By, wanted: &Wanted) -> Vec<Shape> {
    let fits = |shape: &Shape| {
        !(shape.is_slow() && stream.layout.bytes.len() > SLOW_BODY)
            && (stream.is_chunked || !shape.changes_chunks())
    };
    match by {
        // A split is a shape of its own.
        By::Split => vec![Shape::Own],
        By::Whole => Shape::ALL
            .iter()
            .copied()
            .filter(|shape| *shape != Shape::Own && fits(shape))
            .collect(),
        // Where the framing is the connection's own, both are a FIN.
        By::NoZeroChunk | By::Clean if !stream.is_chunked => Vec::new(),
        _ => wanted.shapes.iter().copied().filter(fits).collect(),
    }
}

/// The bytes before which a stream is cut so.
fn places(stream: &Swept, by: By, at: At) -> Vec<u64> {
    let layout = &stream.layout;
    let (from, to) = match by {
        By::Fin | By::Rst | By::Silence => (0, layout.bytes.len()),
        // After the last byte of the lines the zero chunk is all that may be missing, and must be for a difference.
        By::NoZeroChunk => (0, stream.payload + 1),
        By::Clean => (0, stream.payload),
        By::Split => (1, layout.bytes.len()),
        By::Whole => return vec![0],
    };
    let edges: BTreeSet<usize> = match at {
        At::Bytes => (from..to).collect(),
        At::Edges if by.counts_payload() => payload_edges(layout),
        At::Edges => layout
            .parts
            .iter()
            .flat_map(|part| [part.from, part.to])
            .collect(),
    };
    let inside = edges.into_iter().filter(|at| (from..to).contains(at));
    // usize is at most 64 bits wide.
    inside.map(|at| at as u64).collect()
}

/// Where a line begins, its LF stands, or it ends, in bytes of the lines.
fn payload_edges(layout: &Layout) -> BTreeSet<usize> {
    let mut edges = BTreeSet::from([0]);
    let mut before = 0;
    for part in &layout.parts {
        if !matches!(part.what, PartOf::Payload { .. }) {
            continue;
        }
        for (at, byte) in layout.bytes[part.from..part.to].iter().enumerate() {
            if *byte == b'\n' {
                edges.extend([before + at, before + at + 1]);
            }
        }
        before += part.to - part.from;
        edges.insert(before);
    }
    edges
}

/// The sizes of segments that part a stream before one byte, each write being a segment of its own otherwise.
fn split(layout: &Layout, at: u64) -> Vec<usize> {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    let mut sizes = Vec::new();
    let mut from = 0;
    for &to in &layout.writes {
        if from < at && at < to {
            sizes.push(at - from);
        }
        sizes.push(ONE_SEGMENT);
        from = to;
    }
    sizes
}
