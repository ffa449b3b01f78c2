//! What goes wrong in one answer, in a few words.

use fake_server::{
    script::{
        describe,
        model::{
            Behaviour, Break, BreakPlace, Chunks, Content, End, FrameRef, Plan, Segments, Span,
            Step, TruthExit,
        },
    },
    wire::frame,
};
use serde_json::{Map, Value};

/// How striking something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Nothing,
    Manner,
    End,
    Refusal,
    Cut,
    Repetition,
    Lie,
}

pub(super) fn phrase(behaviour: &Behaviour, plan: &Plan, cursor: &mut u64) -> (Rank, String) {
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
            let named = |names: Vec<&String>| {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                names.join(" and ")
            };
            let lies = match (with.is_empty(), without.is_empty()) {
                (true, _) => format!("no {}", named(without.iter().collect())),
                (false, true) => format!("another {}", named(with.keys().collect())),
                (false, false) => format!(
                    "another {} and no {}",
                    named(with.keys().collect()),
                    named(without.iter().collect())
                ),
            };
            return (Rank::Lie, format!("an answer with {lies}"));
        }
        Content::Text(text)
            if text.is_empty() && behaviour.status.is_none_or(|status| status < 300) =>
        {
            return (Rank::Lie, "an empty body".to_owned());
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
            Step::Every { step, .. } if matches!(**step, Step::Heartbeat(_)) => {
                (Rank::Manner, "heartbeats without end".to_owned())
            }
            Step::Every { .. } => (Rank::Manner, "a stream without end".to_owned()),
            Step::Loop { .. } => (Rank::Manner, "the same again and again".to_owned()),
            Step::Pause { .. } | Step::Trickle { .. } | Step::Until(_) => {
                (Rank::Manner, "a stream that takes its time".to_owned())
            }
            Step::End(end) => match (end, exited) {
                (End::Chunk, true) => (Rank::Nothing, String::new()),
                (End::Hold, true) => (Rank::End, "a stream left open behind the exit".to_owned()),
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
