//! The suite itself, tested: each client with one deliberate bug fails a case, by the requirement that it breaks.

mod support;

use harness::{
    client::reference::{Bug, Reference},
    standing::Standing,
};
use std::fmt::Write as _;
use support::{judged, plans};

#[test]
fn every_wrong_client_is_caught_by_the_requirement_it_breaks() {
    let plans = plans();
    let mut missed = String::new();
    for bug in Bug::ALL {
        let (judged, _, _) = judged(&plans, Reference::wrong(*bug), true);
        let failed: Vec<_> = judged
            .iter()
            .filter(|one| one.standing == Standing::Failed)
            .collect();
        let named = failed.iter().any(|one| {
            one.case
                .failed(false)
                .any(|check| check.requirement == bug.caught_by())
        });
        if !named {
            let by: std::collections::BTreeSet<&str> = failed
                .iter()
                .flat_map(|one| one.case.failed(false))
                .map(|check| check.requirement.as_str())
                .collect();
            let _ = writeln!(
                missed,
                "{bug}: wanted {}, failed {} cases by {by:?}",
                bug.caught_by(),
                failed.len()
            );
        }
    }
    assert!(
        missed.is_empty(),
        "not caught, or by the wrong requirement:\n{missed}"
    );
}
