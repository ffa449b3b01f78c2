//! How fast cases are begun over sockets: as fast as this machine can follow.
//!
//! Sixty-four cases that wait cost nothing. Sixty-four that begin at once on a machine that others keep busy want more
//! than it has, and then every clock of every client runs while nobody comes to act: a clean-up that has a second was
//! seen to end unanswered. So cases begin one after the other, each when a timer of our own comes in time.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};
use tokio::{
    sync::Mutex,
    time::{Instant, sleep},
};

/// The wait that is measured: the shortest that timers keep.
const TICK: Duration = Duration::from_millis(1);
/// How late it may come. Two busy neighbours on a core cost some 10 ms; the shortest time that a scenario gives a client
/// to act is 100 ms.
const LATE: Duration = Duration::from_millis(25);

/// Lets cases begin.
#[derive(Debug)]
pub(super) struct Pace {
    /// Cases that may always go on together, however late everything is: the run comes to its end.
    few: usize,
    playing: AtomicUsize,
    gate: Mutex<()>,
}

/// A case that is being played; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Playing<'a>(&'a Pace);

impl Pace {
    pub(super) fn new(few: usize) -> Self {
        Self {
            few,
            playing: AtomicUsize::new(0),
            gate: Mutex::new(()),
        }
    }

    /// Resolves when another case may begin.
    pub(super) async fn turn(&self) -> Playing<'_> {
        let _gate = self.gate.lock().await;
        while self.playing.load(Ordering::Relaxed) >= self.few && !is_in_time().await {}
        self.playing.fetch_add(1, Ordering::Relaxed);
        Playing(self)
    }
}

impl Drop for Playing<'_> {
    fn drop(&mut self) {
        self.0.playing.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether a timer comes when it should: its lateness is that of everything else in this runtime.
async fn is_in_time() -> bool {
    let due = Instant::now() + TICK;
    sleep(TICK).await;
    due.elapsed() <= LATE
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{future::poll_fn, pin::pin, task::Poll};

    #[tokio::test(start_paused = true)]
    async fn a_few_always_go_on_and_the_rest_while_timers_come_in_time() {
        let pace = Pace::new(2);
        let (first, second) = (pace.turn().await, pace.turn().await);
        // The clock stands until somebody waits for it, so the third has to.
        let mut third = pin!(pace.turn());
        let waits = poll_fn(|context| Poll::Ready(third.as_mut().poll(context).is_pending()));
        assert!(waits.await);
        // Too late: it tries again.
        tokio::time::advance(TICK + LATE * 2).await;
        let waits = poll_fn(|context| Poll::Ready(third.as_mut().poll(context).is_pending()));
        assert!(waits.await);
        // In time.
        let third = third.await;
        assert_eq!(pace.playing.load(Ordering::Relaxed), 3);
        drop((first, second, third));
        assert_eq!(pace.playing.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn late_or_not_the_next_begins_when_few_are_left() {
        let pace = Pace::new(1);
        let first = pace.turn().await;
        let mut second = pin!(pace.turn());
        let waits = poll_fn(|context| Poll::Ready(second.as_mut().poll(context).is_pending()));
        assert!(waits.await);
        drop(first);
        tokio::time::advance(TICK + LATE * 2).await;
        let begins = poll_fn(|context| Poll::Ready(second.as_mut().poll(context).is_ready()));
        assert!(begins.await);
    }
}
