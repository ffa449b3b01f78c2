//! What the connections of one trial share: the session, the log, and who wants to hear of changes.

mod acks;
mod told;

use super::{
    event::{Observer, WireEvent},
    gauge::Gauge,
    heard::Heard,
    recorder::Recorder,
};
use crate::{
    script::model::{ConnectionUse, Plan},
    session::{Act, Arrival, Decision, Follow, RefusalDue, Session, Waiting},
    wirelog::{Micros, Names, Payload},
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::{
    sync::{Notify, mpsc, oneshot, watch},
    time::Instant,
};

/// One trial's shared state.
pub(super) struct Trial {
    began: Instant,
    names: Arc<Names>,
    state: Mutex<State>,
    /// Something was logged.
    heard: Notify,
    /// The world's number of changes.
    changes: watch::Sender<u64>,
    /// The highest seq that the client has handed to its caller.
    delivered: watch::Sender<u64>,
    /// How often idle connections were asked to close.
    close_idle: watch::Sender<u64>,
    /// Refusals for the door to begin.
    door: mpsc::UnboundedSender<(RefusalDue, oneshot::Sender<()>)>,
    observer: Option<Observer>,
}

struct State {
    session: Session,
    recorder: Recorder,
    /// Connections accepted and not closed.
    alive: BTreeMap<u32, Arc<Gauge>>,
    /// The number of changes of the world that was made known last.
    changes: u64,
    /// The port refuses, or is about to.
    refusing: bool,
}

impl State {
    /// The refusal to begin now, if one is due and none is under way.
    fn take_refusal(&mut self) -> Option<RefusalDue> {
        if self.refusing {
            return None;
        }
        let due = self.session.pending_refusal();
        self.refusing = due.is_some();
        due
    }
}

/// A request that has been counted.
pub(super) struct Arrived {
    /// What the session said of its head.
    pub arrival: Arrival,
    /// Its place in the log.
    pub exchange: usize,
    /// The session knows that it is over.
    is_over: AtomicBool,
}

impl Trial {
    pub(super) fn new(
        plan: Arc<Plan>,
        names: Names,
        log_limit_bytes: u64,
        door: mpsc::UnboundedSender<(RefusalDue, oneshot::Sender<()>)>,
        restart_per_process: bool,
        observer: Option<Observer>,
    ) -> Self {
        let mut session = Session::new(plan, names.clone());
        let shared = Arc::new(names.clone());
        if restart_per_process {
            session.restart_per_process();
        }
        Self {
            began: Instant::now(),
            names: shared,
            state: Mutex::new(State {
                session,
                recorder: Recorder::new(names, log_limit_bytes),
                alive: BTreeMap::new(),
                changes: 0,
                refusing: false,
            }),
            heard: Notify::new(),
            changes: watch::Sender::new(0),
            delivered: watch::Sender::new(0),
            close_idle: watch::Sender::new(0),
            door,
            observer,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No statement under the lock leaves the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> Micros {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn micros(&self, at: Instant) -> Micros {
        let since = at.saturating_duration_since(self.began);
        u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
    }

    fn now_ms(&self) -> u64 {
        self.now() / 1000
    }

    /// The moment so many milliseconds after the trial's beginning.
    pub(super) fn at_ms(&self, ms: u64) -> Instant {
        super::later(self.began, ms)
    }

    pub(super) const fn names(&self) -> &Arc<Names> {
        &self.names
    }

    /// Something of which the live view is told, after the state has it.
    pub(super) fn tell(&self, event: WireEvent) {
        self.heard.notify_waiters();
        if let Some(observer) = &self.observer {
            observer(&event);
        }
    }

    /// Whether events need to be made at all.
    pub(super) const fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Changes the log; whoever waits for a moment looks again.
    pub(super) fn record<T>(&self, change: impl FnOnce(&mut Recorder, Micros) -> T) -> T {
        let now = self.now();
        let result = change(&mut self.state().recorder, now);
        self.heard.notify_waiters();
        result
    }

    /// A connection was accepted: its number, and the cut that a fault wants at once.
    pub(super) fn accepted(&self, gauge: Arc<Gauge>) -> (u32, Option<crate::script::model::Cut>) {
        let now = self.now();
        let mut state = self.state();
        let connection = state.recorder.accepted(now);
        state.alive.insert(connection, gauge);
        let cut = state.session.on_accept();
        if let Some((fault, cut)) = cut {
            state.recorder.cut_at_accept(connection, fault, cut);
        }
        drop(state);
        self.tell(WireEvent::Opened {
            at_us: now,
            connection,
        });
        if let Some((fault, cut)) = cut {
            self.tell(WireEvent::CutAtAccept {
                at_us: now,
                connection,
                fault,
                cut,
            });
        }
        (connection, cut.map(|(_, cut)| cut))
    }

    /// A connection is gone.
    pub(super) fn closed(&self, connection: u32) {
        let now = self.now();
        let mut state = self.state();
        state.alive.remove(&connection);
        state.recorder.closed(connection, now);
        drop(state);
        self.tell(WireEvent::Closed {
            at_us: now,
            connection,
        });
    }

    /// The client closed or reset a connection.
    pub(super) fn client_left(&self, connection: u32) {
        self.record(|recorder, now| recorder.client_closed(connection, now));
    }

    /// A request's head is there.
    pub(super) fn arrive(&self, connection: u32, heard: &Heard) -> Arrived {
        let now = self.now();
        let mut state = self.state();
        let usage = if state.recorder.exchanges_on(connection) == 0 {
            ConnectionUse::Fresh
        } else {
            ConnectionUse::Reused
        };
        let meant = Arc::clone(&heard.meant);
        let arrival = state
            .session
            .arrive_as(meant, heard.authorised, usage, now / 1000);
        let exchange = state.recorder.arrived(connection, heard, &arrival, now);
        drop(state);
        if self.is_observed() {
            self.tell(WireEvent::Request {
                at_us: now,
                connection,
                exchange,
                call: arrival.call,
                attempt: arrival.attempt,
                request: heard.shown(),
                fault: arrival.fault,
            });
        }
        self.heard.notify_waiters();
        Arrived {
            arrival,
            exchange,
            is_over: AtomicBool::new(false),
        }
    }

    /// The beginning of a request's body that did not come whole.
    pub(super) fn broken_body(&self, exchange: usize, body: &[u8]) {
        self.record(|recorder, _| recorder.broken_body(exchange, body));
    }

    /// The request is whole with this body: what to do about it, and when that was decided.
    pub(super) fn answer(&self, arrived: &Arrived, body: &[u8]) -> (Decision, Micros) {
        let now = self.now();
        let mut state = self.state();
        let decision = state.session.answer(&arrived.arrival, body, now / 1000);
        // The session sees all of the body, the log keeps what it has room for.
        state.recorder.whole(arrived.exchange, body);
        self.publish(state);
        self.heard.notify_waiters();
        (decision, now)
    }

    /// What to do about a long poll now.
    pub(super) fn resume(&self, waiting: Waiting) -> Act {
        let now_ms = self.now_ms();
        let mut state = self.state();
        let act = state.session.resume(waiting, now_ms);
        self.publish(state);
        act
    }

    /// The last line of a stream whose process was ended by force, if it was.
    pub(super) fn exit_line(&self, follow: &Follow) -> Option<Vec<u8>> {
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

    /// Hears of changes of the world.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Hears of deliveries.
    pub(super) fn deliveries(&self) -> watch::Receiver<u64> {
        self.delivered.subscribe()
    }

    /// The client has handed this frame to its caller.
    pub(super) fn deliver(&self, seq: u64) {
        self.delivered.send_if_modified(|highest| {
            let news = seq > *highest;
            *highest = seq.max(*highest);
            news
        });
    }

    /// Hears when idle connections are to close.
    pub(super) fn idle_closes(&self) -> watch::Receiver<u64> {
        self.close_idle.subscribe()
    }

    pub(super) fn close_idle(&self) {
        self.close_idle.send_modify(|times| *times += 1);
    }

    /// Whether the next call must meet a fresh connection, so that this one may not be kept.
    pub(super) fn closes_after(&self, arrived: &Arrived) -> bool {
        self.state().session.close_after(&arrived.arrival)
    }

    /// The exchange is about to be over: nothing but its last bytes is left to do, or the client has
    /// gone. If the next call must meet a fresh connection, idle ones are closed, and if it must be
    /// refused, the port refuses when this returns; then true is returned, and this connection may
    /// not be kept either. To be called at least once an exchange.
    pub(super) async fn ending(&self, arrived: &Arrived) -> bool {
        let (closes, due) = self.end(arrived);
        self.refuse(due).await;
        if closes {
            self.close_idle();
        }
        closes
    }

    /// [`Self::ending`] for the many exchanges that close and refuse nothing: then it is done at once. Else
    /// nothing is, and [`Self::ending`] is to be waited for.
    pub(super) fn ending_at_once(&self, arrived: &Arrived) -> bool {
        let mut state = self.state();
        let is_quiet = !state.session.has_faults_before_requests();
        if is_quiet && !arrived.is_over.swap(true, Ordering::Relaxed) {
            state.session.ended(&arrived.arrival);
        }
        is_quiet
    }

    fn end(&self, arrived: &Arrived) -> (bool, Option<RefusalDue>) {
        let mut state = self.state();
        if arrived.is_over.swap(true, Ordering::Relaxed) {
            return (false, None);
        }
        let closes = state.session.close_after(&arrived.arrival);
        state.session.ended(&arrived.arrival);
        (closes, state.take_refusal())
    }

    /// The refusal that is due before any request, if one is.
    pub(super) fn first_refusal(&self) -> Option<RefusalDue> {
        self.state().take_refusal()
    }

    async fn refuse(&self, due: Option<RefusalDue>) {
        let Some(due) = due else {
            return;
        };
        let (done, closed) = oneshot::channel();
        // Where the door is gone, the trial is over and nobody can connect anyway.
        if self.door.send((due, done)).is_ok() {
            let _ = closed.await;
        }
    }

    /// A refusal is over; the next one, if it is due already.
    pub(super) fn refused(&self, fault: usize) -> Option<RefusalDue> {
        let mut state = self.state();
        state.session.refused(fault);
        state.refusing = false;
        state.take_refusal()
    }
}

/// What a forced end of the process is in the log.
pub(super) const FORCED_EXIT: Payload = Payload::Exit;
