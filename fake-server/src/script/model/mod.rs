//! A plan: everything one trial does, with all randomness spent and every default filled in.
//! It is a value: it can be saved, compared, shrunk and judged again later.

mod behaviour;
mod expect;
mod fault;
mod job;
mod step;
mod truth;

use crate::wire::{Op, call::Capability};
use serde::{Deserialize, Serialize};

pub use behaviour::{
    Behaviour, Break, BreakPlace, Chunks, Coding, Content, Cut, CutPoint, Effect, Encoding,
    Redirect, Segments,
};
pub use expect::Expect;
pub use fault::{Attempts, ConnectionUse, Fault};
pub use job::{Cancel, CancelPoint, Job};
pub use step::{End, FrameRef, Span, Step, Until};
pub use truth::{SandboxTruth, Truth, TruthExit, TruthFile, TruthFrame};

/// One trial, complete. Made from a scenario file by [`crate::script::Scenario::plan`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// `area/name`, with `[how=fin]` for an instance of a matrix.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// Requirement ids this trial is about, as the file lists them.
    pub requirements: Vec<String>,
    /// Ids of the fault taxonomy (`CT03`).
    pub fault_kinds: Vec<String>,
    /// Why a client gets this wrong and what it costs.
    pub why: String,
    /// What the client is asked.
    pub op: Op,
    /// Capabilities beyond the op, declared and implied, sorted, no doubles.
    pub needs: Vec<Capability>,
    /// Milliseconds until the trial gives up waiting (before the rule of the contract raises it).
    pub deadline_ms: u64,
    /// The job's own fields.
    pub job: Job,
    /// The sandbox that exists when the trial begins.
    pub sandbox: SandboxTruth,
    /// What the process really wrote and how it ended.
    pub truth: Truth,
    /// Deviations from the truth, in file order.
    pub faults: Vec<Fault>,
    /// What the file says beyond what the oracle derives.
    pub expect: Expect,
    /// The seed that this plan was made with.
    pub seed: u64,
}

impl Plan {
    /// The capabilities of [`Plan::needs`] that follow from the job and the faults; the others were declared. Sorted.
    #[must_use]
    pub fn implied_needs(&self) -> Vec<Capability> {
        let streams = self
            .faults
            .iter()
            .filter_map(|fault| match &fault.behaviour.content {
                Content::Stream(steps) => Some(steps.as_slice()),
                _ => None,
            });
        let waits = self.op != Op::Connect && streams.flatten().any(Step::awaits_delivery);
        let mut implied: Vec<_> = [
            (waits, Capability::LiveOutput),
            (self.job.cancel.is_some(), Capability::Cancel),
            (self.job.timeout_ms.is_some(), Capability::Timeout),
            (
                self.job.extra.contains_key("policy"),
                Capability::LeasePolicy,
            ),
        ]
        .into_iter()
        .filter_map(|(implied, capability)| implied.then_some(capability))
        .collect();
        implied.sort_unstable();
        implied
    }
}
