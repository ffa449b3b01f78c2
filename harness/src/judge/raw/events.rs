//! The events against the lines, with every right way of taking each line.

use super::{
    Answer, Ending, Findings, JobResult, Place, Walk, Wrong, is_interrupted,
    lines::read,
    spec::{RawLine, Spec, Way, event_words},
    status::outcome,
};
use crate::{
    contract::line::{Reader, Streams},
    judge::answer::Line,
    observed::ClientEvent,
};
use fake_server::{script::expand::true_line, wirelog::Exchange};
use std::collections::BTreeSet;

/// Where a client may stand: lines taken, an exit was handed over, a `should` was broken.
pub(super) type At = (usize, bool, Option<&'static str>);

/// Compares what was handed over with what was sent, and how it ended.
pub(super) fn compare(
    walk: &Walk<'_>,
    exchange: &Exchange,
    answer: &Answer,
    status: u16,
    result: &JobResult,
    findings: &mut Findings<'_>,
) {
    let lines = lines(walk, answer);
    let at = match positions(&lines, &walk.observed.events) {
        Ok(at) => at,
        Err((number, at)) => {
            let event = &walk.observed.events[number];
            unexpected(&lines, &at, number, event, walk, findings);
            return;
        }
    };
    end(
        walk, exchange, answer, status, result, &lines, &at, findings,
    );
}

/// Where a client may stand that handed over these events of these lines.
///
/// # Errors
/// The first event that fits nowhere, and where the client may have stood before it.
pub(super) fn positions(
    lines: &[RawLine],
    events: &[ClientEvent],
) -> Result<BTreeSet<At>, (usize, BTreeSet<At>)> {
    let mut at: BTreeSet<At> = BTreeSet::from([(0, false, None)]);
    skip(lines, &mut at);
    for (number, event) in events.iter().enumerate() {
        let mut next = BTreeSet::new();
        for (line, exit, blemish) in &at {
            let Some(raw) = lines.get(*line) else {
                continue;
            };
            let taken = raw
                .ways
                .iter()
                .any(|way| matches!(way, Way::Event(spec) if spec.is(event)));
            if taken {
                next.insert((line + 1, *exit || event.kind == "exit", *blemish));
            }
        }
        skip(lines, &mut next);
        if next.is_empty() {
            return Err((number, at));
        }
        at = next;
    }
    Ok(at)
}

/// Lines for which nothing need be handed over.
fn skip(lines: &[RawLine], at: &mut BTreeSet<At>) {
    let mut open: Vec<At> = at.iter().copied().collect();
    while let Some((line, exit, blemish)) = open.pop() {
        let Some(raw) = lines.get(line) else { continue };
        for way in &raw.ways {
            let next = match way {
                Way::Skip => (line + 1, exit, blemish),
                Way::SkipAgainst(rule) => (line + 1, exit, blemish.or(Some(*rule))),
                Way::Fail | Way::Event(_) => continue,
            };
            if at.insert(next) {
                open.push(next);
            }
        }
    }
}

fn unexpected(
    lines: &[RawLine],
    at: &BTreeSet<At>,
    number: usize,
    event: &ClientEvent,
    walk: &Walk<'_>,
    findings: &mut Findings<'_>,
) {
    let furthest = at.iter().map(|(line, ..)| *line).max().unwrap_or(0);
    // The line that the client could not skip.
    let nearest = at.iter().map(|(line, ..)| *line).find(|line| {
        lines
            .get(*line)
            .is_some_and(|raw| !raw.ways.contains(&Way::Skip))
    });
    let line = lines
        .get(nearest.unwrap_or(furthest))
        .or_else(|| lines.get(furthest));
    let mut candidates: Vec<&'static str> =
        line.map_or_else(|| vec!["raw/faithful"], |line| line.rules.clone());
    candidates.extend(about_the_bytes(walk));
    candidates.push("raw/faithful");
    findings.add(Wrong::new(
        &candidates,
        Place::Event(number),
        line.map_or_else(|| "no further event".to_owned(), expected_words),
        event_words(event),
    ));
}

fn expected_words(line: &RawLine) -> String {
    let ways: Vec<String> = line
        .ways
        .iter()
        .map(|way| match way {
            Way::Skip | Way::SkipAgainst(_) => "nothing".to_owned(),
            Way::Fail => "an error".to_owned(),
            Way::Event(spec) => spec.words(),
        })
        .collect();
    let mut once: Vec<String> = Vec::new();
    for way in ways {
        if !once.contains(&way) {
            once.push(way);
        }
    }
    format!("{} for {}", crate::judge::words::or(&once), line.what)
}

/// Rules that say how bytes may be cut, where this trial cuts them.
fn about_the_bytes(walk: &Walk<'_>) -> Vec<&'static str> {
    if walk.acceptor.touched.contains(&"frames/any-segmentation") {
        vec!["raw/segmentation"]
    } else {
        Vec::new()
    }
}

/// All events fit: is the end right too?
#[expect(
    clippy::too_many_arguments,
    reason = "one comparison, taken apart for reading"
)]
fn end(
    walk: &Walk<'_>,
    exchange: &Exchange,
    answer: &Answer,
    status: u16,
    result: &JobResult,
    lines: &[RawLine],
    at: &BTreeSet<At>,
    findings: &mut Findings<'_>,
) {
    let unsure = answer.coded() || answer.doubtful;
    let broken = answer.ending == Ending::Unclean;
    let refusable = status != 200 || !answer.is_ndjson();
    let is_right = |(line, exit, _): &At| {
        let over = *line == lines.len();
        let fails = lines
            .get(*line)
            .is_some_and(|raw| raw.ways.contains(&Way::Fail));
        // An error frame may be handed over and end the stream as well.
        let after_error = line
            .checked_sub(1)
            .and_then(|last| lines.get(last))
            .is_some_and(|raw| raw.ways.contains(&Way::Event(Spec::Error)));
        match result.outcome.as_str() {
            "ended" => {
                let told_end =
                    over && matches!(answer.ending, Ending::Clean | Ending::CloseDelimited);
                told_end || *exit || (over && status != 200)
            }
            "error" => {
                fails
                    || after_error
                    || broken
                    || unsure
                    || (refusable && walk.observed.events.is_empty())
                    || (over
                        && !*exit
                        && answer.ending != Ending::Open
                        && answer.ending != Ending::Left)
            }
            _ => is_interrupted(walk, result),
        }
    };
    let right: Vec<&At> = at.iter().filter(|at| is_right(at)).collect();
    if right.is_empty() {
        wrong_end(walk, exchange, answer, result, lines, at, findings);
        return;
    }
    if let Some(rule) = right.iter().map(|(.., blemish)| *blemish).min().flatten()
        && right.iter().all(|(.., blemish)| blemish.is_some())
    {
        findings.add(Wrong::new(
            &[rule],
            Place::Result,
            "an event of unknown type is handed over, or is an error",
            "it was dropped",
        ));
    }
}

fn wrong_end(
    walk: &Walk<'_>,
    _exchange: &Exchange,
    answer: &Answer,
    result: &JobResult,
    lines: &[RawLine],
    at: &BTreeSet<At>,
    findings: &mut Findings<'_>,
) {
    let nearest = at.iter().map(|(line, ..)| *line).min().unwrap_or(0);
    let furthest = at.iter().map(|(line, ..)| *line).max().unwrap_or(0);
    let seen = outcome(result);
    // Something was sent that the client neither handed over nor complained about.
    if result.outcome == "ended"
        && answer.ending != Ending::Unclean
        && let Some(line) = lines.get(furthest)
    {
        let mut candidates = line.rules.clone();
        candidates.extend(about_the_bytes(walk));
        candidates.push("raw/faithful");
        findings.add(Wrong::new(
            &candidates,
            Place::Result,
            expected_words(line),
            format!("{seen}, without that"),
        ));
        return;
    }
    if result.outcome == "ended" {
        findings.add(Wrong::new(
            &["raw/truncation-visible"],
            Place::Result,
            "an error, since the stream broke off without an exit",
            seen,
        ));
        return;
    }
    let mut candidates: Vec<&'static str> = Vec::new();
    if let Some(line) = lines.get(nearest) {
        candidates.extend(line.rules.iter().copied());
    } else {
        candidates.push("raw/truncation-visible");
    }
    candidates.extend(about_the_bytes(walk));
    if matches!(answer.ending, Ending::Left | Ending::Open) {
        candidates.insert(0, "raw/long-stream");
    }
    for rule in [
        "raw/lines",
        "raw/combined",
        "raw/exit-visible",
        "raw/faithful",
    ] {
        candidates.push(rule);
    }
    let expected = lines.get(nearest).map_or_else(
        || "the end of the stream, without an error".to_owned(),
        expected_words,
    );
    findings.add(Wrong::new(&candidates, Place::Result, expected, seen));
}

/// The lines of a stream, each with every right way to take it.
pub(super) fn lines(walk: &Walk<'_>, answer: &Answer) -> Vec<RawLine> {
    let reader = Reader {
        streams: Streams::Unjudged,
        tolerates_unknown: false,
        max_line: walk.promises.profile.max_line_bytes,
    };
    let mut lines: Vec<RawLine> = answer
        .lines
        .iter()
        .enumerate()
        .map(|(index, line)| match line {
            Line::Bytes(bytes) => read(&reader, bytes, index == 0),
            Line::True(frame) => {
                let mut line = true_line(&walk.plan.truth, *frame).unwrap_or_default();
                line.pop();
                read(&reader, &line, index == 0)
            }
        })
        .collect();
    if !answer.tail.is_empty() {
        lines.push(tail(&reader, answer, lines.is_empty()));
    }
    lines
}

/// What stands after the last LF: a whole object is not lost, a partial one is none.
fn tail(reader: &Reader, answer: &Answer, first: bool) -> RawLine {
    let mut line = read(reader, &answer.tail, first);
    let whole = line
        .ways
        .iter()
        .any(|way| matches!(way, Way::Event(spec) if *spec != super::spec::Spec::Error))
        || line.rules.first() == Some(&"raw/error-frame-visible");
    if !line.ways.contains(&Way::Fail) {
        line.ways.push(Way::Fail);
    }
    let clean = matches!(answer.ending, Ending::Clean | Ending::CloseDelimited);
    if !(line.ways.contains(&Way::Skip) || whole && clean) {
        line.ways.push(Way::Skip);
    }
    line.rules.insert(0, "raw/lines");
    line.what = format!("{} without LF at the end", line.what);
    line
}
