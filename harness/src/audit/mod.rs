//! The suite audited: the built-in client with one deliberate bug after the other must fail it, each by a check of
//! the requirement that it breaks, in a scenario that names this requirement. What no wrong client fails proves nothing.
//!
//! With [`Options::sockets`] each client that was killed in memory meets its quickest killers once more over real sockets,
//! and has to be killed by the same requirement there.
//!
//! [`generated`] lets them play generated cases instead, no scenario at all.
//!
//! Without [`Options::full`] a bug plays the scenarios of its requirement, and the others only if it survives those.

#[cfg(feature = "run")]
pub mod generated;
#[cfg(feature = "run")]
mod play;
#[cfg(feature = "run")]
mod reach;
#[cfg(feature = "run")]
mod sockets;

use crate::{
    case::{Case, counts},
    client::reference::{Bug, Exempt},
    contract::{Level, registry, requirement},
    judge::CheckStatus,
    summary::Judged,
};
use serde::Serialize;

#[cfg(feature = "run")]
pub use play::{Options, audit};

/// What became of every wrong client, and of every must.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// The wrong clients, in the order of the requirements that they break.
    pub clients: Vec<Wrong>,
    /// The musts in scope, in the order of the contract.
    pub musts: Vec<Must>,
    /// Cases that the harness itself broke: nothing is known of those.
    pub broken: Vec<String>,
}

/// A wrong client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Wrong {
    /// Its bug.
    pub bug: String,
    /// The bug's number in the list of mutants, or `own`.
    pub mutant: String,
    /// What it does wrong.
    pub does: String,
    /// The requirement that it breaks.
    pub requirement: String,
    /// What became of it.
    pub fate: Fate,
    /// Why it is exempt, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Scenarios that name the requirement and in which it failed, in their order.
    pub scenarios: Vec<String>,
    /// Further requirements that failed in what was played, with the first scenario of each.
    pub also: Vec<(String, String)>,
    /// Cases that it played.
    pub cases: usize,
    /// What of it was played again over sockets, if that was asked for and it was killed in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sockets: Option<Sockets>,
}

/// Cases that killed a client in memory, played again over real sockets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sockets {
    /// Cases in which the same requirement failed again, by name.
    pub killed: Vec<String>,
    /// Cases in which it did not, each with what came instead.
    pub survived: Vec<(String, String)>,
}

/// What became of a wrong client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// A scenario that names the requirement failed by it.
    Killed,
    /// None did: a hole in the suite.
    Survived,
    /// It can't be told from the conformant client, as its proof says, and was not.
    Equivalent,
    /// It breaks no requirement, and failed none.
    Outside,
    /// It is said to be equivalent or outside the contract, and failed something that counts.
    Contradicted,
}

/// A must of the contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Must {
    /// Its id.
    pub id: String,
    /// The wrong client and the scenario that prove that it can fail; `None` is a hole.
    pub proof: Option<Proof>,
}

/// A wrong client that fails a must by a check of this name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// The bug.
    pub bug: String,
    /// The scenario.
    pub scenario: String,
}

impl Audit {
    /// Wrong clients with this fate.
    #[must_use]
    pub fn count(&self, fate: Fate) -> usize {
        let has_it = |one: &&Wrong| one.fate == fate;
        self.clients.iter().filter(has_it).count()
    }

    /// Musts that no wrong client fails.
    pub fn holes(&self) -> impl Iterator<Item = &Must> {
        self.musts.iter().filter(|must| must.proof.is_none())
    }

    /// Killed of those that should be, in percent, rounded down.
    #[must_use]
    pub fn score(&self) -> usize {
        let killed = self.count(Fate::Killed);
        let all = killed + self.count(Fate::Survived);
        (killed * 100).checked_div(all).unwrap_or(100)
    }

    /// What was played over sockets.
    pub fn over_sockets(&self) -> impl Iterator<Item = (&Wrong, &Sockets)> {
        self.clients
            .iter()
            .filter_map(|one| one.sockets.as_ref().map(|sockets| (one, sockets)))
    }

    /// Everything that should be killed is, over sockets too where that was played, and every must can fail.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.broken.is_empty()
            && self.count(Fate::Survived) + self.count(Fate::Contradicted) == 0
            && self.holes().next().is_none()
            && self
                .over_sockets()
                .all(|(_, sockets)| sockets.survived.is_empty())
    }
}

/// Whether this case shows that the requirement can fail: its scenario names it, and a check of this name failed that
/// would fail without the invariants too.
fn fails_by_name(case: &Case, id: &str) -> bool {
    let plan = &case.plan;
    plan.requirements.iter().any(|asked| asked == id)
        && case.verdict.violations.iter().any(|violation| {
            violation.requirement == id && !violation.invariant && counts(violation.level, true)
        })
}

/// The musts that this version of the suite judges.
fn musts() -> impl Iterator<Item = &'static str> {
    registry()
        .iter()
        .filter(|known| known.level == Level::Must)
        .map(|known| known.id)
}

/// What became of a bug in all that it played.
fn wrong(bug: Bug, judged: &[Judged]) -> Wrong {
    let id = bug.caught_by();
    let mut scenarios: Vec<String> = Vec::new();
    let mut also: Vec<(String, String)> = Vec::new();
    let mut fails_a_must = false;
    for one in judged {
        let scenario = one.case.scenario();
        if fails_by_name(&one.case, id) && !scenarios.iter().any(|known| known == scenario) {
            scenarios.push(scenario.to_owned());
        }
        for check in one.case.failed(true) {
            fails_a_must |= check.level == Level::Must;
            if check.requirement != id && !also.iter().any(|(known, _)| *known == check.requirement)
            {
                also.push((check.requirement.clone(), scenario.to_owned()));
            }
        }
    }
    let (fate, why) = match bug.exempt() {
        Some(exempt) if fails_a_must => (Fate::Contradicted, Some(exempt.why())),
        Some(Exempt::Equivalent(why)) => (Fate::Equivalent, Some(why)),
        Some(Exempt::Outside(why)) => (Fate::Outside, Some(why)),
        None if scenarios.is_empty() => (Fate::Survived, None),
        None => (Fate::Killed, None),
    };
    Wrong {
        bug: bug.name().to_owned(),
        mutant: bug.mutant().to_owned(),
        does: bug.does().trim().to_owned(),
        requirement: id.to_owned(),
        fate,
        why: why.map(str::to_owned),
        scenarios,
        also,
        cases: judged.len(),
        sockets: None,
    }
}

/// Cases of which nothing is known, because the harness broke.
fn broken(bug: Bug, judged: &[Judged]) -> impl Iterator<Item = String> {
    judged
        .iter()
        .filter(|one| one.case.status(true) == CheckStatus::HarnessError)
        .map(move |one| format!("{} with {bug}", one.case.id()))
}

/// Where a requirement stands in the contract.
fn place(id: &str) -> usize {
    let known = requirement(id).map(|known| known.id);
    registry()
        .iter()
        .position(|one| Some(one.id) == known)
        .unwrap_or(usize::MAX)
}
