//! Fewer faults: some left out, or one that is met every time in place of many.

use super::{Edits, edited, runs};
use fake_server::script::model::{Attempts, Fault, Plan};
use std::ops::Range;

pub(super) fn fewer(plan: &Plan) -> Edits<'_> {
    let left_out = runs(plan.faults.len()).map(|run| without(plan, run));
    let every = plan.faults.iter().enumerate().filter_map(|(index, fault)| {
        let others = plan
            .faults
            .iter()
            .filter(|other| other.on == fault.on)
            .count();
        (others > 1).then(|| every_time(plan, index))
    });
    Box::new(left_out.chain(every))
}

/// The plan without a run of faults. Later numbered attempts of the same call come earlier then.
fn without(plan: &Plan, run: Range<usize>) -> Plan {
    let gone = &plan.faults[run.clone()];
    let (before, after) = (&plan.faults[..run.start], &plan.faults[run.end..]);
    let kept: Vec<Fault> = before.iter().chain(after).cloned().collect();
    let kept = kept.into_iter().map(|fault| {
        let attempts = earlier(&fault, gone);
        Fault { attempts, ..fault }
    });
    let kept = kept.collect();
    edited(plan, |plan| {
        plan.faults = kept;
        if let Some(cancel) = &mut plan.job.cancel {
            let earlier = numbered(gone, Some(cancel.on), cancel.attempt);
            cancel.attempt = cancel.attempt.saturating_sub(earlier).max(1);
        }
    })
}

/// How many of these faults meet an earlier call than the nth, by number.
fn numbered(gone: &[Fault], on: Option<fake_server::wire::Call>, nth: u32) -> u32 {
    let earlier = gone.iter().filter(|fault| {
        fault.on == on && matches!(fault.attempts, Attempts::Nth(its) if its < nth)
    });
    u32::try_from(earlier.count()).unwrap_or(0)
}

/// The attempts of a fault once these are gone.
fn earlier(fault: &Fault, gone: &[Fault]) -> Attempts {
    let move_up = |n: u32| n.saturating_sub(numbered(gone, fault.on, n)).max(1);
    match fault.attempts {
        Attempts::Nth(n) => Attempts::Nth(move_up(n)),
        Attempts::Range(from, to) => {
            let new = move_up(from);
            Attempts::Range(new, to - (from - new))
        }
        Attempts::From(n) => Attempts::From(move_up(n)),
        Attempts::Every => Attempts::Every,
    }
}

/// The plan with this fault every time its call is made, and without the others of the call.
fn every_time(plan: &Plan, index: usize) -> Plan {
    let fault = &plan.faults[index];
    edited(plan, |plan| {
        plan.faults[index].attempts = Attempts::Every;
        let mut place = 0;
        plan.faults.retain(|other| {
            place += 1;
            place - 1 == index || other.on != fault.on
        });
    })
}
