//! The words for what the client handed over and reported.

use super::SHOWN;
use crate::{
    observed::{ClientEvent, ErrorReport, JobResult, LiveOutput, Reply},
    report::text::{count, cut, harmless, quoted},
};

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
