//! The steps of a stream, each a table on one line.

use super::text::{Inline, duration, json, list, quoted, word, writable};
use crate::{
    script::model::{FrameRef, Span, Step, Until},
    wire::Blob,
};
use serde_json::{Map, Value};

pub(super) fn step(step: &Step) -> String {
    let table = Inline::default();
    match step {
        Step::Send(span) => table.with("send", self::span(*span)),
        Step::SendOne(frame) => table.with("send", reference(*frame)),
        Step::Part { frame, bytes } => table
            .with("send", reference(*frame))
            .with("bytes", bytes.to_string()),
        Step::Edited {
            frame,
            with,
            without,
        } => {
            let table = table.with("send", reference(*frame));
            let set = !with.is_empty() || without.is_empty();
            table.maybe("with", set.then(|| fields(with))).maybe(
                "without",
                (!without.is_empty()).then(|| super::words(without)),
            )
        }
        Step::Frame { fields, is } => table
            .with("frame", self::fields(fields))
            .maybe("is", is.map(reference)),
        Step::Raw { bytes, is } => raw(bytes).maybe("is", is.map(reference)),
        Step::Heartbeat(count) => table.with("heartbeat", count.to_string()),
        Step::Exit { code, signal } => table.with(
            "exit",
            Inline::default()
                .maybe("code", code.map(|code| code.to_string()))
                .maybe("signal", signal.as_deref().map(quoted))
                .finish(),
        ),
        Step::Error { code, oldest } => table
            .with("error", quoted(code))
            .maybe("oldest", oldest.as_ref().map(json)),
        Step::Pause { ms } => table.with("pause", duration(*ms)),
        Step::Trickle {
            bytes,
            every_ms,
            step,
        } => table
            .with("trickle", bytes.to_string())
            .with("every", duration(*every_ms))
            .with("step", self::step(step)),
        Step::Every { every_ms, step } => table
            .with("every", duration(*every_ms))
            .with("step", self::step(step)),
        Step::Loop { count, steps } => table
            .with("loop", count.to_string())
            .with("steps", list(steps.iter().map(self::step).collect())),
        Step::Until(Until::Acked) => table.with("until", quoted("acked")),
        Step::Until(Until::Closed) => table.with("until", quoted("closed")),
        Step::Until(Until::Delivered(seq)) => table
            .with("until", quoted("delivered"))
            .with("seq", seq.to_string()),
        Step::End(end) => table.with("end", word(*end)),
        Step::Journal { oldest, newest } => table.with(
            "journal",
            Inline::default()
                .with("oldest", oldest.to_string())
                .with("newest", newest.to_string())
                .finish(),
        ),
    }
    .finish()
}

/// A line where it is one, else text or base64.
fn raw(bytes: &Blob) -> Inline {
    let table = Inline::default();
    let line = bytes
        .strip_suffix(b"\n")
        .filter(|line| !line.is_empty() && !line.contains(&b'\n'))
        .and_then(writable);
    match (line, writable(bytes)) {
        (Some(line), _) => table.with("line", quoted(line)),
        (None, Some(text)) => table.with("text", quoted(text)),
        (None, None) => table.with("base64", quoted(&bytes.to_base64())),
    }
}

fn span(span: Span) -> String {
    match span {
        Span::UpTo(to) => quoted(&format!("..{to}")),
        Span::Range(from, to) => quoted(&format!("{from}..{to}")),
        Span::Rest => quoted("rest"),
    }
}

fn reference(frame: FrameRef) -> String {
    match frame {
        FrameRef::Seq(seq) => seq.to_string(),
        FrameRef::Exit => quoted("exit"),
    }
}

/// Fields of a frame or an envelope.
pub(super) fn fields(fields: &Map<String, Value>) -> String {
    fields
        .iter()
        .fold(Inline::default(), |table, (name, field)| {
            table.with(name, json(field))
        })
        .finish()
}
