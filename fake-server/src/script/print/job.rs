//! `[job]`.

use super::text::{Inline, Lines, duration, quoted, readable, size};
use crate::{
    script::{
        build,
        model::{Cancel, CancelPoint, Plan, TruthFile},
    },
    wire::{Blob, Op},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

pub(super) fn lines(plan: &Plan) -> Lines {
    let (job, op) = (&plan.job, plan.op);
    let mut lines = Lines::default();
    if job.command != build::default_command(op) {
        lines.set("command", super::words(&job.command));
    }
    if let Some(cwd) = &job.cwd {
        lines.set("cwd", quoted(cwd));
    }
    if !job.env.is_empty() {
        let env = job
            .env
            .iter()
            .fold(Inline::default(), |table, (name, value)| {
                table.with(name, quoted(value))
            });
        lines.set("env", env.finish());
    }
    if let Some(stdin) = &job.stdin {
        bytes("stdin", stdin, &mut lines);
    }
    if job.after != 0 {
        lines.set("after", job.after.to_string());
    }
    if let Some(ms) = job.timeout_ms {
        lines.set("timeout", duration(ms));
    }
    if let Some(cancel) = &job.cancel {
        lines.set("cancel", self::cancel(cancel));
    }
    for (name, value) in &job.extra {
        extra(name, value, op, &mut lines);
    }
    lines
}

fn bytes(key: &str, bytes: &Blob, lines: &mut Lines) {
    match readable(bytes) {
        Some(text) => lines.set(key, quoted(text)),
        None => lines.set(&format!("{key}-base64"), quoted(&bytes.to_base64())),
    }
}

fn cancel(cancel: &Cancel) -> String {
    let at = match cancel.at {
        CancelPoint::Sent => "sent".to_owned(),
        CancelPoint::Answered => "answered".to_owned(),
        CancelPoint::Frame(nth) => format!("frame {nth}"),
    };
    Inline::default()
        .with("on", quoted(cancel.on.name()))
        .maybe(
            "attempt",
            (cancel.attempt != 1).then(|| cancel.attempt.to_string()),
        )
        .with("at", quoted(&at))
        .maybe(
            "plus",
            (cancel.plus_ms != 0).then(|| duration(cancel.plus_ms)),
        )
        .finish()
}

/// A field of an op that has more than a command.
fn extra(name: &str, value: &Value, op: Op, lines: &mut Lines) {
    match (name, value) {
        ("policy", Value::Object(policy)) => {
            let number = |key: &str| policy.get(key).and_then(Value::as_u64);
            let delay = number("min_delay_ms").filter(|ms| *ms > 0).map(duration);
            let policy = Inline::default()
                .with("attempts", number("attempts").unwrap_or(1).to_string())
                .maybe("min-delay", delay);
            lines.set("policy", policy.finish());
        }
        ("data_base64", Value::String(text)) => {
            let data = Blob(STANDARD.decode(text).unwrap_or_default());
            if is_filling(&data) {
                lines.set("data-fill", size(data.len() as u64));
            } else if !data.is_empty() {
                bytes("data", &data, lines);
            }
        }
        ("input", Value::Array(items)) => {
            let items: Vec<_> = items.iter().map(input).collect();
            lines.items("input", &items);
        }
        // What a sandbox is made of unless said.
        ("shape", Value::String(shape)) if op == Op::Acquire && shape == build::SHAPE => {}
        ("cols" | "rows", value) if op == Op::Terminal => {
            let default = if name == "cols" { 80 } else { 24 };
            if value.as_u64() != Some(default) {
                lines.set(name, value.to_string());
            }
        }
        (name, Value::String(text)) => lines.set(&name.replace('_', "-"), quoted(text)),
        (name, value) => lines.set(&name.replace('_', "-"), super::text::json(value)),
    }
}

/// A file of the sandbox.
pub(super) fn file(kept: &TruthFile) -> Lines {
    let mut lines = Lines::default();
    lines.set("path", quoted(&kept.path));
    if is_filling(&kept.data) {
        lines.set("fill", size(kept.data.len() as u64));
    } else if let Some(text) = readable(&kept.data) {
        if !text.is_empty() {
            lines.set("text", quoted(text));
        }
    } else {
        lines.set("base64", quoted(&kept.data.to_base64()));
    }
    lines
}

/// Bytes of a filling from which on it is written as one; less is quicker read as it is.
const FILL: usize = 64;

fn is_filling(data: &Blob) -> bool {
    data.len() >= FILL && **data == *build::filling(data.len())
}

/// Something typed, or a new size.
fn input(item: &Value) -> String {
    let table = Inline::default();
    let Some(coded) = item.get("data_base64").and_then(Value::as_str) else {
        return super::text::json(item);
    };
    let typed = STANDARD.decode(coded).unwrap_or_default();
    if is_filling(&Blob::from(&*typed)) {
        return table.with("fill", size(typed.len() as u64)).finish();
    }
    match readable(&typed) {
        Some(text) => table.with("text", quoted(text)),
        None => table.with("base64", quoted(coded)),
    }
    .finish()
}
