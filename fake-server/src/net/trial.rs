//! What the connections of one trial share: the session, the log, and who wants to hear of changes.

use super::{
    event::{Observer, WireEvent},
    recorder::{self, NOWHERE, Note, Recorder},
};
use crate::{
    script::model::Plan,
    session::{Act, Answer, Arrival, Decision, Follow, RefusalDue, Session, Waiting},
    wire::Blob,
    wirelog::{AnswerEnd, Micros, Names, Payload, Request, Sent, WireLog},
};
use std::{
    collections::BTreeSet,
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
    alive: BTreeSet<u32>,
    /// Connections with nothing under way and nothing unacknowledged.
    settled: BTreeSet<u32>,
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
        if restart_per_process {
            session.restart_per_process();
        }
        Self {
            began: Instant::now(),
            state: Mutex::new(State {
                session,
                recorder: Recorder::new(names, log_limit_bytes),
                alive: BTreeSet::new(),
                settled: BTreeSet::new(),
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

    pub(super) fn names(&self) -> Names {
        self.state().recorder.names().clone()
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
    pub(super) fn accepted(&self) -> (u32, Option<crate::script::model::Cut>) {
        let now = self.now();
        let mut state = self.state();
        let connection = state.recorder.accepted(now);
        state.alive.insert(connection);
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
        state.settled.remove(&connection);
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

    /// The peer has acknowledged so many bytes of a connection, of so many sent.
    pub(super) fn acked(&self, connection: u32, bytes: u64, of: u64) {
        let mut state = self.state();
        let news = state.recorder.acked(connection, bytes);
        let is_settled = bytes >= of && state.recorder.is_idle(connection);
        let settled_news = if is_settled {
            state.settled.insert(connection)
        } else {
            state.settled.remove(&connection)
        };
        drop(state);
        if news || settled_news {
            self.heard.notify_waiters();
        }
    }

    /// A request's head is there.
    pub(super) fn arrive(&self, connection: u32, request: Request) -> Arrived {
        let now = self.now();
        let mut state = self.state();
        let usage = if state.recorder.exchanges_on(connection) == 0 {
            crate::script::model::ConnectionUse::Fresh
        } else {
            crate::script::model::ConnectionUse::Reused
        };
        state.settled.remove(&connection);
        let arrival = state.session.arrive(&request, usage, now / 1000);
        let shown = self.is_observed().then(|| request.clone());
        let exchange = state.recorder.arrived(
            connection,
            request,
            arrival.call,
            arrival.attempt,
            arrival.fault,
            now,
        );
        drop(state);
        if let Some(request) = shown {
            self.tell(WireEvent::Request {
                at_us: now,
                connection,
                exchange,
                call: arrival.call,
                attempt: arrival.attempt,
                request,
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
    pub(super) fn broken_body(&self, exchange: usize, body: Vec<u8>) {
        self.record(|recorder, _| recorder.broken_body(exchange, body));
    }

    /// The request is whole with this body: what to do about it.
    pub(super) fn answer(&self, arrived: &Arrived, body: Vec<u8>) -> Decision {
        let now_ms = self.now_ms();
        let mut state = self.state();
        // The session sees all of the body, the log keeps what it has room for.
        let mut request = state.recorder.lend(arrived.exchange);
        request.body = body.into();
        request.body_complete = true;
        let decision = state.session.answer(&arrived.arrival, &request, now_ms);
        state.recorder.take_back(arrived.exchange, request);
        self.publish(state);
        self.heard.notify_waiters();
        decision
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

    fn publish(&self, state: MutexGuard<'_, State>) {
        let changes = state.session.changes();
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
        let (closes, due) = {
            let mut state = self.state();
            if arrived.is_over.swap(true, Ordering::Relaxed) {
                return false;
            }
            let closes = state.session.close_after(&arrived.arrival);
            state.session.ended(&arrived.arrival);
            (closes, state.take_refusal())
        };
        self.refuse(due).await;
        if closes {
            self.close_idle();
        }
        closes
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

    /// Logs the head of an answer.
    pub(super) fn head(
        &self,
        exchange: usize,
        http10: bool,
        status: u16,
        reason: String,
        headers: Vec<(String, String)>,
    ) {
        let what = self.is_observed().then(|| Sent::Head {
            http10,
            status,
            reason: reason.clone(),
            headers: headers.clone(),
        });
        let at_us = self.record(|recorder, now| {
            recorder.head(exchange, http10, status, reason, headers);
            now
        });
        if let Some(what) = what {
            self.tell(WireEvent::Sent {
                at_us,
                exchange,
                what,
            });
        }
    }

    /// Logs an ordinary answer, which hyper writes; [`Self::placed`] says later that it has left.
    pub(super) fn ordinary(&self, exchange: usize, answer: Answer) {
        let Answer {
            status,
            reason,
            headers,
            body,
        } = answer;
        self.head(exchange, false, status, reason, headers);
        if !body.is_empty() {
            self.sent(exchange, vec![(NOWHERE, recorder::plain(body))]);
        }
    }

    /// An ordinary answer has left whole.
    pub(super) fn placed(&self, exchange: usize, place: u64, left_at: Instant) {
        let left_us = self.micros(left_at);
        self.record(|recorder, _| recorder.placed(exchange, place, left_us));
        if self.is_observed() {
            self.tell(WireEvent::Sent {
                at_us: self.now(),
                exchange,
                what: Sent::End {
                    how: AnswerEnd::Complete,
                    acked: false,
                },
            });
        }
    }

    /// Logs what has left, with the place on the connection where each ended, and tells the live view.
    pub(super) fn sent(&self, exchange: usize, notes: Vec<(u64, Note)>) {
        if notes.is_empty() {
            return;
        }
        let now = self.now();
        let events: Vec<WireEvent> = if self.is_observed() {
            notes
                .iter()
                .map(|(_, note)| sent_event(now, exchange, note))
                .collect()
        } else {
            Vec::new()
        };
        self.record(|recorder, now| {
            for (place, note) in notes {
                recorder.sent(exchange, note, place, now);
            }
        });
        for event in events {
            self.tell(event);
        }
    }

    /// Logs the end of an answer, which left at that moment; absent: leaves now.
    pub(super) fn ended(
        &self,
        exchange: usize,
        how: AnswerEnd,
        place: u64,
        acked: Option<bool>,
        left_at: Option<Instant>,
    ) {
        let now = self.record(|recorder, now| {
            let at_us = left_at.map_or(now, |at| self.micros(at));
            recorder.ended(exchange, how, place, acked, at_us);
            now
        });
        if self.is_observed() {
            self.tell(WireEvent::Sent {
                at_us: now,
                exchange,
                what: Sent::End {
                    how,
                    acked: acked.unwrap_or(false),
                },
            });
        }
    }

    /// The client left in the middle of an answer.
    pub(super) fn abandoned(&self, exchange: usize, connection: u32) {
        let now = self.record(|recorder, now| {
            recorder.client_closed(connection, now);
            recorder.over(exchange);
            now
        });
        self.tell(WireEvent::Abandoned {
            at_us: now,
            exchange,
        });
    }

    /// What came on a connection was no HTTP request.
    pub(super) fn unreadable(&self, connection: u32, error: &hyper::Error) {
        self.tell(WireEvent::Unreadable {
            at_us: self.now(),
            connection,
            error: error.to_string(),
        });
    }

    /// A request reached the trap.
    pub(super) fn trapped(&self, request: Request) {
        let api_key = self.names().api_key;
        let trapped = self.record(|recorder, now| {
            let trapped = super::request::trapped(request, &api_key, now);
            recorder.trapped(trapped.clone());
            trapped
        });
        self.tell(WireEvent::Trapped(trapped));
    }

    /// The log so far.
    pub(super) fn log(&self) -> WireLog {
        let now_ms = self.now_ms();
        let state = self.state();
        let ledger = state.session.ledger(now_ms);
        state.recorder.log(ledger)
    }

    /// Everything still open ends with the trial.
    pub(super) fn is_over(&self) {
        self.record(Recorder::trial_over);
    }

    /// Waits until the check holds; it is made again whenever something was logged.
    pub(super) async fn until(&self, holds: impl Fn(&Recorder) -> bool) {
        loop {
            let heard = self.heard.notified();
            let mut heard = std::pin::pin!(heard);
            heard.as_mut().enable();
            if holds(&self.state().recorder) {
                return;
            }
            heard.await;
        }
    }

    /// Waits until every connection is closed, or idle with all it sent acknowledged.
    pub(super) async fn settled(&self) {
        loop {
            let heard = self.heard.notified();
            let mut heard = std::pin::pin!(heard);
            heard.as_mut().enable();
            {
                let state = self.state();
                if state.alive.is_subset(&state.settled) {
                    return;
                }
            }
            heard.await;
        }
    }
}

fn sent_event(at_us: Micros, exchange: usize, note: &Note) -> WireEvent {
    let what = match note {
        Note::Frames { from, to } => Sent::Frames {
            from: *from,
            to: *to,
            acked: false,
        },
        Note::Bytes {
            what,
            bytes,
            framed,
            ..
        } => Sent::Body {
            what: *what,
            bytes: Blob::from(bytes.as_slice()),
            framed: *framed,
            acked: false,
        },
    };
    WireEvent::Sent {
        at_us,
        exchange,
        what,
    }
}

/// What a forced end of the process is in the log.
pub(super) const FORCED_EXIT: Payload = Payload::Exit;
