//! Judging: what was expected, seen and said, put side by side.
//!
//! Pure: (plan, promises, expected, wire log, observed) in, a [`Verdict`] out, so that a saved trial can
//! be judged again. In order: the walk over the wire log with every right client at once
//! (`acceptor`, `walk`), the client's result against what was left of them (`result`, `output`), or for
//! raw streams its events against what was sent (`raw`); the wire (`wire`), what was typed (`typed`), what is left over (`ledger`), secrets (`secrets`),
//! the scenario's own words (`expectation`); then receipts and one check a requirement.

pub(crate) mod acceptor;
pub(crate) mod answer;
mod checks;
mod evidence;
mod expectation;
mod findings;
pub(crate) mod lease;
mod ledger;
mod order;
mod output;
mod raw;
mod receipts;
mod result;
mod secrets;
pub(crate) mod single;
#[cfg(test)]
mod tests;
mod touches;
pub(crate) mod typed;
mod verdict;
mod walk;
mod wire;
mod words;

pub use ledger::{Account, Admission, Entry};
pub use verdict::{Check, CheckStatus, Place, Verdict, Violation};

use crate::{
    contract::oracle::Expected,
    observed::{Observed, Reply},
    profile::Promises,
};
use fake_server::{script::model::Plan, wire::Op, wirelog::WireLog};
use findings::Findings;
use walk::Walk;

/// Judges one trial: what a right client would have done against what this one did.
#[must_use]
pub fn judge(
    plan: &Plan,
    promises: &Promises,
    expected: &Expected,
    log: &WireLog,
    observed: &Observed,
) -> Verdict {
    let mut findings = Findings::new(&plan.requirements);
    let mut walk = Walk::new(plan, promises, log, observed);
    // A client whose adapter or harness failed is not judged by what it did not come to do.
    let answered = matches!(observed.reply, Reply::Result(_) | Reply::Silent);
    touches::of_plan(&mut walk.acceptor);
    match plan.op {
        Op::Follow | Op::Execute | Op::Terminal => {
            walk.run(&mut findings);
            result::judge(&walk, expected, &mut findings);
        }
        Op::Connect => {
            walk.note_connects();
            raw::judge(&walk, expected, &mut findings);
        }
        op if single::call_of(op).is_some() => {
            walk.note_connects();
            single::judge(&walk, expected, &mut findings);
        }
        op if lease::is_lease(op) => {
            walk.note_connects();
            lease::judge(&walk, expected, &mut findings);
        }
        _ => {
            walk.note_connects();
            result::judge_other(&walk, expected, &mut findings);
        }
    }
    if answered {
        wire::judge(&walk, &mut findings);
        typed::judge(&walk, &mut findings);
        expectation::judge(&walk, &mut findings);
        order::judge(&walk, &mut findings);
        ledger::judge(&walk, &mut findings);
    }
    secrets::judge(&walk, &mut findings);
    if let Some(why) = &observed.stopped {
        findings.note(format!("the client was stopped before its deadline: {why}"));
    }
    let exercised = receipts::exercised(&walk, expected);
    let checks = checks::checks(
        &walk,
        expected.applicable.clone(),
        &exercised,
        expected,
        &findings.violations,
    );
    Verdict {
        checks,
        violations: findings.violations,
        notes: findings.notes,
        expected: expected.steps.clone(),
    }
}
