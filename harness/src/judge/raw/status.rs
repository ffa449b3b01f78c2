//! A raw stream that was refused: the status is visible, the body is not read as events.

use super::{Answer, Ending, Findings, JobResult, Place, Walk, Wrong, is_interrupted, words};

/// No answer at all: an error.
pub(super) fn no_answer(walk: &Walk<'_>, result: &JobResult, findings: &mut Findings<'_>) {
    if result.outcome != "error" && !is_interrupted(walk, result) {
        findings.add(Wrong::new(
            &["raw/truncation-visible"],
            Place::Result,
            "an error: the connection brought no answer",
            outcome(result),
        ));
    }
    no_events(walk, findings);
}

/// A status that is no success: an error that tells it.
pub(super) fn refused(
    walk: &Walk<'_>,
    answer: &Answer,
    status: u16,
    result: &JobResult,
    findings: &mut Findings<'_>,
) {
    no_events(walk, findings);
    if is_interrupted(walk, result) {
        return;
    }
    let said = result.error.as_ref();
    let http_status = said.and_then(|error| error.http_status);
    let evicted = status == 410 && said.is_some_and(|error| error.kind == "output-evicted");
    // A redirect may fail as a transport, and an answer that breaks off may not be seen at all.
    let lenient = (300..400).contains(&status)
        || !(400..600).contains(&status)
        || answer.ending == Ending::Unclean;
    let told = http_status == Some(status) || evicted || (lenient && http_status.is_none());
    if result.outcome != "error" || !told {
        findings.add(Wrong::new(
            &["raw/status-visible"],
            Place::Result,
            format!("an error that tells status {status}"),
            match (result.outcome.as_str(), http_status) {
                ("error", Some(said)) => format!("an error that tells status {said}"),
                ("error", None) => format!(
                    "error {} without a status: {}",
                    said.map_or("", |error| error.kind.as_str()),
                    words::short(said.map_or("", |error| error.message.as_str()))
                ),
                _ => outcome(result),
            },
        ));
    }
}

fn no_events(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    let first = walk
        .observed
        .events
        .iter()
        .position(|event| !matches!(event.kind.as_str(), "heartbeat" | "error"));
    if let Some(at) = first {
        findings.add(Wrong::new(
            &["raw/status-visible", "raw/faithful"],
            Place::Event(at),
            "no event, since there was no stream",
            format!("a `{}` event", words::short(&walk.observed.events[at].kind)),
        ));
    }
}

pub(super) fn outcome(result: &JobResult) -> String {
    match &result.error {
        Some(error) => format!(
            "{} {}: {}",
            words::short(&result.outcome),
            words::short(&error.kind),
            words::short(&error.message)
        ),
        None => words::short(&result.outcome),
    }
}
