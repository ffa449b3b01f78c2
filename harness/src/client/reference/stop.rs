//! What ends a job from outside: the caller's cancel, and the job's own deadline.

use super::bug::{Bug, Quirk};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

/// Why a job was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    TimedOut,
    Cancelled,
}

impl Stopped {
    pub(super) const fn outcome(self) -> &'static str {
        match self {
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
        }
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::TimedOut => "the call's deadline passed",
            Self::Cancelled => "the call was cancelled",
        }
    }
}

/// The two stops of one job.
#[derive(Debug)]
pub(super) struct Stop {
    timeout: Option<Duration>,
    /// Behind a lock only because wrong clients postpone it.
    deadline: Mutex<Option<Instant>>,
    cancel: watch::Receiver<bool>,
    quirk: Quirk,
}

impl Stop {
    /// The deadline counts from now.
    pub(super) fn new(
        timeout_ms: Option<u64>,
        cancel: watch::Receiver<bool>,
        quirk: Quirk,
    ) -> Self {
        let timeout = timeout_ms.map(Duration::from_millis);
        Self {
            timeout,
            deadline: Mutex::new(later(timeout)),
            cancel,
            quirk,
        }
    }

    /// Resolves when the job is to end; never if nothing ends it.
    pub(super) async fn reached(&self) -> Stopped {
        let mut cancel = self.cancel.clone();
        let cancelled = async move {
            if cancel.wait_for(|cancelled| *cancelled).await.is_err() {
                // Nobody is left who could cancel.
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            () = cancelled => Stopped::Cancelled,
            () = self.passed() => Stopped::TimedOut,
        }
    }

    /// A heartbeat came. It changes nothing, but for a wrong client.
    pub(super) fn heartbeat(&self) {
        if self.quirk.is(Bug::HeartbeatPostponesDeadline) {
            self.postpone();
        }
    }

    /// Bytes came. They change nothing, but for a wrong client.
    pub(super) fn read(&self) {
        if self.quirk.is(Bug::DeadlinePerRead) {
            self.postpone();
        }
    }

    async fn passed(&self) {
        loop {
            match self.deadline() {
                None => std::future::pending().await,
                Some(deadline) if deadline <= Instant::now() => return,
                Some(deadline) => sleep_until(deadline).await,
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn postpone(&self) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = later(self.timeout);
    }
}

/// A deadline beyond what a clock can hold is none.
fn later(timeout: Option<Duration>) -> Option<Instant> {
    Instant::now().checked_add(timeout?)
}
