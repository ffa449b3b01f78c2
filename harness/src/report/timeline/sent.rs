//! The words for what the server sent, and whether a faithful server would have sent it.

use super::{Act, SHOWN};
use crate::report::text::{count, cut, harmless, quoted};
use fake_server::{
    script::model::{Cut, CutPoint, End, FrameRef, Truth, TruthExit, Until},
    wire::{
        Call, StreamName,
        frame::{data_line, exit_line},
    },
    wirelog::{AnswerEnd, Exchange, Payload, Sent},
};

/// Runs of true frames up to this long are shown one by one.
const FRAMES_SHOWN: u64 = 3;

/// How true frames leave the order, if they do. What stands for a frame counts as that frame.
pub(super) fn jump_words(sent: &Sent, next: &mut u64) -> Option<String> {
    let (from, to) = match sent {
        Sent::Frames { from, to, .. } => (*from, *to),
        Sent::Body {
            what:
                Payload::True(FrameRef::Seq(seq))
                | Payload::Edited(FrameRef::Seq(seq))
                | Payload::Forged(Some(FrameRef::Seq(seq)))
                | Payload::Raw(Some(FrameRef::Seq(seq))),
            ..
        } => (*seq, *seq),
        _ => return None,
    };
    let expected = std::mem::replace(next, (*next).max(to.saturating_add(1)));
    if from < expected {
        return Some("(again)".to_owned());
    }
    match from - expected {
        0 => None,
        1 => Some(format!("(frame {expected} left out)")),
        _ => Some(format!("(frames {expected} to {} left out)", from - 1)),
    }
}

/// A whole answer as every server would give it, in one line.
pub(super) fn ordinary_words(exchange: &Exchange) -> Option<String> {
    let [
        Sent::Head {
            status,
            http10: false,
            ..
        },
        rest @ ..,
    ] = &exchange.answer[..]
    else {
        return None;
    };
    if exchange.fault.is_some() || exchange.call == Some(Call::Connect) {
        return None;
    }
    match rest {
        [
            Sent::End {
                how: AnswerEnd::Complete,
                ..
            },
        ] => Some(status.to_string()),
        [
            Sent::Body {
                what: Payload::Plain,
                bytes,
                ..
            },
            Sent::End {
                how: AnswerEnd::Complete,
                ..
            },
        ] => Some(format!("{status}, {}", count(bytes.len(), "byte", "bytes"))),
        _ => None,
    }
}

pub(super) fn sent_words(sent: &Sent, scripted: bool, is_stream: bool, truth: &Truth) -> Vec<Act> {
    match sent {
        Sent::Head {
            http10,
            status,
            reason,
            headers,
        } => {
            vec![head_words(*http10, *status, reason, headers, scripted)]
        }
        Sent::Frames { from, to, acked } => frames_words(*from, *to, *acked, truth)
            .into_iter()
            .map(Act::Faithful)
            .collect(),
        Sent::Body {
            what,
            bytes,
            framed,
            acked,
        } => {
            let (mut words, faithful) = payload_words(*what, bytes, truth);
            if !framed {
                words.push_str(", beyond the framing");
            }
            if !acked {
                words.push_str(", not acknowledged");
            }
            let faithful = faithful && *framed && !(scripted && *what == Payload::Plain);
            vec![if faithful {
                Act::Faithful(words)
            } else {
                Act::Deviates(words)
            }]
        }
        Sent::Waited(until) => vec![Act::Faithful(match until {
            Until::Acked => "waited until all was acknowledged".to_owned(),
            Until::Delivered(seq) => format!("waited until frame {seq} was handed over"),
            Until::Closed => "waited until the client closed".to_owned(),
        })],
        Sent::End {
            how: AnswerEnd::Complete,
            ..
        } if is_stream => {
            vec![Act::Faithful("the body ends cleanly".to_owned())]
        }
        Sent::End { how, acked } => vec![end_words(*how, *acked)],
    }
}

fn head_words(
    http10: bool,
    status: u16,
    reason: &str,
    headers: &[(String, String)],
    scripted: bool,
) -> Act {
    const USUAL: &[&str] = &[
        "content-type",
        "content-length",
        "transfer-encoding",
        "connection",
        "date",
        "x-request-id",
    ];
    let mut words = status.to_string();
    if status >= 300 && !reason.is_empty() {
        words.push_str(&harmless(&format!(" {reason}")));
    }
    if http10 {
        words.push_str(" (HTTP/1.0)");
    }
    for (name, value) in headers {
        if !USUAL.contains(&name.as_str()) {
            words.push_str(&harmless(&format!(", {name}: {}", cut(value, SHOWN))));
        }
    }
    if scripted && (http10 || status >= 300) {
        Act::Deviates(words)
    } else {
        Act::Faithful(words)
    }
}

fn frames_words(from: u64, to: u64, acked: bool, truth: &Truth) -> Vec<String> {
    let frames = truth
        .frames
        .iter()
        .filter(|frame| (from..=to).contains(&frame.seq));
    let mut words: Vec<String> = if to.saturating_sub(from) < FRAMES_SHOWN {
        frames
            .map(|frame| frame_words(frame.seq, frame.stream, &frame.data))
            .collect()
    } else {
        let bytes: usize = frames.map(|frame| frame.data.len()).sum();
        vec![format!(
            "frames {from} to {to}, {}",
            count(bytes, "byte", "bytes")
        )]
    };
    if !acked && let Some(last) = words.last_mut() {
        last.push_str(", not acknowledged");
    }
    words
}

fn frame_words(seq: u64, stream: StreamName, data: &[u8]) -> String {
    format!("frame {seq} {stream} {}", quoted(data, SHOWN))
}

/// What left, and whether it is the truth.
fn payload_words(what: Payload, bytes: &[u8], truth: &Truth) -> (String, bool) {
    let raw = quoted(bytes, 2 * SHOWN);
    let size = count(bytes.len(), "byte", "bytes");
    match what {
        Payload::True(FrameRef::Seq(seq)) => {
            let words = truth
                .frames
                .iter()
                .find(|frame| frame.seq == seq)
                .map_or_else(
                    || format!("frame {seq}"),
                    |frame| frame_words(seq, frame.stream, &frame.data),
                );
            (words, true)
        }
        Payload::True(FrameRef::Exit) => (true_exit_words(&truth.exit), true),
        Payload::Part(frame) => (format!("{size} of {}: {raw}", frame_name(frame)), false),
        Payload::Edited(frame) => {
            let changed = difference(&true_line(frame, truth), bytes);
            (format!("{}, changed: {changed}", frame_name(frame)), false)
        }
        Payload::Forged(None) => (format!("forged frame {raw}"), false),
        Payload::Forged(Some(frame)) => (format!("forged as {}: {raw}", frame_name(frame)), false),
        Payload::Raw(None) => (format!("raw {raw}"), false),
        Payload::Raw(Some(frame)) => (format!("{}, written as {raw}", frame_name(frame)), false),
        Payload::Heartbeat => ("heartbeat".to_owned(), true),
        Payload::Exit => (format!("exit frame {raw}"), false),
        Payload::Error => (format!("error frame {raw}"), false),
        Payload::Plain => (raw, true),
    }
}

/// The part of a changed line that differs from the true one, with a little of what stands before it.
fn difference(line: &[u8], seen: &[u8]) -> String {
    const BEFORE: usize = 12;
    let prefix = line.iter().zip(seen).take_while(|(a, b)| a == b).count();
    let mut from = prefix.saturating_sub(BEFORE);
    while from > 0 && (seen[from] & 0xc0) == 0x80 {
        from -= 1;
    }
    if from <= 1 {
        return quoted(seen, 2 * SHOWN);
    }
    format!("…{}", quoted(&seen[from..], 2 * SHOWN))
}

fn true_line(frame: FrameRef, truth: &Truth) -> Vec<u8> {
    match (frame, &truth.exit) {
        (FrameRef::Seq(seq), _) => truth
            .frames
            .iter()
            .find(|known| known.seq == seq)
            .map_or_else(Vec::new, |known| data_line(seq, known.stream, &known.data)),
        (FrameRef::Exit, TruthExit::Status { code, signal, .. }) => {
            exit_line(*code, signal.as_deref())
        }
        (FrameRef::Exit, TruthExit::Never) => Vec::new(),
    }
}

fn frame_name(frame: FrameRef) -> String {
    match frame {
        FrameRef::Seq(seq) => format!("frame {seq}"),
        FrameRef::Exit => "the exit frame".to_owned(),
    }
}

fn true_exit_words(exit: &TruthExit) -> String {
    match exit {
        TruthExit::Status { code, signal, .. } => {
            let mut words = "exit frame".to_owned();
            if let Some(code) = code {
                words.push_str(&format!(", code {code}"));
            }
            if let Some(signal) = signal {
                words.push_str(&harmless(&format!(", signal {signal}")));
            }
            words
        }
        TruthExit::Never => "exit frame".to_owned(),
    }
}

pub(super) fn cut_words(cut: Cut) -> String {
    let how = if cut.reset { "resets" } else { "closes" };
    let when = match cut.at {
        CutPoint::Accept => "on accept",
        CutPoint::HeadRead => "once the head was read",
        CutPoint::BodyRead => "once the request was read",
    };
    format!("{how} the connection {when}, no answer")
}

fn end_words(how: AnswerEnd, acked: bool) -> Act {
    let (words, deviates) = match how {
        AnswerEnd::Complete => ("answer complete".to_owned(), false),
        AnswerEnd::CloseDelimited => ("close, which ends the body".to_owned(), false),
        AnswerEnd::Scripted(End::Chunk) => ("zero chunk: a clean end".to_owned(), true),
        AnswerEnd::Scripted(End::Fin) => ("FIN without the zero chunk".to_owned(), true),
        AnswerEnd::Scripted(End::Reset) => ("RST, after all was acknowledged".to_owned(), true),
        AnswerEnd::Scripted(End::ResetNow) => ("RST at once".to_owned(), true),
        AnswerEnd::Scripted(End::Hold) => ("silence, the socket stays open".to_owned(), true),
        AnswerEnd::Scripted(End::TruncatedChunk) => {
            ("a chunk that breaks off, FIN".to_owned(), true)
        }
        AnswerEnd::Scripted(End::BadChunk) => {
            ("a chunk size that is no number, FIN".to_owned(), true)
        }
        AnswerEnd::Cut(cut) => (cut_words(cut), true),
        AnswerEnd::Held => ("held without an answer, then closed".to_owned(), true),
        AnswerEnd::Short => ("FIN before Content-Length is reached".to_owned(), true),
        AnswerEnd::TrialOver => ("(the trial is over)".to_owned(), false),
    };
    let promised = matches!(how, AnswerEnd::Scripted(End::Reset)) && !acked;
    let words = if promised {
        "RST, before all was acknowledged".to_owned()
    } else {
        words
    };
    if deviates {
        Act::Deviates(words)
    } else {
        Act::Faithful(words)
    }
}
