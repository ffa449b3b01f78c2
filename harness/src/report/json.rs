//! The report for machines, from which all others are made: one JSON object a line, as `line` describes them.
//! `run` first, a `case` for each case in the run's order, `summary` last.
//! Where cases are repeated (`--verify-stability`), these lines are about the first run, and a `stability` line follows.

use super::{
    line::{CaseLine, ExitLine, Line, Moment, Run, RunLine, SummaryLine, VERSION},
    record::Record,
    redact::redact,
    story::replay_command,
    timeline::{Act, Entry, timeline},
};
use crate::{
    case::Case,
    events::{RunEvent, Sink},
    exit::Exit,
    judge::CheckStatus,
    stability::Repeats,
    summary::{Judged, RunInfo, Summary},
};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;

/// The line about the run.
#[must_use]
pub fn run_line(info: &RunInfo) -> String {
    text(&Line::Run(RunLine {
        version: VERSION,
        run: Run {
            suite: info.suite.clone(),
            digest: info.digest.clone(),
            client: info.client.clone(),
            seed: info.seed,
            strict: info.strict,
            transport: info.transport.to_owned(),
            cases: info.cases,
            shard: info.shard.clone(),
            replay_arguments: info.replay_arguments.clone(),
        },
    }))
}

/// The line about a case. `index` is its place in the run; `whole` adds the plan and the wire log, from which it can be
/// judged again.
#[must_use]
pub fn case_line(judged: &Judged, index: Option<usize>, info: &RunInfo, whole: bool) -> String {
    redacted(
        &Line::Case(Box::new(case(judged, index, info, whole))),
        &judged.case,
    )
}

/// [`case_line`] for a case that was judged again.
#[must_use]
pub fn revised_line(judged: &Judged, index: Option<usize>, info: &RunInfo, whole: bool) -> String {
    redacted(
        &Line::Revised(Box::new(case(judged, index, info, whole))),
        &judged.case,
    )
}

fn redacted(line: &Line, case: &Case) -> String {
    match &case.trial {
        Some(trial) => redact(&text(line), &trial.log.names),
        None => text(line),
    }
}

/// A line as text. Its members are all plain data, so there is nothing that can't be written.
fn text(line: &impl Serialize) -> String {
    serde_json::to_string(line).unwrap_or_default()
}

fn case(judged: &Judged, index: Option<usize>, info: &RunInfo, whole: bool) -> CaseLine {
    let case = &judged.case;
    let told = case
        .verdict
        .checks
        .iter()
        .any(|check| !matches!(check.status, CheckStatus::Pass | CheckStatus::NotApplicable));
    let trial = case.trial.as_ref();
    CaseLine {
        index,
        id: case.id().to_owned(),
        scenario: case.scenario().to_owned(),
        title: case.plan.title.clone(),
        why: case.plan.why.clone(),
        standing: judged.standing.clone(),
        took_ms: judged.took_ms,
        seed: case.plan.seed,
        checks: case.verdict.checks.clone(),
        violations: case.verdict.violations.clone(),
        notes: case.verdict.notes.clone(),
        expected: case.verdict.expected.clone(),
        replay: replay_command(case, info),
        timeline: timeline(case).into_iter().map(moment).collect(),
        ledger: trial.map(|_| json!(case.account())),
        observed: trial
            .filter(|_| whole || told)
            .map(|trial| json!(trial.observed)),
        plan: trial.filter(|_| whole).map(|_| json!(*case.plan)),
        log: trial.filter(|_| whole).map(|trial| json!(trial.log)),
    }
}

fn moment(entry: Entry) -> Moment {
    let mut moment = Moment {
        at_us: entry.at_us,
        what: entry.what,
        fault: matches!(entry.act, Act::Deviates(_)),
        words: String::new(),
        exchange: entry.exchange,
        violation: None,
        parts: false,
    };
    match entry.act {
        Act::Faithful(words) | Act::Deviates(words) | Act::Client(words) => moment.words = words,
        Act::Wrong { first, violation } => {
            moment.violation = Some(violation);
            moment.parts = first;
        }
    }
    moment
}

fn exit_line(exit: Exit) -> ExitLine {
    ExitLine {
        code: exit.code(),
        meaning: exit.meaning().to_owned(),
    }
}

/// The last line.
#[must_use]
pub fn summary_line(summary: &Summary) -> String {
    text(&Line::Summary(summary.into()))
}

impl From<&Summary> for SummaryLine {
    fn from(summary: &Summary) -> Self {
        Self {
            summary: summary.clone(),
            exit: exit_line(summary.exit()),
        }
    }
}

/// The lines of a record, each with its end.
#[must_use]
pub fn record_lines(record: &Record) -> String {
    let mut lines = text(&Line::Run(RunLine {
        version: VERSION,
        run: record.run.clone(),
    })) + "\n";
    for case in &record.cases {
        lines.push_str(&text(&Line::Case(Box::new(case.clone()))));
        lines.push('\n');
    }
    if let Some(summary) = &record.summary {
        lines.push_str(&text(&Line::Summary(summary.clone())));
        lines.push('\n');
    }
    lines
}

/// The line about repeats; its exit is that of all runs together.
#[must_use]
pub fn stability_line(repeats: &Repeats, exit: Exit) -> String {
    json!({
        "type": "stability",
        "stability": repeats,
        "exit": exit_line(exit),
    })
    .to_string()
}

/// Writes the lines while the run goes, each case as soon as all before it are there. Revised cases come once more,
/// as `revised`, before the summary.
pub struct JsonLines<W> {
    write: W,
    whole: bool,
    info: Option<RunInfo>,
    waiting: BTreeMap<usize, Judged>,
    next: usize,
}

impl<W: FnMut(&str)> JsonLines<W> {
    /// `write` takes a line without its end.
    pub const fn new(whole: bool, write: W) -> Self {
        Self {
            write,
            whole,
            info: None,
            waiting: BTreeMap::new(),
            next: 0,
        }
    }

    fn case(&mut self, index: usize, judged: &Judged) {
        if let Some(info) = &self.info {
            let place = place(index, info);
            (self.write)(&case_line(judged, Some(place), info, self.whole));
        }
    }
}

/// The place of a case among those of all shards.
fn place(index: usize, info: &RunInfo) -> usize {
    let places = info.shard.as_ref().map(|part| &part.places);
    places
        .and_then(|places| places.get(index))
        .copied()
        .unwrap_or(index)
}

impl<W: FnMut(&str)> Sink for JsonLines<W> {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(info) => {
                (self.write)(&run_line(info));
                self.info = Some(info.clone());
            }
            RunEvent::CaseStarted { .. } => {}
            RunEvent::CaseFinished { index, judged } => {
                self.waiting.insert(*index, judged.clone());
                while let Some(judged) = self.waiting.remove(&self.next) {
                    self.case(self.next, &judged);
                    self.next += 1;
                }
            }
            RunEvent::CaseRevised { index, judged } => {
                if let Some(info) = &self.info {
                    let place = place(*index, info);
                    (self.write)(&revised_line(judged, Some(place), info, self.whole));
                }
            }
            RunEvent::Finished { summary, .. } => {
                // A run that was stopped leaves gaps; what is known is told all the same.
                for (index, judged) in std::mem::take(&mut self.waiting) {
                    self.case(index, &judged);
                }
                (self.write)(&summary_line(summary));
            }
        }
    }
}
