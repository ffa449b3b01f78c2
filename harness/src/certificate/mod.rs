//! A certificate: what a run of the whole suite says about a client, and why. Pure: it follows from the run's record and its
//! saved trials, and [`check`] makes it again from them, so that whatever was changed in between is found.

mod badge;
mod check;

pub use badge::badge;
pub use check::{Files, Problem, Unverifiable, check, parse, reports, whole};

use crate::{
    contract::{Level, registry},
    exit::Exit,
    judge::CheckStatus,
    report::{
        json::case_line,
        line::{CaseLine, Line},
        record::Record,
        text::{count, thousands},
    },
    saved::Saved,
    standing::Standing,
    suite::hex,
    summary::{CaseCounts, ClientInfo, Judged},
};
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// What stands in `format`.
pub const FORMAT: &str = "createos-conformance certificate";
/// The version of the format that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// What is certified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Conformance {
    /// Every requirement that applies held wherever it was judged.
    Conformant,
    /// Every must held; what is broken are shoulds and mays.
    ConformantWithKnownDeviations,
    /// A must is broken, admitted or not; or something could not be judged; or the manifest is not true.
    NotConformant,
}

impl Conformance {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Conformant => "conformant",
            Self::ConformantWithKnownDeviations => "conformant with known deviations",
            Self::NotConformant => "not conformant",
        }
    }
}

/// What came of a requirement in the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ruling {
    /// It held in every case that judged it.
    Held,
    /// It is broken.
    Broken,
    /// It is broken only where the manifest admits it.
    Admitted,
    /// It could not be judged everywhere. Never a pass.
    NotJudged,
    /// No case of it applies to the client.
    NotApplicable,
}

/// A requirement and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Ruled {
    /// Its id.
    pub requirement: String,
    /// How binding it is.
    pub level: Level,
    /// What came of it.
    pub verdict: Ruling,
    /// Cases in which it held.
    pub passed: usize,
    /// Cases in which it is broken, and the manifest does not say so.
    pub failed: usize,
    /// Cases in which it is broken as the manifest admits.
    pub admitted: usize,
    /// Cases in which it could not be judged.
    pub not_judged: usize,
    /// Cases that do not apply.
    pub not_applicable: usize,
}

/// A failure that the manifest admits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Admitted {
    /// Line of the manifest, from 1.
    pub line: usize,
    /// Scenario id or pattern.
    pub pattern: String,
    /// Only this requirement of it.
    pub requirement: Option<String>,
    /// Why.
    pub reason: String,
}

/// What a certificate says that does not follow from trials.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Facts {
    /// When it was made, in seconds since 1970.
    pub issued_s: u64,
    /// The build of the client that was judged, in its maker's words.
    pub build: Option<String>,
    /// SHA-256 in hex of each other file of the folder.
    pub files: BTreeMap<String, String>,
}

/// The certificate, `certificate.json` in its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Certificate {
    /// Always `createos-conformance certificate`.
    pub format: String,
    /// Version of this format.
    pub version: u32,
    /// What is certified.
    pub verdict: Conformance,
    /// Why it is no better, a sentence each.
    pub why: Vec<String>,
    /// Version of the suite.
    pub suite: String,
    /// SHA-256 over every scenario of the suite, in hex.
    pub digest: String,
    /// The client, with its version.
    pub client: ClientInfo,
    /// The build that was judged, as `--build` said.
    pub build: Option<String>,
    /// What the client promises: its ops, capabilities and profile.
    pub promises: Value,
    /// When it was made, in seconds since 1970.
    pub issued_s: u64,
    /// Everything random in the run follows from it.
    pub seed: u64,
    /// Cases of the suite, by what came of them.
    pub cases: CaseCounts,
    /// Every requirement of the contract.
    pub requirements: Vec<Ruled>,
    /// What the manifest admits.
    pub known_failures: Vec<Admitted>,
    /// SHA-256 in hex of each other file of the folder.
    pub files: BTreeMap<String, String>,
}

impl Certificate {
    /// What follows from a run, its cases and its trials.
    #[must_use]
    pub fn new(record: &Record, trials: &[Saved], facts: Facts) -> Self {
        let requirements = ruled(record);
        let cases = record
            .summary
            .as_ref()
            .map(|line| line.summary.cases)
            .unwrap_or_default();
        let known_failures = admitted(trials);
        let why = why(record, &requirements);
        let deviates = |one: &Ruled| matches!(one.verdict, Ruling::Broken | Ruling::Admitted);
        let verdict = match (why.is_empty(), requirements.iter().any(deviates)) {
            (false, _) => Conformance::NotConformant,
            (true, true) => Conformance::ConformantWithKnownDeviations,
            (true, false) => Conformance::Conformant,
        };
        let why = if why.is_empty() {
            deviations(&requirements)
        } else {
            why
        };
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            verdict,
            why,
            suite: record.run.suite.clone(),
            digest: record.run.digest.clone(),
            client: record.run.client.clone(),
            build: facts.build,
            promises: trials
                .first()
                .map_or(Value::Null, |trial| serde_json::json!(trial.promises)),
            issued_s: facts.issued_s,
            seed: record.run.seed,
            cases,
            requirements,
            known_failures,
            files: facts.files,
        }
    }

    /// The exit that follows: a client that is certified is as expected.
    #[must_use]
    pub fn exit(&self) -> Exit {
        let broken = |one: &Ruled| one.level == Level::Must && one.failed + one.admitted > 0;
        if self.verdict != Conformance::NotConformant {
            Exit::AsExpected
        } else if self.requirements.iter().any(broken) || self.cases.failed + self.cases.fixed > 0 {
            Exit::Failed
        } else {
            Exit::Incomplete
        }
    }

    /// All of it in one line, with its end.
    #[must_use]
    pub fn summary(&self) -> String {
        /// More is in the certificate.
        const MOST: usize = 3;
        let mut who = self.client.name.clone();
        for more in [&self.client.version, &self.build].into_iter().flatten() {
            who.push_str(&format!(" {more}"));
        }
        let why = match self.why.len() {
            0 => String::new(),
            all => {
                let more = match all.saturating_sub(MOST) {
                    0 => String::new(),
                    more => format!("; and {more} more"),
                };
                let first: Vec<&str> = self.why.iter().take(MOST).map(String::as_str).collect();
                format!(": {}{more}", first.join("; "))
            }
        };
        let digest = self.digest.get(..12).unwrap_or(&self.digest);
        let all = self.requirements.len();
        let held = self
            .requirements
            .iter()
            .filter(|one| one.verdict == Ruling::Held);
        format!(
            "{who} is {}{why} (CreateOS conformance {}, suite {digest}; {} cases passed, {} of {all} requirements held)\n",
            self.verdict.words(),
            self.suite,
            thousands(self.cases.passed as u64),
            held.count(),
        )
    }

    /// The text of its file.
    #[must_use]
    pub fn text(&self) -> String {
        // Plain data: there is nothing in it that can't be written.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// SHA-256 in hex.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The schema of a certificate.
#[must_use]
pub fn schema() -> Schema {
    let mut schema = schema_for!(Certificate);
    schema.insert(
        "title".to_owned(),
        Value::from(format!("A certificate, version {VERSION}")),
    );
    schema
}

/// The lines of these trials, each of which was judged again to this, in their order: what the events of a certificate
/// are.
///
/// # Errors
/// If a line can't be read back, which would be a mistake of ours.
pub fn lines(trials: &[Saved], judged: &[Judged]) -> Result<Vec<CaseLine>, serde_json::Error> {
    // Wherever it is verified, the words that play a case again are the same.
    let program = vec!["createos-conformance".to_owned()];
    let mut lines = Vec::new();
    for (index, (trial, judged)) in trials.iter().zip(judged).enumerate() {
        let info = trial.run.info(trials.len(), program.clone());
        let line = case_line(judged, Some(index), &info, false);
        if let Line::Case(case) = serde_json::from_str(&line)? {
            lines.push(*case);
        }
    }
    Ok(lines)
}

/// Every requirement of the contract, in its order.
fn ruled(record: &Record) -> Vec<Ruled> {
    let mut all: Vec<Ruled> = registry()
        .iter()
        .map(|known| Ruled {
            requirement: known.id.to_owned(),
            level: known.level,
            verdict: Ruling::NotApplicable,
            passed: 0,
            failed: 0,
            admitted: 0,
            not_judged: 0,
            not_applicable: 0,
        })
        .collect();
    let places: BTreeMap<String, usize> = all
        .iter()
        .enumerate()
        .map(|(at, one)| (one.requirement.clone(), at))
        .collect();
    for case in &record.cases {
        for check in &case.checks {
            let Some(one) = places.get(&check.requirement).map(|at| &mut all[*at]) else {
                continue;
            };
            *match check.status {
                CheckStatus::Pass => &mut one.passed,
                CheckStatus::Fail => match case.standing {
                    Standing::KnownFailure { .. } => &mut one.admitted,
                    _ => &mut one.failed,
                },
                CheckStatus::NotApplicable => &mut one.not_applicable,
                CheckStatus::NotExercised
                | CheckStatus::AdapterError
                | CheckStatus::HarnessError => &mut one.not_judged,
            } += 1;
        }
    }
    for one in &mut all {
        one.verdict = if one.failed > 0 {
            Ruling::Broken
        } else if one.admitted > 0 {
            Ruling::Admitted
        } else if one.not_judged > 0 {
            Ruling::NotJudged
        } else if one.passed > 0 {
            Ruling::Held
        } else {
            Ruling::NotApplicable
        };
    }
    all
}

/// Why a client is not conformant; empty if it is.
fn why(record: &Record, requirements: &[Ruled]) -> Vec<String> {
    let mut why = Vec::new();
    for one in requirements.iter().filter(|one| one.level == Level::Must) {
        let id = &one.requirement;
        match (one.failed, one.admitted) {
            (0, 0) => {}
            (0, admitted) => why.push(format!(
                "{id} is broken in {} as its manifest admits, but it is a must",
                count(admitted, "case", "cases")
            )),
            (failed, admitted) => why.push(format!(
                "{id} is broken in {}",
                count(failed + admitted, "case", "cases")
            )),
        }
    }
    let fixed = record.standing(|one| matches!(one, Standing::Fixed { .. }));
    if fixed > 0 {
        why.push(format!(
            "its manifest admits failures that do not happen, in {}",
            count(fixed, "case", "cases")
        ));
    }
    let open = record.open();
    if open > 0 {
        why.push(format!(
            "{} could not be judged",
            count(open, "case", "cases")
        ));
    } else if let Some(one) = requirements
        .iter()
        .find(|one| one.level == Level::Must && one.verdict == Ruling::NotJudged)
    {
        why.push(format!(
            "{} could not be judged everywhere",
            one.requirement
        ));
    }
    if record.standing(|one| *one == Standing::Passed) == 0 {
        why.push("no case passed".to_owned());
    }
    why
}

/// What a conformant client does otherwise.
fn deviations(requirements: &[Ruled]) -> Vec<String> {
    requirements
        .iter()
        .filter(|one| one.failed + one.admitted > 0)
        .map(|one| {
            format!(
                "{} ({}) is broken in {}",
                one.requirement,
                one.level.name(),
                count(one.failed + one.admitted, "case", "cases")
            )
        })
        .collect()
}

/// What the manifest admits, as far as it stands in trials, which is all of it: an entry that means no case is a mistake.
fn admitted(trials: &[Saved]) -> Vec<Admitted> {
    let mut all: Vec<Admitted> = trials
        .iter()
        .flat_map(|trial| &trial.known_failures)
        .map(|entry| Admitted {
            line: entry.line,
            pattern: entry.pattern.clone(),
            requirement: entry.requirement.clone(),
            reason: entry.reason.clone(),
        })
        .collect();
    all.sort();
    all.dedup();
    all
}
