//! What failed, sorted by what went wrong: a client with one bug fails a thousand cases in one way.

use super::Origin;
use crate::{
    case::{Case, counts},
    judge::CheckStatus,
    observed::Reply,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// What went wrong in short: the same requirement broken, and the same thing said by the client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Signature {
    /// The first requirement that counts and was broken; empty where the adapter or the harness failed.
    pub requirement: String,
    /// What the client said: `exited`, `error:sequence-gap`, `silent`.
    pub said: String,
}

impl Signature {
    /// That of a case which failed.
    #[must_use]
    pub fn of(case: &Case, strict: bool) -> Self {
        let requirement = case
            .verdict
            .violations
            .iter()
            .find(|broken| counts(broken.level, strict))
            .map_or_else(String::new, |broken| broken.requirement.clone());
        let said = if case.status(strict) == CheckStatus::NotExercised {
            "not exercised".to_owned()
        } else {
            said(case)
        };
        Self { requirement, said }
    }

    /// Whether another trial of a plan failed in the same way.
    #[must_use]
    pub fn is_of(&self, case: &Case, strict: bool) -> bool {
        let quiet = [CheckStatus::Pass, CheckStatus::NotApplicable];
        !quiet.contains(&case.status(strict)) && Self::of(case, strict) == *self
    }

    /// As a part of a file's name.
    #[must_use]
    pub fn slug(&self) -> String {
        let word = if self.requirement.is_empty() {
            &self.said
        } else {
            &self.requirement
        };
        word.replace(['/', ':', ' '], "-")
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.requirement.is_empty() {
            f.write_str(&self.said)
        } else {
            write!(f, "{}, the client said {}", self.requirement, self.said)
        }
    }
}

fn said(case: &Case) -> String {
    let Some(trial) = &case.trial else {
        return "nothing, for it was not asked".to_owned();
    };
    match &trial.observed.reply {
        Reply::Result(result) => match &result.error {
            Some(error) => format!("{}:{}", result.outcome, error.kind),
            None => result.outcome.clone(),
        },
        Reply::Silent => "nothing".to_owned(),
        Reply::AdapterFault(_) => "adapter fault".to_owned(),
        Reply::AdapterDied(_) => "adapter died".to_owned(),
        Reply::HarnessError(_) => "harness error".to_owned(),
    }
}

/// All that failed.
#[derive(Clone, Debug, Default)]
pub struct Groups(BTreeMap<Signature, Group>);

/// What failed in one way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// How often.
    pub count: usize,
    /// The first of them, in the order in which they ended.
    pub first: Vec<Origin>,
}

/// Cases of one group that are remembered one by one.
const REMEMBERED: usize = 10;

impl Groups {
    /// Takes a failure in; how many failed in this way before.
    pub(super) fn add(&mut self, signature: Signature, origin: Origin) -> usize {
        let group = self.0.entry(signature).or_default();
        group.count += 1;
        if group.first.len() < REMEMBERED {
            group.first.push(origin);
        }
        group.count - 1
    }

    /// Every group, by requirement.
    pub fn iter(&self) -> impl Iterator<Item = (&Signature, &Group)> {
        self.0.iter()
    }

    /// How many ways there are in which something failed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing failed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
