//! What a run tells while it goes. The runner never prints; console, JSON lines and the progress bar listen.

use crate::summary::{Judged, RunInfo, Summary};

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum RunEvent {
    /// The run begins.
    Started(RunInfo),
    /// A case begins.
    CaseStarted {
        /// Its place in the run, from 0.
        index: usize,
        /// Its id.
        id: String,
    },
    /// A case was judged. Cases come in the order in which they end, not in the run's.
    CaseFinished {
        /// Its place in the run, from 0.
        index: usize,
        /// The result.
        judged: Judged,
    },
    /// A case was judged again, because the client made calls after its trial, or because it was tried once more:
    /// this result counts.
    CaseRevised {
        /// Its place in the run, from 0.
        index: usize,
        /// The result.
        judged: Judged,
    },
    /// The run is over; all cases that were judged, in the run's order.
    Finished {
        /// The results that count.
        judged: Vec<Judged>,
        /// In numbers.
        summary: Summary,
    },
}

/// Who listens.
pub trait Sink {
    /// Takes one event; quick, for the run waits.
    fn event(&mut self, event: &RunEvent);
}

/// Nobody listens: a run that is asked for its end only.
#[derive(Clone, Copy, Debug)]
pub struct Deaf;

impl Sink for Deaf {
    fn event(&mut self, _: &RunEvent) {}
}
