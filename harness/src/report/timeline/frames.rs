//! The words for frames, true ones and what is made of them.

use super::SHOWN;
use crate::report::text::{count, harmless, quoted};
use fake_server::{
    script::model::{FrameRef, Truth, TruthExit},
    wire::{
        StreamName,
        frame::{data_line, exit_line},
    },
    wirelog::Payload,
};

/// Runs of true frames up to this long are shown one by one.
const FRAMES_SHOWN: u64 = 3;

/// Faithful frames, one by one or as a run.
pub(super) fn frames_words(from: u64, to: u64, acked: bool, truth: &Truth) -> Vec<String> {
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
pub(super) fn payload_words(what: Payload, bytes: &[u8], truth: &Truth) -> (String, bool) {
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
