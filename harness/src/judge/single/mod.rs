//! Ops that are one call and its answer: files, one-shot commands. What an answer leaves to a right client is read in one place
//! (`reading`), for the oracle as for real trials; here the requests and the result are held against it.

mod command;
mod files;
mod reading;
mod result;

pub(crate) use command::{may_repeat, request as command};
pub(crate) use files::{contents, path};
pub(crate) use reading::{Reading, Right};

use super::{answer::Answer, findings::Findings, walk::Walk};
use crate::contract::oracle::Expected;
use fake_server::{
    wire::{Call, Op},
    wirelog::Exchange,
};

/// The call that an op is made of, for those that are one call.
pub(crate) const fn call_of(op: Op) -> Option<Call> {
    match op {
        Op::Upload => Some(Call::PutFile),
        Op::Download => Some(Call::GetFile),
        Op::Exec | Op::ExecStream => Some(Call::Exec),
        _ => None,
    }
}

/// Judges the requests of such an op, and what the client made of the last answer.
pub(super) fn judge(walk: &Walk<'_>, expected: &Expected, findings: &mut Findings<'_>) {
    let mut last: Option<Last<'_>> = None;
    for &index in &walk.singles {
        let exchange = &walk.log.exchanges[index];
        if call_of(walk.plan.op) == Some(Call::Exec) {
            if let Some(before) = &last {
                command::repeated(before, index, findings);
            }
        } else {
            files::request(walk, index, findings);
        }
        let answer = Answer::of(exchange, &walk.plan.truth, walk.observed.ended_us);
        last = Some(Last {
            exchange,
            reading: Reading::of(walk.plan, exchange, &answer),
            answer,
        });
    }
    result::judge(walk, last.as_ref(), expected, findings);
}

/// The last call, and what its answer leaves.
struct Last<'a> {
    exchange: &'a Exchange,
    answer: Answer,
    reading: Reading,
}
