//! One check a requirement, from what was found.

use super::{
    Check, CheckStatus, Violation,
    evidence::{self, Evidence, Shown},
    receipts::Exercised,
    walk::Walk,
};
use crate::{
    contract::{Level, oracle::Expected, requirement},
    observed::Reply,
};

/// The checks of a trial: the scenario's requirements in its order, then whatever else was found broken.
pub(super) fn checks(
    walk: &Walk<'_>,
    applicable: Result<(), String>,
    exercised: &Exercised,
    expected: &Expected,
    violations: &[Violation],
) -> Vec<Check> {
    let rest = otherwise(applicable, exercised, &walk.observed.reply);
    let shown = Shown::new(walk, expected, violations);
    let mut checks: Vec<Check> = walk
        .plan
        .requirements
        .iter()
        .map(|id| {
            failed(id, violations).unwrap_or_else(|| {
                let (status, reason) = match (&rest.0, evidence::of(id, &shown)) {
                    (CheckStatus::Pass, Evidence::Missing(why)) => (CheckStatus::NotExercised, why),
                    (CheckStatus::Pass, Evidence::RuledOut(why)) => {
                        (CheckStatus::NotApplicable, why)
                    }
                    _ => rest.clone(),
                };
                Check {
                    requirement: id.clone(),
                    level: level(id),
                    status,
                    reason,
                }
            })
        })
        .collect();
    for violation in violations {
        let id = &violation.requirement;
        if !checks.iter().any(|check| check.requirement == *id) {
            checks.extend(failed(id, violations));
        }
    }
    checks
}

fn failed(id: &str, violations: &[Violation]) -> Option<Check> {
    let of_it = || {
        violations
            .iter()
            .filter(|violation| violation.requirement == id)
    };
    let first = of_it().next()?;
    Some(Check {
        requirement: id.to_owned(),
        level: of_it().map(|violation| violation.level).max()?,
        status: CheckStatus::Fail,
        reason: format!("expected {}; seen: {}", first.expected, first.seen),
    })
}

/// What a check is that nothing was found against.
fn otherwise(
    applicable: Result<(), String>,
    exercised: &Exercised,
    reply: &Reply,
) -> (CheckStatus, String) {
    match (reply, applicable, exercised) {
        (Reply::HarnessError(what), ..) => (CheckStatus::HarnessError, what.clone()),
        (Reply::AdapterFault(what), ..) => (CheckStatus::AdapterError, what.clone()),
        (Reply::AdapterDied(how), ..) => (
            CheckStatus::AdapterError,
            format!("the adapter's program ended: {how}"),
        ),
        (_, Err(why), _) => (CheckStatus::NotApplicable, why),
        (_, _, Exercised::RuledOut(why)) => (CheckStatus::NotApplicable, why.clone()),
        (_, _, Exercised::No(why)) => (CheckStatus::NotExercised, why.clone()),
        (_, _, Exercised::Unanswered) => (
            CheckStatus::NotExercised,
            "the client gave no answer by the deadline".to_owned(),
        ),
        (Reply::Result(_) | Reply::Silent, Ok(()), Exercised::Yes) => {
            (CheckStatus::Pass, String::new())
        }
    }
}

fn level(id: &str) -> Level {
    requirement(id).map_or(Level::Must, |known| known.level)
}
