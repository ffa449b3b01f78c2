//! `[[fault]]`: the call it meets, the connection, the answer, the stream.

use super::{
    steps,
    text::{Inline, Lines, byte, duration, json, list, quoted, word},
};
use crate::{
    script::model::{
        Attempts, Behaviour, BreakPlace, Chunks, Coding, ConnectionUse, Content, CutPoint, Effect,
        Encoding, End, Fault, Redirect, Segments,
    },
    wire::Call,
};

/// `all` are the faults of the plan: beside another fault one may say nothing.
pub(super) fn lines(fault: &Fault, all: &[Fault]) -> Lines {
    let mut lines = Lines::default();
    lines.set("on", quoted(fault.on.map_or("any", Call::name)));
    lines.set("attempt", attempts(fault.attempts));
    if let Some(after) = fault.when_after {
        lines.set(
            "when",
            Inline::default().with("after", after.to_string()).finish(),
        );
    }
    if let Some(used) = fault.on_connection {
        lines.set("on-connection", word::<ConnectionUse>(used));
    }
    if fault.bait {
        lines.set("bait", "true".to_owned());
    }
    let mut said = Lines::default();
    connection(&fault.behaviour, &mut said);
    answer(&fault.behaviour, &mut said);
    let exception = all.iter().any(|other| {
        other.number != fault.number
            && other.on == fault.on
            && other.attempts.covers(fault.attempts.first())
    });
    if said.is_empty() && !exception {
        // What changes nothing has to say so, or the reader would take it for a slip.
        said.set("segments", quoted("frame"));
    }
    lines.append(said);
    lines
}

fn attempts(attempts: Attempts) -> String {
    match attempts {
        Attempts::Nth(nth) => nth.to_string(),
        Attempts::Range(from, to) => quoted(&format!("{from}..{to}")),
        Attempts::From(from) => quoted(&format!("{from}..")),
        Attempts::Every => quoted("every"),
    }
}

fn connection(behaviour: &Behaviour, lines: &mut Lines) {
    if let Some(ms) = behaviour.delay_ms {
        lines.set("delay", duration(ms));
    }
    if behaviour.refuse {
        lines.set("refuse", "true".to_owned());
    }
    if let Some(cut) = behaviour.cut {
        let at = Inline::default().with("at", word::<CutPoint>(cut.at));
        lines.set(if cut.reset { "reset" } else { "close" }, at.finish());
    }
    if let Some(ms) = behaviour.hold_ms {
        lines.set("hold", duration(ms));
    }
    if behaviour.http10 {
        lines.set("http", quoted("1.0"));
    }
}

fn answer(behaviour: &Behaviour, lines: &mut Lines) {
    if let Some(status) = behaviour.status {
        lines.set("status", status.to_string());
    }
    if let Some(reason) = &behaviour.reason {
        lines.set("reason", quoted(reason));
    }
    if !behaviour.headers.is_empty() {
        let headers = behaviour
            .headers
            .iter()
            .fold(Inline::default(), |table, (name, values)| {
                table.with(name, super::words(values))
            });
        lines.set("headers", headers.finish());
    }
    if let Some(bytes) = behaviour.content_length {
        lines.set("content-length", quoted(&format!("{bytes:+}")));
    }
    if behaviour.transfer_encoding_also {
        lines.set("transfer-encoding", quoted("also"));
    }
    if let Some(encoding) = &behaviour.encoding {
        lines.set("encoding", self::encoding(encoding));
    }
    match &behaviour.segments {
        Segments::Frame => {}
        Segments::Byte => lines.set("segments", quoted("byte")),
        Segments::All => lines.set("segments", quoted("all")),
        Segments::Sizes(sizes) => lines.numbers("segments", sizes),
    }
    match &behaviour.chunks {
        Chunks::Frame => {}
        Chunks::One => lines.set("chunks", quoted("one")),
        Chunks::Step => lines.set("chunks", quoted("step")),
        Chunks::Sizes(sizes) => lines.numbers("chunks", sizes),
    }
    if let Some(broken) = behaviour.break_at {
        let (unit, at) = match broken.at {
            BreakPlace::Wire(byte) => ("byte", byte),
            BreakPlace::Payload(byte) => ("payload", byte),
        };
        let table = Inline::default()
            .with(unit, at.to_string())
            .with("by", word::<End>(broken.by));
        lines.set("break-at", table.finish());
    }
    content(&behaviour.content, lines);
    if let Some(effect) = behaviour.effect {
        lines.set("effect", word::<Effect>(effect));
    }
}

fn encoding(encoding: &Encoding) -> String {
    Inline::default()
        .with("coding", word::<Coding>(encoding.coding))
        .maybe("flush", (!encoding.flush_frames).then(|| quoted("never")))
        .maybe("cut", encoding.cut.map(|bytes| bytes.to_string()))
        .maybe("lie", encoding.lie.then(|| "true".to_owned()))
        .maybe(
            "extra",
            (encoding.extra > 0).then(|| encoding.extra.to_string()),
        )
        .finish()
}

fn content(content: &Content, lines: &mut Lines) {
    let body = |key: &str, value: String| Inline::default().with(key, value).finish();
    match content {
        Content::Faithful => {}
        Content::Data { with, without } => {
            if !with.is_empty() || without.is_empty() {
                lines.set("data", steps::fields(with));
            }
            if !without.is_empty() {
                lines.set("without", super::words(without));
            }
        }
        Content::Text(text) => lines.set("body", body("text", quoted(text))),
        Content::Json(value) => lines.set("body", body("json", json(value))),
        Content::Bytes(bytes) => lines.set("body", body("base64", quoted(&bytes.to_base64()))),
        Content::Endless(one) => lines.set("body", body("endless", byte(*one))),
        Content::Stream(steps) => {
            let steps: Vec<_> = steps.iter().map(steps::step).collect();
            match steps.as_slice() {
                [] | [_] => lines.set("stream", list(steps)),
                _ => lines.tall("stream", &steps),
            }
        }
        Content::Redirect(redirect) => lines.set("redirect", word::<Redirect>(*redirect)),
    }
}
