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
        None => Case::unplayed(plan, CheckStatus::HarnessError, "it was not played"),
    }
}

/// Plays one plan against the built-in client in memory, on a clock that stands still while anybody can act.
#[must_use]
pub fn play_in_memory(plan: &Arc<Plan>, client: &Client) -> Case {
    memory::play(0, plan, client, 1.0).case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::reference::{Bug, Reference};
    use fake_server::script::parse;

    fn played(faults: &str, reference: Reference) -> Case {
        let text = format!(
            "title = \"t\"\nrequirements = [\"cleanup/confirmed\"]\n[process]\noutput = []\n{faults}"
        );
        let read =
            parse("t.toml", "t", &text, None).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        play_in_memory(&Arc::new(read.plan(0, 1)), &Client::Reference(reference))
    }

    /// Found by shrinking a generated case: the delete met the closed port and was missed on the wire.
    #[test]
    fn a_port_that_is_closed_to_every_connect_is_closed_to_the_delete() {
        const CLOSED: &str = "[[fault]]\non = \"connect\"\nattempt = \"every\"\nrefuse = true\n";
        let case = played(CLOSED, Reference::conformant());
        assert_eq!(case.status(true), CheckStatus::Pass, "{:?}", case.verdict);
        let lies = played(CLOSED, Reference::wrong(Bug::CleanupHidesCause));
        assert_eq!(lies.status(true), CheckStatus::Fail, "{:?}", lies.verdict);
    }

    #[test]
    fn a_delete_that_could_be_sent_is_missed() {
        let gap = "[[fault]]\non = \"connect\"\nstream = [{ frame = { type = \"data\", seq = 2, stream = \"stdout\", data_base64 = \"\" } }, { end = \"chunk\" }]\n";
        let case = played(gap, Reference::wrong(Bug::NoCleanupAfterGap));
        assert_eq!(case.status(false), CheckStatus::Fail, "{:?}", case.verdict);
    }
}
