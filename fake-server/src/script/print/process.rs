//! `[process]`: frames as text where they are text, several alike as one item.

use super::text::{Inline, Lines, byte, duration, quoted, readable, size};
use crate::{
    script::{
        build,
        model::{Truth, TruthExit, TruthFrame},
        placeholders,
    },
    wire::{Op, ProcessKind, StreamName},
};

/// Frames alike from which on they are one item; fewer are quicker read when they are written out.
const RUN: usize = 4;
/// Bytes of a text that can be a template of several.
const TEMPLATE: usize = 200;
/// Bytes alike from which on a frame is filled.
const FILL: usize = 64;

pub(super) fn lines(truth: &Truth, op: Op) -> Lines {
    let mut lines = Lines::default();
    let default = build::default_truth(op);
    if *truth == default && !matches!(op, Op::Execute | Op::Follow | Op::Connect | Op::Terminal) {
        return lines;
    }
    if truth.kind != default.kind {
        lines.set("kind", quoted(truth.kind.name()));
    }
    if truth.first_seq != default.first_seq {
        lines.set("first-seq", truth.first_seq.to_string());
    }
    if truth.live {
        lines.set("live", "true".to_owned());
    }
    if truth.heartbeat_ms != default.heartbeat_ms {
        lines.set("heartbeat", duration(truth.heartbeat_ms));
    }
    if truth.journal_bytes != default.journal_bytes {
        lines.set("journal", size(truth.journal_bytes));
    }
    if truth.children != 0 {
        lines.set("children", truth.children.to_string());
    }
    let mut output = output(truth);
    match &truth.exit {
        TruthExit::Never => {
            lines.items("output", &output);
            lines.set("exit", quoted("never"));
        }
        TruthExit::Status {
            code,
            signal,
            pause_ms,
        } => {
            if *pause_ms > 0 {
                output.push(
                    Inline::default()
                        .with("pause", duration(*pause_ms))
                        .finish(),
                );
            }
            lines.items("output", &output);
            let exit = Inline::default()
                .maybe("code", code.map(|code| code.to_string()))
                .maybe("signal", signal.as_deref().map(quoted));
            lines.set("exit", exit.finish());
        }
    }
    lines
}

fn output(truth: &Truth) -> Vec<String> {
    let mut items = Vec::new();
    let mut left = truth.frames.as_slice();
    while let Some(first) = left.first() {
        let alike = alike(left);
        let (count, contents) = match alike {
            Some((count, template)) if count >= RUN => (count, contents(first, template, truth)),
            _ => (1, contents(first, None, truth)),
        };
        let item = Inline::default().maybe("repeat", (count > 1).then(|| count.to_string()));
        let item = contents
            .into_iter()
            .fold(item, |item, (key, value)| item.with(&key, value));
        let pause = (first.pause_ms > 0).then(|| duration(first.pause_ms));
        items.push(item.maybe("pause", pause).finish());
        left = &left[count..];
    }
    items
}

/// How many frames from here on are alike, and the text with `{n}` in it if they count.
fn alike(frames: &[TruthFrame]) -> Option<(usize, Option<String>)> {
    let (first, second) = (frames.first()?, frames.get(1)?);
    let count = |same: &dyn Fn(usize, &TruthFrame) -> bool| {
        frames
            .iter()
            .enumerate()
            .take_while(|(index, frame)| {
                frame.stream == first.stream
                    && frame.pause_ms == first.pause_ms
                    && same(index + 1, frame)
            })
            .count()
    };
    if first.data == second.data {
        return Some((count(&|_, frame| frame.data == first.data), None));
    }
    let text = truth_text(&first.data).filter(|text| text.len() <= TEMPLATE)?;
    let each = text
        .match_indices('1')
        .map(|(at, one)| format!("{}{{n}}{}", &text[..at], &text[at + one.len()..]));
    each.chain([text.replace('1', "{n}")])
        .map(|template| {
            let same = count(&|number, frame| {
                template.replace("{n}", &number.to_string()).as_bytes() == &*frame.data
            });
            (same, Some(template))
        })
        .max_by_key(|(same, _)| *same)
}

/// Stream and bytes of a frame: as text, as a filling, or as base64.
fn contents(frame: &TruthFrame, template: Option<String>, truth: &Truth) -> Vec<(String, String)> {
    let stream = frame.stream.name();
    if let Some(template) = template {
        return vec![(stream.to_owned(), quoted(&template))];
    }
    if let Some(first) = frame.data.first()
        && frame.data.len() >= FILL
        && frame.data.iter().all(|one| one == first)
    {
        let default = match truth.kind {
            ProcessKind::Pty => StreamName::Pty,
            ProcessKind::Pipe => StreamName::Stdout,
        };
        let mut parts = vec![("fill".to_owned(), size(frame.data.len() as u64))];
        if *first != b'x' {
            parts.push(("byte".to_owned(), byte(*first)));
        }
        if frame.stream != default {
            parts.push(("stream".to_owned(), quoted(stream)));
        }
        return parts;
    }
    match truth_text(&frame.data) {
        Some(text) => vec![(stream.to_owned(), quoted(text))],
        None => vec![(format!("{stream}-base64"), quoted(&frame.data.to_base64()))],
    }
}

/// Bytes as text that the truth may hold: nothing in it is filled in.
fn truth_text(bytes: &[u8]) -> Option<&str> {
    readable(bytes)
        .filter(|text| placeholders::names(text).all(|name| !placeholders::KNOWN.contains(&name)))
}
