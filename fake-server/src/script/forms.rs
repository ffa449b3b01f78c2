//! Values with a notation of their own that choose: attempts, ranges of frames, exits.

use super::{
    mistakes::Gather,
    model::{Attempts, CancelPoint, FrameRef, Span},
    node::{Node, Value},
    raw::RawExit,
    read::{Read, or_matrix, wrong},
    suggest::{instead, short},
};
use schemars::{Schema, SchemaGenerator, json_schema};

impl Read for Attempts {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        const EXAMPLE: &str = "the nth such call, from 1: 2, \"1..3\", \"2..\" or \"every\"";
        let read = match &node.value {
            Value::Integer(number) => u32::try_from(*number)
                .ok()
                .filter(|number| *number > 0)
                .map(Self::Nth),
            Value::Text(text) if text == "every" => Some(Self::Every),
            Value::Text(text) => match range(text) {
                Some((Some(from), Some(to))) if 0 < from && from <= to => narrow(from)
                    .zip(narrow(to))
                    .map(|(from, to)| Self::Range(from, to)),
                Some((Some(from), None)) if from > 0 => narrow(from).map(Self::From),
                Some((None, Some(to))) if to > 0 => {
                    note(
                        node,
                        gather,
                        "is no attempt",
                        &format!("from the first to that one: \"1..{to}\""),
                    );
                    return None;
                }
                Some((Some(from), Some(to))) if 0 < to && to < from => {
                    note(node, gather, "runs backwards", &format!("\"{to}..{from}\""));
                    return None;
                }
                None if text.parse::<u32>().is_ok() => {
                    note(
                        node,
                        gather,
                        "is no attempt",
                        &format!("without quotes: {text}"),
                    );
                    return None;
                }
                None if !text.contains("..") && !text.is_empty() => {
                    let help = format!("{}; {EXAMPLE}", instead(text, &["every"]));
                    note(node, gather, "is no attempt", &help);
                    return None;
                }
                _ => None,
            },
            _ => None,
        };
        if read.is_none() {
            wrong(node, gather, "an attempt", EXAMPLE);
        }
        read
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        or_matrix(json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 1 },
            { "type": "string", "pattern": "^(every|[0-9]+\\.\\.[0-9]*)$" },
        ] }))
    }
}

fn narrow(number: u64) -> Option<u32> {
    u32::try_from(number).ok()
}

/// `a..b` with either side missing; `None` when it is no range.
fn range(text: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (from, to) = text.split_once("..")?;
    let side = |text: &str| match text {
        "" => Some(None),
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok().map(Some),
        _ => None,
    };
    side(from).zip(side(to))
}

fn note(node: &Node, gather: &mut Gather, what: &str, help: &str) {
    let text = match &node.value {
        Value::Text(text) => short(text),
        _ => String::new(),
    };
    gather
        .at(&node.span, format!("\"{text}\" {what}"))
        .help(help);
}

/// What `send` may say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Send {
    One(FrameRef),
    Many(Span),
}

impl Read for Send {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        const EXAMPLE: &str =
            "a true frame by its seq, or several: 5, \"..4\", \"4..9\", \"rest\", \"exit\"";
        match &node.value {
            Value::Integer(number) => {
                if let Ok(seq) = u64::try_from(*number) {
                    return Some(Self::One(FrameRef::Seq(seq)));
                }
            }
            Value::Text(text) => match (text.as_str(), range(text)) {
                ("rest", _) => return Some(Self::Many(Span::Rest)),
                ("exit", _) => return Some(Self::One(FrameRef::Exit)),
                (_, Some((None, Some(to)))) => return Some(Self::Many(Span::UpTo(to))),
                (_, Some((Some(from), Some(to)))) if from <= to => {
                    return Some(Self::Many(Span::Range(from, to)));
                }
                (_, Some((Some(from), Some(to)))) => {
                    let help =
                        format!("frames go in order: \"{to}..{from}\", or one step for each");
                    note(node, gather, "runs backwards", &help);
                    return None;
                }
                (_, Some((Some(from), None))) => {
                    let help = format!(
                        "everything left, with the exit, is \"rest\"; a range names both ends, as in \"{from}..{}\"",
                        from.saturating_add(1)
                    );
                    note(node, gather, "has no end", &help);
                    return None;
                }
                (text, None) if text.contains("..=") => {
                    let help = format!(
                        "both ends are meant already: \"{}\"",
                        text.replace("..=", "..")
                    );
                    note(node, gather, "is no range", &help);
                    return None;
                }
                (text, None) if text.parse::<u64>().is_ok() => {
                    note(
                        node,
                        gather,
                        "is no range",
                        &format!("one frame stands without quotes: {text}"),
                    );
                    return None;
                }
                (text, _) => {
                    let help = match super::suggest::nearest(text, ["rest", "exit"]) {
                        Some(near) => format!("did you mean \"{near}\"?"),
                        None => EXAMPLE.to_owned(),
                    };
                    note(node, gather, "names no frames", &help);
                    return None;
                }
            },
            _ => {}
        }
        wrong(node, gather, "frames", EXAMPLE);
        None
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        or_matrix(json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 1 },
            { "enum": ["rest", "exit"] },
            { "type": "string", "pattern": "^([0-9]+)?\\.\\.[0-9]+$" },
        ] }))
    }
}

impl Read for FrameRef {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == "exit" => return Some(Self::Exit),
            Value::Integer(number) => {
                if let Ok(seq) = u64::try_from(*number) {
                    return Some(Self::Seq(seq));
                }
            }
            _ => {}
        }
        wrong(
            node,
            gather,
            "a true frame",
            "its seq without quotes, or \"exit\": 5, \"exit\"",
        );
        None
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        or_matrix(
            json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "const": "exit" }] }),
        )
    }
}

/// How the truth ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExitForm {
    Never,
    Status(RawExit),
}

impl Read for ExitForm {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        let help = match &node.value {
            Value::Text(text) if text == "never" => return Some(Self::Never),
            Value::Table(_) => return RawExit::read(node, gather).map(Self::Status),
            Value::Integer(code) => format!("{{ code = {code} }}"),
            Value::Text(text) if text.starts_with("SIG") => {
                format!("{{ signal = \"{}\" }}", short(text))
            }
            _ => "{ code = 0 }, { signal = \"SIGKILL\" } or \"never\"".to_owned(),
        };
        wrong(node, gather, "an exit", &help);
        None
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let status = RawExit::schema(generator);
        or_matrix(json_schema!({ "anyOf": [{ "const": "never" }, status] }))
    }
}

impl Read for CancelPoint {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        const EXAMPLE: &str = "\"sent\", \"answered\" or \"frame 2\"";
        let Value::Text(text) = &node.value else {
            wrong(node, gather, "a moment of a call", EXAMPLE);
            return None;
        };
        let read = match text.as_str() {
            "sent" => Some(Self::Sent),
            "answered" => Some(Self::Answered),
            _ => text
                .strip_prefix("frame ")
                .and_then(|number| number.trim().parse().ok())
                .filter(|number| *number > 0)
                .map(Self::Frame),
        };
        if read.is_none() {
            note(node, gather, "is no moment of a call", EXAMPLE);
        }
        read
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        or_matrix(
            json_schema!({ "type": "string", "pattern": "^(sent|answered|frame [1-9][0-9]*)$" }),
        )
    }
}

/// What one connect must carry, as [`super::model::Expect::connects`] holds it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cursor(pub(super) String);

impl Read for Cursor {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        const EXAMPLE: &str =
            "the cursor, a range of cursors, or \"same\" as before: 0, \"0..2\", \"same\"";
        match &node.value {
            Value::Integer(number) if u64::try_from(*number).is_ok() => {
                return Some(Self(number.to_string()));
            }
            Value::Text(text) if text == "same" => return Some(Self(text.clone())),
            Value::Text(text) => {
                if let Some((Some(from), Some(to))) = range(text)
                    && from <= to
                {
                    return Some(Self(format!("{from}..{to}")));
                }
                note(node, gather, "is no cursor", EXAMPLE);
                return None;
            }
            _ => {}
        }
        wrong(node, gather, "a cursor", EXAMPLE);
        None
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        or_matrix(json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 0 },
            { "type": "string", "pattern": "^(same|[0-9]+\\.\\.[0-9]+)$" },
        ] }))
    }
}
