//! Fewer frames in the truth.

use super::{Edits, renumber, runs};
use fake_server::script::model::Plan;

pub(super) fn fewer(plan: &Plan) -> Edits<'_> {
    let runs = runs(plan.truth.frames.len());
    Box::new(
        runs.map(|run| renumber::keep(plan, plan.truth.first_seq, |index| !run.contains(&index))),
    )
}
