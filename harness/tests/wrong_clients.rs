//! The suite itself, tested: each client with one deliberate bug fails a scenario by a check of the requirement that
//! it breaks, and every must can fail.

use harness::{
    audit::{Fate, Options, audit},
    client::reference::Bug,
    report::{audit::table, text::Page},
    suite::{Suite, embedded},
};
use std::sync::Arc;

/// Every random choice follows from it.
const SEED: u64 = 1;

#[test]
fn every_wrong_client_is_caught_by_the_requirement_it_breaks() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let options = Options {
        jobs: 2,
        full: false,
        sockets: false,
        seed: SEED,
    };
    let suite = Suite::load(&[embedded()]).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let plans: Vec<_> = suite.plans(SEED).map(Arc::new).collect();
    let audit = runtime.block_on(audit(&plans, Bug::ALL, |_| true, &options));
    let table = table(&audit, &Page::new(120, false));
    assert!(audit.is_sound(), "{table}");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/audit");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("wrong-clients", table));
}

#[test]
fn what_is_killed_in_memory_is_killed_over_sockets() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let options = Options {
        jobs: 2,
        full: false,
        sockets: true,
        seed: SEED,
    };
    let suite = Suite::load(&[embedded()]).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let plans: Vec<_> = suite.plans(SEED).map(Arc::new).collect();
    // One of every five: some twenty clients, over all areas. `audit --sockets` plays them all.
    let sample: Vec<Bug> = Bug::ALL.iter().copied().step_by(5).collect();
    let audit = runtime.block_on(audit(&plans, &sample, |_| false, &options));
    let table = table(&audit, &Page::new(120, false));
    assert!(audit.is_sound(), "{table}");
    let killed = audit.count(Fate::Killed);
    assert!(killed >= 20, "{table}");
    assert_eq!(audit.over_sockets().count(), killed, "{table}");
    for (one, sockets) in audit.over_sockets() {
        assert!(!sockets.killed.is_empty(), "{}", one.bug);
    }
    let says = format!("over sockets {killed} of {killed} wrong clients killed");
    assert!(table.contains(&says), "{table}");
}
