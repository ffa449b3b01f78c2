//! `[expect]`: what a scenario says beyond what follows from its plan.

use super::{
    Place,
    findings::{Findings, Wrong},
    output::text_or_bytes,
    walk::Walk,
    words,
};
use crate::observed::{JobResult, Reply};
use fake_server::{
    script::model::Expect,
    wire::{Call, StreamName},
};

/// Something that does not hold.
struct Miss {
    requirements: Vec<&'static str>,
    expected: String,
    seen: String,
    place: Place,
}

/// Judges a trial by what its scenario says.
pub(super) fn judge(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    let expect = &walk.plan.expect;
    for miss in misses(walk, expect) {
        add(miss, findings);
    }
    let mut alternatives = expect.any_of.iter().map(|one| misses(walk, one));
    if expect.any_of.is_empty() || alternatives.any(|misses| misses.is_empty()) {
        return;
    }
    if let Some(miss) = expect
        .any_of
        .iter()
        .flat_map(|one| misses(walk, one))
        .next()
    {
        add(
            Miss {
                expected: format!(
                    "one of {} ways, such as {}",
                    expect.any_of.len(),
                    miss.expected
                ),
                ..miss
            },
            findings,
        );
    }
}

fn add(miss: Miss, findings: &mut Findings<'_>) {
    findings.add(Wrong::new(
        &miss.requirements,
        miss.place,
        miss.expected,
        miss.seen,
    ));
}

fn misses(walk: &Walk<'_>, expect: &Expect) -> Vec<Miss> {
    let mut misses = Vec::new();
    if let Reply::Result(result) = &walk.observed.reply {
        of_result(walk, expect, result, &mut misses);
    }
    connects(walk, expect, &mut misses);
    for (call, count) in &expect.calls {
        let seen = walk
            .log
            .exchanges
            .iter()
            .filter(|exchange| exchange.call == Some(*call))
            .count();
        if u32::try_from(seen) != Ok(*count) {
            misses.push(Miss {
                requirements: about(walk, call_rules(*call)),
                expected: format!("{call} {}", words::times(*count as usize)),
                seen: words::times(seen),
                place: Place::End,
            });
        }
    }
    misses
}

/// Whatever of these the scenario is about, else its first requirement.
fn about(walk: &Walk<'_>, usual: &[&'static str]) -> Vec<&'static str> {
    let listed = |id: &&&str| walk.plan.requirements.iter().any(|about| about == **id);
    if let Some(id) = usual.iter().find(listed) {
        return vec![*id];
    }
    walk.plan
        .requirements
        .first()
        .and_then(|id| crate::contract::requirement(id))
        .map_or_else(|| usual.to_vec(), |known| vec![known.id])
}

const fn call_rules(call: Call) -> &'static [&'static str] {
    match call {
        Call::CreateProcess => &["create/once", "create/refused", "create/identifier"],
        Call::DeleteProcess => &[
            "cleanup/on-every-failure",
            "cleanup/not-on-success",
            "cleanup/confirmed",
        ],
        Call::StdinClose => &["stdin/closed-already"],
        _ => &["stream/retry-budget", "raw/no-hidden-retry"],
    }
}

fn of_result(walk: &Walk<'_>, expect: &Expect, result: &JobResult, misses: &mut Vec<Miss>) {
    let error = result.error.as_ref();
    let mut miss = |expected: String, seen: String| {
        misses.push(Miss {
            requirements: about(walk, &[]),
            expected,
            seen,
            place: Place::Result,
        });
    };
    if let Some(outcomes) = &expect.outcome
        && !outcomes.contains(&result.outcome)
    {
        miss(
            format!("outcome {}", words::or(outcomes)),
            format!("outcome {}", words::short(&result.outcome)),
        );
    }
    if let Some(kinds) = &expect.kind
        && let Some(error) = error
        && !kinds.contains(&error.kind)
    {
        miss(
            format!("error {}", words::or(kinds)),
            format!("error {}", words::short(&error.kind)),
        );
    }
    if let Some(status) = expect.http_status
        && error.and_then(|error| error.http_status) != Some(status)
    {
        miss(
            format!("http_status {status}"),
            error.and_then(|error| error.http_status).map_or_else(
                || "no http_status".to_owned(),
                |said| format!("http_status {said}"),
            ),
        );
    }
    let form = walk.promises.profile.output;
    for (stream, least) in &expect.output_at_least {
        let had = handed(walk, result, *stream);
        if !had.starts_with(&text_or_bytes(least, form)) {
            miss(
                format!("{stream} {} at least", words::bytes(least)),
                format!("{stream} {}", words::bytes(&had)),
            );
        }
    }
    for (stream, most) in &expect.output_at_most {
        let had = handed(walk, result, *stream);
        if !text_or_bytes(most, form).starts_with(&had) {
            miss(
                format!("{stream} {} at most", words::bytes(most)),
                format!("{stream} {}", words::bytes(&had)),
            );
        }
    }
}

/// What the caller has of a stream: the result's field, else what was handed over live, or for raw
/// streams the bytes of the events.
fn handed(walk: &Walk<'_>, result: &JobResult, stream: StreamName) -> Vec<u8> {
    let field = match stream {
        StreamName::Stdout => &result.stdout,
        StreamName::Stderr => &result.stderr,
        StreamName::Pty => &result.pty,
    };
    if let Some(field) = field {
        return field.0.clone();
    }
    let live = walk
        .observed
        .outputs
        .iter()
        .filter(|output| output.stream == stream.name())
        .map(|output| &output.data);
    let events = walk
        .observed
        .events
        .iter()
        .filter(|event| event.kind == "data" && event.stream.as_deref() == Some(stream.name()))
        .filter_map(|event| event.data.as_ref());
    live.chain(events).flat_map(|data| data.0.clone()).collect()
}

/// `connects`: the cursor of each connect.
fn connects(walk: &Walk<'_>, expect: &Expect, misses: &mut Vec<Miss>) {
    let Some(patterns) = &expect.connects else {
        return;
    };
    let rules = &[
        "stream/resume-cursor",
        "stream/first-cursor",
        "raw/after-param",
        "stream/retry-budget",
    ];
    let cursors: Vec<Option<u64>> = walk
        .log
        .exchanges
        .iter()
        .filter(|exchange| exchange.call == Some(Call::Connect))
        .map(words::cursor)
        .collect();
    let mut before = None;
    let fits = patterns.len() == cursors.len()
        && patterns.iter().zip(&cursors).all(|(pattern, cursor)| {
            let fits = fits(pattern, *cursor, before);
            before = *cursor;
            fits
        });
    if !fits {
        let seen: Vec<String> = cursors
            .iter()
            .map(|cursor| cursor.map_or_else(|| "none".to_owned(), |cursor| cursor.to_string()))
            .collect();
        misses.push(Miss {
            requirements: about(walk, rules),
            expected: format!("connects with after={}", patterns.join(", then ")),
            seen: match seen.as_slice() {
                [] => "no connect".to_owned(),
                _ => format!("after={}", seen.join(", then ")),
            },
            place: Place::End,
        });
    }
}

fn fits(pattern: &str, cursor: Option<u64>, before: Option<u64>) -> bool {
    let Some(cursor) = cursor else {
        return false;
    };
    if pattern == "same" {
        return before == Some(cursor);
    }
    match pattern.split_once("..") {
        Some((from, to)) => {
            let from = from.parse::<u64>().unwrap_or(0);
            let to = to.parse::<u64>().unwrap_or(u64::MAX);
            (from..=to).contains(&cursor)
        }
        None => pattern.parse() == Ok(cursor),
    }
}
