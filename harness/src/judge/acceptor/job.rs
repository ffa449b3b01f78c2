//! What the answers around the stream mean: creating a process, closing its stdin, deleting it, and
//! asking for its status.

use super::{Acceptor, Fail, Made, Phase, State, each_once};
use crate::{
    contract::line::{Exit, Signal},
    judge::answer::{Answer, Ending, body},
};
use fake_server::{wire::call::Capability, wirelog::Exchange};
use serde_json::{Map, Value};

/// Whether a delete proves that the tree is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// The client may have seen the proof or not.
    Maybe,
}

impl Acceptor<'_> {
    /// The states after the answer to a create.
    pub(crate) fn created(
        &mut self,
        exchange: &Exchange,
        answer: &Answer,
        states: &[State],
    ) -> Vec<State> {
        let mut after = Vec::new();
        let good = answer.ending == Ending::Clean && !answer.coded() && !answer.doubtful;
        let mut unknown = None;
        let mut refused = None;
        let mut again = false;
        let mut made = false;
        match answer.status {
            None => unknown = Some("create/once"),
            Some(status @ 200..=299) => match process_id(&body(exchange)) {
                Some(id) if is_identifier(&id) => {
                    made = true;
                    if !good || !matches!(status, 200 | 201) {
                        unknown = Some("create/once");
                    }
                }
                Some(_) => unknown = Some("create/identifier"),
                None => unknown = Some("create/once"),
            },
            Some(status @ 300..=399) => {
                refused = Some(status);
                unknown = Some("create/once");
            }
            Some(status @ 400..=499) => {
                refused = Some(status);
                again = status == 429 && self.promises.profile.retry_create_on.contains(&status);
                if !good {
                    unknown = Some("create/once");
                }
            }
            Some(status) => {
                unknown = Some("create/once");
                again = status == 503 && self.promises.profile.retry_create_on.contains(&status);
            }
        }
        for state in states {
            if state.made != Made::No || state.phase != Phase::Idle {
                after.push(*state);
                continue;
            }
            if made {
                after.push(State {
                    made: Made::Yes,
                    ..*state
                });
            }
            if again {
                after.push(*state);
            }
            if let Some(status) = refused {
                self.touch("create/refused");
                let fail = Fail::new(&["http-error"], "create/refused").with_status(status);
                let state = State {
                    made: Made::Refused,
                    ..*state
                };
                after.push(self.failed(state, fail));
            }
            if let Some(requirement) = unknown {
                self.touch(requirement);
                after.push(self.unconfirmed_creation(*state, requirement));
            }
        }
        each_once(after)
    }

    /// A state that does not know whether its process exists.
    pub(crate) fn unconfirmed_creation(
        &mut self,
        state: State,
        requirement: &'static str,
    ) -> State {
        let state = State {
            made: Made::Unknown,
            ..state
        };
        self.failed(state, Fail::new(&["creation-unconfirmed"], requirement))
    }

    /// The states after input was written; `None` where no answer came. The contract says nothing of a write that fails:
    /// a client may go on, for the process may be over and what it wrote be wanted, or give up and clean up.
    pub(crate) fn input(
        &mut self,
        exchange: Option<(&Exchange, &Answer)>,
        states: &[State],
    ) -> Vec<State> {
        let sound = exchange.is_some_and(|(exchange, answer)| is_sound(exchange, answer));
        let mut after = states.to_vec();
        for state in states {
            if !sound && state.phase == Phase::Idle && state.made == Made::Yes {
                let kinds = &["http-error", "transport", "invalid-response", "other"];
                let mut fail = Fail::new(kinds, "stdin/closed-already");
                fail.status = exchange.and_then(|(_, answer)| answer.status);
                after.push(self.failed(*state, fail));
            }
        }
        each_once(after)
    }

    /// The states after a try to close stdin; `None` where no answer came.
    pub(crate) fn stdin_closed(
        &mut self,
        exchange: Option<(&Exchange, &Answer)>,
        states: &[State],
    ) -> Vec<State> {
        self.touch("stdin/closed-already");
        let (goes_on, fails, status) = match exchange {
            None => (false, true, None),
            Some((exchange, answer)) => match answer.status {
                Some(409) => (true, answer.ending == Ending::Unclean, Some(409)),
                Some(status @ 200..=299) => (true, !is_sound(exchange, answer), Some(status)),
                status => (false, true, status),
            },
        };
        let mut after = Vec::new();
        for state in states {
            if goes_on || state.phase != Phase::Idle {
                after.push(*state);
            }
            if fails && !matches!(state.phase, Phase::Failed(_)) {
                let kinds = &["http-error", "transport", "invalid-response", "other"];
                let mut fail = Fail::new(kinds, "stdin/closed-already");
                fail.status = status;
                after.push(self.failed(*state, fail));
            }
        }
        each_once(after)
    }

    /// Adds the states of a client that recovers the exit status by asking `wait`.
    pub(crate) fn waited(&mut self, exchange: &Exchange, answer: &Answer, states: &mut Vec<State>) {
        if !self.promises.can(Capability::RecoverExit) || answer.status != Some(200) {
            return;
        }
        let Some(view) = success(&body(exchange)) else {
            return;
        };
        let newest = view
            .get("output")
            .and_then(|output| output.get("newest_seq"));
        let Some(newest) = newest.and_then(Value::as_u64) else {
            return;
        };
        let exited = view.get("leader_exited") == Some(&Value::Bool(true));
        let code = view
            .get("exit_code")
            .and_then(Value::as_i64)
            .map(|code| code.to_string());
        let signal = view.get("signal").and_then(Value::as_str);
        if !exited || (code.is_none() && signal.is_none()) {
            return;
        }
        self.touch("stream/recover-exit");
        let exit = self.arena.exit(Exit {
            code,
            signal: signal.map_or(Signal::Any, |name| Signal::Is(name.to_owned())),
        });
        let recovered: Vec<State> = states
            .iter()
            .filter(|state| state.phase == Phase::Idle && state.cursor == newest)
            .map(|state| State {
                phase: Phase::Ended(exit),
                ..*state
            })
            .collect();
        states.extend(recovered);
    }
}

/// Whether an answer is a whole success envelope.
pub(crate) fn is_sound(exchange: &Exchange, answer: &Answer) -> bool {
    answer
        .status
        .is_some_and(|status| (200..300).contains(&status))
        && answer.ending == Ending::Clean
        && !answer.coded()
        && success(&body(exchange)).is_some()
}

/// Whether a delete's answer proves that the process tree is gone.
pub(crate) fn proof(exchange: &Exchange, answer: &Answer) -> Proof {
    let whole = answer.ending == Ending::Clean && !answer.coded() && !answer.doubtful;
    let proven = match answer.status {
        Some(404) => true,
        Some(200..=299) => success(&body(exchange))
            .is_some_and(|view| view.get("tree_exited") == Some(&Value::Bool(true))),
        _ => false,
    };
    match (proven, whole) {
        (true, true) => Proof::Yes,
        (true, false) => Proof::Maybe,
        (false, _) => Proof::No,
    }
}

/// The data of a success envelope.
pub(crate) fn success(body: &[u8]) -> Option<Map<String, Value>> {
    let envelope: Map<String, Value> = serde_json::from_slice(body).ok()?;
    if envelope.get("status")?.as_str()? != "success" {
        return None;
    }
    match envelope.get("data")? {
        Value::Object(data) => Some(data.clone()),
        _ => None,
    }
}

/// The id in an answer to a create; an id that is no text is an empty one.
fn process_id(body: &[u8]) -> Option<String> {
    let data = success(body)?;
    let id = data.get("process_id")?;
    Some(id.as_str().unwrap_or_default().to_owned())
}

/// The id in a create's answer, if it gives one.
pub(crate) fn created_id(exchange: &Exchange) -> Option<String> {
    process_id(&body(exchange))
}

/// Whether an id may be put into a URL.
pub(crate) fn is_identifier(id: &str) -> bool {
    (1..=200).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
