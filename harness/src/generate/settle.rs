//! Making a plan fit to be judged.

use crate::{
    contract::oracle::{Expected, Reach, default_promises, expected},
    profile::Promises,
};
use fake_server::script::model::{Content, End, Plan, Step};

/// What a plan that was drawn or changed needs before it is played: faults that no right client meets are bait, those
/// that some right client meets are not, and where nothing would end the call, a stream that stands still is ended.
pub fn settle(plan: &mut Plan) {
    let usual = default_promises(plan);
    let _ = settle_for(plan, &usual);
}

/// As [`settle`], for a client with these promises: what only others meet is bait as well, so that a smaller budget
/// than the usual one makes no plan inapplicable. Tells what a right client does with the plan then.
pub fn settle_for(plan: &mut Plan, promises: &Promises) -> Expected {
    for fault in &mut plan.faults {
        fault.bait = false;
    }
    let mut seen = expected(plan, promises);
    if seen.outcomes.iter().any(|outcome| outcome == "none") && end_silences(plan) {
        seen = expected(plan, promises);
    }
    for (fault, reach) in plan.faults.iter_mut().zip(&mut seen.faults) {
        fault.bait = reach.reach == Reach::Never;
        if fault.bait {
            reach.reach = Reach::Bait;
        }
    }
    seen
}

/// Ends every stream that stands still; tells whether there was one.
fn end_silences(plan: &mut Plan) -> bool {
    let mut any = false;
    for fault in &mut plan.faults {
        if let Content::Stream(steps) = &mut fault.behaviour.content
            && let Some(last @ Step::End(End::Hold)) = steps.last_mut()
        {
            *last = Step::End(End::Fin);
            any = true;
        }
    }
    any
}
