//! Every right client at once, against the simulated server. Leases have a file of their own (`leases`).

mod leases;

use super::{
    simulate::{Came, Simulation},
    ways::{Ways, either, end, met, seen},
};
use crate::{
    judge::{
        acceptor::{Acceptor, Failure, Made, Phase, Proof, State, proof},
        answer::{Answer, Ending},
        single::{Reading, Right, command, contents, may_repeat},
        typed::{pty, requests},
    },
    profile::Promises,
};
use fake_server::{
    script::model::{CancelPoint, Plan},
    wire::{Call, Op},
    wirelog::Exchange,
};
use std::collections::BTreeMap;

/// Whether the oracle knows what a right client does with this op.
pub(super) const fn can_follow(op: Op) -> bool {
    matches!(
        op,
        Op::Follow
            | Op::Execute
            | Op::Terminal
            | Op::Connect
            | Op::Upload
            | Op::Download
            | Op::Exec
            | Op::ExecStream
            | Op::Acquire
            | Op::Release
            | Op::Pause
            | Op::Resume
    )
}

/// Follows every right client.
pub(super) fn ways(plan: &Plan, promises: &Promises) -> Ways {
    if !can_follow(plan.op) {
        // Nothing is derived for the other ops yet; then every fault may be met.
        return Ways {
            ever: plan.faults.iter().map(|fault| (fault.number, 1)).collect(),
            ..Ways::default()
        };
    }
    let mut explorer = Explorer {
        plan,
        promises,
        acceptor: Acceptor::new(plan, promises),
        requests: requests(plan),
        known: BTreeMap::new(),
    };
    let start = explorer.acceptor.start();
    let server = Simulation::new(plan);
    match plan.op {
        Op::Execute | Op::Terminal => explorer.create(server, start),
        Op::Upload => explorer.single(server, Call::PutFile, 1),
        Op::Download => explorer.single(server, Call::GetFile, 1),
        Op::Exec | Op::ExecStream => explorer.single(server, Call::Exec, 1),
        Op::Acquire | Op::Release | Op::Pause | Op::Resume => explorer.lease(server),
        _ => explorer.connect(server, start, 1),
    }
}

struct Explorer<'a> {
    plan: &'a Plan,
    promises: &'a Promises,
    acceptor: Acceptor<'a>,
    /// What is written to the process once it runs.
    requests: Vec<(Call, String)>,
    known: BTreeMap<Key, Ways>,
}

/// The outcome of a way that is longer than the harness's deadline, or than what is followed.
pub(super) const LATE: &str = "late";

/// Connects that a way is followed for: each is a call deeper. A budget that progress renews could go on
/// for as long as there are frames and faults.
const MOST_CONNECTS: u32 = 110;

/// Calls of an op that is one call, after which none more is followed.
const MOST_SINGLES: u32 = 4;

/// What the rest of a way depends on.
type Key = (u32, u64, u32, Option<Failure>, Made, u64);

impl Explorer<'_> {
    fn create(&mut self, mut server: Simulation, state: State) -> Ways {
        let body = create_body(self.plan);
        let came = server.call(Call::CreateProcess, 0, &body);
        let Came::Exchange(exchange) = came else {
            return met(came_fault(&came), 1, Call::CreateProcess)
                .then(end("error:creation-unconfirmed"));
        };
        let answer = self.answer(&exchange, &server);
        let step = seen(&exchange, &answer, 0, 0);
        let states = self.acceptor.created(&exchange, &answer, &[state]);
        let cancelled = self.is_cancelled(&exchange, &server);
        let ways = states.into_iter().map(|state| {
            if cancelled && state.made == Made::Yes {
                return self.fail(server.clone(), state, "cancelled");
            }
            match state.phase {
                Phase::Failed(at) => {
                    let kinds = self.acceptor.arena.fail_at(at).kinds.clone();
                    end(&format!("error:{}", kinds.first().unwrap_or(&"other")))
                }
                _ if state.made == Made::No => self.create(server.clone(), state),
                _ => self.input(server.clone(), state, 0),
            }
        });
        step.then(either(ways.collect()))
    }

    /// Sends what is to be written or resized, from the nth request on.
    fn input(&mut self, mut server: Simulation, state: State, nth: usize) -> Ways {
        let Some((call, body)) = self.requests.get(nth).cloned() else {
            return self.after_input(server, state);
        };
        let came = server.call(call, 0, body);
        let (step, states) = match &came {
            Came::Unseen(fault) => (
                met(Some(*fault), 1, call),
                self.acceptor.input(None, &[state]),
            ),
            Came::Exchange(exchange) => {
                let answer = self.answer(exchange, &server);
                let states = self.acceptor.input(Some((exchange, &answer)), &[state]);
                (seen(exchange, &answer, 0, 0), states)
            }
        };
        let ways = states.into_iter().map(|state| match state.phase {
            Phase::Failed(_) => self.fail(server.clone(), state, "error:http-error"),
            _ => self.input(server.clone(), state, nth + 1),
        });
        step.then(either(ways.collect()))
    }

    fn after_input(&mut self, server: Simulation, state: State) -> Ways {
        if self.plan.op == Op::Execute {
            self.stdin_close(server, state)
        } else {
            self.connect(server, state, 1)
        }
    }

    fn stdin_close(&mut self, mut server: Simulation, state: State) -> Ways {
        let came = server.call(Call::StdinClose, 0, "");
        let (step, states) = match &came {
            Came::Unseen(fault) => (
                met(Some(*fault), 1, Call::StdinClose),
                self.acceptor.stdin_closed(None, &[state]),
            ),
            Came::Exchange(exchange) => {
                let answer = self.answer(exchange, &server);
                let states = self
                    .acceptor
                    .stdin_closed(Some((exchange, &answer)), &[state]);
                (seen(exchange, &answer, 0, 0), states)
            }
        };
        let ways = states.into_iter().map(|state| match state.phase {
            Phase::Failed(_) => self.fail(server.clone(), state, "error:http-error"),
            _ => self.connect(server.clone(), state, 1),
        });
        step.then(either(ways.collect()))
    }

    /// From here on every way connects, with what follows known once.
    fn connect(&mut self, server: Simulation, state: State, attempt: u32) -> Ways {
        // Whether such a client is right cannot be seen by the deadline. (Its own deadline may come first.)
        let in_time = attempt == 1 || self.is_in_time(server.now_ms) || self.is_late(&server);
        if attempt > MOST_CONNECTS || !in_time {
            return end(LATE);
        }
        let key = (
            attempt,
            state.cursor,
            state.used,
            state.failure,
            state.made,
            server.now_ms,
        );
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let ways = self.connect_once(server, state, attempt);
        self.known.insert(key, ways.clone());
        ways
    }

    fn connect_once(&mut self, mut server: Simulation, state: State, attempt: u32) -> Ways {
        if self.is_late(&server) {
            return self.fail(server, state, "timed-out");
        }
        let entering = Acceptor::connecting(state);
        let came = server.call(Call::Connect, state.cursor, "");
        let (step, states, ending, cancelled) = match &came {
            Came::Unseen(fault) => {
                let states = self.acceptor.no_stream(&[entering]);
                (
                    met(Some(*fault), attempt, Call::Connect),
                    states,
                    Ending::Unclean,
                    false,
                )
            }
            Came::Exchange(exchange) => {
                let answer = self.answer(exchange, &server);
                let states = self.acceptor.connected(&answer, &[entering]);
                let high = states.iter().map(|state| state.cursor).max();
                let step = seen(
                    exchange,
                    &answer,
                    state.cursor,
                    high.unwrap_or(state.cursor),
                );
                let cancelled = self.is_cancelled(exchange, &server);
                (step, states, answer.ending, cancelled)
            }
        };
        if self.plan.op == Op::Connect {
            return step.then(self.raw_end(server, &states, ending, cancelled, attempt));
        }
        let mut ways = Vec::new();
        for state in extremes(states) {
            let way = match state.phase {
                Phase::Ended(_) => end("exited"),
                Phase::Failed(at) => {
                    let kinds = self.acceptor.arena.fail_at(at).kinds.clone();
                    let kind = kinds.first().unwrap_or(&"other");
                    self.fail(server.clone(), state, &format!("error:{kind}"))
                }
                Phase::Idle if cancelled => self.fail(server.clone(), state, "cancelled"),
                Phase::Idle if ending == Ending::Open => self.stuck(server.clone(), state, attempt),
                Phase::Idle if self.acceptor.may_connect(&state) => {
                    let mut server = server.clone();
                    server.now_ms = server
                        .now_ms
                        .saturating_add(self.promises.profile.reconnect_delay_ms);
                    self.connect(server, state, attempt + 1)
                }
                Phase::Idle => {
                    let outcome = match state.failure {
                        Some(Failure::Connect) => "error:connection-failed",
                        _ => "error:stream-ended",
                    };
                    self.fail(server.clone(), state, outcome)
                }
            };
            ways.push(way);
        }
        step.then(either(ways))
    }

    /// Nothing more comes, and the socket stays open.
    fn stuck(&mut self, mut server: Simulation, state: State, attempt: u32) -> Ways {
        let limit = self.promises.profile.silence_limit_ms;
        let timeout = self.plan.job.timeout_ms;
        if let Some(limit) = limit
            && self.is_in_time(server.now_ms.saturating_add(limit))
            && timeout.is_none_or(|timeout| server.now_ms.saturating_add(limit) < timeout)
        {
            server.now_ms = server.now_ms.saturating_add(limit);
            let states = self.acceptor.over(state, Failure::Drop);
            let ways = states.into_iter().map(|state| {
                if self.acceptor.may_connect(&state) {
                    self.connect(server.clone(), state, attempt + 1)
                } else {
                    self.fail(server.clone(), state, "error:stream-ended")
                }
            });
            return either(ways.collect());
        }
        // A cancel whose moment had come was seen before; one whose moment never comes ends nothing.
        if timeout.is_some() {
            self.fail(server, state, "timed-out")
        } else {
            end("none")
        }
    }

    /// A failure, with the cleanup that it wants.
    fn fail(&self, mut server: Simulation, state: State, outcome: &str) -> Ways {
        if state.made != Made::Yes {
            return end(outcome);
        }
        let came = server.call(Call::DeleteProcess, 0, "");
        match &came {
            Came::Unseen(fault) => {
                met(Some(*fault), 1, Call::DeleteProcess).then(end("error:cleanup-unconfirmed"))
            }
            Came::Exchange(exchange) => {
                let answer = self.answer(exchange, &server);
                let ending = match proof(exchange, &answer) {
                    Proof::Yes => end(outcome),
                    Proof::Maybe => either(vec![end(outcome), end("error:cleanup-unconfirmed")]),
                    Proof::No => end("error:cleanup-unconfirmed"),
                };
                seen(exchange, &answer, 0, 0).then(ending)
            }
        }
    }

    /// The call that the op is, and what a right client makes of its answer.
    fn single(&self, mut server: Simulation, call: Call, attempt: u32) -> Ways {
        let sent = match call {
            Call::PutFile => contents(&self.plan.job),
            Call::Exec => command(self.plan).into_bytes(),
            _ => Vec::new(),
        };
        let came = server.call(call, 0, sent);
        let (step, reading) = match &came {
            Came::Unseen(fault) => (met(Some(*fault), attempt, call), Reading::unseen()),
            Came::Exchange(exchange) => {
                let answer = self.answer(exchange, &server);
                let mut reading = Reading::of(self.plan, exchange, &answer);
                if self.is_cancelled(exchange, &server) {
                    return seen(exchange, &answer, 0, 0).then(end("cancelled"));
                }
                if self.is_late(&server) {
                    reading.rights = vec![Right::Waits];
                }
                (seen(exchange, &answer, 0, 0), reading)
            }
        };
        let mut ways: Vec<Ways> = Vec::new();
        for right in &reading.rights {
            match right {
                Right::Stored | Right::File(_) => ways.push(end("ok")),
                Right::Ran(_) => ways.push(end("exited")),
                Right::Waits if self.has_timeout() => ways.push(end("timed-out")),
                Right::Waits => ways.push(end("none")),
                Right::Fails(fails) => {
                    ways.extend(fails.kinds.iter().map(|kind| end(&format!("error:{kind}"))));
                    // A file may be asked again, a command only where it has surely not run.
                    let again = call != Call::Exec || may_repeat(fails.status);
                    if again && attempt < MOST_SINGLES {
                        let mut later = server.clone();
                        let delay_ms = self.promises.profile.reconnect_delay_ms;
                        later.now_ms = later.now_ms.saturating_add(delay_ms);
                        ways.push(self.single(later, call, attempt + 1));
                    }
                }
            }
        }
        step.then(either(ways))
    }

    /// How a raw stream ends.
    fn raw_end(
        &mut self,
        server: Simulation,
        states: &[State],
        ending: Ending,
        cancelled: bool,
        attempt: u32,
    ) -> Ways {
        let retried = states
            .iter()
            .find(|state| {
                state.failure == Some(Failure::Connect) && self.acceptor.may_connect(state)
            })
            .copied();
        let ended = end(
            if ending == Ending::Open && !cancelled && !self.has_timeout() {
                "none"
            } else {
                "ended"
            },
        );
        match retried {
            Some(state) => either(vec![ended, self.connect(server, state, attempt + 1)]),
            None => ended,
        }
    }

    fn answer(&self, exchange: &Exchange, server: &Simulation) -> Answer {
        Answer::of(exchange, &self.plan.truth, server.look_us())
    }

    /// Whether what comes at this moment of an ideal client is surely seen by the harness's deadline. A real one
    /// is slower: a fifth of the deadline is its.
    fn is_in_time(&self, now_ms: u64) -> bool {
        let deadline_ms = super::deadline_ms(self.plan, self.promises);
        now_ms <= deadline_ms - deadline_ms / 5
    }

    /// Whether the deadline ends a call that stands still.
    const fn has_timeout(&self) -> bool {
        self.plan.job.timeout_ms.is_some()
    }

    fn is_late(&self, server: &Simulation) -> bool {
        self.plan
            .job
            .timeout_ms
            .is_some_and(|timeout| server.now_ms >= timeout)
    }

    /// Whether the cancel of the plan has come with this exchange.
    fn is_cancelled(&self, exchange: &Exchange, _server: &Simulation) -> bool {
        let Some(cancel) = &self.plan.job.cancel else {
            return false;
        };
        let frames = |count| matches!(cancel.at, CancelPoint::Frame(n) if n > count);
        let bodies = exchange
            .answer
            .iter()
            .filter(|sent| matches!(sent, fake_server::wirelog::Sent::Body { .. }))
            .count();
        exchange.call == Some(cancel.on)
            && exchange.attempt == cancel.attempt
            && !frames(bodies as u64)
    }
}

/// The body of a create.
pub(super) fn create_body(plan: &Plan) -> String {
    let argv = &plan.job.command;
    let mut body = serde_json::json!({
        "cmd": argv.first(),
        "args": argv.get(1..).unwrap_or_default(),
    });
    if plan.op == Op::Terminal {
        body["pty"] = pty(plan);
    }
    if argv.is_empty()
        && let Some(fields) = body.as_object_mut()
    {
        fields.remove("cmd");
        fields.remove("args");
    }
    body.to_string()
}

const fn came_fault(came: &Came) -> Option<usize> {
    match came {
        Came::Unseen(fault) => Some(*fault),
        Came::Exchange(_) => None,
    }
}

/// Of states that go on only those with the highest and the lowest cursor: what lies between meets
/// nothing else. The most usual first: who ended, then who read most, then who failed.
fn extremes(states: Vec<State>) -> Vec<State> {
    let (idle, mut rest): (Vec<State>, Vec<State>) = states
        .into_iter()
        .partition(|state| state.phase == Phase::Idle);
    let high = idle.iter().map(|state| state.cursor).max();
    let low = idle.iter().map(|state| state.cursor).min();
    rest.sort_by_key(|state| matches!(state.phase, Phase::Failed(_)));
    let mut ordered: Vec<State> = rest
        .iter()
        .filter(|state| matches!(state.phase, Phase::Ended(_)))
        .copied()
        .collect();
    ordered.extend(idle.iter().filter(|state| Some(state.cursor) == high));
    if low != high {
        ordered.extend(idle.iter().filter(|state| Some(state.cursor) == low));
    }
    ordered.extend(
        rest.iter()
            .filter(|state| matches!(state.phase, Phase::Failed(_))),
    );
    ordered
}
