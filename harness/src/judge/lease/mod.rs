//! Leases: getting a sandbox, giving it back, pausing and resuming it.
//!
//! - `said`: what an answer says of a sandbox.
//! - `facts` with `acquire`, `release`, `change`: what a right client may do next and how it may end. The oracle follows
//!   the same rules against a simulated server (`contract::oracle`).
//! - `calls`: every request against that. `result`, `diagnostic`: what the client said at the end. `leak`: what is left.

mod acquire;
mod calls;
mod change;
mod diagnostic;
mod facts;
mod leak;
mod release;
mod result;
mod said;

pub(crate) use acquire::min_delay_ms;
pub(crate) use facts::{End, Facts};
pub(crate) use said::Said;

use super::{answer::Answer, findings::Findings, walk::Walk};
use crate::contract::oracle::Expected;
use calls::Requests;
use fake_server::{wire::Op, wirelog::Exchange};

/// Whether an op is about leases.
pub(crate) const fn is_lease(op: Op) -> bool {
    matches!(op, Op::Acquire | Op::Release | Op::Pause | Op::Resume)
}

/// Judges the requests of such an op, what the client said at the end, and what is left.
pub(super) fn judge(walk: &Walk<'_>, expected: &Expected, findings: &mut Findings<'_>) {
    let sandbox = &walk.log.names.sandbox_id;
    let Some(facts) = Facts::new(walk.plan, walk.promises, sandbox) else {
        return;
    };
    let mut requests = Requests::new(walk, facts);
    requests.run(findings);
    result::judge(walk, &requests, expected, findings);
    leak::judge(walk, &requests, findings);
}

fn answer(walk: &Walk<'_>, exchange: &Exchange) -> Answer {
    Answer::of(exchange, &walk.plan.truth, walk.observed.ended_us)
}

fn each_once(facts: Vec<Facts>) -> Vec<Facts> {
    let mut once: Vec<Facts> = Vec::with_capacity(facts.len());
    for one in facts {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}
