//! What it means that a smaller plan fails in the same way.

use crate::case::{Case, counts};
use fake_server::script::model::Plan;

/// The requirements that a case broke. A smaller case fails in the same way if it breaks one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    requirements: Vec<String>,
    strict: bool,
}

impl Failure {
    /// What a case broke, in the order of its checks; nothing if it failed nothing that counts.
    #[must_use]
    pub fn of(case: &Case, strict: bool) -> Option<Self> {
        let failed = case.failed(strict);
        let requirements: Vec<String> = failed.map(|check| check.requirement.clone()).collect();
        (!requirements.is_empty()).then_some(Self {
            requirements,
            strict,
        })
    }

    /// That this requirement was broken, whatever its level.
    #[must_use]
    pub fn by(requirement: &str) -> Self {
        Self {
            requirements: vec![requirement.to_owned()],
            strict: true,
        }
    }

    /// Their ids.
    #[must_use]
    pub fn requirements(&self) -> &[String] {
        &self.requirements
    }

    /// The plan as one that is about these requirements, so that what breaks them is counted under the same names
    /// however small it becomes.
    #[must_use]
    pub fn about(&self, plan: &Plan) -> Plan {
        Plan {
            requirements: self.requirements.clone(),
            ..plan.clone()
        }
    }

    /// Whether the case breaks one of them.
    #[must_use]
    pub fn is_in(&self, case: &Case) -> bool {
        self.in_case(case).next().is_some()
    }

    /// Those that the case breaks.
    pub fn in_case<'a>(&'a self, case: &'a Case) -> impl Iterator<Item = &'a String> {
        self.requirements.iter().filter(|id| {
            case.verdict.violations.iter().any(|violation| {
                violation.requirement == **id && counts(violation.level, self.strict)
            })
        })
    }
}
