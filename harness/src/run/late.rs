//! How late this machine is, while it matters: what a client does after a cancel is told from what it did before by time
//! alone, and a machine that comes late to its timers comes late to the client's requests as well.

use fake_server::wirelog::Micros;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// How often it is looked at: a fifth of the lateness that matters (25 ms, see the judge).
const EVERY: Duration = Duration::from_millis(5);

/// The worst that was seen.
#[derive(Debug, Default)]
pub(super) struct Lateness {
    due: Option<Instant>,
    worst: Duration,
}

impl Lateness {
    /// From now on.
    pub(super) fn begin(&mut self) {
        self.due = Some(Instant::now() + EVERY);
    }

    /// Resolves at the next look; may be dropped before. Never before [`begin`](Self::begin).
    pub(super) async fn tick(&mut self) {
        let Some(due) = self.due else {
            return std::future::pending().await;
        };
        sleep_until(due).await;
        self.look(Instant::now());
    }

    /// Microseconds that a timer came late at worst, one that is due now included.
    pub(super) fn worst(&mut self) -> Micros {
        if self.due.is_some() {
            self.look(Instant::now());
        }
        Micros::try_from(self.worst.as_micros()).unwrap_or(Micros::MAX)
    }

    fn look(&mut self, now: Instant) {
        if let Some(due) = self.due.filter(|due| *due <= now) {
            self.worst = self.worst.max(now - due);
            self.due = Some(now + EVERY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_worst_of_all_looks_counts_and_the_last_may_be_under_way() {
        let mut late = Lateness::default();
        assert_eq!(late.worst(), 0);
        late.begin();
        late.tick().await;
        assert_eq!(late.worst(), 0);
        tokio::time::advance(EVERY + Duration::from_millis(30)).await;
        late.tick().await;
        tokio::time::advance(EVERY + Duration::from_millis(20)).await;
        assert_eq!(late.worst(), 30_000);
        tokio::time::advance(EVERY + Duration::from_millis(40)).await;
        assert_eq!(late.worst(), 40_000);
    }
}
