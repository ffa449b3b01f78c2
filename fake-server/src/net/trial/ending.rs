//! Ends of exchanges, and what has to happen before the next one: connections that may not be kept,
//! a port that refuses.

use super::{Arrived, State, Trial};
use crate::session::RefusalDue;
use std::sync::atomic::Ordering;
use tokio::sync::oneshot;

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

impl Trial {
    /// Whether the next call must meet a fresh connection, so that this one may not be kept.
    pub(in super::super) fn closes_after(&self, arrived: &Arrived) -> bool {
        self.state().session.close_after(&arrived.arrival)
    }

    /// The exchange is about to be over: nothing but its last bytes is left to do, or the client has
    /// gone. If the next call must meet a fresh connection, idle ones are closed, and if it must be
    /// refused, the port refuses when this returns; then true is returned, and this connection may
    /// not be kept either. To be called at least once an exchange.
    pub(in super::super) async fn ending(&self, arrived: &Arrived) -> bool {
        let (closes, due) = self.end(arrived);
        self.refuse(due).await;
        if closes {
            self.close_idle();
        }
        closes
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
    pub(in super::super) fn first_refusal(&self) -> Option<RefusalDue> {
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
    pub(in super::super) fn refused(&self, fault: usize) -> Option<RefusalDue> {
        let mut state = self.state();
        state.session.refused(fault);
        state.refusing = false;
        state.take_refusal()
    }
}
