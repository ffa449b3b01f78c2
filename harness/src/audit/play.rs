//! Playing wrong clients, in memory first.

use super::{Audit, Fate, Must, Proof, broken, fails_by_name, musts, place, sockets, wrong};
use crate::{
    client::{
        Client,
        reference::{Bug, Reference},
    },
    events::Deaf,
    run::{Settings, run},
    standing::KnownFailures,
    summary::{Judged, RunInfo},
};
use fake_server::script::model::Plan;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// How the audit goes.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads.
    pub jobs: usize,
    /// Every bug plays every case.
    pub full: bool,
    /// What is killed in memory has to be killed over sockets too.
    pub sockets: bool,
    /// The seed of the plans, as it is told.
    pub seed: u64,
}

/// Plays these wrong clients. `must` chooses the musts that have to be able to fail.
pub async fn audit(
    plans: &[Arc<Plan>],
    bugs: &[Bug],
    must: impl Fn(&str) -> bool,
    options: &Options,
) -> Audit {
    let mut bugs = bugs.to_vec();
    bugs.sort_by_key(|bug| place(bug.caught_by()));
    let mut clients = Vec::new();
    let mut errors = Vec::new();
    let mut again = Vec::new();
    let mut proofs: BTreeMap<&str, Proof> = BTreeMap::new();
    // What each bug has played, so that nothing is played twice.
    let mut played: Vec<BTreeSet<&str>> = Vec::new();
    for &bug in &bugs {
        let id = bug.caught_by();
        let everything = options.full || bug.exempt().is_some();
        let (first, rest): (Vec<_>, Vec<_>) = plans
            .iter()
            .cloned()
            .partition(|plan| everything || plan.requirements.iter().any(|asked| asked == id));
        let mut judged = play(&first, bug, options).await;
        let mut seen = ids(plans, |plan| {
            everything || plan.requirements.iter().any(|asked| asked == id)
        });
        if !judged.iter().any(|one| fails_by_name(&one.case, id)) && !rest.is_empty() {
            judged.extend(play(&rest, bug, options).await);
            seen = ids(plans, |_| true);
        }
        prove(&mut proofs, bug, &judged);
        errors.extend(broken(bug, &judged));
        let told = wrong(bug, &judged);
        if options.sockets && told.fate == Fate::Killed {
            again.extend(sockets::killers(bug, clients.len(), &judged));
        }
        clients.push(told);
        played.push(seen);
    }
    for id in musts().filter(|id| must(id)) {
        for (&bug, seen) in bugs.iter().zip(&mut played) {
            if proofs.contains_key(id) {
                break;
            }
            let due: Vec<Arc<Plan>> = plans
                .iter()
                .filter(|plan| plan.requirements.iter().any(|asked| asked == id))
                .filter(|plan| !seen.contains(plan.id.as_str()))
                .cloned()
                .collect();
            seen.extend(ids(plans, |plan| due.iter().any(|one| one.id == plan.id)));
            let judged = play(&due, bug, options).await;
            prove(&mut proofs, bug, &judged);
            errors.extend(broken(bug, &judged));
        }
    }
    sockets::hold(again, &mut clients, &mut errors).await;
    let musts = musts()
        .filter(|id| must(id))
        .map(|id| Must {
            id: id.to_owned(),
            proof: proofs.remove(id),
        })
        .collect();
    Audit {
        clients,
        musts,
        broken: errors,
    }
}

fn ids(plans: &[Arc<Plan>], chosen: impl Fn(&Plan) -> bool) -> BTreeSet<&str> {
    let plans = plans.iter().filter(|plan| chosen(plan));
    plans.map(|plan| plan.id.as_str()).collect()
}

/// Notes which musts these cases prove.
fn prove(proofs: &mut BTreeMap<&'static str, Proof>, bug: Bug, judged: &[Judged]) {
    for id in musts() {
        if proofs.contains_key(id) {
            continue;
        }
        if let Some(one) = judged.iter().find(|one| fails_by_name(&one.case, id)) {
            let proof = Proof {
                bug: bug.name().to_owned(),
                scenario: one.case.scenario().to_owned(),
            };
            proofs.insert(id, proof);
        }
    }
}

async fn play(plans: &[Arc<Plan>], bug: Bug, options: &Options) -> Vec<Judged> {
    if plans.is_empty() {
        return Vec::new();
    }
    let client = Arc::new(Client::Reference(Reference::wrong(bug)));
    let info = RunInfo {
        suite: env!("CARGO_PKG_VERSION").to_owned(),
        digest: String::new(),
        client: client.info(),
        seed: options.seed,
        strict: true,
        transport: "memory",
        shard: None,
        cases: plans.len(),
        program: Vec::new(),
        replay_arguments: Vec::new(),
        files: BTreeMap::new(),
    };
    let settings = Settings {
        jobs: options.jobs,
        keep: 0,
        timeout_multiplier: 1.0,
        fail_fast: false,
        in_memory: true,
        first_trial: 0,
    };
    let known = KnownFailures::default();
    let never = std::future::pending();
    run(plans, &client, &known, &info, &settings, never, &mut Deaf)
        .await
        .0
}
