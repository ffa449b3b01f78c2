//! The suite and the conformant reference client: two independent readings of the contract that must agree, over
//! sockets as in memory.

mod support;

use harness::{
    client::reference::Reference,
    exit::Exit,
    report::{story::story, text::Page},
    standing::Standing,
    summary::{Judged, RunInfo},
};
use support::{judged, plans};

/// The stories of all that did not pass.
fn stories(judged: &[Judged], info: &RunInfo) -> String {
    judged
        .iter()
        .filter(|one| !matches!(one.standing, Standing::Passed | Standing::NotApplicable))
        .map(|one| story(one, &[], info, &Page::new(80, false), true))
        .collect()
}

#[test]
fn the_reference_client_passes_in_memory() {
    let (judged, summary, info) = judged(&plans(), Reference::conformant(), true);
    assert_eq!(
        summary.exit(),
        Exit::AsExpected,
        "{}",
        stories(&judged, &info)
    );
}

#[test]
fn the_reference_client_passes_over_sockets() {
    let (judged, summary, info) = judged(&plans(), Reference::conformant(), false);
    assert_eq!(
        summary.exit(),
        Exit::AsExpected,
        "{}",
        stories(&judged, &info)
    );
}

#[test]
fn every_requirement_in_scope_is_asked_by_a_scenario() {
    let plans = plans();
    let unasked: Vec<&str> = harness::contract::registry()
        .iter()
        .map(|known| known.id)
        .filter(|id| {
            !plans
                .iter()
                .any(|plan| plan.requirements.iter().any(|asked| asked == id))
        })
        .collect();
    assert!(unasked.is_empty(), "{unasked:?}");
}
