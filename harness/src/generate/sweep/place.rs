//! Where a byte stands: which frame, which part of it, and a picture of it.

use super::{Cut, Swept};
use fake_server::{
    script::{
        expand::Piece,
        framing::{Part, PartOf},
        model::FrameRef,
    },
    wirelog::Payload,
};

/// Bytes before and after a cut that are shown.
const BEFORE: usize = 36;
const AFTER: usize = 24;

/// A cut, shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// `byte 117 of 412 on the wire, inside the base64 of frame 3`.
    pub place: String,
    /// Bytes before the cut, more of them to the left where `is_begun`.
    pub before: Vec<u8>,
    /// Bytes after it, which nobody gets; more of them to the right where `goes_on`.
    pub after: Vec<u8>,
    /// There is more on the left.
    pub is_begun: bool,
    /// There is more on the right.
    pub goes_on: bool,
}

/// The bytes around a cut. For a byte of the lines the lines are shown, without their chunks.
#[must_use]
pub fn picture(stream: &Swept, cut: &Cut) -> Picture {
    let layout = &stream.layout;
    let at = usize::try_from(cut.at).unwrap_or(usize::MAX);
    let (bytes, of, wire) = if cut.by.counts_payload() {
        let mut lines = Vec::new();
        let mut wire = layout.bytes.len();
        for part in &layout.parts {
            if matches!(part.what, PartOf::Payload { .. }) {
                let length = part.to - part.from;
                if (lines.len()..lines.len() + length).contains(&at) {
                    wire = part.from + (at - lines.len());
                }
                lines.extend_from_slice(&layout.bytes[part.from..part.to]);
            }
        }
        (lines, "of the lines", wire)
    } else {
        (layout.bytes.clone(), "on the wire", at)
    };
    let at = at.min(bytes.len());
    let from = at.saturating_sub(BEFORE);
    let to = (at + AFTER).min(bytes.len());
    Picture {
        place: format!(
            "byte {at} of {} {of}, {}",
            bytes.len(),
            where_is(stream, wire, cut.by.counts_payload())
        ),
        before: bytes[from..at].to_vec(),
        after: bytes[at..to].to_vec(),
        is_begun: from > 0,
        goes_on: to < bytes.len(),
    }
}

/// Where a byte on the wire stands, in words.
fn where_is(stream: &Swept, wire: usize, lines_only: bool) -> String {
    let layout = &stream.layout;
    let Some((index, part)) = layout
        .parts
        .iter()
        .enumerate()
        .find(|(_, part)| (part.from..part.to).contains(&wire))
    else {
        return "after the last of them".to_owned();
    };
    let is_inside = wire > part.from;
    match part.what {
        PartOf::Payload { piece, offset } => {
            let offset = offset + wire - part.from;
            let name = name(&stream.pieces, piece);
            if offset == 0 {
                let before = if is_inside || lines_only {
                    "before"
                } else {
                    "where its chunk begins, before"
                };
                return format!("{before} {name}");
            }
            format!("{} {name}", inside(&stream.pieces, piece, offset))
        }
        PartOf::Size => {
            let next = owner(&layout.parts[index..]).map(|piece| name(&stream.pieces, piece));
            let of = next.map_or_else(String::new, |name| format!(" with {name}"));
            let inside = if is_inside {
                "inside the size of"
            } else {
                "before"
            };
            format!("{inside} the chunk{of}")
        }
        PartOf::ChunkEnd => {
            let last = layout.parts[..index].iter().rev().find_map(piece_of);
            let of = last.map_or_else(String::new, |piece| {
                format!(" with {}", name(&stream.pieces, piece))
            });
            let inside = if is_inside {
                "between CR and LF"
            } else {
                "before the CR LF"
            };
            format!("{inside} that ends the chunk{of}")
        }
        PartOf::ZeroChunk => if is_inside {
            "inside the zero chunk"
        } else {
            "before the zero chunk"
        }
        .to_owned(),
        PartOf::Wreck => "in the broken chunk size".to_owned(),
    }
}

fn owner(parts: &[Part]) -> Option<usize> {
    parts.iter().find_map(piece_of)
}

const fn piece_of(part: &Part) -> Option<usize> {
    match part.what {
        PartOf::Payload { piece, .. } => Some(piece),
        _ => None,
    }
}

/// Which part of a line, up to the name of the line.
fn inside(pieces: &[Piece], piece: usize, offset: usize) -> &'static str {
    const KEY: &[u8] = b"\"data_base64\":\"";
    let Some(Piece::Bytes { bytes, .. } | Piece::Trickle { bytes, .. }) = pieces.get(piece) else {
        return "inside";
    };
    if offset >= bytes.len() {
        return "after";
    }
    if offset + 1 == bytes.len() && bytes.ends_with(b"\n") {
        return "before the LF of";
    }
    let begins = bytes
        .windows(KEY.len())
        .position(|part| part == KEY)
        .map(|at| at + KEY.len());
    let is_base64 = begins.is_some_and(|begins| {
        let length = bytes[begins..].iter().position(|byte| *byte == b'"');
        length.is_some_and(|length| begins < offset && offset < begins + length)
    });
    if is_base64 {
        "inside the base64 of"
    } else if bytes[offset] & 0xc0 == 0x80 {
        "inside a character of"
    } else {
        "inside"
    }
}

fn name(pieces: &[Piece], piece: usize) -> String {
    let Some(Piece::Bytes { what, .. } | Piece::Trickle { what, .. }) = pieces.get(piece) else {
        return "what repeats".to_owned();
    };
    let of = |frame: FrameRef| fake_server::script::describe::frame(frame);
    match what {
        Payload::True(frame) => of(*frame),
        Payload::Part(frame) => format!("a part of {}", of(*frame)),
        Payload::Edited(frame) => format!("{}, changed", of(*frame)),
        Payload::Forged(Some(frame)) | Payload::Raw(Some(frame)) => {
            format!("what stands for {}", of(*frame))
        }
        Payload::Forged(None) => "a forged frame".to_owned(),
        Payload::Raw(None) => "raw bytes".to_owned(),
        Payload::Heartbeat => "a heartbeat".to_owned(),
        Payload::Exit => "an exit frame".to_owned(),
        Payload::Error => "the error frame".to_owned(),
        Payload::Plain => "the body".to_owned(),
    }
}
