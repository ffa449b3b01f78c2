//! The built-in client over a network in memory: a runtime with a clock of its own a case, cases spread over threads.

use super::{
    Message, Settings, Work, broken,
    trial::{Ran, trial},
};
use crate::client::Client;
use fake_server::{
    net::{MemoryNet, Transport},
    script::model::Plan,
};
use std::{
    io,
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};
use tokio::{sync::mpsc, task::JoinSet};

/// Starts the threads.
pub(super) fn spawn(
    workers: &mut JoinSet<()>,
    work: &Arc<Work>,
    client: &Arc<Client>,
    settings: &Settings,
    tx: &mpsc::UnboundedSender<Message>,
) {
    // Nothing waits here, so more threads than cores help nobody.
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    for _ in 0..settings.jobs.clamp(1, cores) {
        let (work, client, tx) = (Arc::clone(work), Arc::clone(client), tx.clone());
        let (multiplier, first) = (settings.timeout_multiplier, settings.first_trial);
        workers.spawn_blocking(move || {
            while let Some((index, plan)) = work.take() {
                // A receiver that is gone has stopped the run.
                let _ = tx.send(Message::Started(index));
                let ran = play(first + index, &plan, &client, multiplier);
                let _ = tx.send(Message::Ended(index, Box::new(ran)));
            }
        });
    }
}

/// Plays one plan on a runtime of its own, with a clock that stands still while anybody can act.
pub(super) fn play(number: usize, plan: &Arc<Plan>, client: &Client, multiplier: f64) -> Ran {
    let attempt = catch_unwind(AssertUnwindSafe(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()?;
        let net = MemoryNet::new();
        let transport = Transport::Memory(net);
        let ran = runtime.block_on(async {
            let mut ran = trial(number, Arc::clone(plan), client, transport, multiplier).await;
            // Nothing outlives this runtime, so what came late is known at once.
            if let Some(kept) = ran.kept.take()
                && let Some(revised) = kept.end(client).await
            {
                ran.case = revised;
            }
            ran
        });
        Ok::<Ran, io::Error>(ran)
    }));
    match attempt {
        Ok(Ok(ran)) => ran,
        Ok(Err(error)) => broken(Arc::clone(plan), &error.to_string()),
        Err(panic) => {
            let words = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied())
                .unwrap_or("it panicked");
            broken(Arc::clone(plan), words)
        }
    }
}
