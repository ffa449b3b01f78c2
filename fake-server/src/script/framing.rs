//! A stream as it stands on the wire, and what is left of it where it breaks off.
//!
//! Sweeps count the bytes of a body before it is sent, and the oracle must know which lines lie before one of
//! them. The server writes with code of its own (`net`); that both agree byte for byte is tested there.

use super::{
    expand::Piece,
    model::{Break, BreakPlace, Chunks, End},
};
use crate::wirelog::Payload;

/// Payload that is no true frame leaves in slices of this size, and then in a chunk of its own.
const LONG: usize = 64 << 10;
/// How many bytes a truncated chunk announces beyond those that come.
const MISSING: usize = 64;

/// How a body is framed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Framing {
    /// HTTP chunks, cut so.
    Chunked(Chunks),
    /// The bytes as they are, ended by the end of the connection.
    Plain,
}

/// A body on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Every byte after the head.
    pub bytes: Vec<u8>,
    /// What they are, in order, without holes.
    pub parts: Vec<Part>,
    /// Where one write of a segmented answer ends (each is cut by itself), in order.
    pub writes: Vec<usize>,
    /// How far it can be known beforehand.
    pub extent: Extent,
}

/// A run of bytes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its first byte.
    pub from: usize,
    /// The byte after its last.
    pub to: usize,
    /// What it is.
    pub what: PartOf,
}

/// What bytes of a body are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartOf {
    /// The size of a chunk, with its CR LF.
    Size,
    /// Payload.
    Payload {
        /// Of which piece, by index.
        piece: usize,
        /// The first byte's place in that piece.
        offset: usize,
    },
    /// The CR LF after a chunk.
    ChunkEnd,
    /// `0`, CR LF, CR LF.
    ZeroChunk,
    /// A chunk size that is none.
    Wreck,
}

/// How far a body can be known beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// To its end.
    #[default]
    Whole,
    /// To a pause in which heartbeats leave, as many as time allows.
    Heartbeats,
    /// To what repeats until the client leaves, of which one round is here.
    Endless,
}

impl Layout {
    /// How many bytes of payload stand before this byte.
    #[must_use]
    pub fn payload_before(&self, wire: usize) -> usize {
        self.parts
            .iter()
            .filter(|part| matches!(part.what, PartOf::Payload { .. }) && part.from < wire)
            .map(|part| part.to.min(wire) - part.from)
            .sum()
    }

    /// Where each of so many pieces has left whole, the end of its chunk included.
    fn ends(&self, pieces: usize) -> Vec<usize> {
        let mut ends = vec![0; pieces];
        for (at, part) in self.parts.iter().enumerate() {
            if let PartOf::Payload { piece, .. } = part.what {
                let after = self.parts.get(at + 1);
                let end = after.filter(|after| after.what == PartOf::ChunkEnd);
                ends[piece] = end.map_or(part.to, |end| end.to);
            }
        }
        ends
    }

    /// The part in which this byte stands; none beyond the end.
    #[must_use]
    pub fn part_at(&self, wire: usize) -> Option<&Part> {
        self.parts
            .iter()
            .find(|part| (part.from..part.to).contains(&wire))
    }
}

/// The body that these pieces make, framed so. Placeholders must have been replaced already.
/// `heartbeat_ms` is the quiet after which a pause that allows it carries a heartbeat.
#[must_use]
pub fn layout(pieces: &[Piece], framing: &Framing, heartbeat_ms: u64) -> Layout {
    let mut framer = Framer {
        framing,
        layout: Layout::default(),
        open: 0,
        one: (*framing == Framing::Chunked(Chunks::One)).then(|| total(pieces)),
        held: Vec::new(),
        held_step: 0,
        round: 0,
    };
    let mut pieces = pieces.iter().enumerate().peekable();
    while let Some((index, piece)) = pieces.next() {
        let truncated = matches!(pieces.peek(), Some((_, Piece::End(End::TruncatedChunk))));
        match piece {
            Piece::Bytes { step, what, bytes } => {
                framer.bytes(index, *step, *what, bytes, truncated);
            }
            Piece::Trickle { bytes, .. } => {
                if *framing != Framing::Plain {
                    framer.release();
                    framer.begin(bytes.len());
                }
                framer.put(index, 0, bytes);
            }
            Piece::Pause { ms, heartbeats } => {
                framer.release();
                if *heartbeats && heartbeat_ms > 0 && *ms >= heartbeat_ms {
                    framer.layout.extent = Extent::Heartbeats;
                    break;
                }
            }
            Piece::Until(_) => framer.release(),
            Piece::Every { pieces, .. } => {
                for piece in pieces {
                    if let Piece::Bytes { step, what, bytes } = piece {
                        framer.bytes(index, *step, *what, bytes, false);
                    }
                }
                framer.release();
                framer.layout.extent = Extent::Endless;
                break;
            }
            Piece::End(end) => {
                framer.write_ends();
                framer.end(*end);
                break;
            }
        }
        framer.write_ends();
    }
    framer.write_ends();
    framer.layout
}

/// The pieces up to where the body breaks off, ended so; none if it ends before.
#[must_use]
pub fn broken(
    pieces: &[Piece],
    framing: &Framing,
    heartbeat_ms: u64,
    at: Break,
) -> Option<Vec<Piece>> {
    let (mut left, ends) = match at.at {
        BreakPlace::Payload(payload) => (usize::try_from(payload).ok()?, None),
        BreakPlace::Wire(wire) => {
            let layout = layout(pieces, framing, heartbeat_ms);
            let wire = usize::try_from(wire)
                .ok()
                .filter(|wire| *wire <= layout.bytes.len())?;
            let ends = layout.ends(pieces.len());
            (layout.payload_before(wire), Some((wire, ends)))
        }
    };
    let mut kept = Vec::new();
    if left == 0 && ends.as_ref().is_none_or(|(wire, _)| *wire == 0) {
        return Some(vec![Piece::End(at.by)]);
    }
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Bytes { bytes, .. } | Piece::Trickle { bytes, .. } => {
                let now = left.min(bytes.len());
                left -= now;
                if now > 0 || bytes.is_empty() {
                    kept.push(beginning(piece, now));
                }
            }
            Piece::End(_) if left == 0 => {}
            // What repeats until the client leaves is not followed that far.
            Piece::End(_) | Piece::Every { .. } => return None,
            Piece::Pause { .. } | Piece::Until(_) => {
                kept.push(piece.clone());
                continue;
            }
        }
        let is_there = match (&ends, piece) {
            (_, Piece::End(_)) => true,
            (None, _) => left == 0,
            (Some((wire, ends)), _) => ends.get(index).is_some_and(|end| wire <= end),
        };
        if is_there {
            kept.push(Piece::End(at.by));
            return Some(kept);
        }
    }
    None
}

/// The first bytes of a piece.
fn beginning(piece: &Piece, length: usize) -> Piece {
    let mut piece = piece.clone();
    if let Piece::Bytes { what, bytes, .. } | Piece::Trickle { what, bytes, .. } = &mut piece
        && length < bytes.len()
    {
        bytes.truncate(length);
        *what = part_of(*what);
    }
    piece
}

/// What a payload is called when only some of it leaves.
#[must_use]
pub const fn part_of(what: Payload) -> Payload {
    match what {
        Payload::True(frame) => Payload::Part(frame),
        other => other,
    }
}

/// Bytes of payload in all.
fn total(pieces: &[Piece]) -> usize {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Bytes { bytes, .. } | Piece::Trickle { bytes, .. } => bytes.len(),
            _ => 0,
        })
        .sum()
}

/// Payload of one piece that waits for its chunk.
struct Run {
    piece: usize,
    offset: usize,
    bytes: Vec<u8>,
}

struct Framer<'a> {
    framing: &'a Framing,
    layout: Layout,
    /// Bytes that the open chunk still announces.
    open: usize,
    /// For one chunk: its size, until it is begun.
    one: Option<usize>,
    held: Vec<Run>,
    held_step: usize,
    round: usize,
}

impl Framer<'_> {
    fn bytes(&mut self, piece: usize, step: usize, what: Payload, bytes: &[u8], truncated: bool) {
        let Framing::Chunked(chunks) = self.framing else {
            self.put(piece, 0, bytes);
            return;
        };
        let is_true = matches!(what, Payload::True(_));
        if truncated && !(is_frame(what) && *chunks == Chunks::Frame && self.open == 0) {
            self.release();
            self.begin(bytes.len() + MISSING);
            self.put(piece, 0, bytes);
            return;
        }
        if bytes.len() > LONG && !is_true {
            self.release();
            self.begin(bytes.len());
            self.put(piece, 0, bytes);
            return;
        }
        match chunks {
            Chunks::Frame | Chunks::One => {
                if let Some(total) = self.one.take() {
                    self.begin(total);
                }
                self.put(piece, 0, bytes);
            }
            Chunks::Step => {
                if self.held_step != step {
                    self.release();
                    self.held_step = step;
                }
                self.hold(piece, bytes);
            }
            Chunks::Sizes(sizes) => {
                self.hold(piece, bytes);
                while !sizes.is_empty() {
                    let size = sizes[self.round % sizes.len()].max(1);
                    if self.held_bytes() < size {
                        break;
                    }
                    self.round += 1;
                    self.chunk_of_held(size);
                }
            }
        }
    }

    fn hold(&mut self, piece: usize, bytes: &[u8]) {
        self.held.push(Run {
            piece,
            offset: 0,
            bytes: bytes.to_vec(),
        });
    }

    fn held_bytes(&self) -> usize {
        self.held.iter().map(|run| run.bytes.len()).sum()
    }

    /// What is held leaves as a chunk of its own.
    fn release(&mut self) {
        let held = self.held_bytes();
        if held > 0 {
            self.round += 1;
            self.chunk_of_held(held);
        }
    }

    fn chunk_of_held(&mut self, size: usize) {
        self.begin(size);
        let mut left = size;
        for mut run in std::mem::take(&mut self.held) {
            if left == 0 {
                self.held.push(run);
                continue;
            }
            let later = run.bytes.split_off(left.min(run.bytes.len()));
            left -= run.bytes.len();
            self.put(run.piece, run.offset, &run.bytes);
            if !later.is_empty() {
                self.held.push(Run {
                    piece: run.piece,
                    offset: run.offset + run.bytes.len(),
                    bytes: later,
                });
            }
        }
    }

    fn begin(&mut self, size: usize) {
        if size > 0 && self.open == 0 {
            self.add(format!("{size:x}\r\n").as_bytes(), PartOf::Size);
            self.open = size;
        }
    }

    fn put(&mut self, piece: usize, mut offset: usize, mut bytes: &[u8]) {
        if *self.framing == Framing::Plain {
            self.add(bytes, PartOf::Payload { piece, offset });
            return;
        }
        while !bytes.is_empty() {
            self.begin(bytes.len());
            let (now, later) = bytes.split_at(self.open.min(bytes.len()));
            self.add(now, PartOf::Payload { piece, offset });
            self.open -= now.len();
            offset += now.len();
            if self.open == 0 {
                self.add(b"\r\n", PartOf::ChunkEnd);
            }
            bytes = later;
        }
    }

    fn end(&mut self, end: End) {
        self.release();
        match end {
            End::BadChunk => self.add(b"xyz\r\n", PartOf::Wreck),
            _ if *self.framing == Framing::Plain => {}
            End::Chunk if self.open == 0 => self.add(b"0\r\n\r\n", PartOf::ZeroChunk),
            End::TruncatedChunk => self.begin(MISSING),
            End::Chunk | End::Fin | End::Reset | End::ResetNow | End::Hold => {}
        }
    }

    fn add(&mut self, bytes: &[u8], what: PartOf) {
        if bytes.is_empty() {
            return;
        }
        let from = self.layout.bytes.len();
        self.layout.bytes.extend_from_slice(bytes);
        let to = self.layout.bytes.len();
        self.layout.parts.push(Part { from, to, what });
    }

    /// What was gathered leaves.
    fn write_ends(&mut self) {
        let end = self.layout.bytes.len();
        if end > self.layout.writes.last().copied().unwrap_or(0) {
            self.layout.writes.push(end);
        }
    }
}

/// A whole true data frame, which the server writes the shortest way.
const fn is_frame(what: Payload) -> bool {
    matches!(what, Payload::True(crate::script::model::FrameRef::Seq(_)))
}
