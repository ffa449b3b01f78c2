//! The log as others see it, and what they ask of it meanwhile.

use super::{Recorder, Told, entry::is_hold};
use crate::{
    wire::Call,
    wirelog::{AnswerEnd, Exchange, LedgerEntry, WireLog},
};

impl Recorder {
    /// Whether the nth such call's request has arrived whole.
    pub(in super::super) fn is_sent(&self, call: Call, attempt: u32) -> bool {
        self.find(call, attempt)
            .is_some_and(|told| told.request.is_whole)
    }

    /// Whether its answer has left whole, however it ended.
    pub(in super::super) fn is_answered(&self, call: Call, attempt: u32) -> bool {
        self.find(call, attempt)
            .is_some_and(|told| told.gone.ends().any(|how| !is_hold(how)))
    }

    /// How many data frames of its answer the peer has acknowledged.
    pub(in super::super) fn frames_acked(&self, call: Call, attempt: u32) -> u64 {
        let Some(told) = self.find(call, attempt) else {
            return 0;
        };
        let acked = self.lines[told.connection as usize - 1].acked;
        told.gone.frames_acked(acked)
    }

    fn find(&self, call: Call, attempt: u32) -> Option<&Told> {
        self.exchanges
            .iter()
            .find(|told| told.call == Some(call) && told.attempt == attempt)
    }

    /// The log so far.
    pub(in super::super) fn log(&self, ledger: Vec<LedgerEntry>) -> WireLog {
        WireLog {
            names: self.names.clone(),
            connections: self.lines.iter().map(|line| line.seen.clone()).collect(),
            exchanges: self.exchanges.iter().map(|told| self.told(told)).collect(),
            trap: self.trap.clone(),
            refusals: self.refusals.clone(),
            ledger,
            dropped_bytes: self.dropped,
        }
    }

    fn told(&self, told: &Told) -> Exchange {
        let acked = self.lines[told.connection as usize - 1].acked;
        // A hold and the end of the trial leave it open.
        let has_ended = told
            .gone
            .ends()
            .any(|how| !is_hold(how) && how != AnswerEnd::TrialOver);
        Exchange {
            connection: told.connection,
            number: told.number,
            call: told.call,
            attempt: told.attempt,
            request: told.request.shown(),
            fault: told.fault,
            answer: told.gone.show(acked),
            head_us: told.head_us,
            last_sent_us: told.last_sent_us,
            client_closed_us: told.client_closed_us,
            open: told.client_closed_us.is_none() && !has_ended,
            segmented: told.segmented,
            broke_off: told.broke_off,
        }
    }
}
