//! The lines of an event file: a versioned format, which every other report is made from. Its JSON Schema is
//! `docs/events.schema.json`.
//!
//! `run` comes first, a `case` for each case in the run's order, `revised` for cases that were judged again (the last
//! line of an id counts), `summary` last. A file without a `summary` is that of a run that was killed. Within a version,
//! members are added and never change their meaning.

use super::timeline::What;
use crate::{
    judge::{Check, CheckStatus, Violation},
    shard::Part,
    standing::Standing,
    summary::{ClientInfo, Summary},
};
use fake_server::wirelog::Micros;
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the lines that are written, and the newest that is read.
pub const VERSION: u32 = 1;

/// One line of an event file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Line {
    /// A run begins; first.
    Run(RunLine),
    /// A case was judged.
    Case(Box<CaseLine>),
    /// A case was judged again; this one counts.
    Revised(Box<CaseLine>),
    /// A run is over; last.
    Summary(SummaryLine),
    /// What repeats of `--verify-stability` brought.
    Stability(StabilityLine),
    /// What came of judging saved trials again.
    JudgedAgain(AgainLine),
}

/// A run begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunLine {
    /// [`VERSION`].
    pub version: u32,
    /// What is said before the first case.
    pub run: Run,
}

/// What is said about a run before its first case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
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
    /// `sockets` or `memory`.
    pub transport: String,
    /// Cases selected.
    pub cases: usize,
    /// Which part of a run it is; absent: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Part>,
    /// What to add to the replaying command, so that it is this client again.
    pub replay_arguments: Vec<String>,
}

/// A case that was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseLine {
    /// Its place in the run, from 0, in that of all shards where it is one; absent where it is no part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// `area/name`, with `[key=value]` for an instance of a matrix.
    pub id: String,
    /// The scenario's id, without the instance.
    pub scenario: String,
    /// In one line.
    pub title: String,
    /// What for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Where it stands, with the reasons of known failures.
    #[serde(flatten)]
    pub standing: Standing,
    /// Milliseconds it took, on the clock of its transport.
    pub took_ms: u64,
    /// What its random choices follow from.
    pub seed: u64,
    /// Each requirement that it is about or that it broke.
    pub checks: Vec<Check>,
    /// What was wrong, with what was expected and seen.
    pub violations: Vec<Violation>,
    /// What was noticed and is no failure.
    pub notes: Vec<String>,
    /// What a right client does, step by step.
    pub expected: Vec<String>,
    /// The command that plays it again, alone.
    pub replay: String,
    /// What both sides did, in the order of time; empty where the case was not played.
    pub timeline: Vec<Moment>,
    /// What its requests made and ended, and what of it is left; absent where the case was not played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Value>,
    /// What the client said; where something is wrong, or everything was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Value>,
    /// What was planned; where everything was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Value>,
    /// What crossed the wire; where everything was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Value>,
}

/// One thing that happened in a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Moment {
    /// Microseconds from the trial's begin; absent: at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_us: Option<Micros>,
    /// What kind of thing.
    pub what: What,
    /// The server left the truth here: a fault, at its byte.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fault: bool,
    /// In words: a request with its cursor, frames, what was handed over. Empty where something was wrong.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub words: String,
    /// The request it belongs to, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<usize>,
    /// What was wrong here: its place among the case's `violations`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<usize>,
    /// The first thing that was wrong: here contract and client part.
    #[serde(default, skip_serializing_if = "is_false")]
    pub parts: bool,
}

/// A run is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryLine {
    /// In numbers.
    pub summary: Summary,
    /// What follows.
    pub exit: ExitLine,
}

/// An exit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExitLine {
    /// The process's code.
    pub code: u8,
    /// In words.
    pub meaning: String,
}

/// What repeats brought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StabilityLine {
    /// The repeats.
    pub stability: Value,
    /// That of all runs together.
    pub exit: ExitLine,
}

/// What came of judging saved trials again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgainLine {
    /// How many.
    pub trials: usize,
    /// Those that are judged otherwise now.
    pub changed: Vec<Value>,
    /// What follows.
    pub exit: ExitLine,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl CaseLine {
    /// Checks that are broken.
    pub fn broken(&self) -> impl Iterator<Item = &Check> {
        let broken = |check: &&Check| check.status == CheckStatus::Fail;
        self.checks.iter().filter(broken)
    }

    /// What was wrong with a requirement.
    pub fn violations_of<'a>(
        &'a self,
        requirement: &'a str,
    ) -> impl Iterator<Item = &'a Violation> {
        let mine = move |violation: &&Violation| violation.requirement == requirement;
        self.violations.iter().filter(mine)
    }
}

/// The schema of a line.
#[must_use]
pub fn schema() -> Schema {
    let mut schema = schema_for!(Line);
    schema.insert(
        "title".to_owned(),
        Value::from(format!("A line of an event file, version {VERSION}")),
    );
    schema
}
