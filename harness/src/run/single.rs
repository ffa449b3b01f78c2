//! One plan alone, for whoever decides case by case what comes next.

use super::{memory, trial};
use crate::{case::Case, client::Client, judge::CheckStatus};
use fake_server::{net::Transport, script::model::Plan};
use std::sync::Arc;
use tokio::task::JoinSet;

/// Plays one plan over sockets and judges it, what came late included. `number` tells it from other jobs that the
/// client has at the same time. Dropped, it stops.
pub async fn play(number: usize, plan: Arc<Plan>, client: &Arc<Client>, multiplier: f64) -> Case {
    let (its_plan, its_client) = (Arc::clone(&plan), Arc::clone(client));
    // A task of its own: a panic costs this case only, and cases side by side use every core.
    let mut task = JoinSet::new();
    task.spawn(async move {
        let mut ran = trial::trial(number, its_plan, &its_client, Transport::Tcp, multiplier).await;
        match ran.kept.take() {
            Some(kept) => kept.end(&its_client).await.unwrap_or(ran.case),
            None => ran.case,
        }
    });
    match task.join_next().await {
        Some(Ok(case)) => case,
        Some(Err(error)) => super::broken(plan, &error.to_string()).case,
        None => trial::unrun(plan, CheckStatus::HarnessError, "it was not played"),
    }
}

/// Plays one plan against the built-in client in memory, on a clock that stands still while anybody can act.
#[must_use]
pub fn play_in_memory(plan: &Arc<Plan>, client: &Client) -> Case {
    memory::play(0, plan, client, 1.0).case
}
