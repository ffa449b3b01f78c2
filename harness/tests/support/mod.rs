//! Runs of the built-in client, for tests.

use fake_server::script::model::Plan;
use harness::{
    client::{Client, reference::Reference},
    events::Deaf,
    run::{DEFAULT_JOBS, Settings, run},
    standing::KnownFailures,
    suite::{Suite, embedded},
    summary::{ClientInfo, Judged, RunInfo, Summary},
};
use std::{collections::BTreeMap, sync::Arc};

/// Every random choice of the tests follows from it.
pub(crate) const SEED: u64 = 1;

/// Every case of the embedded suite.
pub(crate) fn plans() -> Vec<Arc<Plan>> {
    let suite = Suite::load(&[embedded()]).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    suite.plans(SEED).map(Arc::new).collect()
}

/// What is said about a run of the built-in client.
pub(crate) fn info(reference: &Reference, cases: usize, in_memory: bool) -> RunInfo {
    RunInfo {
        suite: "0.1.0".to_owned(),
        digest: String::new(),
        client: ClientInfo {
            name: "reference client".to_owned(),
            version: reference.bug.map(|bug| bug.name().to_owned()),
            language: Some("rust".to_owned()),
        },
        seed: SEED,
        // Shoulds are what a reference is for.
        strict: true,
        transport: if in_memory { "memory" } else { "sockets" },
        shard: None,
        cases,
        program: vec!["createos-conformance".to_owned()],
        replay_arguments: Vec::new(),
        files: BTreeMap::new(),
    }
}

/// Judges the built-in client.
pub(crate) fn judged(
    plans: &[Arc<Plan>],
    reference: Reference,
    in_memory: bool,
) -> (Vec<Judged>, Summary, RunInfo) {
    let info = info(&reference, plans.len(), in_memory);
    let client = Arc::new(Client::Reference(reference));
    let settings = Settings {
        jobs: DEFAULT_JOBS,
        keep: usize::MAX,
        timeout_multiplier: 1.0,
        fail_fast: false,
        in_memory,
        first_trial: 0,
    };
    let known = KnownFailures::default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let never = std::future::pending();
    let (judged, summary) = runtime.block_on(run(
        plans, &client, &known, &info, &settings, never, &mut Deaf,
    ));
    (judged, summary, info)
}
