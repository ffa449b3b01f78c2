//! What the server did and what the client did, in the order of time, as words. The story of a case is told from it.

use super::text::{count, harmless, quoted};
use crate::{
    case::{Case, Trial},
    judge::{Place, Violation},
    observed::{ClientEvent, ErrorReport, JobResult, LiveOutput, Reply},
};
use fake_server::{
    script::model::{CutPoint, End, FrameRef, Plan, Truth, TruthExit, Until},
    wire::{
        Call, StreamName,
        frame::{data_line, exit_line},
    },
    wirelog::{AnswerEnd, Exchange, Micros, Payload, Sent},
};
use serde_json::Value;

/// Characters of a frame's bytes that are shown.
const SHOWN: usize = 40;
/// Runs of true frames up to this long are shown one by one.
const FRAMES_SHOWN: u64 = 3;

/// One line of what happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When; absent: at the end of the trial.
    pub at_us: Option<Micros>,
    /// What.
    pub act: Act,
}

/// Who did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// The server, as a faithful one would.
    Faithful(String),
    /// The server, deviating from the truth.
    Deviates(String),
    /// The client.
    Client(String),
    /// Something was wrong here.
    Wrong {
        /// The first of them in time: here the two part.
        first: bool,
        /// Index into the verdict's violations.
        violation: usize,
    },
}

/// The timeline of a case, violations in their places. Empty if the case was not run.
#[must_use]
pub fn timeline(case: &Case) -> Vec<Entry> {
    let Some(trial) = &case.trial else {
        return Vec::new();
    };
    let mut told = Told {
        plan: &case.plan,
        violations: &case.verdict.violations,
        entries: Vec::new(),
    };
    told.wire(trial);
    told.client(trial);
    let mut entries = told.entries;
    // Stable: what happened in the same microsecond stays in the order in which it was told.
    entries.sort_by_key(|entry| entry.at_us.unwrap_or(Micros::MAX));
    let mut seen = false;
    for entry in &mut entries {
        if let Act::Wrong { first, .. } = &mut entry.act {
            *first = !std::mem::replace(&mut seen, true);
        }
    }
    entries
}

struct Told<'a> {
    plan: &'a Plan,
    violations: &'a [Violation],
    entries: Vec<Entry>,
}

impl Told<'_> {
    fn push(&mut self, at_us: Option<Micros>, act: Act) {
        self.entries.push(Entry { at_us, act });
    }

    fn wrong(&mut self, at_us: Option<Micros>, is_here: impl Fn(Place) -> bool) {
        for (violation, broken) in self.violations.iter().enumerate() {
            if is_here(broken.place) {
                self.push(
                    at_us,
                    Act::Wrong {
                        first: false,
                        violation,
                    },
                );
            }
        }
    }

    fn wire(&mut self, trial: &Trial) {
        let log = &trial.log;
        for refusal in &log.refusals {
            self.push(
                Some(refusal.from_us),
                Act::Deviates("stops listening: connections are refused".to_owned()),
            );
            if let Some(until_us) = refusal.until_us {
                self.push(Some(until_us), Act::Faithful("listens again".to_owned()));
            }
        }
        for connection in &log.connections {
            if let Some((_, cut)) = connection.cut {
                self.push(
                    Some(connection.accepted_us),
                    Act::Client("connects".to_owned()),
                );
                self.push(Some(connection.accepted_us), Act::Deviates(cut_words(cut)));
            }
        }
        for (index, exchange) in log.exchanges.iter().enumerate() {
            self.exchange(index, exchange);
        }
        for (index, request) in log.trap.iter().enumerate() {
            let key = if request.key { ", with the key" } else { "" };
            self.push(
                Some(request.at_us),
                Act::Client(format!("{} at another origin{key}", request.request.method)),
            );
            self.wrong(Some(request.at_us), |place| place == Place::Trap(index));
        }
        let lost = |place| match place {
            Place::Exchange(at) => at >= log.exchanges.len(),
            Place::Trap(at) => at >= log.trap.len(),
            _ => false,
        };
        self.wrong(None, lost);
    }

    fn exchange(&mut self, index: usize, exchange: &Exchange) {
        let asked = Some(exchange.head_us);
        self.push(asked, Act::Client(request_words(exchange)));
        self.wrong(asked, |place| place == Place::Exchange(index));
        if let Some(words) = ordinary_words(exchange) {
            self.push(asked, Act::Faithful(words));
            return;
        }
        let mut heartbeats = 0;
        let mut next = next_frame(exchange);
        for sent in &exchange.answer {
            if let Sent::Body {
                what: Payload::Heartbeat,
                ..
            } = sent
            {
                heartbeats += 1;
                continue;
            }
            if heartbeats > 0 {
                let words = count(std::mem::take(&mut heartbeats), "heartbeat", "heartbeats");
                self.push(asked, Act::Faithful(words));
            }
            let at_us = match sent {
                Sent::End { .. } => exchange.last_sent_us.or(asked),
                _ => asked,
            };
            let is_stream = exchange.call == Some(Call::Connect);
            let jump = next.as_mut().and_then(|next| jump_words(sent, next));
            let mut acts = sent_words(sent, exchange.fault.is_some(), is_stream, &self.plan.truth);
            if let Some(jump) = jump
                && let Some(Act::Faithful(words)) = acts.first()
            {
                acts[0] = Act::Deviates(format!("{words} {jump}"));
            }
            for act in acts {
                self.push(at_us, act);
            }
        }
        if heartbeats > 0 {
            self.push(
                asked,
                Act::Faithful(count(heartbeats, "heartbeat", "heartbeats")),
            );
        }
        let ended = exchange
            .answer
            .iter()
            .any(|sent| matches!(sent, Sent::End { .. }));
        if let Some(closed_us) = exchange.client_closed_us
            && !ended
        {
            self.push(
                Some(closed_us),
                Act::Client(format!("closes the {}", name_of(exchange))),
            );
        }
        if exchange.open {
            self.push(
                None,
                Act::Client(format!("still holds the {} open", name_of(exchange))),
            );
        }
    }

    fn client(&mut self, trial: &Trial) {
        let observed = &trial.observed;
        for (index, output) in observed.outputs.iter().enumerate() {
            self.push(Some(output.at_us), Act::Client(output_words(output)));
            self.wrong(Some(output.at_us), |place| place == Place::Output(index));
        }
        for (index, event) in observed.events.iter().enumerate() {
            self.push(Some(event.at_us), Act::Client(event_words(event)));
            self.wrong(Some(event.at_us), |place| place == Place::Event(index));
        }
        let lost = |place| match place {
            Place::Output(at) => at >= observed.outputs.len(),
            Place::Event(at) => at >= observed.events.len(),
            _ => false,
        };
        if let Some(cancelled_us) = observed.cancelled_us {
            self.push(
                Some(cancelled_us),
                Act::Faithful("(harness) asks the client to cancel".to_owned()),
            );
        }
        let ended = Some(observed.ended_us);
        self.push(
            ended,
            match &observed.stopped {
                None => Act::Client(reply_words(&observed.reply)),
                Some(why) => Act::Faithful(format!("(harness) stops the client: {why}")),
            },
        );
        self.wrong(ended, |place| place == Place::Result || lost(place));
        self.wrong(None, |place| place == Place::End);
    }
}

fn name_of(exchange: &Exchange) -> String {
    exchange.call.map_or_else(
        || exchange.request.method.clone(),
        |call| match call {
            Call::Connect => "stream".to_owned(),
            other => other.to_string(),
        },
    )
}

/// A request in a few words: the call, what matters in its query and body, and which time it is.
fn request_words(exchange: &Exchange) -> String {
    let request = &exchange.request;
    let Some(call) = exchange.call else {
        return harmless(&format!("{} {}", request.method, request.target));
    };
    let mut words = call.to_string();
    for (key, value) in &request.query {
        words.push_str(&harmless(&format!(" {key}={value}")));
    }
    if let Ok(Value::Object(body)) = serde_json::from_slice(&request.body) {
        for (key, value) in body.iter().take(3) {
            words.push_str(&harmless(&super::text::cut(
                &format!(" {key}={value}"),
                SHOWN,
            )));
        }
    }
    if exchange.attempt > 1 {
        words.push_str(&format!(" ({})", ordinal(exchange.attempt)));
    }
    if !request.body_complete {
        words.push_str(" (body unfinished)");
    }
    words
}

fn ordinal(number: u32) -> String {
    let end = match (number % 10, number % 100) {
        (1, n) if n != 11 => "st",
        (2, n) if n != 12 => "nd",
        (3, n) if n != 13 => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}

/// The frame with which a stream that keeps to its cursor begins.
fn next_frame(exchange: &Exchange) -> Option<u64> {
    if exchange.call != Some(Call::Connect) {
        return None;
    }
    let after: u64 = exchange
        .request
        .query_values("after")
        .next()?
        .parse()
        .ok()?;
    after.checked_add(1)
}

/// How true frames leave the order, if they do. What stands for a frame counts as that frame.
fn jump_words(sent: &Sent, next: &mut u64) -> Option<String> {
    let (from, to) = match sent {
        Sent::Frames { from, to, .. } => (*from, *to),
        Sent::Body {
            what:
                Payload::True(FrameRef::Seq(seq))
                | Payload::Edited(FrameRef::Seq(seq))
                | Payload::Forged(Some(FrameRef::Seq(seq)))
                | Payload::Raw(Some(FrameRef::Seq(seq))),
            ..
        } => (*seq, *seq),
        _ => return None,
    };
    let expected = std::mem::replace(next, (*next).max(to.saturating_add(1)));
    if from < expected {
        return Some("(again)".to_owned());
    }
    match from - expected {
        0 => None,
        1 => Some(format!("(frame {expected} left out)")),
        _ => Some(format!("(frames {expected} to {} left out)", from - 1)),
    }
}

/// A whole answer as every server would give it, in one line.
fn ordinary_words(exchange: &Exchange) -> Option<String> {
    let [
        Sent::Head {
            status,
            http10: false,
            ..
        },
        rest @ ..,
    ] = &exchange.answer[..]
    else {
        return None;
    };
    if exchange.fault.is_some() || exchange.call == Some(Call::Connect) {
        return None;
    }
    match rest {
        [
            Sent::End {
                how: AnswerEnd::Complete,
                ..
            },
        ] => Some(status.to_string()),
        [
            Sent::Body {
                what: Payload::Plain,
                bytes,
                ..
            },
            Sent::End {
                how: AnswerEnd::Complete,
                ..
            },
        ] => Some(format!("{status}, {}", count(bytes.len(), "byte", "bytes"))),
        _ => None,
    }
}

fn sent_words(sent: &Sent, scripted: bool, is_stream: bool, truth: &Truth) -> Vec<Act> {
    match sent {
        Sent::Head {
            http10,
            status,
            reason,
            headers,
        } => {
            vec![head_words(*http10, *status, reason, headers, scripted)]
        }
        Sent::Frames { from, to, acked } => frames_words(*from, *to, *acked, truth)
            .into_iter()
            .map(Act::Faithful)
            .collect(),
        Sent::Body {
            what,
            bytes,
            framed,
            acked,
        } => {
            let (mut words, faithful) = payload_words(*what, bytes, truth);
            if !framed {
                words.push_str(", beyond the framing");
            }
            if !acked {
                words.push_str(", not acknowledged");
            }
            let faithful = faithful && *framed && !(scripted && *what == Payload::Plain);
            vec![if faithful {
                Act::Faithful(words)
            } else {
                Act::Deviates(words)
            }]
        }
        Sent::Waited(until) => vec![Act::Faithful(match until {
            Until::Acked => "waited until all was acknowledged".to_owned(),
            Until::Delivered(seq) => format!("waited until frame {seq} was handed over"),
            Until::Closed => "waited until the client closed".to_owned(),
        })],
        Sent::End {
            how: AnswerEnd::Complete,
            ..
        } if is_stream => {
            vec![Act::Faithful("the body ends cleanly".to_owned())]
        }
        Sent::End { how, acked } => vec![end_words(*how, *acked)],
    }
}

fn head_words(
    http10: bool,
    status: u16,
    reason: &str,
    headers: &[(String, String)],
    scripted: bool,
) -> Act {
    const USUAL: &[&str] = &[
        "content-type",
        "content-length",
        "transfer-encoding",
        "connection",
        "date",
        "x-request-id",
    ];
    let mut words = status.to_string();
    if status >= 300 && !reason.is_empty() {
        words.push_str(&harmless(&format!(" {reason}")));
    }
    if http10 {
        words.push_str(" (HTTP/1.0)");
    }
    for (name, value) in headers {
        if !USUAL.contains(&name.as_str()) {
            words.push_str(&harmless(&format!(
                ", {name}: {}",
                super::text::cut(value, SHOWN)
            )));
        }
    }
    if scripted && (http10 || status >= 300) {
        Act::Deviates(words)
    } else {
        Act::Faithful(words)
    }
}

fn frames_words(from: u64, to: u64, acked: bool, truth: &Truth) -> Vec<String> {
    let frames = truth
        .frames
        .iter()
        .filter(|frame| (from..=to).contains(&frame.seq));
    let mut words: Vec<String> = if to.saturating_sub(from) < FRAMES_SHOWN {
        frames
            .map(|frame| frame_words(frame.seq, frame.stream, &frame.data))
            .collect()
    } else {
        let bytes: usize = frames.map(|frame| frame.data.len()).sum();
        vec![format!(
            "frames {from} to {to}, {}",
            count(bytes, "byte", "bytes")
        )]
    };
    if !acked && let Some(last) = words.last_mut() {
        last.push_str(", not acknowledged");
    }
    words
}

fn frame_words(seq: u64, stream: StreamName, data: &[u8]) -> String {
    format!("frame {seq} {stream} {}", quoted(data, SHOWN))
}

/// What left, and whether it is the truth.
fn payload_words(what: Payload, bytes: &[u8], truth: &Truth) -> (String, bool) {
    let raw = quoted(bytes, 2 * SHOWN);
    let size = count(bytes.len(), "byte", "bytes");
    match what {
        Payload::True(FrameRef::Seq(seq)) => {
            let words = truth
                .frames
                .iter()
                .find(|frame| frame.seq == seq)
                .map_or_else(
                    || format!("frame {seq}"),
                    |frame| frame_words(seq, frame.stream, &frame.data),
                );
            (words, true)
        }
        Payload::True(FrameRef::Exit) => (true_exit_words(&truth.exit), true),
        Payload::Part(frame) => (format!("{size} of {}: {raw}", frame_name(frame)), false),
        Payload::Edited(frame) => {
            let changed = difference(&true_line(frame, truth), bytes);
            (format!("{}, changed: {changed}", frame_name(frame)), false)
        }
        Payload::Forged(None) => (format!("forged frame {raw}"), false),
        Payload::Forged(Some(frame)) => (format!("forged as {}: {raw}", frame_name(frame)), false),
        Payload::Raw(None) => (format!("raw {raw}"), false),
        Payload::Raw(Some(frame)) => (format!("{}, written as {raw}", frame_name(frame)), false),
        Payload::Heartbeat => ("heartbeat".to_owned(), true),
        Payload::Exit => (format!("exit frame {raw}"), false),
        Payload::Error => (format!("error frame {raw}"), false),
        Payload::Plain => (raw, true),
    }
}

/// The part of a changed line that differs from the true one, with a little of what stands before it.
fn difference(line: &[u8], seen: &[u8]) -> String {
    const BEFORE: usize = 12;
    let prefix = line.iter().zip(seen).take_while(|(a, b)| a == b).count();
    let mut from = prefix.saturating_sub(BEFORE);
    while from > 0 && (seen[from] & 0xc0) == 0x80 {
        from -= 1;
    }
    if from <= 1 {
        return quoted(seen, 2 * SHOWN);
    }
    format!("…{}", quoted(&seen[from..], 2 * SHOWN))
}

fn true_line(frame: FrameRef, truth: &Truth) -> Vec<u8> {
    match (frame, &truth.exit) {
        (FrameRef::Seq(seq), _) => truth
            .frames
            .iter()
            .find(|known| known.seq == seq)
            .map_or_else(Vec::new, |known| data_line(seq, known.stream, &known.data)),
        (FrameRef::Exit, TruthExit::Status { code, signal, .. }) => {
            exit_line(*code, signal.as_deref())
        }
        (FrameRef::Exit, TruthExit::Never) => Vec::new(),
    }
}

fn frame_name(frame: FrameRef) -> String {
    match frame {
        FrameRef::Seq(seq) => format!("frame {seq}"),
        FrameRef::Exit => "the exit frame".to_owned(),
    }
}

fn true_exit_words(exit: &TruthExit) -> String {
    match exit {
        TruthExit::Status { code, signal, .. } => {
            let mut words = "exit frame".to_owned();
            if let Some(code) = code {
                words.push_str(&format!(", code {code}"));
            }
            if let Some(signal) = signal {
                words.push_str(&harmless(&format!(", signal {signal}")));
            }
            words
        }
        TruthExit::Never => "exit frame".to_owned(),
    }
}

fn cut_words(cut: fake_server::script::model::Cut) -> String {
    let how = if cut.reset { "resets" } else { "closes" };
    let when = match cut.at {
        CutPoint::Accept => "on accept",
        CutPoint::HeadRead => "once the head was read",
        CutPoint::BodyRead => "once the request was read",
    };
    format!("{how} the connection {when}, no answer")
}

fn end_words(how: AnswerEnd, acked: bool) -> Act {
    let (words, deviates) = match how {
        AnswerEnd::Complete => ("answer complete".to_owned(), false),
        AnswerEnd::CloseDelimited => ("close, which ends the body".to_owned(), false),
        AnswerEnd::Scripted(End::Chunk) => ("zero chunk: a clean end".to_owned(), true),
        AnswerEnd::Scripted(End::Fin) => ("FIN without the zero chunk".to_owned(), true),
        AnswerEnd::Scripted(End::Reset) => ("RST, after all was acknowledged".to_owned(), true),
        AnswerEnd::Scripted(End::ResetNow) => ("RST at once".to_owned(), true),
        AnswerEnd::Scripted(End::Hold) => ("silence, the socket stays open".to_owned(), true),
        AnswerEnd::Scripted(End::TruncatedChunk) => {
            ("a chunk that breaks off, FIN".to_owned(), true)
        }
        AnswerEnd::Scripted(End::BadChunk) => {
            ("a chunk size that is no number, FIN".to_owned(), true)
        }
        AnswerEnd::Cut(cut) => (cut_words(cut), true),
        AnswerEnd::Held => ("held without an answer, then closed".to_owned(), true),
        AnswerEnd::Short => ("FIN before Content-Length is reached".to_owned(), true),
        AnswerEnd::TrialOver => ("(the trial is over)".to_owned(), false),
    };
    let promised = matches!(how, AnswerEnd::Scripted(End::Reset)) && !acked;
    let words = if promised {
        "RST, before all was acknowledged".to_owned()
    } else {
        words
    };
    if deviates {
        Act::Deviates(words)
    } else {
        Act::Faithful(words)
    }
}

fn output_words(output: &LiveOutput) -> String {
    harmless(&format!(
        "hands over {} {}",
        output.stream,
        quoted(&output.data, SHOWN)
    ))
}

fn event_words(event: &ClientEvent) -> String {
    let mut words = format!("event {}", event.kind);
    if let Some(seq) = &event.seq {
        words.push_str(&format!(" {seq}"));
    }
    if let Some(stream) = &event.stream {
        words.push_str(&format!(" {stream}"));
    }
    if let Some(data) = &event.data {
        words.push_str(&format!(" {}", quoted(data, SHOWN)));
    }
    if let Some(code) = &event.exit_code {
        words.push_str(&format!(", code {code}"));
    }
    if let Some(signal) = &event.signal
        && !signal.is_null()
    {
        words.push_str(&format!(", signal {signal}"));
    }
    if let Some(error) = &event.error {
        words.push_str(&format!(": {}", super::text::cut(error, 2 * SHOWN)));
    }
    harmless(&words)
}

fn reply_words(reply: &Reply) -> String {
    match reply {
        Reply::Result(result) => harmless(&result_words(result)),
        Reply::Silent => "has not answered by the deadline".to_owned(),
        Reply::AdapterFault(what) => harmless(&format!("breaks the adapter protocol: {what}")),
        Reply::AdapterDied(how) => harmless(&format!("its program ends: {how}")),
        Reply::HarnessError(what) => harmless(&format!("(harness fails: {what})")),
    }
}

fn result_words(result: &JobResult) -> String {
    let mut words = format!("reports {}", result.outcome);
    if let Some(error) = &result.error {
        words.push_str(&format!(": {}", error_kind_words(error)));
    }
    if let Some(code) = &result.exit_code {
        words.push_str(&format!(", code {code}"));
    }
    if let Some(signal) = &result.signal
        && !signal.is_null()
    {
        words.push_str(&format!(", signal {signal}"));
    }
    words
}

fn error_kind_words(error: &ErrorReport) -> String {
    let mut words = error.kind.clone();
    if let Some(status) = error.http_status {
        words.push_str(&format!(" (HTTP {status})"));
    }
    if let Some(errno) = &error.errno {
        words.push_str(&format!(" ({errno})"));
    }
    words
}

/// The client's own words about how the job ended, for the story: its message and what it handed over in all.
#[must_use]
pub fn last_words(reply: &Reply) -> Vec<String> {
    let Reply::Result(result) = reply else {
        return vec![reply_words(reply)];
    };
    let mut lines = vec![harmless(&result_words(result))];
    let mut error = result.error.as_ref();
    let mut label = "message";
    while let Some(report) = error {
        if !report.message.is_empty() {
            let message: String = report.message.chars().take(600).collect();
            lines.push(format!("{label}: {}", harmless(&message)));
        }
        error = report.cause.as_deref();
        label = "cause";
    }
    let streams = [
        ("stdout", &result.stdout),
        ("stderr", &result.stderr),
        ("pty", &result.pty),
        ("data", &result.data),
    ];
    for (name, bytes) in streams {
        if let Some(bytes) = bytes
            && !bytes.is_empty()
        {
            lines.push(format!(
                "{name}: {} in all, {}",
                count(bytes.len(), "byte", "bytes"),
                quoted(bytes, SHOWN)
            ));
        }
    }
    lines
}
