//! Waits between two pieces: heartbeats go on, the client may leave, the process may be ended by force.

use super::{ACK_BOUND, Stop, player::Player};
use crate::{
    net::{later, wire::Drained},
    script::model::Until,
    wire::frame::HEARTBEAT_LINE,
    wirelog::Payload,
};
use std::time::Duration;
use tokio::time::Instant;

/// A later wait is measured from the plan, not from the last wake-up, while it is late by no more
/// than this: pauses do not drift, and a held-up stream does not catch up in a burst.
const JITTER: Duration = Duration::from_millis(20);

impl Player<'_> {
    pub(super) async fn until(&mut self, until: Until) -> Result<(), Stop> {
        self.out.release();
        self.flush().await?;
        if self.out.is_broken() {
            return Ok(());
        }
        match until {
            Until::Acked => {
                let drained = self.wire.drained(ACK_BOUND).await;
                self.look_at_acks();
                match drained {
                    Drained::Yes => self.waited(until),
                    Drained::NotYet => {}
                    Drained::Left => return Err(Stop::Left),
                }
            }
            Until::Delivered(seq) => {
                let mut deliveries = self.trial.deliveries();
                while *deliveries.borrow_and_update() < seq {
                    tokio::select! {
                        biased;
                        stop = self.rest(None, false) => stop?,
                        heard = deliveries.changed() => if heard.is_err() {
                            // Nobody is left who could deliver: only the client's leaving ends this.
                            self.rest(None, false).await?;
                        }
                    }
                }
                self.waited(until);
            }
            Until::Closed => {
                let stop = self.rest(None, false).await;
                if matches!(stop, Err(Stop::Left)) {
                    self.waited(until);
                }
                stop?;
            }
        }
        self.clock = Instant::now();
        Ok(())
    }

    pub(super) fn waited(&self, until: Until) {
        let exchange = self.arrived.exchange;
        self.trial
            .record(|recorder, _| recorder.waited(exchange, until));
    }

    /// Nothing leaves for so long (for ever if not said), but heartbeats where they are wanted.
    pub(super) async fn rest(&mut self, ms: Option<u64>, heartbeats: bool) -> Result<(), Stop> {
        self.out.release();
        self.flush().await?;
        if self.out.is_broken() && self.broken.is_none() {
            return Ok(());
        }
        let now = Instant::now();
        if now.saturating_duration_since(self.clock) > JITTER {
            self.clock = now;
        }
        let over = ms.map(|ms| later(self.clock, ms));
        let mut pause = Duration::from_millis(2);
        loop {
            self.look_at_acks();
            if let Some(follow) = &self.follows
                && let Some(line) = self.trial.exit_line(follow)
            {
                // Who ended the process may have hung up here before: the kernel knows, we were not told yet.
                if self.wire.has_just_left() {
                    return Err(Stop::Left);
                }
                return Err(Stop::Forced(line));
            }
            let now = Instant::now();
            if let Some(over) = over
                && now >= over
            {
                self.clock = over;
                return Ok(());
            }
            let beat = heartbeats
                .then(|| self.quiet_since + self.heartbeat)
                .filter(|beat| over.is_none_or(|over| *beat < over) && !self.heartbeat.is_zero());
            if beat.is_some_and(|beat| now >= beat) {
                self.send(usize::MAX, Payload::Heartbeat, HEARTBEAT_LINE, false)
                    .await?;
                self.out.release();
                self.flush().await?;
                continue;
            }
            let wake = beat.or(over);
            match &mut self.changes {
                None => self.wire.look(wake, &mut pause).await,
                Some(changes) => {
                    tokio::select! {
                        biased;
                        heard = changes.changed() => if heard.is_err() {
                            self.changes = None;
                        },
                        () = self.wire.look(wake, &mut pause) => {}
                    }
                }
            }
            if self.wire.left() {
                return Err(Stop::Left);
            }
        }
    }
}
