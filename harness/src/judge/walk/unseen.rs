//! Connections that failed before their request was there.

use super::{Unseen, Walk};
use crate::judge::acceptor::{Fail, Failure, Made, Phase, State, each_once};
use fake_server::wire::Call;

impl Walk<'_> {
    /// A connection that failed before its request was there.
    pub(super) fn unseen(&mut self, unseen: Unseen) {
        match unseen.call {
            Some(Call::CreateProcess) => {
                let mut after = self.states.clone();
                for state in self.states.clone() {
                    if state.made == Made::No && state.phase == Phase::Idle {
                        let fail = Fail {
                            kinds: vec!["creation-unconfirmed", "transport"],
                            requirements: vec!["create/once"],
                            status: None,
                        };
                        let state = State {
                            made: Made::Unknown,
                            ..state
                        };
                        after.push(self.acceptor.failed(state, fail));
                    }
                }
                self.states = each_once(after);
            }
            Some(Call::StdinClose) => {
                let before = self.states.clone();
                self.states = self.acceptor.stdin_closed(None, &before);
                self.states.extend(before);
                self.states = each_once(std::mem::take(&mut self.states));
            }
            Some(Call::Input | Call::ResizeProcess) => {
                self.states = self.acceptor.input(None, &self.states);
            }
            Some(Call::DeleteProcess) => self.unseen_delete = true,
            Some(Call::Connect) | None => self.unseen_connect(unseen.count),
            Some(_) => {}
        }
    }

    /// Connects that met a closed port: so many as are known, else any number that the budget allows.
    fn unseen_connect(&mut self, count: Option<u32>) {
        self.acceptor.touch("stream/retry-transient");
        self.unseen_connects |= count != Some(0);
        if let Some(failure) = self.last_failure.take() {
            self.retried.insert(failure);
        }
        self.last_failure = Some("no connection".to_owned());
        let budget = self.acceptor.budget();
        let mut after = Vec::new();
        // The server cannot know what a connection was for: after a failure it was the cleanup's.
        let mut may_be_cleanup = false;
        // A deadline or a cancel may end the call at any time.
        let interruptible = self.plan.job.timeout_ms.is_some() || self.plan.job.cancel.is_some();
        for state in &self.states {
            let cleans_up = state.made == Made::Yes && !matches!(state.phase, Phase::Ended(_));
            may_be_cleanup |= cleans_up && interruptible;
            if !self.acceptor.may_connect(state) {
                may_be_cleanup |= cleans_up;
                after.push(*state);
                continue;
            }
            let left = budget - state.used;
            let (least, most) = match count {
                None => (1, left),
                Some(count) => (count.min(left), count.min(left)),
            };
            // More than it may make, or as many as it may make and nobody knows whether there were more.
            let all_used = most == left && cleans_up;
            may_be_cleanup |= all_used && count.is_none_or(|count| count > left);
            if count.is_some_and(|count| count > left) && !cleans_up {
                continue;
            }
            for more in least..=most {
                let used = state.used.saturating_add(more);
                after.extend(
                    self.acceptor
                        .over(State { used, ..*state }, Failure::Connect),
                );
            }
        }
        self.unseen_delete |= may_be_cleanup;
        self.states = each_once(after);
    }
}
