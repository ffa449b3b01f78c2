//! Placeholders in what goes over the wire: the names of a trial, and the round of a loop.

use super::expand::Piece;
use crate::wirelog::{Names, Payload};

/// Whether bytes of this kind may hold placeholders, that is, were written by a scenario's author.
#[must_use]
pub const fn may_hold_placeholders(what: Payload) -> bool {
    matches!(
        what,
        Payload::Forged(_) | Payload::Raw(_) | Payload::Edited(_) | Payload::Error | Payload::Plain
    )
}

/// Replaces `{api-key}`, `{canary}`, `{base-url}`, `{trap-url}`, `{sandbox}` and `{process}` by the
/// names of the trial. What is put in is not looked at again.
#[must_use]
pub fn substitute(bytes: &[u8], names: &Names) -> Vec<u8> {
    let table: [(&[u8], &str); 6] = [
        (b"{api-key}", &names.api_key),
        (b"{canary}", &names.canary),
        (b"{base-url}", &names.base_url),
        (b"{trap-url}", &names.trap_url),
        (b"{sandbox}", &names.sandbox_id),
        (b"{process}", &names.process_id),
    ];
    replace(bytes, &table)
}

fn replace(bytes: &[u8], table: &[(&[u8], &str)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == b'{') {
        let (before, from) = rest.split_at(at);
        out.extend_from_slice(before);
        if let Some((key, value)) = table.iter().find(|(key, _)| from.starts_with(key)) {
            out.extend_from_slice(value.as_bytes());
            rest = &from[key.len()..];
        } else {
            out.push(b'{');
            rest = &from[1..];
        }
    }
    out.extend_from_slice(rest);
    out
}

/// Replaces `{n}` in what the author wrote.
pub(super) fn numbered(piece: Piece, number: &str) -> Piece {
    let fill = |what: Payload, bytes: Vec<u8>| {
        if may_hold_placeholders(what) {
            replace(&bytes, &[(b"{n}", number)])
        } else {
            bytes
        }
    };
    match piece {
        Piece::Bytes { step, what, bytes } => Piece::Bytes {
            step,
            what,
            bytes: fill(what, bytes),
        },
        Piece::Trickle {
            step,
            what,
            bytes,
            portion,
            every_ms,
        } => Piece::Trickle {
            step,
            what,
            bytes: fill(what, bytes),
            portion,
            every_ms,
        },
        Piece::Every { every_ms, pieces } => Piece::Every {
            every_ms,
            pieces: pieces
                .into_iter()
                .map(|piece| numbered(piece, number))
                .collect(),
        },
        other => other,
    }
}
