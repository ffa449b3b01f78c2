//! A generated case that failed, in the words of a scenario file: what happens in it, which requirements it broke,
//! and what the client did instead.

use crate::{case::Case, contract, judge::Violation, report::redact::redact};
use fake_server::{
    script::{
        describe,
        model::{
            Attempts, Behaviour, Break, BreakPlace, Chunks, Content, End, Fault, FrameRef, Plan,
            Segments, Span, Step, TruthExit,
        },
        print::Header,
    },
    wire::{Call, frame},
};
use serde_json::{Map, Value};

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
        let (rank, phrase) = found;
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
        return "to any call".to_owned();
    };
    if call != Call::Connect {
        return match fault.attempts {
            Attempts::Every | Attempts::From(1) => format!("to every {call}"),
            Attempts::Nth(1) => format!("to {call}"),
            _ => format!("to a later {call}"),
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

/// How striking something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Nothing,
    Manner,
    End,
    Refusal,
    Cut,
    Repetition,
    Lie,
}

fn phrase(behaviour: &Behaviour, plan: &Plan, cursor: &mut u64) -> (Rank, String) {
    let refusal = |text: &str| (Rank::Refusal, text.to_owned());
    if behaviour.refuse {
        return refusal("a refused connection");
    }
    if let Some(cut) = behaviour.cut {
        return refusal(if cut.reset {
            "a reset instead of an answer"
        } else {
            "a closed connection instead of an answer"
        });
    }
    if behaviour.hold_ms.is_some() {
        return refusal("no answer");
    }
    match &behaviour.content {
        Content::Redirect(_) => return (Rank::Lie, "a redirect".to_owned()),
        Content::Stream(steps) => {
            let streamed = stream(steps, plan, cursor);
            // A refusal with frames under it is a refusal first.
            if behaviour.status.is_none_or(|status| status == 200) {
                let broken = behaviour.break_at.map(broken);
                let streamed = broken.into_iter().fold(streamed, Ord::max);
                let framed = framing(behaviour);
                return streamed.max(framed);
            }
        }
        Content::Data { with, without } => {
            let names: Vec<&str> = with.keys().chain(without).map(String::as_str).collect();
            return (
                Rank::Lie,
                format!("an answer with another {}", names.join(" and ")),
            );
        }
        Content::Text(_) | Content::Json(_) | Content::Bytes(_) | Content::Endless(_)
            if behaviour.status.is_none_or(|status| status < 300) =>
        {
            return (Rank::Lie, "a body that does not belong there".to_owned());
        }
        _ => {}
    }
    match behaviour.status {
        Some(status) => refusal(&format!("a {status}")),
        None => behaviour
            .break_at
            .map_or_else(|| framing(behaviour), broken),
    }
}

fn broken(at: Break) -> (Rank, String) {
    let byte = match at.at {
        BreakPlace::Wire(byte) => format!("byte {byte} on the wire"),
        BreakPlace::Payload(byte) => format!("byte {byte} of its lines"),
    };
    (Rank::Cut, format!("{} at {byte}", end(at.by)))
}

/// How an answer is sent, apart from what it says.
fn framing(behaviour: &Behaviour) -> (Rank, String) {
    let plain = (
        behaviour.segments == Segments::Frame,
        behaviour.chunks == Chunks::Frame,
    );
    let text = match behaviour {
        _ if behaviour.encoding.is_some() => "a gzip-coded answer",
        _ if behaviour.content_length.is_some() => "a wrong Content-Length",
        _ if behaviour.http10 => "an answer in HTTP/1.0",
        _ if !behaviour.headers.is_empty() => "other headers",
        _ if plain != (true, true) => "an answer in odd pieces",
        _ if behaviour.delay_ms.is_some() => "a late answer",
        _ => return (Rank::Nothing, "a good answer".to_owned()),
    };
    (Rank::Manner, text.to_owned())
}

fn stream(steps: &[Step], plan: &Plan, cursor: &mut u64) -> (Rank, String) {
    let mut best = (Rank::Nothing, "a good answer".to_owned());
    let mut exited = false;
    let newest = plan.truth.first_seq + plan.truth.frames.len() as u64 - 1;
    for step in steps {
        let expected = (*cursor + 1).max(plan.truth.first_seq);
        let mut sent = |from: u64, to: u64| {
            *cursor = (*cursor).max(to);
            if from > expected {
                (Rank::Lie, "a gap".to_owned())
            } else if from < expected {
                (Rank::Repetition, "a duplicate".to_owned())
            } else {
                (Rank::Nothing, String::new())
            }
        };
        let found = match step {
            Step::SendOne(FrameRef::Seq(seq)) => sent(*seq, *seq),
            Step::Send(Span::Range(from, to)) => sent(*from, *to),
            Step::Send(Span::UpTo(to)) => {
                *cursor = (*cursor).max(*to);
                (Rank::Nothing, String::new())
            }
            Step::Send(Span::Rest) | Step::SendOne(FrameRef::Exit) => {
                exited = true;
                if matches!(step, Step::Send(_)) {
                    *cursor = (*cursor).max(newest);
                }
                (Rank::Nothing, String::new())
            }
            Step::Edited {
                frame,
                with,
                without,
            } => {
                exited |= *frame == FrameRef::Exit;
                (Rank::Lie, edited(*frame, with, without))
            }
            Step::Frame { fields, .. } => (Rank::Lie, forged(fields)),
            Step::Raw { bytes, is } => raw(bytes, *is),
            Step::Exit { code, signal } => {
                exited = true;
                let text = if code.is_none() && signal.is_none() {
                    "an exit without a status"
                } else if *frame::exit_line(*code, signal.as_deref()) == *true_exit(plan) {
                    "an exit too early"
                } else {
                    "a false exit"
                };
                (Rank::Lie, text.to_owned())
            }
            Step::Error { code, .. } => (Rank::Lie, format!("the error `{code}`")),
            Step::Part { frame, .. } => {
                (Rank::Cut, format!("{} cut short", describe::frame(*frame)))
            }
            Step::Journal { .. } => (
                Rank::Repetition,
                "a replica that has lost frames".to_owned(),
            ),
            Step::Heartbeat(_) => (Rank::Manner, "heartbeats".to_owned()),
            Step::Every { .. } | Step::Loop { .. } => (Rank::Manner, "repetitions".to_owned()),
            Step::Pause { .. } | Step::Trickle { .. } | Step::Until(_) => {
                (Rank::Manner, "a stream that takes its time".to_owned())
            }
            Step::End(end) => match (end, exited) {
                (End::Chunk, true) => (Rank::Nothing, String::new()),
                (_, true) => (Rank::End, "a broken end behind the exit".to_owned()),
                (end, false) => (Rank::End, self::end(*end).to_owned()),
            },
        };
        if found.0 > best.0 {
            best = found;
        }
    }
    best
}

const fn end(end: End) -> &'static str {
    match end {
        End::Chunk => "a clean end before the exit",
        End::Fin => "a dropped stream",
        End::Reset | End::ResetNow => "a reset",
        End::Hold => "a stream that stands still",
        End::TruncatedChunk => "a chunk cut short",
        End::BadChunk => "a broken chunk header",
    }
}

fn edited(of: FrameRef, with: &Map<String, Value>, without: &[String]) -> String {
    let changed: Vec<String> = with
        .keys()
        .map(|name| format!("another `{name}`"))
        .collect();
    let missing: Vec<String> = without.iter().map(|name| format!("no `{name}`")).collect();
    let what = match of {
        FrameRef::Seq(_) => "a frame".to_owned(),
        FrameRef::Exit => "an exit".to_owned(),
    };
    match [changed, missing].concat().as_slice() {
        [] => what,
        [one] => format!("{what} with {one}"),
        [start @ .., last] => format!("{what} with {} and {last}", start.join(", ")),
    }
}

fn forged(fields: &Map<String, Value>) -> String {
    match fields.get("type").and_then(Value::as_str) {
        Some("data") => "a forged frame".to_owned(),
        Some("exit") => "a forged exit".to_owned(),
        Some("error") => "an error frame".to_owned(),
        Some("heartbeat") => "a heartbeat with more in it".to_owned(),
        Some(_) => "an event of a type nobody knows".to_owned(),
        None => "a frame without a type".to_owned(),
    }
}

fn raw(bytes: &[u8], is: Option<FrameRef>) -> (Rank, String) {
    if is.is_some() {
        return (Rank::Cut, "a frame written in another way".to_owned());
    }
    if bytes.trim_ascii().is_empty() {
        return (Rank::Manner, "white space".to_owned());
    }
    match serde_json::from_slice::<Map<String, Value>>(bytes) {
        Ok(fields) => (Rank::Lie, forged(&fields)),
        Err(_) => (Rank::Lie, "a line that is no frame".to_owned()),
    }
}

fn true_exit(plan: &Plan) -> Vec<u8> {
    match &plan.truth.exit {
        TruthExit::Status { code, signal, .. } => frame::exit_line(*code, signal.as_deref()),
        TruthExit::Never => Vec::new(),
    }
}
