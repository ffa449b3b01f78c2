//! What the truth, the job and the expectation weigh.

use super::{bytes, number, time, usual_text};
use crate::generate::shrink::calls::FILE;
use fake_server::{
    script::SHAPE,
    script::model::{Cancel, Expect, Job, Truth, TruthExit, TruthFrame},
    wire::{Blob, Op, ProcessKind, StreamName, limits},
};
use serde_json::Value;

pub(super) fn truth(truth: &Truth, op: Op) -> u64 {
    let usual = ProcessKind::Pipe;
    let exit = match &truth.exit {
        TruthExit::Never => 30,
        TruthExit::Status {
            code,
            signal,
            pause_ms,
        } => {
            let code = match code {
                Some(0) => 0,
                Some(code) => 2 + number(code.unsigned_abs()) + u64::from(*code < 0),
                None => 1,
            };
            code + signal.as_ref().map_or(0, |name| 5 + name.len() as u64) + time(*pause_ms)
        }
    };
    let journal = if truth.journal_bytes == limits::JOURNAL_BYTES {
        0
    } else {
        20 + truth.journal_bytes.min(limits::JOURNAL_BYTES * 4)
    };
    let frames = truth.frames.iter().enumerate();
    let parts = [
        20 * u64::from(truth.kind != usual && op != Op::Terminal),
        if truth.first_seq == 1 {
            0
        } else {
            20 + number(truth.first_seq)
        },
        10 * u64::from(truth.live),
        if truth.heartbeat_ms == limits::HEARTBEAT_MS {
            0
        } else {
            10
        },
        journal,
        if truth.children == 0 {
            0
        } else {
            5 + u64::from(truth.children)
        },
        exit,
        frames
            .map(|(index, one)| frame(index, one))
            .fold(0, u64::saturating_add),
    ];
    parts.into_iter().fold(0, u64::saturating_add)
}

fn frame(index: usize, frame: &TruthFrame) -> u64 {
    let data = if *frame.data == *usual_text(index).as_bytes() {
        0
    } else {
        bytes(&frame.data)
    };
    data + 5 * u64::from(frame.stream == StreamName::Stderr) + time(frame.pause_ms)
}

pub(super) fn job(job: &Job, op: Op) -> u64 {
    let usual: &[&str] = match op {
        Op::Execute | Op::Exec | Op::ExecStream => &["run.sh"],
        _ => &[],
    };
    let parts = [
        if job.command == usual {
            0
        } else {
            10 + job.command.len() as u64
        },
        10 * u64::from(job.cwd.is_some()),
        10 * job.env.len() as u64,
        job.stdin.as_ref().map_or(0, |stdin| bytes(stdin)),
        if job.after == 0 {
            0
        } else {
            10 + number(job.after)
        },
        job.timeout_ms.map_or(0, |ms| 40 + number(ms)),
        job.cancel.as_ref().map_or(0, cancel),
        job.extra
            .iter()
            .map(|(name, value)| 20 + extra(name, value))
            .fold(0, u64::saturating_add),
    ];
    parts.into_iter().fold(0, u64::saturating_add)
}

/// What an op's own field weighs beyond being there.
fn extra(name: &str, value: &Value) -> u64 {
    let is_usual = match name {
        "cols" => *value == 80,
        "rows" => *value == 24,
        "path" => *value == FILE,
        "shape" => *value == SHAPE,
        _ => false,
    };
    let coded = |value: &Value| serde_json::from_value::<Blob>(value.clone()).ok();
    match value {
        _ if is_usual => 0,
        Value::Number(n) => 5 + n.as_u64().map_or(1 << 40, number),
        Value::String(_) if name == "data_base64" => coded(value).map_or(0, |data| bytes(&data)),
        Value::String(text) => 10 + text.len() as u64,
        Value::Array(items) => items
            .iter()
            .map(|item| 10 + extra("", item))
            .fold(0, u64::saturating_add),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| extra(name, field))
            .fold(0, u64::saturating_add),
        Value::Null | Value::Bool(_) => 5,
    }
}

fn cancel(cancel: &Cancel) -> u64 {
    40 + u64::from(cancel.attempt) + time(cancel.plus_ms)
}

pub(super) fn expect(expect: &Expect) -> u64 {
    if *expect == Expect::default() {
        0
    } else {
        100 + 50 * expect.any_of.len() as u64
    }
}
