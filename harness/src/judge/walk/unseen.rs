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
            Some(Call::DeleteProcess) => self.unseen_delete = true,
            Some(Call::Connect) | None => {
                // The server cannot know what a connection was for: after a failure it was the cleanup's.
                self.unseen_delete |= self.states.iter().any(|state| {
                    state.made == Made::Yes
                        && !matches!(state.phase, Phase::Ended(_))
                        && !self.acceptor.may_connect(state)
                });
                self.unseen_connect(unseen.count);
            }
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
        for state in &self.states {
            if !self.acceptor.may_connect(state) {
                after.push(*state);
                continue;
            }
            let (least, most) = count.map_or((1, budget), |count| (count, count));
            for more in least..=most {
                let used = state.used.saturating_add(more);
                if used <= budget {
                    after.extend(
                        self.acceptor
                            .over(State { used, ..*state }, Failure::Connect),
                    );
                }
            }
        }
        self.states = each_once(after);
    }
}
