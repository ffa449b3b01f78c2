//! What a right client does with a plan, from the plan alone.

use crate::profile::Promises;
use fake_server::script::model::Plan;

/// What a right client with some promises does with a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// In words, step by step, for the story.
    pub steps: Vec<String>,
    /// For each fault of the plan whether this client gets there.
    pub reach: Vec<(usize, Reach)>,
    /// Outcomes that are right: `exited`, `error:stream-ended`, ...
    pub outcomes: Vec<String>,
    /// Milliseconds until the harness stops waiting: the plan's deadline, raised by the contract's rule.
    pub deadline_ms: u64,
}

/// Whether a right client meets a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// On every way that is right.
    Always,
    /// On some of them: a leniency of the contract may lead around it.
    Sometimes,
    /// Not, because of a promise, in words; empty where no client meets it.
    Never(String),
    /// Marked as bait: nobody right comes here.
    Bait,
}

/// What a right client with these promises does with this plan.
#[must_use]
pub fn expected(plan: &Plan, promises: &Promises) -> Expected {
    Expected {
        steps: Vec::new(),
        reach: plan
            .faults
            .iter()
            .map(|fault| (fault.number, Reach::Always))
            .collect(),
        outcomes: Vec::new(),
        deadline_ms: deadline_ms(plan, promises),
    }
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
