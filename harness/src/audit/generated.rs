//! The wrong clients against generated cases only: what would be found if nobody had written a scenario.

use super::{place, reach::out_of_reach};
use crate::{
    client::{
        Client,
        reference::{Bug, Exempt, Reference},
    },
    fuzz::{self, Event, Origin},
    generate::Profile,
    judge::CheckStatus,
    run::Settings,
};
use serde::Serialize;
use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Which cases are played, and how.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Cases at a time.
    pub jobs: usize,
    /// Of which seed.
    pub seed: u64,
    /// So many for each client, if it is not caught before.
    pub cases: u64,
    /// How far they go.
    pub profile: Profile,
}

/// What became of the wrong clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Generated {
    /// The seed.
    pub seed: u64,
    /// Cases that each was given at most.
    pub cases: u64,
    /// The wrong clients, in the order of the requirements that they break.
    pub clients: Vec<Wrong>,
    /// Cases that the harness itself broke.
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
    /// The first case that it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caught: Option<Caught>,
    /// Why it can't be caught, if that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The first case that a wrong client failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Caught {
    /// Its number, from 0.
    pub case: u64,
    /// What was broken first there.
    pub requirement: String,
}

/// What became of a wrong client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It failed a case.
    Caught,
    /// It failed none, and should have.
    Survived,
    /// No generated case can show its bug, as said, and none did.
    OutOfReach,
    /// It is said to be out of reach and was caught: the list of those is wrong.
    Contradicted,
}

impl Generated {
    /// Wrong clients with this fate.
    #[must_use]
    pub fn count(&self, fate: Fate) -> usize {
        self.clients.iter().filter(|one| one.fate == fate).count()
    }

    /// Caught of those within reach, in percent, rounded down.
    #[must_use]
    pub fn score(&self) -> usize {
        let caught = self.count(Fate::Caught);
        let all = caught + self.count(Fate::Survived);
        (caught * 100).checked_div(all).unwrap_or(100)
    }

    /// Whether at least 95 % of those within reach were caught, and nothing else is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.broken.is_empty() && self.count(Fate::Contradicted) == 0 && self.score() >= ENOUGH
    }
}

/// Percent of the wrong clients within reach that generated cases have to catch.
pub const ENOUGH: usize = 95;

/// Plays these wrong clients, one after the other, and tells each as it is done.
pub async fn generated(bugs: &[Bug], options: &Options, mut done: impl FnMut(&Wrong)) -> Generated {
    let mut bugs = bugs.to_vec();
    bugs.sort_by_key(|bug| place(bug.caught_by()));
    let mut all = Generated {
        seed: options.seed,
        cases: options.cases,
        clients: Vec::new(),
        broken: Vec::new(),
    };
    for bug in bugs {
        let caught = hunt(bug, options, &mut all.broken).await;
        let one = wrong(bug, caught);
        done(&one);
        all.clients.push(one);
    }
    all
}

/// The first case that a wrong client fails. Cases begin in their order, and those that have begun are judged: so the
/// lowest number that failed does not depend on which of them ended first.
async fn hunt(bug: Bug, options: &Options, broken: &mut Vec<String>) -> Option<Caught> {
    let client = Arc::new(Client::Reference(Reference::wrong(bug)));
    let found = Arc::new(AtomicBool::new(false));
    let enough = Arc::clone(&found);
    let options = fuzz::Options {
        seed: options.seed,
        cases: 0..options.cases,
        shard: crate::shard::Shard::WHOLE,
        profile: options.profile,
        strict: true,
        settings: Settings {
            jobs: options.jobs,
            keep: 0,
            timeout_multiplier: 1.0,
            fail_fast: false,
            in_memory: true,
            first_trial: 0,
        },
        enough: Arc::new(move || enough.load(Ordering::Relaxed)),
    };
    let mut first: Option<Caught> = None;
    fuzz::fuzz(Vec::new(), &client, &options, pending(), |event| {
        let Event::Failed(failure) = event else {
            return;
        };
        let Origin::Case(case) = failure.origin else {
            return;
        };
        match failure.status {
            CheckStatus::Fail => {
                found.store(true, Ordering::Relaxed);
                if first.as_ref().is_none_or(|known| case < known.case) {
                    first = Some(Caught {
                        case,
                        requirement: failure.signature.requirement.clone(),
                    });
                }
            }
            CheckStatus::HarnessError => broken.push(format!("case {case} with {bug}")),
            _ => {}
        }
    })
    .await;
    first
}

fn wrong(bug: Bug, caught: Option<Caught>) -> Wrong {
    let exempt = bug.exempt().map(|exempt| match exempt {
        Exempt::Equivalent(why) | Exempt::Outside(why) => why,
    });
    let why = exempt.or_else(|| out_of_reach(bug));
    let fate = match (&caught, why) {
        (Some(_), None) => Fate::Caught,
        (Some(_), Some(_)) => Fate::Contradicted,
        (None, Some(_)) => Fate::OutOfReach,
        (None, None) => Fate::Survived,
    };
    Wrong {
        bug: bug.name().to_owned(),
        mutant: bug.mutant().to_owned(),
        does: bug.does().trim().to_owned(),
        requirement: bug.caught_by().to_owned(),
        fate,
        caught,
        why: why.map(str::to_owned),
    }
}
