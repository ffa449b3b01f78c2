//! Steps that do about the same as another and say less.

use super::super::{measure::ENDS, smaller};
use fake_server::{
    script::model::{FrameRef, Plan, Span, Step, TruthExit},
    wire::{Blob, frame},
};
use serde_json::{Map, Value};

/// Steps that do about the same and say less.
pub(super) fn variants(plan: &Plan, step: &Step) -> Vec<Step> {
    match step {
        Step::Send(Span::Range(from, to)) => {
            let mut spans = vec![Step::Send(Span::UpTo(*to))];
            spans.extend([*to, *from].map(|seq| Step::SendOne(FrameRef::Seq(seq))));
            if from + 1 < *to {
                let inner = [(from + 1, *to), (*from, to - 1)];
                spans.extend(inner.map(|(from, to)| Step::Send(Span::Range(from, to))));
            }
            spans
        }
        Step::SendOne(FrameRef::Seq(seq)) => vec![Step::Send(Span::UpTo(*seq))],
        Step::SendOne(FrameRef::Exit) => vec![Step::Send(Span::Rest)],
        Step::Part { frame, bytes } => {
            let part = |bytes| Step::Part {
                frame: *frame,
                bytes,
            };
            let fewer = smaller(*bytes as u64, 1).filter_map(|n| usize::try_from(n).ok());
            // A round number is read as "somewhere inside".
            std::iter::once(20)
                .filter(|round| round < bytes)
                .chain(fewer)
                .map(part)
                .collect()
        }
        Step::Edited {
            frame,
            with,
            without,
        } => edits(*frame, with, without),
        Step::Frame { fields, is } => {
            let mut steps = Vec::from_iter(as_edited(plan, fields));
            steps.extend(dropped(fields).map(|fields| Step::Frame { fields, is: *is }));
            if is.is_some() {
                steps.push(Step::Frame {
                    fields: fields.clone(),
                    is: None,
                });
            }
            steps
        }
        Step::Raw { bytes, is } => raws(plan, bytes, *is),
        Step::Heartbeat(count) => smaller(*count, 1).map(Step::Heartbeat).collect(),
        Step::Exit { code, signal } => exits(*code, signal.as_deref()),
        Step::Error { code, oldest } => {
            let error = |code: &str, oldest: Option<Value>| Step::Error {
                code: code.to_owned(),
                oldest,
            };
            vec![
                error("internal", None),
                error(code, None),
                error("internal", oldest.clone()),
            ]
        }
        Step::Pause { ms } => smaller(*ms, 1).map(|ms| Step::Pause { ms }).collect(),
        Step::End(end) => {
            let simpler = ENDS.iter().take_while(|known| *known != end);
            simpler.map(|end| Step::End(*end)).collect()
        }
        _ => Vec::new(),
    }
}

fn exits(code: Option<i64>, signal: Option<&str>) -> Vec<Step> {
    let mut steps: Vec<Step> = smaller(code.map_or(0, i64::unsigned_abs), 0)
        .filter_map(|code| i64::try_from(code).ok())
        .map(|code| Step::Exit {
            code: Some(code),
            signal: None,
        })
        .collect();
    if signal.is_some() {
        steps.push(Step::Exit { code, signal: None });
    }
    steps
}

/// An edited frame with fewer edits, or none.
fn edits(frame: FrameRef, with: &Map<String, Value>, without: &[String]) -> Vec<Step> {
    let mut steps = vec![match frame {
        FrameRef::Seq(_) => Step::SendOne(frame),
        FrameRef::Exit => Step::Send(Span::Rest),
    }];
    let edited = |with, without| Step::Edited {
        frame,
        with,
        without,
    };
    steps.extend(dropped(with).map(|with| edited(with, without.to_vec())));
    steps.extend((0..without.len()).map(|index| {
        let mut fewer = without.to_vec();
        fewer.remove(index);
        edited(with.clone(), fewer)
    }));
    steps
}

/// The fields without each of them, and with a simpler value for each.
fn dropped(fields: &Map<String, Value>) -> impl Iterator<Item = Map<String, Value>> {
    let without = fields.keys().map(|name| {
        let others = fields.iter().filter(move |(other, _)| *other != name);
        others
            .map(|(name, field)| (name.clone(), field.clone()))
            .collect()
    });
    let simpler = fields.iter().flat_map(|(name, field)| {
        let simple = match field {
            Value::Array(items) if !items.is_empty() => vec![Value::Array(Vec::new())],
            Value::Object(inner) if !inner.is_empty() => vec![Value::Object(Map::new())],
            Value::String(text) if name != "type" && !text.is_empty() => {
                let plain = ["x", ""].map(str::to_owned).into_iter();
                let shorter = super::super::detail::shorter(text.as_bytes());
                let shorter = shorter.filter_map(|bytes| String::from_utf8(bytes).ok());
                plain.chain(shorter).map(Value::from).collect()
            }
            Value::Number(n) => n
                .as_u64()
                .map(|n| smaller(n, 0).map(Value::from).collect())
                .unwrap_or_default(),
            _ => Vec::new(),
        };
        simple.into_iter().map(|value| {
            let mut fields = fields.clone();
            fields.insert(name.clone(), value);
            fields
        })
    });
    without.chain(simpler)
}

/// A forged frame as the true one of that number with some fields changed.
fn as_edited(plan: &Plan, fields: &Map<String, Value>) -> Option<Step> {
    let (of, line) = match fields.get("type")?.as_str()? {
        "data" => {
            let seq = fields.get("seq")?.as_u64()?;
            let one = plan.truth.frames.iter().find(|frame| frame.seq == seq)?;
            (
                FrameRef::Seq(seq),
                frame::data_line(seq, one.stream, &one.data),
            )
        }
        "exit" => match &plan.truth.exit {
            TruthExit::Status { code, signal, .. } => {
                (FrameRef::Exit, frame::exit_line(*code, signal.as_deref()))
            }
            TruthExit::Never => return None,
        },
        _ => return None,
    };
    let truth: Map<String, Value> = serde_json::from_slice(&line).ok()?;
    let with = fields
        .iter()
        .filter(|(name, field)| truth.get(*name) != Some(field))
        .map(|(name, field)| (name.clone(), field.clone()))
        .collect();
    let without = truth
        .keys()
        .filter(|name| !fields.contains_key(*name))
        .cloned()
        .collect();
    Some(Step::Edited {
        frame: of,
        with,
        without,
    })
}

/// A raw line as a frame of the truth with changes, as a forged frame, or shorter.
fn raws(plan: &Plan, bytes: &Blob, is: Option<FrameRef>) -> Vec<Step> {
    let mut steps = Vec::new();
    if let Some(fields) = bytes
        .strip_suffix(b"\n")
        .and_then(|line| serde_json::from_slice(line).ok())
    {
        steps.extend(as_edited(plan, &fields));
        steps.push(Step::Frame { fields, is });
    }
    if is.is_some() {
        steps.push(Step::Raw {
            bytes: bytes.clone(),
            is: None,
        });
    }
    let (line, end): (&[u8], &[u8]) = match bytes.strip_suffix(b"\n") {
        Some(line) => (line, b"\n"),
        None => (bytes, b""),
    };
    let tries = [b"x".as_slice(), b"{}"].map(<[u8]>::to_vec).into_iter();
    let tries = tries.chain(super::super::detail::shorter(line));
    steps.extend(tries.map(|line| Step::Raw {
        bytes: Blob([line.as_slice(), end].concat()),
        is,
    }));
    steps
}
