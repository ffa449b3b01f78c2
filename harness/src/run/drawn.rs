//! Plans that are made on the way, any number of them: generated schedules.
//!
//! They are played in rounds, as those of a [`super::run`] are: many at a time; then few at a time what was under way
//! when the client's program died; then alone what may have been the company's fault.

use super::{FEW, Message, Plans, Settings, Turn, Work, died, start};
use crate::{
    case::Case,
    client::Client,
    judge::CheckStatus,
    run::trial::{Kept, Ran},
};
use fake_server::script::model::Plan;
use std::{
    collections::VecDeque,
    future::Future,
    pin::pin,
    sync::{Arc, atomic::Ordering},
};
use tokio::task::JoinSet;

/// Makes the nth plan, from 0; `None` where there are no more.
pub type Draw = Arc<dyn Fn(usize) -> Option<Plan> + Send + Sync>;

/// Cases that are tried again alone at the most. More of them say something about the machine, not about each case.
const MOST_ALONE: usize = 64;

/// Plays every plan that is drawn, until there are no more or `stopped` resolves. Each case is told once, when nothing
/// more can come of it, in the order in which they end; the plan's number comes with it. Tells whether all were played.
pub async fn drawn(
    draw: Draw,
    client: &Arc<Client>,
    settings: &Settings,
    stopped: impl Future<Output = ()>,
    mut told: impl FnMut(usize, Case),
) -> bool {
    let mut stopped = pin!(stopped);
    let is_program = !matches!(**client, Client::Reference(_));
    let mut later: Vec<usize> = Vec::new();
    let mut alone: Vec<usize> = Vec::new();
    let mut kept: VecDeque<(usize, Case, Kept)> = VecDeque::new();
    for (round, jobs) in [settings.jobs.max(1), FEW.min(settings.jobs.max(1)), 1]
        .into_iter()
        .enumerate()
    {
        let plans = if round == 0 {
            let draw = Arc::clone(&draw);
            Plans::Drawn(Box::new(move |turn| match draw(turn) {
                None => Turn::Over,
                Some(plan) => Turn::Play(turn, Arc::new(plan)),
            }))
        } else {
            let mut due = std::mem::take(&mut later);
            if round == 2 {
                due.append(&mut alone);
            }
            due.sort_unstable();
            let draw = Arc::clone(&draw);
            Plans::Drawn(Box::new(move |turn| match due.get(turn) {
                None => Turn::Over,
                Some(&number) => {
                    draw(number).map_or(Turn::Skip, |plan| Turn::Play(number, Arc::new(plan)))
                }
            }))
        };
        let work = Work::new(plans);
        let mut workers = JoinSet::new();
        let mut messages = start(&mut workers, &work, client, settings, jobs);
        loop {
            let message = tokio::select! {
                biased;
                () = &mut stopped => {
                    work.stop.store(true, Ordering::Relaxed);
                    workers.abort_all();
                    settle(&mut kept, 0, client, &mut told).await;
                    return false;
                }
                message = messages.recv() => message,
            };
            match message {
                None => break,
                Some(Message::Started(_)) => {}
                Some(Message::Ended(number, ran)) => {
                    let Ran {
                        case, kept: server, ..
                    } = *ran;
                    if round < 2 && died(&case) {
                        later.push(number);
                        continue;
                    }
                    let unmet = case.status(false) == CheckStatus::NotExercised;
                    if round < 2 && is_program && unmet && alone.len() < MOST_ALONE {
                        alone.push(number);
                        continue;
                    }
                    match server {
                        None => told(number, case),
                        Some(server) => kept.push_back((number, case, server)),
                    }
                    settle(&mut kept, settings.keep, client, &mut told).await;
                }
            }
        }
    }
    settle(&mut kept, 0, client, &mut told).await;
    true
}

/// Ends the oldest servers until so many are left, and tells their cases.
async fn settle(
    kept: &mut VecDeque<(usize, Case, Kept)>,
    keep: usize,
    client: &Client,
    told: &mut impl FnMut(usize, Case),
) {
    while kept.len() > keep
        && let Some((number, case, server)) = kept.pop_front()
    {
        // Calls that came after its trial count.
        let revised = server.end(client).await;
        told(number, revised.unwrap_or(case));
    }
}
