//! What the connections of one trial share: the session, the log, and who wants to hear of changes.

mod acks;
mod calls;
mod ending;
mod told;

pub(super) use calls::Begun;

use super::{
    event::{Observer, WireEvent},
    gauge::Gauge,
    recorder::Recorder,
};
use crate::{
    script::model::Plan,
    session::{Arrival, RefusalDue, Session},
    wirelog::{Micros, Names, Payload},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
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
}

/// What a forced end of the process is in the log.
pub(super) const FORCED_EXIT: Payload = Payload::Exit;
