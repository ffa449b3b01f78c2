//! The op's own fields.

use super::{base64, files, positive};
use crate::{
    script::{
        mistakes::Gather,
        model::{Cancel, CancelPoint, Job, Truth},
        raw::{RawCancel, RawFile, RawInput, RawJob},
        read::{At, Table as _},
        suggest::listed,
    },
    wire::{Blob, Call, Op, call::Capability},
};
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, ops::Range};

/// What a job runs unless said; nothing is ever executed.
const COMMAND: &str = "run.sh";

/// Size of an acquired sandbox, unless said.
pub const SHAPE: &str = "s-1vcpu-1gb";

/// What a job of this op runs unless said.
pub(in crate::script) fn default_command(op: Op) -> Vec<String> {
    if matches!(op, Op::Execute | Op::Exec | Op::ExecStream) {
        vec![COMMAND.to_owned()]
    } else {
        Vec::new()
    }
}

pub(super) fn build(
    file: &RawFile,
    op: Op,
    truth: Option<&Truth>,
    needs: &mut BTreeSet<Capability>,
    gather: &mut Gather,
) -> Job {
    let mut job = Job {
        command: default_command(op),
        ..Job::default()
    };
    let nothing = RawJob::default();
    let raw = file.job.as_ref().map_or(&nothing, |at| &at.value);
    let asked = file.op.as_ref().map_or(0..0, |op| op.span.clone());
    check_fields(raw, op, gather);
    if let Some(command) = &raw.command {
        if command.value.is_empty() {
            gather
                .at(&command.span, "a command has at least a program")
                .help("command = [\"build.sh\"], or leave it out");
        }
        job.command = command
            .value
            .iter()
            .map(|part| part.value.clone())
            .collect();
    }
    job.cwd = raw.cwd.as_ref().map(|cwd| cwd.value.clone());
    job.env = raw
        .env
        .iter()
        .flat_map(|env| &env.value.0)
        .map(|(name, value)| (name.clone(), value.value.clone()))
        .collect();
    job.stdin = either(
        raw.stdin.as_ref(),
        raw.stdin_base64.as_ref(),
        "stdin",
        gather,
    );
    if let Some(after) = &raw.after {
        job.after = after.value;
        let newest = truth.map(|truth| truth.first_seq - 1 + truth.frames.len() as u64);
        if let Some(newest) = newest.filter(|newest| after.value > *newest) {
            gather
                .at(&after.span, format!("the cursor {} lies beyond the truth, whose last frame is {newest}", after.value))
                .help("a cursor is the seq of the last frame that is known already; `first-seq` in [process] moves the numbers");
        }
    }
    if let Some(timeout) = &raw.timeout {
        needs.insert(Capability::Timeout);
        job.timeout_ms = positive(Some((timeout.value.0, &timeout.span)), gather);
    }
    if let Some(at) = &raw.cancel {
        needs.insert(Capability::Cancel);
        job.cancel = cancel(&at.value, gather);
    }
    extra(raw, &asked, op, needs, &mut job.extra, gather);
    job
}

/// Notes fields that the op does not have.
fn check_fields(raw: &RawJob, op: Op, gather: &mut Gather) {
    for (key, place) in raw.present() {
        let ops: &[Op] = match key {
            "command" => &[Op::Execute, Op::Exec, Op::ExecStream, Op::Terminal],
            "cwd" | "env" => &[Op::Execute, Op::Terminal],
            "stdin" | "stdin-base64" => &[Op::Execute, Op::Exec, Op::ExecStream],
            "after" => &[Op::Follow, Op::Connect],
            "shape" | "rootfs" | "name-prefix" | "policy" => &[Op::Acquire],
            "path" => &[Op::Upload, Op::Download],
            "data" | "data-base64" | "data-fill" => &[Op::Upload],
            "cols" | "rows" | "input" => &[Op::Terminal],
            _ => continue,
        };
        if !ops.contains(&op) {
            let names: Vec<_> = ops.iter().map(|op| op.name()).collect();
            gather
                .at(&place, format!("op {op} has no `{key}`"))
                .help(format!("take it out, or ask for op {}", listed(&names)));
        }
    }
}

fn cancel(raw: &RawCancel, gather: &mut Gather) -> Option<Cancel> {
    let (on, at) = (raw.on.as_ref()?, raw.at.as_ref()?);
    if let CancelPoint::Frame(_) = at.value
        && on.value.0 != Call::Connect
    {
        gather
            .at(
                &at.span,
                format!("the answer of {} has no frames", on.value.0),
            )
            .help("\"sent\" or \"answered\"; frames belong to `connect`");
    }
    let attempt = raw.attempt.as_ref();
    let nth = positive(attempt.map(|at| (u64::from(at.value), &at.span)), gather);
    Some(Cancel {
        on: on.value.0,
        attempt: nth.and_then(|nth| u32::try_from(nth).ok()).unwrap_or(1),
        at: at.value,
        plus_ms: raw.plus.as_ref().map_or(0, |plus| plus.value.0),
    })
}

/// The fields of ops that have more than a command, under the names of the adapter protocol.
fn extra(
    raw: &RawJob,
    asked: &Range<usize>,
    op: Op,
    needs: &mut BTreeSet<Capability>,
    extra: &mut Map<String, Value>,
    gather: &mut Gather,
) {
    for (name, value) in [
        ("shape", &raw.shape),
        ("rootfs", &raw.rootfs),
        ("name_prefix", &raw.name_prefix),
        ("path", &raw.path),
    ] {
        if let Some(value) = value {
            extra.insert(name.to_owned(), json!(value.value));
        }
    }
    if op == Op::Acquire && raw.shape.is_none() {
        extra.insert("shape".to_owned(), json!(SHAPE));
    }
    if let Some(policy) = &raw.policy {
        needs.insert(Capability::LeasePolicy);
        let attempts = policy.value.attempts.as_ref();
        let attempts = positive(attempts.map(|at| (u64::from(at.value), &at.span)), gather);
        let delay = policy
            .value
            .min_delay
            .as_ref()
            .map_or(0, |delay| delay.value.0);
        extra.insert(
            "policy".to_owned(),
            json!({ "attempts": attempts.unwrap_or(1), "min_delay_ms": delay }),
        );
    }
    if let Some(path) = &raw.path {
        files::check_path(path, gather);
    }
    if matches!(op, Op::Upload | Op::Download) && raw.path.is_none() {
        gather
            .at(asked, format!("op {op} needs a path"))
            .help("[job] path = \"/data/file.bin\"");
    }
    if op == Op::Upload {
        let mut data = either(raw.data.as_ref(), raw.data_base64.as_ref(), "data", gather);
        if let Some(size) = &raw.data_fill {
            if data.is_some() {
                gather
                    .at(&size.key, "`data-fill` beside other contents")
                    .help("one of `data`, `data-base64` and `data-fill`");
            }
            data = files::filled(size, gather);
        }
        extra.insert(
            "data_base64".to_owned(),
            json!(data.unwrap_or_default().to_base64()),
        );
    }
    if op == Op::Terminal {
        for (name, value, default) in [("cols", &raw.cols, 80), ("rows", &raw.rows, 24)] {
            let value = value.as_ref().map(|at| (u64::from(at.value), &at.span));
            extra.insert(
                name.to_owned(),
                json!(positive(value, gather).unwrap_or(default)),
            );
        }
        let items = raw.input.iter().flat_map(|input| &input.value);
        let items: Vec<_> = items.filter_map(|item| input(item, gather)).collect();
        if !items.is_empty() {
            extra.insert("input".to_owned(), Value::Array(items));
        }
    }
}

fn input(item: &At<RawInput>, gather: &mut Gather) -> Option<Value> {
    let raw = &item.value;
    if let (Some(size), None, None, None, None) =
        (&raw.fill, &raw.text, &raw.base64, &raw.cols, &raw.rows)
    {
        let bytes = files::filled(size, gather)?;
        return Some(json!({ "data_base64": bytes.to_base64() }));
    }
    match (&raw.text, &raw.base64, &raw.cols, &raw.rows) {
        _ if raw.fill.is_some() => {
            gather
                .at(&item.span, "a `fill` beside something else")
                .help("{ fill = \"64KiB\" } alone; another input is another item of the list");
            None
        }
        (Some(text), None, None, None) => {
            Some(json!({ "data_base64": Blob::from(text.value.as_str()).to_base64() }))
        }
        (None, Some(text), None, None) => {
            base64(text, gather).map(|bytes| json!({ "data_base64": Blob(bytes).to_base64() }))
        }
        (None, None, Some(cols), Some(rows)) => {
            Some(json!({ "cols": cols.value, "rows": rows.value }))
        }
        _ if !item.clean => None,
        _ => {
            gather
                .at(&item.span, "an input is typed text or a new size")
                .help("{ text = \"ls\\n\" }, { base64 = \"bHMK\" }, { fill = \"64KiB\" } or { cols = 100, rows = 30 }");
            None
        }
    }
}

/// Bytes given as text or as base64, not both.
fn either(
    text: Option<&At<String>>,
    coded: Option<&At<String>>,
    name: &str,
    gather: &mut Gather,
) -> Option<Blob> {
    match (text, coded) {
        (Some(text), Some(coded)) => {
            gather
                .at(&coded.key, format!("`{name}` and `{name}-base64`"))
                .context(&text.key, "the first one")
                .help("one of them");
            None
        }
        (Some(text), None) => Some(Blob::from(text.value.as_str())),
        (None, Some(coded)) => base64(coded, gather).map(Blob),
        (None, None) => None,
    }
}
