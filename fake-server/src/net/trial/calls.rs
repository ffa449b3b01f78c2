//! Calls: a request arrives, the session decides, the log is told. What is done under one lock is
//! seen as one step by everybody who looks.

use super::{
    super::{event::WireEvent, heard::Heard},
    Arrived, State, Trial,
};
use crate::{
    script::model::ConnectionUse,
    session::{Act, Answer, Decision, Follow, Waiting},
    wirelog::Micros,
};
use std::sync::{
    MutexGuard,
    atomic::{AtomicBool, Ordering},
};

/// What became of a request without a body.
pub(in super::super) enum Begun {
    /// It is answered, and that is logged.
    Answered {
        /// As it leaves.
        answer: Answer,
        /// Its body is not sent.
        is_mute: bool,
    },
    /// This is to be done.
    Decided(Box<Decision>),
    /// It is cut before it is answered.
    Cut,
}

impl State {
    fn arrive(&mut self, connection: u32, heard: &Heard, now: Micros) -> Arrived {
        let usage = if self.recorder.exchanges_on(connection) == 0 {
            ConnectionUse::Fresh
        } else {
            ConnectionUse::Reused
        };
        let arrival = self
            .session
            .arrive_as(&heard.meant, heard.authorised, usage, now / 1000);
        let exchange = self.recorder.arrived(connection, heard, &arrival, now);
        Arrived {
            arrival,
            exchange,
            is_over: AtomicBool::new(false),
        }
    }

    fn answer(&mut self, arrived: &Arrived, body: &[u8], now: Micros) -> Decision {
        let decision = self.session.answer(&arrived.arrival, body, now / 1000);
        // The session sees all of the body, the log keeps what it has room for.
        self.recorder.whole(arrived.exchange, body);
        decision
    }
}

impl Trial {
    /// A request's head is there.
    pub(in super::super) fn arrive(&self, connection: u32, heard: &Heard) -> Arrived {
        let now = self.now();
        let arrived = self.state().arrive(connection, heard, now);
        self.show_request(connection, heard, &arrived, now);
        self.heard.notify_waiters();
        arrived
    }

    fn show_request(&self, connection: u32, heard: &Heard, arrived: &Arrived, at_us: Micros) {
        if self.is_observed() {
            self.tell(WireEvent::Request {
                at_us,
                connection,
                exchange: arrived.exchange,
                call: arrived.arrival.call,
                attempt: arrived.arrival.attempt,
                request: heard.shown(),
                fault: arrived.arrival.fault,
            });
        }
    }

    /// A request without a body is there. It is answered at once where that can be: `ready` makes the
    /// answer what will leave, and says whether its body stays here (`HEAD`).
    pub(in super::super) fn begin(
        &self,
        connection: u32,
        heard: &Heard,
        ready: impl FnOnce(&mut Answer) -> bool,
    ) -> (Arrived, Begun) {
        let now = self.now();
        let mut state = self.state();
        let arrived = state.arrive(connection, heard, now);
        let begun = if arrived.arrival.cut.is_some() {
            Begun::Cut
        } else {
            match state.answer(&arrived, &[], now) {
                Decision {
                    delay_ms: 0,
                    act: Act::Answer(mut answer),
                    ..
                } if !state.session.has_faults_before_requests() => {
                    // Nothing is refused or closed early, so nothing has to be waited for.
                    arrived.is_over.store(true, Ordering::Relaxed);
                    state.session.ended(&arrived.arrival);
                    let is_mute = ready(&mut answer);
                    state.ordinary(arrived.exchange, &answer, is_mute, now);
                    Begun::Answered { answer, is_mute }
                }
                decision => Begun::Decided(Box::new(decision)),
            }
        };
        self.publish(state);
        self.show_request(connection, heard, &arrived, now);
        if let Begun::Answered { answer, is_mute } = &begun {
            self.show_ordinary(arrived.exchange, answer, *is_mute, now);
        }
        self.heard.notify_waiters();
        (arrived, begun)
    }

    /// The beginning of a request's body that did not come whole.
    pub(in super::super) fn broken_body(&self, exchange: usize, body: &[u8]) {
        self.record(|recorder, _| recorder.broken_body(exchange, body));
    }

    /// The request is whole with this body: what to do about it.
    pub(in super::super) fn answer(&self, arrived: &Arrived, body: &[u8]) -> Decision {
        let now = self.now();
        let mut state = self.state();
        let decision = state.answer(arrived, body, now);
        self.publish(state);
        self.heard.notify_waiters();
        decision
    }

    /// What to do about a long poll now.
    pub(in super::super) fn resume(&self, waiting: Waiting) -> Act {
        let now_ms = self.now_ms();
        let mut state = self.state();
        let act = state.session.resume(waiting, now_ms);
        self.publish(state);
        act
    }

    /// The last line of a stream whose process was ended by force, if it was.
    pub(in super::super) fn exit_line(&self, follow: &Follow) -> Option<Vec<u8>> {
        let now_ms = self.now_ms();
        let mut state = self.state();
        let line = state.session.exit_line(follow, now_ms);
        self.publish(state);
        line
    }

    fn publish(&self, mut state: MutexGuard<'_, State>) {
        let changes = state.session.changes();
        if std::mem::replace(&mut state.changes, changes) == changes {
            return;
        }
        drop(state);
        self.changes.send_if_modified(|seen| {
            let news = *seen != changes;
            *seen = changes;
            news
        });
    }
}
