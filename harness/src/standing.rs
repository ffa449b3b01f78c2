//! Where a case stands once the client's known failures are taken into account, strictly both ways:
//! a failure that is listed is expected, a listed one that passes is news, a key that means nothing is an error.

use crate::{
    case::Case,
    judge::CheckStatus,
    select::{self, Pattern},
};
use serde::Serialize;

/// A failure that a client's manifest admits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFailure {
    /// The key as it stands in the manifest.
    pub key: String,
    /// Which cases.
    pub cases: Pattern,
    /// Only this requirement; absent: whatever fails in them.
    pub requirement: Option<String>,
    /// Why, with a link.
    pub reason: String,
}

/// A known failure that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KnownFailureError {
    /// No scenario has such an id.
    #[error("known failure `{key}`: no scenario matches{}", hint(.suggestions))]
    NoScenario {
        /// The key.
        key: String,
        /// What may have been meant.
        suggestions: Vec<String>,
    },
    /// No requirement has such an id.
    #[error("known failure `{key}`: there is no requirement `{requirement}`{}", hint(.suggestions))]
    NoRequirement {
        /// The key.
        key: String,
        /// Its second word.
        requirement: String,
        /// What may have been meant.
        suggestions: Vec<String>,
    },
    /// A key is one or two words.
    #[error(
        "known failure `{0}`: a key is a scenario's id or pattern, and after a space a requirement's id if only that one fails"
    )]
    Malformed(String),
    /// A failure without a reason helps nobody.
    #[error("known failure `{0}`: the reason is empty; say what is wrong, with a link")]
    NoReason(String),
}

fn hint(suggestions: &[String]) -> String {
    match suggestions.first() {
        Some(first) => format!(" (did you mean `{first}`?)"),
        None => String::new(),
    }
}

/// What a manifest admits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownFailures(Vec<KnownFailure>);

impl KnownFailures {
    /// Reads `[known-failures]` of a manifest. `ids` are the ids of every case of the whole suite (not of the
    /// selection), `requirements` those of the contract.
    ///
    /// # Errors
    /// If a key is malformed or means nothing, or if a reason is empty.
    pub fn parse<'a>(
        entries: impl IntoIterator<Item = (&'a str, &'a str)>,
        ids: &[&str],
        requirements: &[&str],
    ) -> Result<Self, KnownFailureError> {
        entries
            .into_iter()
            .map(|(key, reason)| parse_one(key, reason, ids, requirements))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Where a case stands.
    #[must_use]
    pub fn standing(&self, case: &Case, strict: bool) -> Standing {
        let mine: Vec<&KnownFailure> = self
            .0
            .iter()
            .filter(|known| known.cases.matches(case.id()))
            .collect();
        let status = case.status(strict);
        if mine.is_empty() || !matches!(status, CheckStatus::Pass | CheckStatus::Fail) {
            return status.into();
        }
        let broken = |requirement: Option<&str>| {
            case.verdict.checks.iter().any(|check| {
                check.status == CheckStatus::Fail
                    && requirement.is_none_or(|requirement| check.requirement == requirement)
            })
        };
        let unexpected = case.failed(strict).any(|check| {
            !mine.iter().any(|known| {
                known
                    .requirement
                    .as_ref()
                    .is_none_or(|requirement| *requirement == check.requirement)
            })
        });
        if unexpected {
            return Standing::Failed;
        }
        let (still, fixed): (Vec<&KnownFailure>, Vec<&KnownFailure>) = mine
            .into_iter()
            .partition(|known| broken(known.requirement.as_deref()));
        if fixed.is_empty() {
            Standing::KnownFailure {
                reasons: still.iter().map(|known| known.reason.clone()).collect(),
            }
        } else {
            Standing::Fixed {
                keys: fixed.iter().map(|known| known.key.clone()).collect(),
            }
        }
    }
}

fn parse_one(
    key: &str,
    reason: &str,
    ids: &[&str],
    requirements: &[&str],
) -> Result<KnownFailure, KnownFailureError> {
    let words: Vec<&str> = key.split_whitespace().collect();
    let (cases, requirement) = match words[..] {
        [cases] => (cases, None),
        [cases, requirement] => (cases, Some(requirement)),
        _ => return Err(KnownFailureError::Malformed(key.to_owned())),
    };
    let pattern = Pattern::new(cases);
    if !ids.iter().any(|id| pattern.matches(id)) {
        return Err(KnownFailureError::NoScenario {
            key: key.to_owned(),
            suggestions: select::suggest(cases, ids),
        });
    }
    if let Some(requirement) = requirement
        && !requirements.contains(&requirement)
    {
        return Err(KnownFailureError::NoRequirement {
            key: key.to_owned(),
            requirement: requirement.to_owned(),
            suggestions: select::suggest(requirement, requirements),
        });
    }
    if reason.trim().is_empty() {
        return Err(KnownFailureError::NoReason(key.to_owned()));
    }
    Ok(KnownFailure {
        key: key.to_owned(),
        cases: pattern,
        requirement: requirement.map(str::to_owned),
        reason: reason.to_owned(),
    })
}

/// Where a case stands in the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "standing")]
pub enum Standing {
    /// Everything held.
    Passed,
    /// Broken, and nobody said so before.
    Failed,
    /// Broken as the manifest admits.
    KnownFailure {
        /// The manifest's reasons.
        reasons: Vec<String>,
    },
    /// The manifest admits a failure that does not happen any more.
    Fixed {
        /// The manifest's keys.
        keys: Vec<String>,
    },
    /// The client does not claim what the case needs.
    NotApplicable,
    /// The fault did not reach the client; never a pass.
    NotExercised,
    /// The adapter broke its protocol or died.
    AdapterError,
    /// The harness failed.
    HarnessError,
}

impl From<CheckStatus> for Standing {
    fn from(status: CheckStatus) -> Self {
        match status {
            CheckStatus::Pass => Self::Passed,
            CheckStatus::Fail => Self::Failed,
            CheckStatus::NotApplicable => Self::NotApplicable,
            CheckStatus::NotExercised => Self::NotExercised,
            CheckStatus::AdapterError => Self::AdapterError,
            CheckStatus::HarnessError => Self::HarnessError,
        }
    }
}
