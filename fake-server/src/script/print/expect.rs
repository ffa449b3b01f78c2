//! `[expect]`.

use super::text::{Inline, Lines, list, quoted, readable};
use crate::{
    script::model::Expect,
    wire::{Blob, StreamName},
};

/// Writes `[expect]` and its alternatives, unless nothing is expected beyond what is derived.
pub(super) fn write(expect: &Expect, file: &mut Lines) {
    file.table("expect", lines(expect));
    for one in &expect.any_of {
        file.item("expect.any-of", lines(one));
    }
}

fn lines(expect: &Expect) -> Lines {
    let mut lines = Lines::default();
    if let Some(outcome) = &expect.outcome {
        lines.set("outcome", super::words(outcome));
    }
    if let Some(kind) = &expect.kind {
        lines.set("kind", super::words(kind));
    }
    if let Some(status) = expect.http_status {
        lines.set("http-status", status.to_string());
    }
    if let Some(connects) = &expect.connects {
        let cursors = connects.iter().map(|cursor| {
            if cursor.parse::<u64>().is_ok() {
                cursor.clone()
            } else {
                quoted(cursor)
            }
        });
        lines.set("connects", list(cursors.collect()));
    }
    if !expect.calls.is_empty() {
        let calls = expect
            .calls
            .iter()
            .fold(Inline::default(), |table, (call, count)| {
                table.with(call.name(), count.to_string())
            });
        lines.set("calls", calls.finish());
    }
    if !expect.output_at_least.is_empty() {
        lines.set("output-at-least", streams(&expect.output_at_least));
    }
    if !expect.output_at_most.is_empty() {
        lines.set("output-at-most", streams(&expect.output_at_most));
    }
    if !expect.never_reported.is_empty() {
        lines.set("never-reported", super::words(&expect.never_reported));
    }
    if let Some(trap) = expect.trap {
        lines.set("trap", trap.to_string());
    }
    lines
}

fn streams(streams: &[(StreamName, Blob)]) -> String {
    let all = streams
        .iter()
        .fold(Inline::default(), |table, (stream, bytes)| {
            match readable(bytes) {
                Some(text) => table.with(stream.name(), quoted(text)),
                None => table.with(&format!("{stream}-base64"), quoted(&bytes.to_base64())),
            }
        });
    all.finish()
}
