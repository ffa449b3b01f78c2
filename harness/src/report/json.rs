//! The report for machines: one JSON object a line. `run` first, a `case` for each case in the run's order, `summary` last.
//! Where cases are repeated (`--verify-stability`), these lines are about the first run, and a `stability` line follows.

use super::{redact::redact, story::replay_command};
use crate::{
    events::{RunEvent, Sink},
    exit::Exit,
    judge::CheckStatus,
    stability::Repeats,
    summary::{Judged, RunInfo, Summary},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The line about the run.
#[must_use]
pub fn run_line(info: &RunInfo) -> String {
    json!({ "type": "run", "run": info }).to_string()
}

/// The line about a case. `whole` adds the plan and the wire log, from which it can be judged again.
#[must_use]
pub fn case_line(judged: &Judged, info: &RunInfo, whole: bool) -> String {
    let case = &judged.case;
    let mut line = json!({
        "type": "case",
        "id": case.id(),
        "scenario": case.scenario(),
        "title": case.plan.title,
    });
    if let (Value::Object(line), Ok(Value::Object(standing))) =
        (&mut line, serde_json::to_value(&judged.standing))
    {
        line.extend(standing);
    }
    line["took_ms"] = judged.took_ms.into();
    line["checks"] = json!(case.verdict.checks);
    line["violations"] = json!(case.verdict.violations);
    line["notes"] = json!(case.verdict.notes);
    line["replay"] = replay_command(case, info).into();
    if let Some(trial) = &case.trial {
        line["ledger"] = json!(case.account());
        let told =
            case.verdict.checks.iter().any(|check| {
                !matches!(check.status, CheckStatus::Pass | CheckStatus::NotApplicable)
            });
        if whole || told {
            line["observed"] = json!(trial.observed);
        }
        if whole {
            line["plan"] = json!(*case.plan);
            line["log"] = json!(trial.log);
        }
        return redact(&line.to_string(), &trial.log.names);
    }
    line.to_string()
}

/// The last line.
#[must_use]
pub fn summary_line(summary: &Summary) -> String {
    let exit = summary.exit();
    json!({
        "type": "summary",
        "summary": summary,
        "exit": { "code": exit.code(), "meaning": exit.meaning() },
    })
    .to_string()
}

/// The line about repeats; its exit is that of all runs together.
#[must_use]
pub fn stability_line(repeats: &Repeats, exit: Exit) -> String {
    json!({
        "type": "stability",
        "stability": repeats,
        "exit": { "code": exit.code(), "meaning": exit.meaning() },
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

    fn case(&mut self, judged: &Judged) {
        if let Some(info) = &self.info {
            (self.write)(&case_line(judged, info, self.whole));
        }
    }
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
                    self.case(&judged);
                    self.next += 1;
                }
            }
            RunEvent::CaseRevised { judged, .. } => {
                if let Some(info) = &self.info {
                    let line = case_line(judged, info, self.whole);
                    (self.write)(&line.replacen(r#""type":"case""#, r#""type":"revised""#, 1));
                }
            }
            RunEvent::Finished { summary, .. } => {
                // A run that was stopped leaves gaps; what is known is told all the same.
                for judged in std::mem::take(&mut self.waiting).into_values() {
                    self.case(&judged);
                }
                (self.write)(&summary_line(summary));
            }
        }
    }
}
