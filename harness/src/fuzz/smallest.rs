//! The smallest case that fails as a generated one did, as a scenario file.

use super::found::Signature;
use crate::{
    case::Case,
    client::Client,
    generate::{Failure, shrink, words},
    judge::CheckStatus,
    run::{Settings, play, play_in_memory},
};
use fake_server::script::{model::Plan, print::print};
use std::{
    cell::Cell,
    future::Future,
    num::NonZero,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};
use tokio::task::spawn_blocking;

/// What a failing case came down to.
#[derive(Clone, Debug)]
pub struct Smallest {
    /// The scenario file.
    pub text: String,
    /// The plan, and how it was found.
    pub shrunk: shrink::Shrunk,
}

/// Shrinks a case that broke a requirement, until nothing smaller breaks it or `stop` resolves. `comments` stand above
/// the file; `on` is told how many plans were begun so far. Nothing if the case did not fail when it was played again.
pub async fn smallest(
    case: &Case,
    signature: &Signature,
    client: &Arc<Client>,
    settings: &Settings,
    comments: Vec<String>,
    stop: impl Future<Output = ()>,
    on: impl Fn(usize),
) -> Option<Smallest> {
    let failure = Failure::by(&signature.requirement);
    let player = Player {
        client,
        settings,
        // Beyond the numbers of the trials before: an adapter may still have jobs of those.
        next: AtomicUsize::new(settings.first_trial),
    };
    let plan = Arc::new(failure.about(&case.plan));
    if !failure.is_in(&player.play(Arc::clone(&plan)).await) {
        return None;
    }
    let begun = Cell::new(0);
    let fails = |plan: Arc<Plan>| {
        begun.set(begun.get() + 1);
        on(begun.get());
        let (player, failure) = (&player, &failure);
        async move { failure.is_in(&player.play(plan).await) }
    };
    let plan = Arc::unwrap_or_clone(plan);
    let shrunk = shrink::shrink(plan, client.promises(), player.in_flight(), fails, stop).await;
    // Once more, for its words; a case that fails now and then may pass this time.
    let again = player.play(Arc::new(shrunk.plan.clone())).await;
    let header = words::header(&again, failure.requirements(), comments);
    Some(Smallest {
        text: print(&shrunk.plan, &header),
        shrunk,
    })
}

/// Plays one plan at a time, as the run did.
struct Player<'a> {
    client: &'a Arc<Client>,
    settings: &'a Settings,
    next: AtomicUsize,
}

impl Player<'_> {
    async fn play(&self, plan: Arc<Plan>) -> Case {
        if self.settings.in_memory {
            let (its_plan, its_client) = (Arc::clone(&plan), Arc::clone(self.client));
            let played = spawn_blocking(move || play_in_memory(&its_plan, &its_client)).await;
            return played.unwrap_or_else(|error| {
                Case::unplayed(plan, CheckStatus::HarnessError, &error.to_string())
            });
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        play(number, plan, self.client, self.settings.timeout_multiplier).await
    }

    /// Plans at a time: in memory nothing waits, so more than there are cores help nobody.
    fn in_flight(&self) -> usize {
        if self.settings.in_memory {
            thread::available_parallelism().map_or(1, NonZero::get)
        } else {
            self.settings.jobs
        }
    }
}
