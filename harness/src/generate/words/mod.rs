//! A generated case that failed, in the words of a scenario file: what happens in it, which requirements it broke,
//! and what the client did instead.

mod phrase;

use crate::{case::Case, contract, judge::Violation, report::redact::redact};
use fake_server::{
    script::{
        describe,
        model::{Attempts, Fault, Plan, TruthExit},
        print::Header,
    },
    wire::Call,
};
use phrase::{Rank, phrase};

/// Characters of what was seen, at the most; the report of a run has the rest.
const SEEN: usize = 160;

/// What stands above the printed plan of a case that broke these requirements. `comments` tell where it is from.
#[must_use]
pub fn header(case: &Case, requirements: &[String], comments: Vec<String>) -> Header {
    let violations = &case.verdict.violations;
    let broken = requirements.iter().find_map(|id| {
        violations
            .iter()
            .find(|violation| violation.requirement == *id)
    });
    Header {
        schema: None,
        comments,
        title: title(&case.plan),
        requirements: requirements.to_vec(),
        fault_kinds: Vec::new(),
        why: broken.map_or_else(String::new, |violation| why(case, violation)),
    }
}

/// What the contract asks, what would have been right, and what the client did.
fn why(case: &Case, violation: &Violation) -> String {
    let sentence = contract::requirement(&violation.requirement).map_or("", |known| known.sentence);
    let text = format!(
        "{sentence} Right: {}. Seen: {}.",
        cut(&violation.expected),
        cut(&violation.seen)
    );
    match &case.trial {
        Some(trial) => redact(&text, &trial.log.names),
        None => text,
    }
}

fn cut(text: &str) -> String {
    let text = text.trim().trim_end_matches('.');
    if text.chars().count() <= SEEN {
        return text.to_owned();
    }
    let start: String = text.chars().take(SEEN).collect();
    format!("{start}..")
}

/// What goes wrong in a plan, in one line: its most striking fault and when it is met.
#[must_use]
pub fn title(plan: &Plan) -> String {
    let mut cursor = plan.job.after;
    let mut best: Option<(Rank, String)> = None;
    // In the order in which they are met, so that a duplicate can be told from what is new.
    let mut faults: Vec<&Fault> = plan.faults.iter().collect();
    faults.sort_by_key(|fault| {
        (
            fault.on == Some(Call::DeleteProcess),
            fault.attempts.first(),
        )
    });
    for fault in faults {
        let mut found = phrase(&fault.behaviour, plan, &mut cursor);
        let mut place = place(fault);
        if !matches!(fault.attempts, Attempts::Nth(_)) {
            // The same again is no longer new.
            let again = phrase(&fault.behaviour, plan, &mut cursor);
            if again.0 > found.0 {
                found = again;
                place = "after every reconnect".to_owned();
            }
        }
        let (rank, mut phrase) = found;
        if !matches!(fault.on, None | Some(Call::Connect | Call::Exec)) {
            // Only these two bring a stream.
            phrase = phrase.replace("stream", "answer");
        }
        if best.as_ref().is_none_or(|(known, _)| *known <= rank) {
            best = Some((rank, format!("{phrase} {place}")));
        }
    }
    let what = best.map_or_else(|| truth(plan), |(_, what)| what);
    let around = match (&plan.job.cancel, plan.job.timeout_ms) {
        (Some(_), _) => ", and the caller cancels",
        (None, Some(_)) => ", under a deadline",
        (None, None) => "",
    };
    let mut letters = what.chars();
    let first = letters.next().map(char::to_uppercase);
    format!(
        "{}{}{around}",
        first.into_iter().flatten().collect::<String>(),
        letters.as_str()
    )
}

/// What a plan without faults is about.
fn truth(plan: &Plan) -> String {
    match &plan.truth.exit {
        TruthExit::Status {
            signal: Some(signal),
            ..
        } => format!("a process that ends by {signal}"),
        TruthExit::Status {
            code: Some(code), ..
        } if *code != 0 => format!("a process that ends with {code}"),
        TruthExit::Never => "a process that does not end".to_owned(),
        TruthExit::Status { .. }
            if plan
                .truth
                .frames
                .iter()
                .any(|frame| std::str::from_utf8(&frame.data).is_err()) =>
        {
            "output that is no text, frame by frame".to_owned()
        }
        TruthExit::Status { .. } => match plan.truth.frames.as_slice() {
            [] => "a process that writes nothing".to_owned(),
            [_] => "a frame of output and a good end".to_owned(),
            frames => format!("{} frames of output and a good end", frames.len()),
        },
    }
}

/// Which call meets a fault.
fn place(fault: &Fault) -> String {
    let Some(call) = fault.on else {
        return "at any call".to_owned();
    };
    if call != Call::Connect {
        return match fault.attempts {
            Attempts::Every | Attempts::From(1) => format!("at every {call}"),
            Attempts::Nth(1) => format!("at {call}"),
            _ => format!("at a later {call}"),
        };
    }
    match fault.attempts {
        Attempts::Nth(1) => "on the first connect".to_owned(),
        Attempts::Nth(n) => format!("after the {} reconnect", nth(n - 1)),
        Attempts::Every | Attempts::From(1) => "on every connect".to_owned(),
        Attempts::From(n) | Attempts::Range(n, _) => {
            format!("from the {} connect on", nth(n))
        }
    }
}

fn nth(n: u32) -> String {
    const WORDS: [&str; 6] = ["first", "second", "third", "fourth", "fifth", "sixth"];
    let index = usize::try_from(n).ok().and_then(|n| n.checked_sub(1));
    match index.and_then(|index| WORDS.get(index)) {
        Some(word) => (*word).to_owned(),
        None => describe::ordinal(n),
    }
}
