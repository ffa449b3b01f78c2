//! How long a payload is before it is written, for framings that announce it.

use super::coding::Coder;
use crate::{
    script::{
        expand::{Piece, may_hold_placeholders, substitute},
        model::{Chunks, End},
    },
    session::{RawAnswer, RawBody},
    wirelog::{Names, Payload},
};
use std::borrow::Cow;

/// The payload with the trial's names in the place of placeholders.
pub(super) fn named<'b>(what: Payload, bytes: &'b [u8], names: &Names) -> Cow<'b, [u8]> {
    if may_hold_placeholders(what) && bytes.contains(&b'{') {
        Cow::Owned(substitute(bytes, names))
    } else {
        Cow::Borrowed(bytes)
    }
}

/// The length of the payload as it leaves, as far as it can be known beforehand. Only looked at where
/// the framing needs it.
pub(super) fn measure(answer: &RawAnswer, names: &Names) -> u64 {
    let is_needed = answer.content_length.is_some()
        || answer.transfer_encoding_also
        || answer.chunks == Chunks::One
        || matches!(answer.body, RawBody::Bytes(_));
    if !is_needed {
        return 0;
    }
    let mut coder = answer.encoding.map(Coder::new);
    let mut total = 0;
    let mut count = |what: Payload, bytes: &[u8]| {
        let bytes = named(what, bytes, names);
        let length = coder
            .as_mut()
            .map_or(bytes.len(), |coder| coder.push(&bytes).len());
        // usize is at most 64 bits wide.
        total += length as u64;
    };
    let mut is_complete = true;
    match &answer.body {
        RawBody::Bytes(bytes) => count(Payload::Plain, bytes),
        RawBody::Endless(_) => {}
        body @ (RawBody::Pieces(_) | RawBody::Faithful(_)) => {
            for piece in body.clone().into_pieces() {
                match &piece {
                    Piece::Bytes { what, bytes, .. } => count(*what, bytes),
                    Piece::Trickle {
                        what,
                        bytes,
                        portion,
                        ..
                    } => {
                        for slice in bytes.chunks((*portion).max(1)) {
                            count(*what, slice);
                        }
                    }
                    Piece::End(end) => is_complete = *end == End::Chunk,
                    Piece::Pause { .. } | Piece::Until(_) | Piece::Every { .. } => {}
                }
            }
        }
    }
    let rest = coder.map_or(0, |mut coder| coder.finish(is_complete).len());
    total + rest as u64
}
