//! The result of judging one trial.

use crate::contract::Level;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// The result of judging one trial: a check a requirement, and every violation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// One for each requirement the scenario names, in its order, then one for each further requirement
    /// that an invariant found broken.
    pub checks: Vec<Check>,
    /// Everything that was wrong, first things first.
    pub violations: Vec<Violation>,
    /// Remarks that fail nothing (an unclassified error kind, a late answer).
    pub notes: Vec<String>,
    /// What a right client would have done, in words, step by step (for the story).
    pub expected: Vec<String>,
}

impl Verdict {
    /// All of it that people read, in lines, to be compared.
    #[must_use]
    pub fn told(&self) -> String {
        let mut text = String::new();
        for check in &self.checks {
            // Writing to a String cannot fail, here and below.
            let _ = write!(text, "{}  {}", check.status.word(), check.requirement);
            let _ = match check.reason.as_str() {
                "" => writeln!(text),
                reason => writeln!(text, ": {reason}"),
            };
        }
        for violation in &self.violations {
            let _ = writeln!(text, "broken    {}", violation.requirement);
            let _ = writeln!(text, "  expected  {}", violation.expected);
            let _ = writeln!(text, "  seen      {}", violation.seen);
        }
        for note in &self.notes {
            let _ = writeln!(text, "note  {note}");
        }
        for step in &self.expected {
            let _ = writeln!(text, "a right client  {step}");
        }
        text
    }
}

/// One requirement in one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Check {
    /// Requirement id.
    pub requirement: String,
    /// How binding it is.
    pub level: Level,
    /// The result.
    pub status: CheckStatus,
    /// Why, where it is not a pass.
    pub reason: String,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStatus {
    /// Held, and the fault was proven to have reached the client.
    Pass,
    /// Broken.
    Fail,
    /// The client does not claim what this needs, or a promise of its rules the case out.
    NotApplicable,
    /// The fault did not reach the client. Never a pass.
    NotExercised,
    /// The adapter broke its protocol or died.
    AdapterError,
    /// The harness failed.
    HarnessError,
}

impl CheckStatus {
    /// Its name among others, what is wrong in capitals.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::NotApplicable => "not applicable",
            Self::NotExercised => "NOT EXERCISED",
            Self::AdapterError => "ADAPTER ERROR",
            Self::HarnessError => "HARNESS ERROR",
        }
    }
}

/// One thing that was wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Violation {
    /// Requirement id.
    pub requirement: String,
    /// How binding it is.
    pub level: Level,
    /// What would have been right.
    pub expected: String,
    /// What was seen.
    pub seen: String,
    /// Where.
    pub place: Place,
    /// Found by an invariant that is always on, in a scenario that is not about this requirement: with the
    /// invariants switched off it would go unseen.
    pub invariant: bool,
}

/// Where in the trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// A request or its answer: index into `WireLog::exchanges`.
    Exchange(usize),
    /// The client's result.
    Result,
    /// An `output` message, by index.
    Output(usize),
    /// An `event` message, by index.
    Event(usize),
    /// A request at the trap, by index.
    Trap(usize),
    /// The end of the trial (something left open or alive).
    End,
}
