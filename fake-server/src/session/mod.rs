//! One trial's server without its sockets: which call a request is, which fault meets it, what the
//! world says, and what therefore leaves. Time is an argument, in milliseconds since the trial began.
//!
//! # How the shell drives it
//! * [`Session::new`], one a trial.
//! * A connection was accepted: [`Session::on_accept`]; `Some` ends it unread.
//! * A request's head is there: [`Session::arrive`], in order, one exchange of the wire log each.
//!   [`Arrival::cut`] ends the connection before the body is read.
//! * Its body is there: [`Session::answer`]. Effects on the world happen here.
//!   ([`Session::handle`] does both, for whoever has the whole request at once.)
//! * [`Act::Wait`]: [`Session::resume`] at its time, or when [`Session::changes`] gives another number.
//! * Before the last byte of an answer leaves: [`Session::close_after`] says whether the next call must
//!   meet a fresh connection (or none): then the connection is not kept.
//! * The answer has left whole, or the connection is gone: [`Session::ended`]; then, and once at the start,
//!   [`Session::pending_refusal`]; when that refusal is over [`Session::refused`], and ask again.
//! * A faithful stream with `follows`: when [`Session::changes`] differs, [`Session::exit_line`]; `Some`
//!   is the last line (the process was ended by force), then the zero chunk.
//! * At the end: [`Session::ledger`].

mod decision;
mod faults;
mod others;
mod processes;
mod render;
mod reply;
mod route;
mod sandboxes;

pub use decision::{
    Act, Answer, Arrival, Decision, Follow, Headers, RawAnswer, RawBody, RefusalDue, Waiting,
};
pub use route::{Endpoint, Meant, Route, Target, route, target};

use crate::{
    script::{
        expand::true_line,
        model::{Behaviour, ConnectionUse, Content, Cut, CutPoint, Fault, FrameRef, Plan},
    },
    wire::{Call, Problem},
    wirelog::{LedgerEntry, Names, Request},
    world::World,
};
use faults::{Counts, Meeting};
use render::Context;
use reply::{Ask, Reply};
use std::sync::Arc;

/// Milliseconds that a port refuses where refused connections cannot be counted, unless the scenario says how long.
const REFUSAL_MS: u64 = 400;

/// One trial's server.
#[derive(Clone, Debug)]
pub struct Session {
    plan: Arc<Plan>,
    names: Names,
    world: World,
    counts: Counts,
    exchanges: usize,
    changes: u64,
    restart_per_process: bool,
    /// What no fault meets.
    faithful: Behaviour,
}

impl Session {
    /// A trial that begins.
    #[must_use]
    pub fn new(plan: Arc<Plan>, names: Names) -> Self {
        Self {
            world: World::new(&plan, &names),
            plan,
            names,
            counts: Counts::default(),
            exchanges: 0,
            changes: 0,
            restart_per_process: false,
            faithful: Behaviour::default(),
        }
    }

    /// The scenario starts again for each `create-process` (counts of attempts included), and each
    /// process does what it says: for playing a server by hand.
    pub const fn restart_per_process(&mut self) {
        self.restart_per_process = true;
        self.world.script_all();
    }

    /// The names of the trial.
    #[must_use]
    pub const fn names(&self) -> &Names {
        &self.names
    }

    /// A connection was accepted. `Some` (fault number, how) ends it before anything is read.
    pub fn on_accept(&mut self) -> Option<(usize, Cut)> {
        let fault = self
            .counts
            .due(&self.plan, |fault| !fault.behaviour.refuse)?;
        let found = (fault.number, fault.behaviour.cut?);
        self.refused(found.0);
        Some(found)
    }

    /// A request's head has arrived: it is counted, and the fault that meets it is chosen.
    pub fn arrive(&mut self, head: &Request, connection: ConnectionUse, now_ms: u64) -> Arrival {
        let meant = Arc::new(Meant::of(&head.method, &head.target));
        let authorised = self.authorises(head.header_values("x-api-key"));
        self.arrive_with(meant, authorised, &head.body, connection, now_ms)
    }

    /// [`Self::arrive`] for a request that was taken apart already.
    pub fn arrive_as(
        &mut self,
        meant: &Arc<Meant>,
        authorised: bool,
        connection: ConnectionUse,
        now_ms: u64,
    ) -> Arrival {
        self.arrive_with(Arc::clone(meant), authorised, &[], connection, now_ms)
    }

    /// Whether one of these keys is the right one.
    pub fn authorises<'a>(&self, mut keys: impl Iterator<Item = &'a str>) -> bool {
        keys.any(|key| key == self.names.api_key)
    }

    fn arrive_with(
        &mut self,
        meant: Arc<Meant>,
        authorised: bool,
        body: &[u8],
        connection: ConnectionUse,
        now_ms: u64,
    ) -> Arrival {
        let call = meant.route.call();
        if self.restart_per_process && call == Some(Call::CreateProcess) {
            self.counts = Counts::default();
        }
        let attempt = self.counts.arrive(call);
        let meeting = Meeting {
            call,
            attempt,
            total: self.counts.arrived_total,
            after: cursor(&meant.parts),
            connection,
        };
        let plan = Arc::clone(&self.plan);
        let fault = faults::choose(&plan.faults, meeting);
        let cut = fault
            .and_then(|fault| fault.behaviour.cut)
            .filter(|cut| cut.at == CutPoint::HeadRead);
        let arrival = Arrival {
            index: self.exchanges,
            meant,
            authorised,
            call,
            attempt,
            fault: fault.map(|fault| fault.number),
            delay_ms: fault
                .and_then(|fault| fault.behaviour.delay_ms)
                .unwrap_or(0),
            cut,
        };
        self.exchanges += 1;
        if cut.is_some() && fault.is_some_and(|fault| faults::takes_effect(&fault.behaviour)) {
            // Nobody will hear what the world says; only that it happened counts.
            let _ = self.ask(&arrival, body, true, now_ms);
        }
        arrival
    }

    /// The whole request is there, with this body: what to do about it. The world changes here.
    pub fn answer(&mut self, arrival: &Arrival, body: &[u8], now_ms: u64) -> Decision {
        let plan = Arc::clone(&self.plan);
        let fault = fault_of(&plan, arrival);
        let effect = fault.is_none_or(|fault| faults::takes_effect(&fault.behaviour));
        let needed = fault.is_none_or(needs_world);
        let said = if effect || needed {
            Some(self.ask(arrival, body, effect, now_ms))
        } else {
            None
        };
        let act = self.act(
            arrival,
            cursor(&arrival.meant.parts).unwrap_or(0),
            said,
            effect,
        );
        Decision {
            call: arrival.call,
            attempt: arrival.attempt,
            fault: arrival.fault,
            delay_ms: arrival.delay_ms,
            act,
        }
    }

    /// [`Self::arrive`] and [`Self::answer`] at once.
    pub fn handle(
        &mut self,
        request: &Request,
        connection: ConnectionUse,
        now_ms: u64,
    ) -> Decision {
        let arrival = self.arrive(request, connection, now_ms);
        match arrival.cut {
            Some(cut) => Decision {
                call: arrival.call,
                attempt: arrival.attempt,
                fault: arrival.fault,
                delay_ms: arrival.delay_ms,
                act: Act::Cut(cut),
            },
            None => self.answer(&arrival, &request.body, now_ms),
        }
    }

    /// Looks again at a long poll: its answer, or the wait that is left.
    pub fn resume(&mut self, waiting: Waiting, now_ms: u64) -> Act {
        let Waiting {
            goal,
            follow,
            effect,
            arrival,
            ..
        } = waiting;
        let said = if effect {
            processes::resume(&mut self.world, goal, &follow, now_ms)
        } else {
            processes::resume(&mut self.world.clone(), goal, &follow, now_ms)
        };
        self.act(&arrival, 0, Some(said), effect)
    }

    /// A number that differs when the world has changed, which may end a long poll or a stream.
    #[must_use]
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    /// An exchange is over: its answer has left whole, or its connection is gone.
    pub fn ended(&mut self, arrival: &Arrival) {
        self.counts.end(arrival.call);
    }

    /// The refusal that is due now, if one is: the port stops listening before the next call.
    #[must_use]
    pub fn pending_refusal(&self) -> Option<RefusalDue> {
        let fault = self
            .counts
            .due(&self.plan, |fault| fault.behaviour.refuse)?;
        Some(RefusalDue {
            fault: fault.number,
            hold_ms: fault.behaviour.hold_ms.unwrap_or(REFUSAL_MS),
        })
    }

    /// A refusal is over. Where a fault covers several attempts, or several stand in a row, the next is due then.
    pub fn refused(&mut self, fault: usize) {
        *self.counts.happened.entry(fault).or_default() += 1;
    }

    /// Whether a fault that meets connections becomes due when this exchange ends: a kept connection
    /// would carry the next call past it.
    #[must_use]
    pub fn close_after(&self, arrival: &Arrival) -> bool {
        if !self.has_faults_before_requests() {
            return false;
        }
        let mut counts = self.counts.clone();
        counts.end(arrival.call);
        counts.due(&self.plan, |_| true).is_some()
    }

    /// Whether any fault meets connections; without one nothing is ever refused, nor closed early.
    #[must_use]
    pub fn has_faults_before_requests(&self) -> bool {
        self.plan.faults.iter().any(faults::is_before_requests)
    }

    /// The last line of a process that was ended by force, for streams that follow it.
    #[must_use]
    pub fn exit_line(&mut self, follow: &Follow, now_ms: u64) -> Option<Vec<u8>> {
        let process = self
            .world
            .process(&follow.sandbox, &follow.process, now_ms)
            .ok()
            .filter(|process| process.ended_by_force())?;
        true_line(&process.shown(), FrameRef::Exit)
    }

    /// What the world holds in memory.
    #[must_use]
    pub fn held(&self, now_ms: u64) -> crate::world::Held {
        self.world.held(now_ms)
    }

    /// What exists, or existed. Its exchange numbers are [`Arrival::index`].
    #[must_use]
    pub fn ledger(&self, now_ms: u64) -> Vec<LedgerEntry> {
        self.world.ledger(now_ms)
    }

    /// Asks the world, or a copy of it where the call takes no effect.
    fn ask(
        &mut self,
        arrival: &Arrival,
        body: &[u8],
        effect: bool,
        now_ms: u64,
    ) -> Result<Reply, Problem> {
        let ask = Ask {
            route: &arrival.meant.route,
            query: &arrival.meant.parts.query,
            body,
            now_ms,
            by: Some(arrival.index),
            forced: arrival.cut.is_some(),
        };
        if !effect {
            return reply::ask(&mut self.world.clone(), ask, arrival.authorised);
        }
        if arrival.meant.method != "GET" {
            self.changes += 1;
        }
        reply::ask(&mut self.world, ask, arrival.authorised)
    }

    fn act(
        &self,
        arrival: &Arrival,
        after: u64,
        said: Option<Result<Reply, Problem>>,
        effect: bool,
    ) -> Act {
        let context = Context {
            plan: &self.plan,
            names: &self.names,
            arrival,
            after,
        };
        let fault = fault_of(&self.plan, arrival);
        if fault.is_none_or(needs_world)
            && let Some(Ok(Reply::Wait {
                until_ms,
                goal,
                follow,
            })) = said
        {
            return Act::Wait(Waiting {
                until_ms,
                goal,
                follow,
                effect,
                arrival: Box::new(arrival.clone()),
            });
        }
        match fault {
            Some(fault) => render::act(context, &fault.behaviour, said),
            None => render::act(context, &self.faithful, said),
        }
    }
}

fn fault_of<'a>(plan: &'a Plan, arrival: &Arrival) -> Option<&'a Fault> {
    let number = arrival.fault?;
    plan.faults.iter().find(|fault| fault.number == number)
}

/// Whether an answer under this fault still says what the world says.
fn needs_world(fault: &Fault) -> bool {
    let behaviour = &fault.behaviour;
    !faults::is_mute(behaviour)
        && match behaviour.content {
            Content::Faithful => behaviour.status.is_none_or(|status| status / 100 == 2),
            Content::Data { .. } => true,
            _ => false,
        }
}

fn cursor(target: &Target) -> Option<u64> {
    target
        .query
        .iter()
        .find(|(key, _)| key == "after")
        .and_then(|(_, value)| value.parse().ok())
}

#[cfg(test)]
mod tests;
