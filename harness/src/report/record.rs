//! Runs read back from their lines, and what they say in words. Reports are made from these.

use super::{
    line::{CaseLine, Line, Run, SummaryLine, VERSION},
    text::count,
};
use crate::{
    case::counts,
    judge::{Check, CheckStatus},
    standing::Standing,
    summary::Summary,
};

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What was said before its first case.
    pub run: Run,
    /// Its cases, each with the result that counts.
    pub cases: Vec<CaseLine>,
    /// Its end; absent where it never came.
    pub summary: Option<SummaryLine>,
}

/// Why a text is no event file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// A line that is none.
    #[error("line {line} is no event: {why}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What the parser says.
        why: String,
    },
    /// Written by a newer suite.
    #[error(
        "line {line} is of version {version}, this suite reads up to {VERSION}: use a newer one"
    )]
    Version {
        /// Counted from 1.
        line: usize,
        /// What it says.
        version: u32,
    },
    /// Something that belongs to a run, before one began.
    #[error("line {line} comes before a `run` line: the file's beginning is missing")]
    NoRun {
        /// Counted from 1.
        line: usize,
    },
    /// Nothing in it.
    #[error("it holds no run: `run --events FILE` writes such files")]
    Empty,
}

/// How a check is told apart in reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Held.
    Passed,
    /// Broken, and it counts.
    Failed,
    /// Broken as the manifest admits, for these reasons.
    Known(Vec<String>),
    /// Broken, but of a level that does not count.
    Remark,
    /// Not claimed by the client.
    NotApplicable,
    /// Could not be judged, in a case that is told for what is broken in it.
    Behind(&'static str),
    /// Could not be judged: the fault did not reach the client, the adapter or the harness failed.
    NotJudged(&'static str),
}

/// Reads the runs of an event file.
///
/// # Errors
/// If a line is no event, a newer version's, or comes before its run; if there is no run.
pub fn read(text: &str) -> Result<Vec<Record>, RecordError> {
    let mut records: Vec<Record> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let number = at + 1;
        let parsed: Line = serde_json::from_str(line).map_err(|error| RecordError::Line {
            line: number,
            why: error.to_string(),
        })?;
        let current = records.last_mut();
        match parsed {
            Line::Run(begun) if begun.version > VERSION => {
                return Err(RecordError::Version {
                    line: number,
                    version: begun.version,
                });
            }
            Line::Run(begun) => records.push(Record {
                run: begun.run,
                cases: Vec::new(),
                summary: None,
            }),
            Line::Case(case) => current
                .ok_or(RecordError::NoRun { line: number })?
                .cases
                .push(*case),
            Line::Revised(case) => {
                let cases = &mut current.ok_or(RecordError::NoRun { line: number })?.cases;
                match cases.iter_mut().find(|known| known.id == case.id) {
                    Some(known) => *known = *case,
                    None => cases.push(*case),
                }
            }
            Line::Summary(summary) => {
                current.ok_or(RecordError::NoRun { line: number })?.summary = Some(summary);
            }
            // Of other runs than the one that is told.
            Line::Stability(_) | Line::JudgedAgain(_) => {}
        }
    }
    if records.is_empty() {
        return Err(RecordError::Empty);
    }
    Ok(records)
}

impl Record {
    /// That of a run that came to its end: these are all of its cases, and they say how it ended.
    #[must_use]
    pub fn whole(run: Run, cases: Vec<CaseLine>, took_ms: u64) -> Self {
        let judged = cases.iter().map(|case| (&case.standing, &case.checks[..]));
        let summary = Summary::of(judged, run.strict, cases.len(), None, took_ms);
        Self {
            run: Run {
                cases: cases.len(),
                shard: None,
                ..run
            },
            cases,
            summary: Some((&summary).into()),
        }
    }

    /// Name and version of the client.
    #[must_use]
    pub fn client(&self) -> String {
        let client = &self.run.client;
        client.version.as_ref().map_or_else(
            || client.name.clone(),
            |version| format!("{} {version}", client.name),
        )
    }

    /// How a check of a case is told.
    #[must_use]
    pub fn told(&self, case: &CaseLine, check: &Check) -> Told {
        let open = |why| match case.standing {
            Standing::Failed | Standing::KnownFailure { .. } => Told::Behind(why),
            _ => Told::NotJudged(why),
        };
        match check.status {
            CheckStatus::Pass => Told::Passed,
            CheckStatus::Fail => match &case.standing {
                Standing::KnownFailure { reasons } => Told::Known(reasons.clone()),
                _ if counts(check.level, self.run.strict) => Told::Failed,
                _ => Told::Remark,
            },
            CheckStatus::NotApplicable => Told::NotApplicable,
            CheckStatus::NotExercised => open("not exercised"),
            CheckStatus::AdapterError => open("adapter error"),
            CheckStatus::HarnessError => open("harness error"),
        }
    }

    /// How many cases stand so.
    #[must_use]
    pub fn standing(&self, is_so: impl Fn(&Standing) -> bool) -> usize {
        self.cases
            .iter()
            .filter(|case| is_so(&case.standing))
            .count()
    }

    /// The verdict in one sentence.
    #[must_use]
    pub fn verdict(&self) -> String {
        let failed = self.standing(|one| matches!(one, Standing::Failed));
        let fixed = self.standing(|one| matches!(one, Standing::Fixed { .. }));
        let known = self.standing(|one| matches!(one, Standing::KnownFailure { .. }));
        let passed = self.standing(|one| matches!(one, Standing::Passed));
        let open = self.open();
        let all = count(self.run.cases, "case", "cases");
        let mut clauses = Vec::new();
        if failed > 0 {
            clauses.push(format!("{failed} failed"));
        }
        if fixed > 0 {
            clauses.push(format!("{fixed} known to fail passed"));
        }
        if known > 0 {
            clauses.push(format!("{known} failed as its manifest admits"));
        }
        if open > 0 {
            clauses.push(format!("{open} could not be judged"));
        }
        let detail = if clauses.is_empty() {
            String::new()
        } else {
            format!(": {}", clauses.join(", "))
        };
        if failed > 0 {
            format!("does not conform. Of {all}{detail}")
        } else if fixed > 0 {
            format!("does better than its manifest says. Of {all}{detail}")
        } else if open > 0 || passed + known == 0 {
            format!("is not judged to the end. Of {all}{detail}")
        } else if known > 0 {
            format!("conforms but for what its manifest admits. Of {all}{detail}")
        } else {
            format!("conforms. Of {all} none failed")
        }
    }

    /// Cases that could not be judged, or were not reached.
    #[must_use]
    pub fn open(&self) -> usize {
        let unjudged = |one: &Standing| {
            matches!(
                one,
                Standing::NotExercised | Standing::AdapterError | Standing::HarnessError
            )
        };
        self.standing(unjudged) + self.run.cases.saturating_sub(self.cases.len())
    }
}
