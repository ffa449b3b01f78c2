//! What became of the cuts, in numbers, with the first case of everything that went wrong.

use super::{By, Cut, Sweep, delivered, same};
use crate::{
    case::counts,
    exit::Exit,
    judge::{CheckStatus, Violation},
    observed::Observed,
    standing::Standing,
    summary::{Judged, Stopped},
};
use fake_server::wire::Op;
use serde::Serialize;
use std::collections::BTreeMap;

/// Cuts of one kind by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Tally {
    /// Planned.
    pub cuts: usize,
    /// The client did what is right, the cut proven to have reached it.
    pub passed: usize,
    /// Of these: everything was delivered, and it was the same as unbroken.
    pub same: usize,
    /// The client broke the contract, or delivered something else.
    pub failed: usize,
    /// Nothing that the client promises is asked.
    pub not_applicable: usize,
    /// The cut did not reach the client.
    pub not_exercised: usize,
    /// The adapter or the harness failed.
    pub errors: usize,
}

impl Tally {
    /// Adds up.
    pub const fn add(&mut self, other: Self) {
        self.cuts += other.cuts;
        self.passed += other.passed;
        self.same += other.same;
        self.failed += other.failed;
        self.not_applicable += other.not_applicable;
        self.not_exercised += other.not_exercised;
        self.errors += other.errors;
    }
}

/// Cuts of one kind at which the same went wrong.
#[derive(Clone, Debug)]
pub struct Group {
    /// All of them, in the order of the sweep.
    pub cuts: Vec<Cut>,
    /// What is broken or could not be judged: requirement ids.
    pub requirements: Vec<String>,
    /// What the delivered result differs in, if the judge found nothing.
    pub differs: Option<String>,
    /// The first of them.
    pub first: Judged,
}

/// What became of all cuts of a case.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// By kind, those that were wanted only.
    pub kinds: BTreeMap<By, Tally>,
    /// What went wrong, in the order of the sweep.
    pub groups: Vec<Group>,
    /// Why cuts did not apply, and how many.
    pub not_applicable: BTreeMap<String, usize>,
    /// Cuts that were planned and not played.
    pub not_played: usize,
    /// Why the sweep ended early, if it did.
    pub stopped: Option<Stopped>,
    /// Milliseconds of wall time.
    pub took_ms: u64,
}

impl Outcome {
    /// A cut that asks nothing of this client.
    pub fn rule_out(&mut self, cut: &Cut, why: String) {
        let tally = self.kinds.entry(cut.by).or_default();
        tally.cuts += 1;
        tally.not_applicable += 1;
        *self.not_applicable.entry(why).or_default() += 1;
    }

    /// A cut that was played. `unbroken` is what the client said about the case without it.
    pub fn take(
        &mut self,
        sweep: &Sweep,
        cut: &Cut,
        judged: &Judged,
        unbroken: &Observed,
        strict: bool,
    ) {
        let tally = self.kinds.entry(cut.by).or_default();
        tally.cuts += 1;
        let trial = judged.case.trial.as_ref();
        let is_broken = cut.by.break_at(cut.at).is_some();
        let differs = match (&judged.standing, trial) {
            // Nothing is missing of a stream that is only written otherwise.
            (Standing::Passed, Some(trial)) if sweep.is_true() || !is_broken => {
                same(sweep.base().op, unbroken, &trial.observed, is_broken).err()
            }
            _ => None,
        };
        match &judged.standing {
            Standing::Passed if differs.is_some() => tally.failed += 1,
            Standing::Passed => {
                tally.passed += 1;
                // Of a raw stream that broke off, a beginning is all there can be.
                let is_comparable =
                    !is_broken || (sweep.is_true() && sweep.base().op != Op::Connect);
                tally.same += usize::from(
                    is_comparable
                        && trial
                            .is_some_and(|trial| delivered(unbroken) && delivered(&trial.observed)),
                );
                return;
            }
            Standing::NotApplicable => {
                tally.not_applicable += 1;
                let checks = &judged.case.verdict.checks;
                let why = checks.first().map_or("", |check| check.reason.as_str());
                *self.not_applicable.entry(why.to_owned()).or_default() += 1;
                return;
            }
            Standing::Failed | Standing::KnownFailure { .. } | Standing::Fixed { .. } => {
                tally.failed += 1;
            }
            Standing::NotExercised => tally.not_exercised += 1,
            Standing::AdapterError | Standing::HarnessError => tally.errors += 1,
        }
        let requirements = wrong(judged, strict);
        match self.groups.iter_mut().find(|group| {
            group.cuts[0].by == cut.by
                && group.first.standing == judged.standing
                && group.requirements == requirements
                && group.differs.is_some() == differs.is_some()
        }) {
            Some(group) => group.cuts.push(*cut),
            None => self.groups.push(Group {
                cuts: vec![*cut],
                requirements,
                differs,
                first: judged.clone(),
            }),
        }
    }

    /// All kinds together.
    #[must_use]
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        for tally in self.kinds.values() {
            total.add(*tally);
        }
        total
    }

    /// The exit that follows.
    #[must_use]
    pub fn exit(&self) -> Exit {
        let total = self.total();
        let harness = self
            .groups
            .iter()
            .any(|group| group.first.standing == Standing::HarnessError);
        [
            (
                self.stopped == Some(Stopped::Interrupted),
                Exit::Interrupted,
            ),
            (harness, Exit::Harness),
            (total.failed > 0, Exit::Failed),
            (
                total.not_exercised + total.errors + self.not_played > 0,
                Exit::Incomplete,
            ),
            // Nothing judged is nothing proven.
            (total.passed == 0, Exit::Incomplete),
        ]
        .into_iter()
        .filter(|(holds, _)| *holds)
        .fold(Exit::AsExpected, |worst, (_, exit)| worst.and(exit))
    }
}

/// The requirements that are broken, or where none is, those that could not be judged.
fn wrong(judged: &Judged, strict: bool) -> Vec<String> {
    let checks = &judged.case.verdict.checks;
    let broken: Vec<String> = judged
        .case
        .failed(strict)
        .map(|check| check.requirement.clone())
        .collect();
    if !broken.is_empty() {
        return broken;
    }
    checks
        .iter()
        .filter(|check| {
            !matches!(
                check.status,
                CheckStatus::Pass | CheckStatus::NotApplicable | CheckStatus::Fail
            )
        })
        .map(|check| check.requirement.clone())
        .collect()
}

impl Group {
    /// The first violation that counts, if one was found.
    #[must_use]
    pub fn violation(&self, strict: bool) -> Option<&Violation> {
        let violations = &self.first.case.verdict.violations;
        violations
            .iter()
            .find(|violation| counts(violation.level, strict))
    }
}
