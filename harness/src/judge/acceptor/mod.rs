//! The acceptor: every right client at once. It walks over what was really sent and keeps the set of
//! states in which a right client may be; each thing the client does filters the set. An empty set
//! is a violation, and the states that were left tell under which rule.
//!
//! The oracle walks with it over simulated answers, the judge over the wire log.

mod connect;
mod job;
mod state;
mod stream;

pub(crate) use job::{Proof, created_id, is_identifier, is_sound, proof, success};
pub(crate) use state::{Arena, Fail, Failure, Made, Phase, State, place};

use crate::{
    contract::line::{Reader, Streams},
    profile::{BudgetRenewal, Promises},
};
use fake_server::{
    script::model::Plan,
    wire::{Op, ProcessKind, call::Capability},
};

/// After how many lines of a stream right clients are done with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decided {
    /// Every one of them has ended or failed; none if some go on.
    pub(crate) all: Option<usize>,
    /// Some may have failed: where the contract lets a line be taken or refused, long before all have ended.
    pub(crate) some_failed: Option<usize>,
}

impl Decided {
    /// After how many lines a client that reports such an outcome was done at the earliest.
    pub(crate) fn by(self, outcome: Option<&str>) -> Option<usize> {
        match outcome {
            Some("error") => self.some_failed.or(self.all),
            _ => self.all,
        }
    }
}

/// The rules for one client and one plan, what the states share, and what was put to the test.
pub(crate) struct Acceptor<'a> {
    /// The plan.
    pub(crate) plan: &'a Plan,
    /// The client's promises.
    pub(crate) promises: &'a Promises,
    /// Frames, exits and ways to fail.
    pub(crate) arena: Arena<'a>,
    /// Requirements that what was sent puts to the test, in order of appearance.
    pub(crate) touched: Vec<&'static str>,
    /// After how many lines of the last stream right clients had ended or failed.
    pub(crate) decided: Decided,
    reader: Reader,
}

impl<'a> Acceptor<'a> {
    pub(crate) fn new(plan: &'a Plan, promises: &'a Promises) -> Self {
        let streams = match (plan.op, plan.truth.kind) {
            (Op::Terminal, _) => Streams::Terminal,
            (Op::Follow, ProcessKind::Pty) => Streams::Unjudged,
            _ => Streams::Pipe,
        };
        Self {
            plan,
            promises,
            arena: Arena::new(&plan.truth),
            touched: Vec::new(),
            decided: Decided::default(),
            reader: Reader {
                streams,
                tolerates_unknown: promises.can(Capability::ToleratesUnknownEvents),
                max_line: promises.profile.max_line_bytes,
            },
        }
    }

    /// The state in which a job begins.
    pub(crate) const fn start(&self) -> State {
        State {
            cursor: self.plan.job.after,
            tip: None,
            used: 0,
            fresh: false,
            phase: Phase::Idle,
            failure: None,
            hung_up: false,
            blemish: None,
            made: match self.plan.op {
                Op::Execute | Op::Terminal => Made::No,
                _ => Made::Given,
            },
        }
    }

    /// Connects that may be made without progress.
    pub(crate) fn budget(&self) -> u32 {
        let once = self.promises.connect_budget();
        if self.promises.can(Capability::RecoverExit) {
            once.saturating_mul(2)
        } else {
            once
        }
    }

    /// Whether a client in this state may connect.
    pub(crate) fn may_connect(&self, state: &State) -> bool {
        state.phase == Phase::Idle
            && matches!(state.made, Made::Given | Made::Yes)
            && state.used < self.budget()
    }

    /// The state that has begun another connect.
    pub(crate) const fn connecting(state: State) -> State {
        State {
            used: state.used + 1,
            fresh: false,
            failure: None,
            hung_up: false,
            ..state
        }
    }

    /// The states after a connection that is over, with its progress counted.
    pub(crate) fn over(&self, state: State, failure: Failure) -> Vec<State> {
        let brought = state.fresh;
        let state = State {
            failure: Some(failure),
            fresh: false,
            ..state
        };
        if brought && self.promises.profile.budget_renewal == BudgetRenewal::Progress {
            // The connection that brought something may count as the first of the new budget or not.
            let whole = State { used: 0, ..state };
            let counted = State { used: 1, ..state };
            vec![whole, counted]
        } else {
            vec![state]
        }
    }

    /// Notes that a requirement is put to the test.
    pub(crate) fn touch(&mut self, requirement: &'static str) {
        if !self.touched.contains(&requirement) {
            self.touched.push(requirement);
        }
    }

    /// A state that must fail.
    pub(crate) fn failed(&mut self, state: State, fail: Fail) -> State {
        State {
            phase: Phase::Failed(self.arena.fail(fail)),
            ..state
        }
    }
}

/// Each state once, in a fixed order.
pub(crate) fn each_once(mut states: Vec<State>) -> Vec<State> {
    states.sort_unstable();
    states.dedup();
    states
}
