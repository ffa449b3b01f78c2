//! A run in numbers, and the exit code that follows from them.

use crate::{
    case::{Case, counts},
    contract::AREAS,
    exit::Exit,
    judge::{Check, CheckStatus},
    shard::Part,
    standing::Standing,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// What is said about a run before its first case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunInfo {
    /// The harness's version.
    pub suite: String,
    /// SHA-256 over every scenario that could be selected, in hex; empty where it is not known.
    pub digest: String,
    /// The client.
    pub client: ClientInfo,
    /// Everything random follows from it.
    pub seed: u64,
    /// Shoulds count too.
    pub strict: bool,
    /// Over sockets, or in memory.
    pub transport: &'static str,
    /// Which part of a run this is; `None`: all of it.
    pub shard: Option<Part>,
    /// Cases selected.
    pub cases: usize,
    /// The words that call this program.
    #[serde(skip)]
    pub program: Vec<String>,
    /// What to add to the replaying command, so that it is this client again.
    pub replay_arguments: Vec<String>,
    /// Scenarios that are single files: id and path, which replays them.
    #[serde(skip)]
    pub files: BTreeMap<String, String>,
}

/// Who is judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClientInfo {
    /// Name.
    pub name: String,
    /// Version, if it is known.
    pub version: Option<String>,
    /// Language, if it is known.
    pub language: Option<String>,
}

/// A case that was judged, with its standing. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The case.
    pub case: Arc<Case>,
    /// Where it stands.
    pub standing: Standing,
    /// Milliseconds it took, on the clock of its transport.
    pub took_ms: u64,
}

/// How a run ended before all its cases were judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// Ctrl-C.
    Interrupted,
    /// `--fail-fast`, at the first failure.
    FailFast,
}

/// Checks of one area.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub struct Tally {
    /// Held.
    pub pass: usize,
    /// Broken and not admitted; with `--strict` also shoulds.
    pub fail: usize,
    /// Broken as the manifest admits.
    pub known: usize,
    /// Broken shoulds and mays that do not count.
    pub remarks: usize,
    /// Not claimed by the client.
    pub not_applicable: usize,
    /// The fault did not reach the client.
    pub not_exercised: usize,
    /// The adapter or the harness failed.
    pub errors: usize,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.pass += other.pass;
        self.fail += other.fail;
        self.known += other.known;
        self.remarks += other.remarks;
        self.not_applicable += other.not_applicable;
        self.not_exercised += other.not_exercised;
        self.errors += other.errors;
    }
}

/// Cases by standing.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub struct CaseCounts {
    /// Everything held.
    pub passed: usize,
    /// Broken.
    pub failed: usize,
    /// Broken as admitted.
    pub known_failures: usize,
    /// Admitted, but not broken any more.
    pub fixed: usize,
    /// Not claimed.
    pub not_applicable: usize,
    /// The fault did not reach the client.
    pub not_exercised: usize,
    /// The adapter broke its protocol or died.
    pub adapter_errors: usize,
    /// The harness failed.
    pub harness_errors: usize,
    /// Selected, but not judged because the run was stopped.
    pub not_run: usize,
}

/// A run in numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Summary {
    /// Checks by area, in the contract's order, areas without a check left out.
    pub areas: Vec<(String, Tally)>,
    /// All areas.
    pub checks: Tally,
    /// Cases.
    pub cases: CaseCounts,
    /// Why the run ended early, if it did.
    pub stopped: Option<Stopped>,
    /// Milliseconds of wall time.
    pub took_ms: u64,
}

impl Summary {
    /// Counts.
    #[must_use]
    pub fn new(judged: &[Judged], info: &RunInfo, stopped: Option<Stopped>, took_ms: u64) -> Self {
        let cases = judged
            .iter()
            .map(|one| (&one.standing, &one.case.verdict.checks[..]));
        Self::of(cases, info.strict, info.cases, stopped, took_ms)
    }

    /// [`Self::new`] from the standing and the checks of each case, as they stand in the lines of a run. `selected` is how
    /// many cases there were to be.
    #[must_use]
    pub fn of<'a>(
        judged: impl IntoIterator<Item = (&'a Standing, &'a [Check])>,
        strict: bool,
        selected: usize,
        stopped: Option<Stopped>,
        took_ms: u64,
    ) -> Self {
        let mut areas: Vec<(String, Tally)> = Vec::new();
        let mut checks = Tally::default();
        let mut cases = CaseCounts::default();
        let mut there = 0;
        for (standing, its_checks) in judged {
            there += 1;
            *cases.of(standing) += 1;
            for check in its_checks {
                let mut tally = Tally::default();
                *match check.status {
                    CheckStatus::Pass => &mut tally.pass,
                    CheckStatus::Fail if matches!(standing, Standing::KnownFailure { .. }) => {
                        &mut tally.known
                    }
                    CheckStatus::Fail if counts(check.level, strict) => &mut tally.fail,
                    CheckStatus::Fail => &mut tally.remarks,
                    CheckStatus::NotApplicable => &mut tally.not_applicable,
                    CheckStatus::NotExercised => &mut tally.not_exercised,
                    CheckStatus::AdapterError | CheckStatus::HarnessError => &mut tally.errors,
                } += 1;
                checks.add(tally);
                let area = check.requirement.split('/').next().unwrap_or_default();
                match areas.iter_mut().find(|(name, _)| name == area) {
                    Some((_, sum)) => sum.add(tally),
                    None => areas.push((area.to_owned(), tally)),
                }
            }
        }
        cases.not_run = selected.saturating_sub(there);
        areas.sort_by_key(|(name, _)| {
            let place = AREAS.iter().position(|area| area.name == name);
            (place.unwrap_or(usize::MAX), name.clone())
        });
        Self {
            areas,
            checks,
            cases,
            stopped,
            took_ms,
        }
    }

    /// The exit that follows.
    #[must_use]
    pub fn exit(&self) -> Exit {
        let cases = &self.cases;
        let holds = [
            (
                self.stopped == Some(Stopped::Interrupted),
                Exit::Interrupted,
            ),
            (cases.harness_errors > 0, Exit::Harness),
            (cases.failed + cases.fixed > 0, Exit::Failed),
            (
                cases.not_exercised + cases.adapter_errors + cases.not_run > 0,
                Exit::Incomplete,
            ),
            // Nothing judged is nothing proven.
            (cases.passed + cases.known_failures == 0, Exit::Incomplete),
        ];
        holds
            .into_iter()
            .filter(|(holds, _)| *holds)
            .fold(Exit::AsExpected, |worst, (_, exit)| worst.and(exit))
    }
}

impl CaseCounts {
    const fn of(&mut self, standing: &Standing) -> &mut usize {
        match standing {
            Standing::Passed => &mut self.passed,
            Standing::Failed => &mut self.failed,
            Standing::KnownFailure { .. } => &mut self.known_failures,
            Standing::Fixed { .. } => &mut self.fixed,
            Standing::NotApplicable => &mut self.not_applicable,
            Standing::NotExercised => &mut self.not_exercised,
            Standing::AdapterError => &mut self.adapter_errors,
            Standing::HarnessError => &mut self.harness_errors,
        }
    }
}
