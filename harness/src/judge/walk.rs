//! The walk over the wire log: every request in order, what it may have been and what it may lead to.

mod calls;
mod connects;
pub(super) mod events;
mod unseen;

use super::{
    acceptor::{Acceptor, Decided, Proof, State},
    findings::Findings,
    single::call_of,
};
use crate::{observed::Observed, profile::Promises};
use events::{Event, Unseen};
use fake_server::{
    script::model::Plan,
    wire::Call,
    wirelog::{Exchange, WireLog},
};
use std::collections::BTreeSet;

/// A trial as it is walked over.
pub(super) struct Walk<'a> {
    pub(super) plan: &'a Plan,
    pub(super) promises: &'a Promises,
    pub(super) log: &'a WireLog,
    pub(super) observed: &'a Observed,
    pub(super) acceptor: Acceptor<'a>,
    /// What a right client may be now.
    pub(super) states: Vec<State>,
    /// Indices of the connects so far.
    pub(super) connects: Vec<usize>,
    /// For each connect after how many lines it was decided.
    pub(super) decided: Vec<Decided>,
    /// Indices of the calls of an op that is one call.
    pub(super) singles: Vec<usize>,
    /// Creates so far.
    pub(super) creates: Vec<usize>,
    /// Stdin-closes so far.
    pub(super) stdin_closes: Vec<usize>,
    /// Deletes so far, and what each proves.
    pub(super) deletes: Vec<(usize, Proof)>,
    /// A delete met a closed port, or may have, so that it cannot be seen.
    pub(super) unseen_delete: bool,
    /// Some connects met, or may have met, a closed port, so that they are not in the log.
    pub(super) unseen_connects: bool,
    /// A connect was seen after the cancel, and the machine was too busy to tell which of them was first.
    pub(super) untold_connect: bool,
    /// How the last connect failed, in words that are equal for equal failures.
    pub(super) last_failure: Option<String>,
    /// Failures after which this client has connected again.
    pub(super) retried: BTreeSet<String>,
    /// A connection brought new output.
    pub(super) progress: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        promises: &'a Promises,
        log: &'a WireLog,
        observed: &'a Observed,
    ) -> Self {
        let acceptor = Acceptor::new(plan, promises);
        let states = vec![acceptor.start()];
        Self {
            plan,
            promises,
            log,
            observed,
            acceptor,
            states,
            connects: Vec::new(),
            decided: Vec::new(),
            singles: Vec::new(),
            creates: Vec::new(),
            stdin_closes: Vec::new(),
            deletes: Vec::new(),
            unseen_delete: false,
            unseen_connects: false,
            untold_connect: false,
            last_failure: None,
            retried: BTreeSet::new(),
            progress: false,
        }
    }

    /// Walks over everything that was seen.
    pub(super) fn run(&mut self, findings: &mut Findings<'_>) {
        for event in events::in_order(self.plan, self.log) {
            match event {
                Event::Request(index) => self.request(index, findings),
                Event::Unseen(unseen) => self.unseen(unseen),
            }
        }
        // A port that is closed to a connect is closed to the delete that follows it as well.
        let last_us = self.log.exchanges.last().map_or(0, |last| last.head_us);
        self.unseen_delete |= self
            .log
            .refusals
            .iter()
            .any(|refusal| refusal.from_us >= last_us);
    }

    /// Only remembers the connects, or the calls of an op that is one call: for ops that are not followed.
    pub(super) fn note_connects(&mut self) {
        let single = call_of(self.plan.op);
        for (index, exchange) in self.log.exchanges.iter().enumerate() {
            if single.is_some() && exchange.call == single {
                self.singles.push(index);
            }
            if exchange.call == Some(Call::Connect) {
                self.connects.push(index);
                self.decided.push(Decided::default());
            }
        }
    }

    fn request(&mut self, index: usize, findings: &mut Findings<'_>) {
        let exchange = &self.log.exchanges[index];
        match exchange.call {
            Some(Call::Connect) => self.connect(index, exchange, findings),
            Some(Call::CreateProcess) => self.create(index, exchange, findings),
            Some(Call::Input | Call::ResizeProcess) => self.input(exchange),
            Some(Call::StdinClose) => self.stdin_close(index, exchange, findings),
            Some(Call::DeleteProcess) => self.delete(index, exchange, findings),
            Some(Call::Wait) => self.wait(exchange),
            _ => {}
        }
    }

    /// Whether an exchange began after the client had reported its result.
    fn is_after_the_result(&self, exchange: &Exchange) -> bool {
        exchange.head_us > self.observed.ended_us.saturating_add(events::IN_FLIGHT_US)
    }
}
