//! Where a case stands once the client's known failures are taken into account, strictly both ways:
//! a failure that is listed is expected, a listed one that passes is news, a key that means nothing is an error.

use crate::{
    case::Case,
    client::manifest::KnownFailure,
    judge::CheckStatus,
    select::{self, Pattern},
};
use serde::{Deserialize, Serialize};

/// A failure that a client's manifest admits, with its cases found.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    /// As the manifest says it.
    entry: KnownFailure,
    /// Which cases.
    cases: Pattern,
}

/// A known failure that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KnownFailureError {
    /// No scenario has such an id.
    #[error("line {line}: known failure `{key}` matches no scenario{}", hint(.suggestions))]
    NoScenario {
        /// Line of the manifest.
        line: usize,
        /// The key.
        key: String,
        /// What may have been meant.
        suggestions: Vec<String>,
    },
    /// No requirement has such an id.
    #[error("line {line}: known failure `{key}`: there is no requirement `{requirement}`{}", hint(.suggestions))]
    NoRequirement {
        /// Line of the manifest.
        line: usize,
        /// The key.
        key: String,
        /// Its second word.
        requirement: String,
        /// What may have been meant.
        suggestions: Vec<String>,
    },
}

fn hint(suggestions: &[String]) -> String {
    match suggestions.first() {
        Some(first) => format!(" (did you mean `{first}`?)"),
        None => String::new(),
    }
}

/// What a manifest admits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownFailures(Vec<Known>);

impl KnownFailures {
    /// Finds what the entries of a manifest mean. `ids` are the ids of every case of the whole suite (not of the
    /// selection), `requirements` those of the contract.
    ///
    /// # Errors
    /// If an entry means no scenario, or no requirement.
    pub fn find(
        entries: &[KnownFailure],
        ids: &[&str],
        requirements: &[&str],
    ) -> Result<Self, KnownFailureError> {
        entries
            .iter()
            .map(|entry| find_one(entry, ids, requirements))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The entries that mean this case, in the manifest's order.
    #[must_use]
    pub fn entries_of(&self, id: &str) -> Vec<KnownFailure> {
        let mine = self.0.iter().filter(|known| known.cases.matches(id));
        mine.map(|known| known.entry.clone()).collect()
    }

    /// Where a case stands.
    #[must_use]
    pub fn standing(&self, case: &Case, strict: bool) -> Standing {
        let mine: Vec<&Known> = self
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
                    .entry
                    .requirement
                    .as_ref()
                    .is_none_or(|requirement| *requirement == check.requirement)
            })
        });
        if unexpected {
            return Standing::Failed;
        }
        let (still, fixed): (Vec<&Known>, Vec<&Known>) = mine
            .into_iter()
            .partition(|known| broken(known.entry.requirement.as_deref()));
        if fixed.is_empty() {
            Standing::KnownFailure {
                reasons: still
                    .iter()
                    .map(|known| known.entry.reason.clone())
                    .collect(),
            }
        } else {
            Standing::Fixed {
                keys: fixed.iter().map(|known| key(&known.entry)).collect(),
            }
        }
    }
}

fn find_one(
    entry: &KnownFailure,
    ids: &[&str],
    requirements: &[&str],
) -> Result<Known, KnownFailureError> {
    let cases = Pattern::new(&entry.pattern);
    if !ids.iter().any(|id| cases.matches(id)) {
        return Err(KnownFailureError::NoScenario {
            line: entry.line,
            key: key(entry),
            suggestions: select::suggest(&entry.pattern, ids),
        });
    }
    if let Some(requirement) = &entry.requirement
        && !requirements.contains(&requirement.as_str())
    {
        return Err(KnownFailureError::NoRequirement {
            line: entry.line,
            key: key(entry),
            requirement: requirement.clone(),
            suggestions: select::suggest(requirement, requirements),
        });
    }
    Ok(Known {
        entry: entry.clone(),
        cases,
    })
}

/// The entry's key as it stands in the manifest.
fn key(entry: &KnownFailure) -> String {
    match &entry.requirement {
        Some(requirement) => format!("{} {requirement}", entry.pattern),
        None => entry.pattern.clone(),
    }
}

/// Where a case stands in the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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

impl Standing {
    /// In words, without the reasons and keys.
    #[must_use]
    pub const fn words(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::KnownFailure { .. } => "known failure",
            Self::Fixed { .. } => "known failure that passes",
            Self::NotApplicable => "not applicable",
            Self::NotExercised => "not exercised",
            Self::AdapterError => "adapter error",
            Self::HarnessError => "harness error",
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::Level,
        judge::{Check, Verdict},
    };
    use fake_server::script::model::Plan;
    use std::sync::Arc;

    const IDS: &[&str] = &[
        "stream/drop[how=fin]",
        "stream/drop[how=reset]",
        "exit/code-7",
    ];
    const REQUIREMENTS: &[&str] = &["stream/resume-cursor", "exit/code"];

    fn plan(id: &str) -> Plan {
        let text = "title = \"x\"\nrequirements = [\"exit/code\"]\nfault-kinds = []\nwhy = \"x\"\nop = \"follow\"\n[process]\nexit = { code = 0 }\n";
        let scenario = fake_server::script::parse("x.toml", "x/y", text, None).unwrap();
        let mut plan = scenario.plan(0, 1);
        id.clone_into(&mut plan.id);
        plan
    }

    fn case(id: &str, checks: &[(&str, Level, CheckStatus)]) -> Case {
        Case {
            plan: Arc::new(plan(id)),
            trial: None,
            verdict: Verdict {
                checks: checks
                    .iter()
                    .map(|&(requirement, level, status)| Check {
                        requirement: requirement.to_owned(),
                        level,
                        status,
                        reason: String::new(),
                    })
                    .collect(),
                violations: Vec::new(),
                notes: Vec::new(),
                expected: Vec::new(),
            },
        }
    }

    fn known(pattern: &str, requirement: Option<&str>) -> KnownFailures {
        let entry = KnownFailure {
            pattern: pattern.to_owned(),
            requirement: requirement.map(str::to_owned),
            reason: "see 17".to_owned(),
            line: 4,
        };
        KnownFailures::find(&[entry], IDS, REQUIREMENTS).unwrap()
    }

    const CURSOR: (&str, Level) = ("stream/resume-cursor", Level::Must);

    #[test]
    fn a_listed_failure_is_expected_an_unlisted_one_is_not() {
        let broken = case(IDS[0], &[(CURSOR.0, CURSOR.1, CheckStatus::Fail)]);
        let reasons = vec!["see 17".to_owned()];
        let listed = known("stream/*", None).standing(&broken, false);
        assert_eq!(listed, Standing::KnownFailure { reasons });
        let unlisted = known("exit/*", None).standing(&broken, false);
        assert_eq!(unlisted, Standing::Failed);
    }

    #[test]
    fn a_listed_failure_that_passes_is_news() {
        let held = case(IDS[0], &[(CURSOR.0, CURSOR.1, CheckStatus::Pass)]);
        let standing = known("stream/drop", None).standing(&held, false);
        assert_eq!(
            standing,
            Standing::Fixed {
                keys: vec!["stream/drop".to_owned()]
            }
        );
    }

    #[test]
    fn a_requirement_in_the_key_admits_no_other_failure() {
        let listed = known("stream/drop", Some("exit/code"));
        let other = case(
            IDS[0],
            &[
                (CURSOR.0, CURSOR.1, CheckStatus::Fail),
                ("exit/code", Level::Must, CheckStatus::Fail),
            ],
        );
        assert_eq!(listed.standing(&other, false), Standing::Failed);
        let only = case(
            IDS[0],
            &[
                (CURSOR.0, CURSOR.1, CheckStatus::Pass),
                ("exit/code", Level::Must, CheckStatus::Fail),
            ],
        );
        assert!(matches!(
            listed.standing(&only, false),
            Standing::KnownFailure { .. }
        ));
    }

    #[test]
    fn what_could_not_be_judged_is_neither_known_nor_fixed() {
        let listed = known("stream/drop", None);
        for status in [
            CheckStatus::NotExercised,
            CheckStatus::AdapterError,
            CheckStatus::NotApplicable,
        ] {
            let case = case(IDS[0], &[(CURSOR.0, CURSOR.1, status)]);
            assert_eq!(listed.standing(&case, false), Standing::from(status));
        }
    }

    #[test]
    fn a_should_fails_only_if_strict_but_may_be_listed_either_way() {
        let broken = case(IDS[0], &[(CURSOR.0, Level::Should, CheckStatus::Fail)]);
        let none = KnownFailures::default();
        assert_eq!(none.standing(&broken, false), Standing::Passed);
        assert_eq!(none.standing(&broken, true), Standing::Failed);
        for strict in [false, true] {
            let standing = known("stream/drop", None).standing(&broken, strict);
            assert!(matches!(standing, Standing::KnownFailure { .. }));
        }
    }

    #[test]
    fn a_failure_stands_above_what_could_not_be_judged_in_the_same_case() {
        let case = case(
            IDS[0],
            &[
                (CURSOR.0, CURSOR.1, CheckStatus::NotExercised),
                ("exit/code", Level::Must, CheckStatus::Fail),
            ],
        );
        assert_eq!(
            KnownFailures::default().standing(&case, false),
            Standing::Failed
        );
    }

    #[test]
    fn a_key_that_means_nothing_is_an_error_with_its_line() {
        let entry = |pattern: &str, requirement: Option<&str>| KnownFailure {
            pattern: pattern.to_owned(),
            requirement: requirement.map(str::to_owned),
            reason: "see 17".to_owned(),
            line: 12,
        };
        let told = |entry| {
            KnownFailures::find(&[entry], IDS, REQUIREMENTS)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            told(entry("stream/drob", None)),
            "line 12: known failure `stream/drob` matches no scenario (did you mean `stream/drop`?)"
        );
        assert_eq!(
            told(entry("stream/drop", Some("exit/cod"))),
            "line 12: known failure `stream/drop exit/cod`: there is no requirement `exit/cod` (did you mean `exit/code`?)"
        );
    }
}
