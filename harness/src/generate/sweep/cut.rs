//! One cut: where a stream breaks off or how it is written, and its name on the command line.

use fake_server::script::model::{Break, BreakPlace, Chunks, End, Segments};
use serde::{Serialize, Serializer};
use std::{fmt, str::FromStr};

/// What is done to one stream of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cut {
    /// The stream: the answer to the nth connect.
    pub attempt: u32,
    /// What happens.
    pub by: By,
    /// The byte before which it happens; of the body on the wire, or of the lines, as [`By::counts_payload`] says.
    /// 0 for [`By::Whole`].
    pub at: u64,
    /// How the stream is written.
    pub shape: Shape,
}

/// What happens to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum By {
    /// FIN at a byte on the wire.
    Fin,
    /// RST at a byte on the wire, once all before it was acknowledged.
    Rst,
    /// Nothing more from a byte on the wire on, the socket stays open.
    Silence,
    /// The lines end at a byte, in a chunk that is right; then FIN instead of the zero chunk.
    NoZeroChunk,
    /// The lines end at a byte, and the body as if that were all: with the zero chunk.
    Clean,
    /// Nothing is missing, but what stands before a byte and what stands after it are two segments.
    Split,
    /// Nothing is missing, the whole stream is written in another shape.
    Whole,
}

impl By {
    /// All of them, in the order of reports.
    pub const ALL: &'static [Self] = &[
        Self::Fin,
        Self::Rst,
        Self::Silence,
        Self::NoZeroChunk,
        Self::Clean,
        Self::Split,
        Self::Whole,
    ];

    /// Its name on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fin => "fin",
            Self::Rst => "rst",
            Self::Silence => "silence",
            Self::NoZeroChunk => "no-zero-chunk",
            Self::Clean => "clean",
            Self::Split => "split",
            Self::Whole => "whole",
        }
    }

    /// Whether the byte is one of the lines; else one of the body on the wire.
    #[must_use]
    pub const fn counts_payload(self) -> bool {
        matches!(self, Self::NoZeroChunk | Self::Clean)
    }

    /// Where and how the stream breaks off there, if it does.
    #[must_use]
    pub const fn break_at(self, at: u64) -> Option<Break> {
        let (at, by) = match self {
            Self::Fin => (BreakPlace::Wire(at), End::Fin),
            Self::Rst => (BreakPlace::Wire(at), End::Reset),
            Self::Silence => (BreakPlace::Wire(at), End::Hold),
            Self::NoZeroChunk => (BreakPlace::Payload(at), End::Fin),
            Self::Clean => (BreakPlace::Payload(at), End::Chunk),
            Self::Split | Self::Whole => return None,
        };
        Some(Break { at, by })
    }
}

impl FromStr for By {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut all = Self::ALL.iter().copied();
        all.find(|by| by.name() == text).ok_or(())
    }
}

/// How a stream is written: its segments, each acknowledged before the next, and its HTTP chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// As the scenario has it.
    Own,
    /// A segment a frame.
    Frames,
    /// One byte a segment.
    Bytes,
    /// One segment for all that stands between two waits.
    All,
    /// Segments of two bytes.
    Twos,
    /// Segments of three bytes.
    Threes,
    /// Segments of 7, 1, 300, 7 .. bytes.
    Uneven,
    /// One chunk for the whole body.
    OneChunk,
    /// One byte a chunk.
    ByteChunks,
    /// Three bytes a chunk, one byte a segment.
    SmallChunksInBytes,
}

/// A segment for whatever is written at once.
pub(super) const ONE_SEGMENT: usize = 1 << 30;

impl Shape {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Own,
        Self::Frames,
        Self::Bytes,
        Self::All,
        Self::Twos,
        Self::Threes,
        Self::Uneven,
        Self::OneChunk,
        Self::ByteChunks,
        Self::SmallChunksInBytes,
    ];

    /// Those in which cuts are made unless something else is asked: what a client reads at once, frame by frame, and
    /// byte by byte. They leave the chunks alone, so that a byte is the same byte in each.
    pub const OF_CUTS: &'static [Self] = &[Self::Own, Self::Frames, Self::Bytes];

    /// Its name on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Frames => "frames",
            Self::Bytes => "bytes",
            Self::All => "all",
            Self::Twos => "twos",
            Self::Threes => "threes",
            Self::Uneven => "uneven",
            Self::OneChunk => "one-chunk",
            Self::ByteChunks => "byte-chunks",
            Self::SmallChunksInBytes => "small-chunks-in-bytes",
        }
    }

    /// Whether the chunks are others than the scenario's: then a byte on the wire is another one.
    #[must_use]
    pub const fn changes_chunks(self) -> bool {
        matches!(
            self,
            Self::OneChunk | Self::ByteChunks | Self::SmallChunksInBytes
        )
    }

    /// Segments of a single byte or a few: every one is waited for.
    pub(super) const fn is_slow(self) -> bool {
        matches!(
            self,
            Self::Bytes | Self::Twos | Self::Threes | Self::SmallChunksInBytes
        )
    }

    pub(super) fn segments(self) -> Option<Segments> {
        match self {
            Self::Own | Self::OneChunk | Self::ByteChunks => None,
            Self::Frames => Some(Segments::Sizes(vec![ONE_SEGMENT])),
            Self::Bytes | Self::SmallChunksInBytes => Some(Segments::Byte),
            Self::All => Some(Segments::All),
            Self::Twos => Some(Segments::Sizes(vec![2])),
            Self::Threes => Some(Segments::Sizes(vec![3])),
            Self::Uneven => Some(Segments::Sizes(vec![7, 1, 300])),
        }
    }

    pub(super) fn chunks(self) -> Option<Chunks> {
        match self {
            Self::OneChunk => Some(Chunks::One),
            Self::ByteChunks => Some(Chunks::Sizes(vec![1])),
            Self::SmallChunksInBytes => Some(Chunks::Sizes(vec![3])),
            _ => None,
        }
    }
}

impl FromStr for Shape {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut all = Self::ALL.iter().copied();
        all.find(|shape| shape.name() == text).ok_or(())
    }
}

/// `1:fin@117`, `2:rst@0/bytes`, `1:whole/twos`.
impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.attempt, self.by.name())?;
        if self.by != By::Whole {
            write!(f, "@{}", self.at)?;
        }
        if self.shape != Shape::Own {
            write!(f, "/{}", self.shape.name())?;
        }
        Ok(())
    }
}

/// Not the name of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a cut: as in `1:fin@117` (connect 1, by FIN, before byte 117), `2:rst@0/bytes` or `1:whole/twos`"
)]
pub struct NotACut;

impl FromStr for Cut {
    type Err = NotACut;

    fn from_str(text: &str) -> Result<Self, NotACut> {
        let (what, shape) = match text.split_once('/') {
            Some((what, shape)) => (what, shape.parse().map_err(|()| NotACut)?),
            None => (text, Shape::Own),
        };
        let (attempt, what) = what.split_once(':').ok_or(NotACut)?;
        let (by, at) = match what.split_once('@') {
            Some((by, at)) => (by, Some(at.parse().map_err(|_| NotACut)?)),
            None => (what, None),
        };
        let by: By = by.parse().map_err(|()| NotACut)?;
        let attempt = attempt.parse().map_err(|_| NotACut)?;
        // Only a stream that is written whole has no byte.
        if attempt == 0 || at.is_some() == (by == By::Whole) {
            return Err(NotACut);
        }
        Ok(Self {
            attempt,
            by,
            at: at.unwrap_or(0),
            shape,
        })
    }
}

impl Serialize for Cut {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_is_read_by_its_name() {
        for by in By::ALL {
            for shape in Shape::ALL {
                let at = if *by == By::Whole { 0 } else { 117 };
                let cut = Cut {
                    attempt: 2,
                    by: *by,
                    at,
                    shape: *shape,
                };
                assert_eq!(cut.to_string().parse(), Ok(cut));
            }
        }
        for wrong in [
            "",
            "fin@1",
            "0:fin@1",
            "1:fin",
            "1:whole@3",
            "1:fin@x",
            "1:fin@1/",
        ] {
            assert_eq!(wrong.parse::<Cut>(), Err(NotACut), "{wrong}");
        }
    }
}
