//! What the suite covers: each requirement and each fault kind, by the scenarios that are about it.

use crate::{
    contract::{Level, Requirement, registry},
    suite::Suite,
};
use fake_server::script::fault_kinds::{self, FaultKind};
use serde::Serialize;

/// Fault kinds that no scenario of this version is about, and why. A family stands by its prefix.
pub const LATER_KINDS: &[(&str, &str)] = &[
    ("H2", "HTTP/2 and TLS come in a later version"),
    (
        "CO03",
        "a slow consumer is on the client's side of the adapter; the harness reads at once",
    ),
];

/// A requirement or a fault kind with the scenarios that are about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Covered {
    /// Its id.
    pub id: String,
    /// `must`, `should`, `may`; absent for a fault kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// The sentence, or the kind's name.
    pub says: String,
    /// Ids of the scenarios.
    pub scenarios: Vec<String>,
    /// Cases of those scenarios: instances of matrices counted.
    pub cases: usize,
    /// Why this version has none, where that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later: Option<String>,
}

impl Covered {
    /// Nothing in the suite is about it, and it is this version's business.
    #[must_use]
    pub const fn is_hole(&self) -> bool {
        self.scenarios.is_empty() && self.later.is_none()
    }

    /// A hole that makes a certificate worthless: a must, or a fault kind of the taxonomy.
    #[must_use]
    pub fn is_grave(&self) -> bool {
        self.is_hole() && self.level.is_none_or(|level| level == Level::Must)
    }
}

/// Everything the suite should be about, and what it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Scenario files.
    pub scenarios: usize,
    /// Their cases.
    pub cases: usize,
    /// Each requirement, in the order of the contract.
    pub requirements: Vec<Covered>,
    /// Each fault kind, in the order of the taxonomy.
    pub fault_kinds: Vec<Covered>,
}

impl Coverage {
    /// Looks a suite through.
    #[must_use]
    pub fn of(suite: &Suite) -> Self {
        Self {
            scenarios: suite.len(),
            cases: suite.iter().map(|entry| entry.scenario.instances()).sum(),
            requirements: registry()
                .iter()
                .map(|one| requirement(suite, one))
                .collect(),
            fault_kinds: fault_kinds::all()
                .map(|kind| fault_kind(suite, kind))
                .collect(),
        }
    }

    /// What is missing and must not be.
    pub fn holes(&self) -> impl Iterator<Item = &Covered> {
        self.requirements
            .iter()
            .chain(&self.fault_kinds)
            .filter(|one| one.is_grave())
    }
}

fn requirement(suite: &Suite, one: &Requirement) -> Covered {
    covered(
        suite,
        one.id,
        Some(one.level),
        one.sentence,
        |scenario| scenario.requirements(),
        None,
    )
}

fn fault_kind(suite: &Suite, kind: &FaultKind) -> Covered {
    let later = LATER_KINDS
        .iter()
        .find(|(prefix, _)| kind.id.starts_with(prefix));
    covered(
        suite,
        kind.id,
        None,
        kind.name,
        |scenario| scenario.fault_kinds(),
        later.map(|(_, why)| (*why).to_owned()),
    )
}

fn covered(
    suite: &Suite,
    id: &str,
    level: Option<Level>,
    says: &str,
    cites: impl Fn(&fake_server::script::Scenario) -> &[String],
    later: Option<String>,
) -> Covered {
    let mut scenarios = Vec::new();
    let mut cases = 0;
    for entry in suite.iter() {
        if cites(&entry.scenario).iter().any(|cited| cited == id) {
            scenarios.push(entry.source.id.clone());
            cases += entry.scenario.instances();
        }
    }
    Covered {
        id: id.to_owned(),
        level,
        says: says.to_owned(),
        later: later.filter(|_| scenarios.is_empty()),
        scenarios,
        cases,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::embedded;

    fn coverage() -> Coverage {
        match Suite::load(&[embedded()]) {
            Ok(suite) => Coverage::of(&suite),
            Err(mistakes) => panic!("{mistakes}"),
        }
    }

    #[test]
    fn no_must_and_no_fault_kind_is_without_a_scenario() {
        let coverage = coverage();
        let holes: Vec<&str> = coverage.holes().map(|hole| hole.id.as_str()).collect();
        assert!(holes.is_empty(), "nothing in the suite is about {holes:?}");
    }

    #[test]
    fn what_is_called_later_is_not_there_yet() {
        let coverage = coverage();
        let already: Vec<&str> = coverage
            .fault_kinds
            .iter()
            .filter(|kind| {
                LATER_KINDS.iter().any(|(prefix, _)| *prefix == kind.id)
                    && !kind.scenarios.is_empty()
            })
            .map(|kind| kind.id.as_str())
            .collect();
        assert!(
            already.is_empty(),
            "{already:?} have scenarios: take them from the list of what comes later"
        );
    }
}
