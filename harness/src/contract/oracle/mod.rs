//! What a right client does with a plan, from the plan alone.
//!
//! The oracle plays the plan's server without sockets (`simulate`), walks over its answers with the same
//! acceptor that judges real trials, and follows every right client at once (`explore`): where the
//! contract leaves a choice, both ways. What is met on every way must be met; what is met on some may be.

mod explore;
pub(crate) mod simulate;
mod story;
mod streams;
mod ways;

pub use streams::{Stream, streams};

use crate::profile::{Profile, Promises};
use fake_server::{
    script::{describe, model::Plan},
    wire::{Call, Op, call::Capability},
};
use std::collections::BTreeSet;
use ways::Ways;

/// What a right client with some promises does with a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// Whether the client can be judged by the plan at all, as [`super::applicable`] says it. Kept here because the
    /// answer comes of the same walk: it is half of what a case in memory costs.
    pub applicable: Result<(), String>,
    /// In words, step by step, for the story.
    pub steps: Vec<String>,
    /// For each fault of the plan whether this client gets there.
    pub faults: Vec<FaultReach>,
    /// Outcomes that are right: `exited`, `error:stream-ended`, `timed-out`, `cancelled`, `ended`, or `none` where
    /// nothing ends the call.
    pub outcomes: Vec<String>,
    /// How often each call is made at least on every right way, for receipts.
    pub calls: Vec<(Call, u32)>,
    /// Milliseconds until the harness stops waiting: the plan's deadline, raised by the contract's rule.
    pub deadline_ms: u64,
}

/// Whether a right client meets a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultReach {
    /// The fault's number in the file.
    pub number: usize,
    /// Whether it is met.
    pub reach: Reach,
    /// The attempts that meet it on every right way.
    pub attempts: Vec<u32>,
}

/// Whether a right client meets a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// On every way that is right.
    Always,
    /// On some of them: a leniency of the contract may lead around it.
    Sometimes,
    /// On none.
    Never,
    /// Marked as bait: nobody right comes here, or it does not matter.
    Bait,
}

/// What a right client with these promises does with this plan.
#[must_use]
pub fn expected(plan: &Plan, promises: &Promises) -> Expected {
    let ways = explore::ways(plan, promises);
    Expected {
        applicable: super::claimed(plan, promises)
            .and_then(|()| within_reach(plan, promises, &ways)),
        steps: story::steps(plan, promises, &ways),
        faults: faults(plan, &ways),
        outcomes: ways.outcomes.iter().cloned().collect(),
        calls: ways
            .calls
            .iter()
            .map(|(call, count)| (*call, *count))
            .collect(),
        deadline_ms: deadline_ms(plan, promises),
    }
}

fn faults(plan: &Plan, ways: &Ways) -> Vec<FaultReach> {
    plan.faults
        .iter()
        .map(|fault| {
            let met = |set: &BTreeSet<(usize, u32)>| -> Vec<u32> {
                set.iter()
                    .filter(|(number, _)| *number == fault.number)
                    .map(|(_, attempt)| *attempt)
                    .collect()
            };
            let attempts = met(&ways.always);
            let reach = if fault.bait {
                Reach::Bait
            } else if !attempts.is_empty() {
                Reach::Always
            } else if !met(&ways.ever).is_empty() || fault.on_connection.is_some() {
                Reach::Sometimes
            } else {
                Reach::Never
            };
            FaultReach {
                number: fault.number,
                reach,
                attempts,
            }
        })
        .collect()
}

/// Milliseconds until the harness stops waiting for a client: the larger of the plan's own deadline
/// and `timeout` + the client's cleanup time + 5 s.
#[must_use]
pub fn deadline_ms(plan: &Plan, promises: &Promises) -> u64 {
    let after_timeout = plan.job.timeout_ms.map_or(0, |timeout| {
        timeout
            .saturating_add(promises.profile.cleanup_timeout_ms)
            .saturating_add(5_000)
    });
    plan.deadline_ms.max(after_timeout)
}

/// The promises of the default profile with what a plan needs: the reference for what can be reached.
#[must_use]
pub fn default_promises(plan: &Plan) -> Promises {
    let mut capabilities: BTreeSet<Capability> = plan.needs.iter().copied().collect();
    if plan.op != Op::Connect {
        capabilities.insert(Capability::ResumeStream);
    }
    Promises {
        ops: BTreeSet::from([plan.op]),
        capabilities,
        profile: Profile::default(),
    }
}

/// Numbers of the faults that no right client with these promises meets; for the default promises
/// ([`default_promises`]) a mistake of the scenario, unless they are bait.
#[must_use]
pub fn unreachable(plan: &Plan, promises: &Promises) -> Vec<usize> {
    if !explore::can_follow(plan.op) {
        return Vec::new();
    }
    never_met(plan, &explore::ways(plan, promises))
}

fn never_met(plan: &Plan, ways: &Ways) -> Vec<usize> {
    faults(plan, ways)
        .into_iter()
        .filter(|fault| fault.reach == Reach::Never)
        .map(|fault| fault.number)
        .collect()
}

/// Whether a promise of the client rules out a fault that the default profile meets.
///
/// # Errors
/// Which fault, and what the client promises.
pub(super) fn reachable(plan: &Plan, promises: &Promises) -> Result<(), String> {
    within_reach(plan, promises, &explore::ways(plan, promises))
}

fn within_reach(plan: &Plan, promises: &Promises, ways: &Ways) -> Result<(), String> {
    if !explore::can_follow(plan.op) {
        return Ok(());
    }
    if ways.outcomes.iter().any(|outcome| outcome == explore::LATE) {
        return Err(format!(
            "its retries may last longer than the case, {} ms: it promises max-reconnects = {}, reconnect-delay-ms = {}",
            deadline_ms(plan, promises),
            promises.profile.max_reconnects,
            promises.profile.reconnect_delay_ms
        ));
    }
    let missed = never_met(plan, ways);
    if missed.is_empty() {
        return Ok(());
    }
    let usual = unreachable(plan, &default_promises(plan));
    let Some(number) = missed.into_iter().find(|number| !usual.contains(number)) else {
        return Ok(());
    };
    let fault = plan
        .faults
        .iter()
        .find(|fault| fault.number == number)
        .map_or_else(String::new, |fault| {
            format!(" ({})", describe::selector(fault))
        });
    Err(format!(
        "fault {number}{fault} is out of reach by the client's promise: {}",
        promise(promises)
    ))
}

/// The promise that limits how far a client comes, in words.
fn promise(promises: &Promises) -> String {
    if promises.can(Capability::ResumeStream) {
        format!(
            "max-reconnects = {}, retry-statuses = {:?}",
            promises.profile.max_reconnects, promises.profile.retry_statuses
        )
    } else {
        "it does not claim `resume-stream`, and so never reconnects".to_owned()
    }
}
