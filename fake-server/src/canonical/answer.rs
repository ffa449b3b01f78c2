//! The lines for one answer.

use super::{cut_words, escaped, tail::Reader};
use crate::{
    script::model::{End, FrameRef, Until},
    wire::{Blob, Call},
    wirelog::{AnswerEnd, Exchange, Payload, Sent},
};
use std::fmt;

/// Stands for what is repeated.
const AGAIN: &str = "and again";
/// Bytes of a body that are shown.
const SHOWN: usize = 512;
/// A body beyond this is told as such, without its length: where a client stops reading it depends on
/// how much the system buffers.
const LARGE: usize = 64 << 10;

/// The answer, entry by entry, up to the last one that a right client needs. `hide` takes names and times out of a text.
pub(super) fn lines(exchange: &Exchange, hide: impl Fn(&str) -> String) -> Vec<String> {
    let mut entries = joined(&exchange.answer);
    for entry in &mut entries {
        // What is shortened is told by its hash, which may not depend on them.
        if let Sent::Body {
            what: Payload::Plain,
            bytes,
            ..
        } = entry
            && (SHOWN + 1..=LARGE).contains(&bytes.len())
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            bytes.0 = hide(text).into_bytes();
        }
    }
    let is_stream = exchange.call == Some(Call::Connect) && entries.iter().any(is_frame);
    let after = exchange.request.query_values("after").next();
    let mut reader = Reader::new(after.and_then(|after| after.parse().ok()));
    let mut lines: Vec<String> = Vec::new();
    let count = entries.len();
    for (index, entry) in entries.iter().enumerate() {
        let is_last = index + 1 == count;
        let (line, is_enough) = match entry {
            Sent::Head {
                http10,
                status,
                reason,
                headers,
            } => {
                let version = if *http10 { "1.0" } else { "1.1" };
                lines.push(format!("HTTP/{version} {status} {reason}"));
                lines.extend(
                    headers
                        .iter()
                        // It counts arrivals, and which of two requests came first may differ.
                        .filter(|(name, _)| name != "x-request-id")
                        .map(|(name, value)| format!("{name}: {value}")),
                );
                continue;
            }
            Sent::Frames { from, to, .. } => {
                let is_enough = is_stream && reader.frames(*from, *to);
                // Later frames of the run may have been held back by a wait.
                let to = if is_enough { *from } else { *to };
                (frames(*from, to), is_enough)
            }
            Sent::Body {
                what,
                bytes,
                framed,
                ..
            } => {
                let is_enough = bytes.len() > LARGE && *what == Payload::Plain
                    || is_stream && reader.bytes(*what, bytes);
                (body(*what, bytes, *framed, is_last), is_enough)
            }
            Sent::Waited(Until::Closed) => continue,
            Sent::Waited(Until::Acked) => ("waited until it was acknowledged".to_owned(), false),
            Sent::Waited(Until::Delivered(seq)) => {
                (format!("waited until frame {seq} was delivered"), false)
            }
            Sent::End { how, acked } => (end(*how, *acked), false),
        };
        push(&mut lines, line);
        if is_enough {
            return lines;
        }
    }
    let has_ended = matches!(entries.last(), Some(Sent::End { .. }));
    if !has_ended && lines.last().is_some_and(|last| last == AGAIN) {
        // The client left a repetition: after the first round or a later one depends on who was faster.
        lines.pop();
    }
    lines
}

/// Where one thing is repeated, how often says little: the client may leave at any time.
fn push(lines: &mut Vec<String>, line: String) {
    match lines.as_slice() {
        [.., last] if *last == line => lines.push(AGAIN.to_owned()),
        [.., before, last] if last == AGAIN && *before == line => {}
        _ => lines.push(line),
    }
}

/// Entries of which the log shows the acknowledged beginning apart, in one again.
fn joined(answer: &[Sent]) -> Vec<Sent> {
    let mut entries: Vec<Sent> = Vec::new();
    for sent in answer {
        match (entries.last_mut(), sent) {
            (Some(Sent::Frames { to: last, .. }), Sent::Frames { from, to, .. })
                if *last + 1 == *from =>
            {
                *last = *to;
            }
            (
                Some(Sent::Body {
                    what: last_what,
                    bytes: last,
                    framed: last_framed,
                    ..
                }),
                Sent::Body {
                    what,
                    bytes,
                    framed,
                    ..
                },
            ) if last_what == what
                && last_framed == framed
                && (*what == Payload::Plain || last.len() >= LARGE) =>
            {
                last.0.extend_from_slice(bytes);
            }
            _ => entries.push(sent.clone()),
        }
    }
    entries
}

const fn is_frame(sent: &Sent) -> bool {
    match sent {
        Sent::Frames { .. } => true,
        Sent::Body { what, .. } => !matches!(what, Payload::Plain),
        _ => false,
    }
}

fn frames(from: u64, to: u64) -> String {
    if from == to {
        format!("frame {from}")
    } else {
        format!("frames {from} to {to}")
    }
}

/// `is_last`: no end follows, so the client left before it, or the log was taken before it.
fn body(what: Payload, bytes: &Blob, framed: bool, is_last: bool) -> String {
    let mut line = match what {
        Payload::Plain if is_last || bytes.len() > LARGE => {
            return format!("{}... (as far as the client read)", beginning(bytes));
        }
        Payload::Plain => String::new(),
        Payload::True(frame) => format!("the true {}: ", Frame(frame)),
        Payload::Part(frame) if is_last => {
            return format!("a part of the true {}, until the client left", Frame(frame));
        }
        Payload::Part(frame) => format!("a part of the true {}: ", Frame(frame)),
        Payload::Edited(frame) => format!("instead of {}: ", Frame(frame)),
        Payload::Forged(Some(frame)) | Payload::Raw(Some(frame)) => {
            format!("for {}: ", Frame(frame))
        }
        Payload::Forged(None) => "forged: ".to_owned(),
        Payload::Raw(None) => "raw: ".to_owned(),
        Payload::Heartbeat => "heartbeat ".to_owned(),
        Payload::Exit => "exit: ".to_owned(),
        Payload::Error => "error: ".to_owned(),
    };
    if !framed {
        line.insert_str(0, "beyond its length: ");
    }
    if what != Payload::Heartbeat {
        line.push_str(&quoted(bytes));
    }
    line.trim_end().to_owned()
}

struct Frame(FrameRef);

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            FrameRef::Seq(seq) => write!(f, "frame {seq}"),
            FrameRef::Exit => f.write_str("exit"),
        }
    }
}

/// The first bytes, whole characters of them.
fn beginning(bytes: &Blob) -> String {
    let mut cut = bytes.len().min(64);
    while cut > 0 && cut < bytes.len() && bytes[cut] & 0b1100_0000 == 0b1000_0000 {
        cut -= 1;
    }
    escaped(&Blob::from(&bytes[..cut]))
}

/// A body in one line, shortened.
pub(super) fn quoted(bytes: &Blob) -> String {
    if bytes.len() <= SHOWN {
        return escaped(bytes);
    }
    let beginning = beginning(bytes);
    if bytes.len() > LARGE {
        return format!("{beginning}... (more than 64 KiB)");
    }
    // FNV-1a: enough to see that the bytes are others.
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{beginning}... ({} bytes, {hash:016x})", bytes.len())
}

fn end(how: AnswerEnd, acked: bool) -> String {
    match how {
        AnswerEnd::Complete => "complete".to_owned(),
        AnswerEnd::CloseDelimited => "complete by close".to_owned(),
        AnswerEnd::Scripted(End::Reset) if !acked => "reset, unacknowledged".to_owned(),
        AnswerEnd::Scripted(end) => match end {
            End::Chunk => "zero chunk",
            End::Fin => "FIN",
            End::Reset => "reset",
            End::ResetNow => "reset without waiting",
            End::Hold => "nothing more",
            End::TruncatedChunk => "truncated chunk, FIN",
            End::BadChunk => "bad chunk header, FIN",
        }
        .to_owned(),
        AnswerEnd::Cut(cut) => cut_words(cut).to_owned(),
        AnswerEnd::Held => "no answer, closed".to_owned(),
        AnswerEnd::Short => "FIN before the announced length".to_owned(),
        AnswerEnd::TrialOver => "open when the trial ended".to_owned(),
    }
}
