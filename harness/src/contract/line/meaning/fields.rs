//! The fields of a frame, each in every right way.

use super::{Collector, Exit, Meaning, Problem, Signal, problem};
use crate::contract::line::{
    base64::{Decoded, decode},
    json::{Object, Value},
    number::{Whole, whole},
};
use fake_server::wire::limits::SEQ_MAX;

/// Every right way to take a `seq`: the number if it counts, the problem if it fails.
pub(super) fn sequence(value: Option<&Value>) -> Vec<(Option<u64>, Option<Problem>)> {
    const BAD: Problem = problem("sequence-invalid", "sequence/valid");
    const UNREADABLE: Problem = problem("frame-invalid", "sequence/valid");
    let Some(Value::Number(text)) = value else {
        return vec![(None, Some(BAD))];
    };
    let (number, plain) = match whole(text) {
        Whole::Plain(number) => (number, true),
        Whole::Written(number) => (number, false),
        Whole::Fraction => return vec![(None, Some(BAD))],
        Whole::Beyond => return vec![(None, Some(BAD)), (None, Some(UNREADABLE))],
    };
    if number < 1 {
        return vec![(None, Some(BAD))];
    }
    match u64::try_from(number) {
        Ok(seq) if seq <= SEQ_MAX && plain => vec![(Some(seq), None)],
        Ok(seq) if seq <= SEQ_MAX => vec![(Some(seq), None), (None, Some(BAD))],
        // Beyond what a double holds: refused or exact.
        Ok(seq) => vec![
            (Some(seq), None),
            (None, Some(BAD)),
            (None, Some(UNREADABLE)),
        ],
        Err(_) => vec![
            (None, Some(BAD)),
            (None, Some(UNREADABLE)),
            (None, Some(problem("sequence-gap", "sequence/valid"))),
        ],
    }
}

pub(super) fn payload(value: Option<&Value>) -> Vec<(Vec<u8>, Option<Problem>)> {
    const BAD: Problem = problem("output-invalid", "data/base64");
    let decoded = match value {
        Some(Value::Text(text)) => decode(text),
        _ => Decoded::Invalid,
    };
    match decoded {
        Decoded::Exact(bytes) => vec![(bytes, None)],
        Decoded::SpareBits(bytes) => vec![(bytes, None), (Vec::new(), Some(BAD))],
        Decoded::Invalid => vec![(Vec::new(), Some(BAD))],
    }
}

pub(super) fn exit(object: &Object, blemish: Option<&'static str>, out: &mut Collector) {
    const MISSING: Problem = problem("exit-status-missing", "exit/missing");
    let codes: Vec<Option<String>> = match object.get("exit_code") {
        Some(Value::Number(text)) => match whole(text) {
            Whole::Plain(0..=255) => vec![Some(text.clone())],
            Whole::Plain(_) | Whole::Written(_) | Whole::Beyond => vec![Some(text.clone()), None],
            Whole::Fraction => vec![None],
        },
        _ => vec![None],
    };
    let signal = match object.get("signal") {
        Some(Value::Text(name)) if is_signal(name) => Some(name.clone()),
        _ => None,
    };
    out.touch(if signal.is_some() {
        "exit/signal"
    } else {
        "exit/code"
    });
    for code in codes {
        let meaning = match (code, &signal) {
            (None, None) => {
                out.touch("exit/missing");
                Meaning::Broken(vec![MISSING])
            }
            (code, Some(name)) => Meaning::Exit(Exit {
                code,
                signal: Signal::Is(name.clone()),
            }),
            (code, None) => Meaning::Exit(Exit {
                code,
                signal: Signal::Any,
            }),
        };
        out.add_as(meaning, blemish);
    }
}

/// `SIG`, then capitals or digits.
fn is_signal(name: &str) -> bool {
    name.strip_prefix("SIG").is_some_and(|rest| {
        !rest.is_empty()
            && rest
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    })
}

pub(super) fn refusals_of_doubles(object: &Object) -> Vec<Problem> {
    let mut kinds = vec!["frame-invalid", "other"];
    let doubled = object.members.iter().enumerate().filter(|(at, (name, _))| {
        object.members[..*at]
            .iter()
            .any(|(earlier, _)| earlier == name)
    });
    for (_, (name, _)) in doubled {
        match name.as_str() {
            "seq" => kinds.push("sequence-invalid"),
            "stream" | "data_base64" => kinds.push("output-invalid"),
            "exit_code" | "signal" => kinds.push("exit-status-missing"),
            "type" => kinds.push("unknown-event"),
            _ => {}
        }
    }
    kinds
        .into_iter()
        .map(|kind| problem(kind, "frames/duplicate-keys"))
        .collect()
}
