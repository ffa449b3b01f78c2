//! A sample of the audit over real sockets: what kills a client in memory, on a clock that stands still, has to kill it in
//! real time too.

use super::{Wrong, fails_by_name};
use crate::{
    case::Case,
    client::{
        Client,
        reference::{Bug, Reference},
    },
    judge::CheckStatus,
    run::play,
    summary::Judged,
};
use fake_server::script::model::Plan;
use std::sync::Arc;
use tokio::{sync::Semaphore, task::JoinSet};

/// Scenarios of each client.
const KILLERS: usize = 2;
/// Cases at a time: many of them are about time, and company makes a client late.
const SIDE_BY_SIDE: usize = 8;

/// A case to be played over sockets, by the client that stands there in the audit.
#[derive(Clone)]
pub(super) struct Killer {
    bug: Bug,
    place: usize,
    plan: Arc<Plan>,
}

/// The scenarios that killed this client by its requirement, the quickest case of each, as far as they are wanted.
pub(super) fn killers(bug: Bug, place: usize, judged: &[Judged]) -> Vec<Killer> {
    let mut killing: Vec<&Judged> = judged
        .iter()
        .filter(|one| fails_by_name(&one.case, bug.caught_by()))
        .collect();
    killing.sort_by_key(|one| one.took_ms);
    let mut chosen: Vec<&Case> = Vec::new();
    for one in killing {
        let scenario = one.case.scenario();
        if chosen.len() < KILLERS && !chosen.iter().any(|known| known.scenario() == scenario) {
            chosen.push(&one.case);
        }
    }
    let killer = |case: &Case| Killer {
        bug,
        place,
        plan: Arc::clone(&case.plan),
    };
    chosen.into_iter().map(killer).collect()
}

/// Plays them, and notes with each client how it fared.
pub(super) async fn hold(killers: Vec<Killer>, clients: &mut [Wrong], errors: &mut Vec<String>) {
    let turns = Arc::new(Semaphore::new(SIDE_BY_SIDE));
    let mut playing = JoinSet::new();
    for (number, killer) in killers.iter().cloned().enumerate() {
        let turns = Arc::clone(&turns);
        playing.spawn(async move {
            // Nobody closes it.
            let _turn = turns.acquire().await;
            (number, met(number, &killer).await)
        });
    }
    let mut cases: Vec<Option<Case>> = vec![None; killers.len()];
    while let Some(ended) = playing.join_next().await {
        if let Ok((number, case)) = ended {
            cases[number] = Some(case);
        }
    }
    for (number, (killer, case)) in killers.iter().zip(cases).enumerate() {
        let case = match case {
            // As in any run: on a busy machine a client may be late for a fault.
            Some(case) if case.status(true) == CheckStatus::NotExercised => {
                Some(met(number, killer).await)
            }
            case => case,
        };
        let id = &killer.plan.id;
        let told = &mut clients[killer.place];
        let sockets = told.sockets.get_or_insert_default();
        match case {
            Some(case) if fails_by_name(&case, &told.requirement) => {
                sockets.killed.push(id.clone());
            }
            Some(case) if case.status(true) != CheckStatus::HarnessError => {
                sockets.survived.push((id.clone(), instead(&case)));
            }
            _ => errors.push(format!("{id} with {} over sockets", killer.bug)),
        }
    }
}

async fn met(number: usize, killer: &Killer) -> Case {
    let client = Arc::new(Client::Reference(Reference::wrong(killer.bug)));
    play(number, Arc::clone(&killer.plan), &client, 1.0).await
}

/// What came of a case in which the requirement did not fail.
fn instead(case: &Case) -> String {
    let failed: Vec<&str> = case
        .failed(true)
        .map(|check| check.requirement.as_str())
        .collect();
    match (failed.is_empty(), case.status(true)) {
        (false, _) => format!("{} failed", failed.join(", ")),
        (true, CheckStatus::NotExercised) => "it was not exercised".to_owned(),
        (true, _) => "it passed".to_owned(),
    }
}
