//! What can be known of a connection without holding it: how much left on it, how much of that the
//! peer has acknowledged, whether the peer has gone. Acknowledgements are asked of the kernel when
//! somebody wants to know, not after each answer.

use super::socket::Queue;
use std::{
    io,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::Instant;

/// The counters of one connection, and its send queue.
#[derive(Debug)]
pub(super) struct Gauge {
    began: Instant,
    written: AtomicU64,
    /// Microseconds from `began` to just before the last write that moved anything.
    last_write_us: AtomicU64,
    blocked: AtomicBool,
    left: AtomicBool,
    broken: AtomicBool,
    /// hyper was given an answer that it has not flushed.
    answers: AtomicBool,
    /// Whether the peer's reading wakes somebody (in memory).
    tells: bool,
    queue: Mutex<Queue>,
}

impl Gauge {
    pub(super) fn new(queue: Queue) -> Self {
        Self {
            began: Instant::now(),
            written: AtomicU64::new(0),
            last_write_us: AtomicU64::new(0),
            blocked: AtomicBool::new(false),
            left: AtomicBool::new(false),
            broken: AtomicBool::new(false),
            answers: AtomicBool::new(false),
            tells: matches!(queue, Queue::Memory(_)),
            queue: Mutex::new(queue),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The moment in the gauge's own time.
    pub(super) fn moment(&self) -> Duration {
        self.began.elapsed()
    }

    /// A write that began at this moment is over.
    pub(super) fn wrote(&self, began: Duration, result: &Poll<io::Result<usize>>) {
        self.blocked.store(result.is_pending(), Ordering::Relaxed);
        match result {
            Poll::Ready(Ok(written)) => {
                let began = u64::try_from(began.as_micros()).unwrap_or(u64::MAX);
                self.last_write_us.store(began, Ordering::Relaxed);
                // usize is at most 64 bits wide.
                self.written.fetch_add(*written as u64, Ordering::Relaxed);
            }
            Poll::Ready(Err(_)) => {
                self.broken.store(true, Ordering::Relaxed);
                self.has_left();
            }
            Poll::Pending => {}
        }
    }

    /// Just before the last bytes were handed to the transport: the peer cannot have had them earlier. Looking at
    /// the clock afterwards would be too late where this program waits for a core in between.
    pub(super) fn last_write(&self) -> Instant {
        self.began + Duration::from_micros(self.last_write_us.load(Ordering::Relaxed))
    }

    /// Bytes handed to the transport so far.
    pub(super) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// The last write could not go on: something is still in a buffer above.
    pub(super) fn blocked(&self) -> bool {
        self.blocked.load(Ordering::Relaxed)
    }

    /// A write has failed.
    pub(super) fn broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Whether what leaves now is an answer of ours.
    pub(super) fn answers(&self) -> bool {
        self.answers.load(Ordering::Relaxed)
    }

    /// An answer of ours is given to hyper, or is flushed.
    pub(super) fn answering(&self, answers: bool) {
        self.answers.store(answers, Ordering::Relaxed);
    }

    /// The peer's FIN or RST was seen.
    pub(super) fn left(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }

    /// The peer's FIN or RST is there.
    pub(super) fn has_left(&self) {
        self.left.store(true, Ordering::Relaxed);
    }

    /// Bytes acknowledged by the peer, and bytes written; nothing of a connection that is gone.
    pub(super) fn acked(&self) -> Option<(u64, u64)> {
        // In this order: what is written in between must not count as acknowledged.
        let written = self.written();
        let unacked = u64::try_from(self.queue().unacked()?).unwrap_or(u64::MAX);
        Some((written.saturating_sub(unacked), written))
    }

    /// Ready when the peer has read everything. Only a connection in memory tells; over TCP one has to look.
    pub(super) fn poll_drained(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.tells {
            self.queue().poll_drained(cx)
        } else {
            Poll::Pending
        }
    }

    /// Whether acknowledgements have to be looked for from time to time.
    pub(super) const fn tells_nothing(&self) -> bool {
        !self.tells
    }

    /// The connection is about to be closed.
    pub(super) fn close(&self) {
        *self.queue() = Queue::Closed;
    }
}
