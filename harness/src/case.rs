//! One case of a run: what was planned, what was seen and said, and how it was judged.
//! A case is complete: it can be judged and told again without a network.

use crate::{
    contract::{Level, requirement},
    judge::{Account, Check, CheckStatus, Verdict},
    observed::Observed,
};
use fake_server::{script::model::Plan, wirelog::WireLog};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One planned trial and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What was done to the client.
    pub plan: Arc<Plan>,
    /// What was seen and said; absent where the client does not claim what the case needs.
    pub trial: Option<Trial>,
    /// How it was judged.
    pub verdict: Verdict,
}

/// What one trial brought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// What crossed the wire.
    pub log: WireLog,
    /// What the client said.
    pub observed: Observed,
}

impl Case {
    /// The ledger of its trial; empty if it was not played.
    #[must_use]
    pub fn account(&self) -> Account {
        self.trial.as_ref().map_or_else(Account::default, |trial| {
            Account::of(&self.plan, &trial.log, &trial.observed)
        })
    }

    /// A case that was not played, with the same status for all it asks.
    #[must_use]
    pub fn unplayed(plan: Arc<Plan>, status: CheckStatus, reason: &str) -> Self {
        let checks = plan
            .requirements
            .iter()
            .map(|id| Check {
                requirement: id.clone(),
                level: requirement(id).map_or(Level::Must, |known| known.level),
                status,
                reason: reason.to_owned(),
            })
            .collect();
        let verdict = Verdict {
            checks,
            violations: Vec::new(),
            notes: Vec::new(),
            expected: Vec::new(),
        };
        Self {
            plan,
            trial: None,
            verdict,
        }
    }

    /// `area/name`, with `[key=value]` for an instance of a matrix.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.plan.id
    }

    /// The scenario's id, without the instance.
    #[must_use]
    pub fn scenario(&self) -> &str {
        self.plan.id.split('[').next().unwrap_or(&self.plan.id)
    }

    /// Checks that are broken and count: musts, and shoulds where `strict`.
    pub fn failed(&self, strict: bool) -> impl Iterator<Item = &Check> {
        self.verdict
            .checks
            .iter()
            .filter(move |check| check.status == CheckStatus::Fail && counts(check.level, strict))
    }

    /// The case's own status: the gravest of its checks. A broken check counts only if its level does.
    /// No check at all is a fault of the harness.
    #[must_use]
    pub fn status(&self, strict: bool) -> CheckStatus {
        let statuses: Vec<CheckStatus> = self
            .verdict
            .checks
            .iter()
            .map(|check| match check.status {
                CheckStatus::Fail if !counts(check.level, strict) => CheckStatus::Pass,
                status => status,
            })
            .collect();
        [
            CheckStatus::HarnessError,
            CheckStatus::Fail,
            CheckStatus::AdapterError,
            CheckStatus::NotExercised,
            CheckStatus::Pass,
            CheckStatus::NotApplicable,
        ]
        .into_iter()
        .find(|status| statuses.contains(status))
        .unwrap_or(CheckStatus::HarnessError)
    }
}

/// Whether breaking a requirement of this level fails the certification.
#[must_use]
pub fn counts(level: Level, strict: bool) -> bool {
    match level {
        Level::Must => true,
        Level::Should => strict,
        Level::May => false,
    }
}
