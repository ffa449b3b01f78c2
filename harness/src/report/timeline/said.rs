//! The words for what the client handed over and reported.

use super::SHOWN;
use crate::{
    observed::{ClientEvent, ErrorReport, JobResult, LiveOutput, Observed, Reply},
    report::text::{cut, harmless, quoted},
};
use serde_json::Value;

pub(super) fn output_words(output: &LiveOutput) -> String {
    harmless(&format!(
        "hands over {} {}",
        output.stream,
        quoted(&output.data, SHOWN)
    ))
}

pub(super) fn event_words(event: &ClientEvent) -> String {
    let mut words = format!("event {}", event.kind);
    if let Some(seq) = &event.seq {
        words.push_str(&format!(" seq {seq}"));
    }
    if let Some(stream) = &event.stream {
        words.push_str(&format!(" {stream}"));
    }
    if let Some(data) = &event.data {
        words.push_str(&format!(" {}", quoted(data, SHOWN)));
    }
    words.push_str(&status_words(
        event.exit_code.as_ref(),
        event.signal.as_ref(),
    ));
    if let Some(error) = &event.error {
        words.push_str(&format!(": {}", cut(error, 2 * SHOWN)));
    }
    harmless(&words)
}

pub(super) fn reply_words(reply: &Reply) -> String {
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
    words.push_str(&status_words(
        result.exit_code.as_ref(),
        result.signal.as_ref(),
    ));
    words
}

/// ` with code 0`, ` by signal "SIGKILL"`; values that are no such thing as they were said.
fn status_words(code: Option<&Value>, signal: Option<&Value>) -> String {
    let mut words = String::new();
    if let Some(code) = code {
        words.push_str(&format!(" with code {code}"));
    }
    if let Some(signal) = signal.filter(|signal| !signal.is_null()) {
        let and = if code.is_some() { " and" } else { " by" };
        words.push_str(&match signal.as_str() {
            Some(name) => format!("{and} signal {name}"),
            None => format!("{and} signal {signal}"),
        });
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

/// What the client said beyond its outcome, each with a label: its message, and what it handed over in all. An
/// outcome that the timeline does not tell, because the harness stopped the client, comes first.
#[must_use]
pub fn last_words(observed: &Observed) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if observed.stopped.is_some() {
        lines.push(("client said", reply_words(&observed.reply)));
    }
    let Reply::Result(result) = &observed.reply else {
        return lines;
    };
    let mut error = result.error.as_ref();
    let mut label = "its message";
    while let Some(report) = error {
        if !report.message.is_empty() {
            let message: String = report.message.chars().take(600).collect();
            lines.push((label, harmless(&message)));
        }
        error = report.cause.as_deref();
        label = "its cause";
    }
    let streams = [
        ("its stdout", &result.stdout),
        ("its stderr", &result.stderr),
        ("its pty", &result.pty),
        ("its data", &result.data),
    ];
    for (label, bytes) in streams {
        if let Some(bytes) = bytes
            && !bytes.is_empty()
        {
            lines.push((label, quoted(bytes, 2 * SHOWN)));
        }
    }
    lines
}
