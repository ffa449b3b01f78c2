//! Trying many candidates at once, and going on from the first in order that still fails.

use super::candidates;
use crate::profile::Promises;
use fake_server::script::model::Plan;
use std::{
    collections::VecDeque,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
};

/// What shrinking came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Shrunk {
    /// The smallest plan that was found to fail.
    pub plan: Plan,
    /// How often a smaller one was found.
    pub steps: usize,
    /// How many plans were tried for it, whatever was begun beside them.
    pub tried: usize,
    /// Whether no single simplification of it fails any more; false when it was stopped before that was known.
    pub is_smallest: bool,
}

/// Makes a failing plan smaller until no candidate fails any more or `stop` resolves.
///
/// `fails` plays a plan and tells whether it fails in the same way; up to `in_flight` of its futures are alive at a
/// time, and those that have lost are dropped. The same answers give the same result, whichever comes first.
/// Runs on any executor, as far as `fails` does.
pub async fn shrink<F, Fut>(
    plan: Plan,
    promises: &Promises,
    in_flight: usize,
    mut fails: F,
    stop: impl Future<Output = ()>,
) -> Shrunk
where
    F: FnMut(Arc<Plan>) -> Fut,
    Fut: Future<Output = bool>,
{
    let mut stop = pin!(stop);
    let mut shrunk = Shrunk {
        plan,
        steps: 0,
        tried: 0,
        is_smallest: false,
    };
    loop {
        let mut tried = 0;
        let found = {
            let mut wave = Wave {
                candidates: candidates(&shrunk.plan, promises),
                fails: &mut fails,
                in_flight: in_flight.max(1),
                running: VecDeque::new(),
                decided: false,
            };
            let search = poll_fn(|context| {
                loop {
                    if stop.as_mut().poll(context).is_ready() {
                        return Poll::Ready(Found::Stopped);
                    }
                    match ready!(wave.poll_next(context)) {
                        None => return Poll::Ready(Found::Nothing),
                        Some((plan, failed)) => {
                            tried += 1;
                            if failed {
                                return Poll::Ready(Found::Smaller(plan));
                            }
                        }
                    }
                }
            });
            search.await
        };
        shrunk.tried += tried;
        match found {
            Found::Smaller(plan) => {
                shrunk.plan = Arc::unwrap_or_clone(plan);
                shrunk.steps += 1;
            }
            Found::Nothing => {
                shrunk.is_smallest = true;
                return shrunk;
            }
            Found::Stopped => return shrunk,
        }
    }
}

/// What a search among the candidates came to.
enum Found {
    Smaller(Arc<Plan>),
    Nothing,
    Stopped,
}

/// Candidates that are being played, in their order.
struct Wave<'f, C, F, Fut> {
    candidates: C,
    fails: &'f mut F,
    in_flight: usize,
    running: VecDeque<Running<Fut>>,
    /// One of the running has failed: what would come after it cannot win any more.
    decided: bool,
}

struct Running<Fut> {
    plan: Arc<Plan>,
    playing: Pin<Box<Fut>>,
    failed: Option<bool>,
}

impl<Fut: Future<Output = bool>> Running<Fut> {
    fn poll(&mut self, context: &mut Context<'_>) -> Option<bool> {
        if self.failed.is_none()
            && let Poll::Ready(failed) = self.playing.as_mut().poll(context)
        {
            self.failed = Some(failed);
        }
        self.failed
    }
}

impl<C, F, Fut> Wave<'_, C, F, Fut>
where
    C: Iterator<Item = Plan>,
    F: FnMut(Arc<Plan>) -> Fut,
    Fut: Future<Output = bool>,
{
    /// The next candidate in order with its answer; nothing when there is no other.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<(Arc<Plan>, bool)>> {
        let mut next = 0;
        loop {
            while let Some(running) = self.running.get_mut(next) {
                self.decided |= running.poll(context) == Some(true);
                if let Some(done) = self.take_first() {
                    return Poll::Ready(Some(done));
                }
                next += 1;
            }
            if self.decided || self.running.len() >= self.in_flight {
                return Poll::Pending;
            }
            let Some(plan) = self.candidates.next().map(Arc::new) else {
                return if self.running.is_empty() {
                    Poll::Ready(None)
                } else {
                    Poll::Pending
                };
            };
            self.running.push_back(Running {
                playing: Box::pin((self.fails)(Arc::clone(&plan))),
                plan,
                failed: None,
            });
        }
    }

    /// The first of the running, if it is done.
    fn take_first(&mut self) -> Option<(Arc<Plan>, bool)> {
        let failed = self.running.front()?.failed?;
        let first = self.running.pop_front()?;
        Some((first.plan, failed))
    }
}
