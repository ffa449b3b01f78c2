//! The suite itself, tested: each client with one deliberate bug fails a case, by the requirement that it breaks.

mod support;

use fake_server::script::model::Plan;
use harness::{
    client::reference::{Bug, Reference},
    standing::Standing,
};
use std::{fmt::Write as _, sync::Arc};
use support::{judged, plans};

/// Clients that break only what is left to them: recorded, never failed.
const ALLOWED: &[Bug] = &[Bug::ImpatientWithSilence];

#[test]
fn every_wrong_client_fails_a_case_that_asks_what_it_breaks() {
    let plans = plans();
    let mut missed = String::new();
    for bug in Bug::ALL {
        let wanted = bug.caught_by();
        let asking: Vec<Arc<Plan>> = plans
            .iter()
            .filter(|plan| plan.requirements.iter().any(|id| id == wanted))
            .cloned()
            .collect();
        let (judged, _, _) = judged(&asking, Reference::wrong(*bug), true);
        let caught = judged.iter().any(|one| {
            let recorded = one
                .case
                .verdict
                .violations
                .iter()
                .any(|violation| violation.requirement == wanted);
            one.standing == Standing::Failed || (ALLOWED.contains(bug) && recorded)
        });
        if !caught {
            let _ = writeln!(
                missed,
                "{bug}: none of {} cases that ask {wanted} failed",
                asking.len()
            );
        }
    }
    assert!(missed.is_empty(), "not caught:\n{missed}");
}
