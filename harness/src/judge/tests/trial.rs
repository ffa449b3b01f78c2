//! A trial played by hand.

use crate::{
    contract::{
        Level,
        oracle::{
            self, default_promises,
            simulate::{Came, Simulation},
        },
        registry,
    },
    judge::{CheckStatus, Verdict, judge},
    observed::{ClientEvent, ErrorReport, JobResult, LiveOutput, Observed, Reply},
    profile::Promises,
};
use fake_server::{
    script::{model::Plan, parse},
    wire::{Blob, Call},
    wirelog::{Connection, Exchange, Refusal, WireLog},
};
use serde_json::json;

/// A client that is played by hand, and what was seen of it.
pub(super) struct Trial {
    pub(super) plan: Plan,
    pub(super) promises: Promises,
    pub(super) log: WireLog,
    server: Simulation,
    outputs: Vec<LiveOutput>,
    events: Vec<ClientEvent>,
    cancelled_us: Option<u64>,
    late_us: u64,
    connects: u32,
}

impl Trial {
    /// A trial of a scenario file's text.
    pub(super) fn of(text: &str) -> Self {
        let ids: Vec<&str> = registry().iter().map(|known| known.id).collect();
        let scenario = match parse("t.toml", "t", &format!("{WORDS}{text}"), Some(&ids)) {
            Ok(scenario) => scenario,
            Err(mistakes) => panic!("{mistakes}"),
        };
        Self::of_plan(scenario.plan(0, 1))
    }

    pub(super) fn of_plan(plan: Plan) -> Self {
        let server = Simulation::new(&plan);
        Self {
            promises: default_promises(&plan),
            log: WireLog {
                names: server.names().clone(),
                ..WireLog::default()
            },
            server,
            plan,
            outputs: Vec::new(),
            events: Vec::new(),
            cancelled_us: None,
            late_us: 0,
            connects: 0,
        }
    }

    /// The scenario is about these requirements.
    pub(super) fn about(mut self, ids: &[&str]) -> Self {
        self.plan.requirements = ids.iter().map(|id| (*id).to_owned()).collect();
        self
    }

    /// The client promises something else.
    pub(super) fn promising(mut self, change: impl FnOnce(&mut Promises)) -> Self {
        change(&mut self.promises);
        self
    }

    /// Milliseconds go by.
    pub(super) fn wait(mut self, ms: u64) -> Self {
        self.server.now_ms += ms;
        self
    }

    /// A connect with this cursor; after the first one 250 ms later.
    pub(super) fn connect(self, after: u64) -> Self {
        let ms = if self.connects > 0 { 250 } else { 0 };
        self.wait(ms).connect_at_once(after)
    }

    pub(super) fn connect_at_once(mut self, after: u64) -> Self {
        self.connects += 1;
        self.call(Call::Connect, after, "")
    }

    pub(super) fn create(self) -> Self {
        let body = json!({ "cmd": self.plan.job.command.first() }).to_string();
        self.call(Call::CreateProcess, 0, &body)
    }

    pub(super) fn close_stdin(self) -> Self {
        self.call(Call::StdinClose, 0, "")
    }

    pub(super) fn delete(self) -> Self {
        self.call(Call::DeleteProcess, 0, "")
    }

    /// A create, its stdin closed.
    pub(super) fn started(self) -> Self {
        self.create().close_stdin()
    }

    /// An upload of these bytes.
    pub(super) fn put(self, bytes: impl AsRef<[u8]>) -> Self {
        self.call(Call::PutFile, 0, bytes)
    }

    /// A download.
    pub(super) fn get(self) -> Self {
        self.call(Call::GetFile, 0, "")
    }

    /// A one-shot command.
    pub(super) fn exec(self) -> Self {
        let body = crate::judge::single::command(&self.plan);
        self.call(Call::Exec, 0, body)
    }

    /// A create of a sandbox with this name.
    pub(super) fn create_sandbox(self, name: &str) -> Self {
        let body = json!({ "shape": "s-1vcpu-1gb", "name": name });
        self.call(Call::CreateSandbox, 0, body.to_string())
    }

    /// Another call about a sandbox.
    pub(super) fn sandbox(mut self, call: Call, id: &str) -> Self {
        self.server.turn_to(id);
        self.call(call, 0, "")
    }

    /// The sandbox that was made last.
    pub(super) fn made_sandbox(&self) -> String {
        let ledger = self.server.ledger();
        let mut made = ledger.iter().filter(|entry| entry.made_by.is_some());
        made.next_back().expect("a sandbox").id.clone()
    }

    /// The sandbox that was there from the beginning.
    pub(super) fn own_sandbox(&self) -> String {
        self.log.names.sandbox_id.clone()
    }

    pub(super) fn call(mut self, call: Call, after: u64, body: impl AsRef<[u8]>) -> Self {
        let from_us = self.server.now_ms * 1000;
        match self.server.call(call, after, body) {
            Came::Exchange(exchange) => {
                let mut exchange = *exchange;
                if exchange.open {
                    exchange.open = false;
                    exchange.client_closed_us = Some(self.server.look_us());
                    self.server.now_ms = self.server.look_us() / 1000;
                }
                exchange.connection = u32::try_from(self.log.connections.len() + 1).unwrap();
                self.log.connections.push(Connection {
                    number: exchange.connection,
                    accepted_us: from_us,
                    client_closed_us: Some(self.server.now_ms * 1000),
                    ..Connection::default()
                });
                self.log.exchanges.push(exchange);
            }
            Came::Unseen(fault) => self.log.refusals.push(Refusal {
                fault,
                from_us,
                until_us: Some(from_us),
                refused: 1,
                after_requests: self.log.exchanges.len(),
            }),
        }
        self
    }

    /// Something about the last exchange was otherwise.
    pub(super) fn but(mut self, change: impl FnOnce(&mut Exchange)) -> Self {
        change(self.log.exchanges.last_mut().expect("an exchange"));
        self
    }

    /// Output is handed over live.
    pub(super) fn live(mut self, stream: &str, text: &str) -> Self {
        self.outputs.push(LiveOutput {
            stream: stream.to_owned(),
            data: Blob::from(text),
            at_us: self.server.now_ms * 1000 + 1,
        });
        self
    }

    /// An event of a raw stream.
    pub(super) fn event(mut self, event: serde_json::Value) -> Self {
        self.events
            .push(serde_json::from_value(event).expect("an event"));
        self
    }

    /// The harness's timers came so many microseconds late from the cancel on.
    pub(super) fn late(mut self, us: u64) -> Self {
        self.late_us = us;
        self
    }

    /// The job is cancelled.
    pub(super) fn cancel(mut self) -> Self {
        self.cancelled_us = Some(self.server.now_ms * 1000);
        self
    }

    /// `exited` with this code and stdout.
    pub(super) fn exited(self, code: i64, stdout: &str) -> Verdict {
        self.answers(JobResult {
            outcome: "exited".to_owned(),
            exit_code: Some(json!(code)),
            signal: Some(json!(null)),
            stdout: Some(Blob::from(stdout)),
            stderr: Some(Blob::default()),
            ..JobResult::default()
        })
    }

    /// `ok`, with these bytes of a download.
    pub(super) fn ok(self, data: Option<&str>) -> Verdict {
        self.answers(JobResult {
            outcome: "ok".to_owned(),
            data: data.map(Blob::from),
            ..JobResult::default()
        })
    }

    /// `error` of this kind.
    pub(super) fn error(self, kind: &str) -> Verdict {
        self.fails(ErrorReport {
            kind: kind.to_owned(),
            message: "it failed".to_owned(),
            ..ErrorReport::default()
        })
    }

    pub(super) fn fails(self, error: ErrorReport) -> Verdict {
        self.answers(JobResult {
            outcome: "error".to_owned(),
            error: Some(error),
            ..JobResult::default()
        })
    }

    /// Another outcome, with this stdout.
    pub(super) fn outcome(self, outcome: &str, stdout: &str) -> Verdict {
        self.answers(JobResult {
            outcome: outcome.to_owned(),
            stdout: Some(Blob::from(stdout)),
            ..JobResult::default()
        })
    }

    pub(super) fn answers(self, result: JobResult) -> Verdict {
        self.replies(Reply::Result(result))
    }

    pub(super) fn replies(mut self, reply: Reply) -> Verdict {
        self.log.ledger.extend(self.server.ledger());
        let observed = Observed {
            reply,
            outputs: self.outputs,
            events: self.events,
            ended_us: self.server.now_ms * 1000 + 2,
            cancelled_us: self.cancelled_us,
            stderr: String::new(),
            leaks: Vec::new(),
            stopped: None,
            late_us: self.late_us,
        };
        let expected = oracle::expected(&self.plan, &self.promises);
        let verdict = judge(&self.plan, &self.promises, &expected, &self.log, &observed);
        let again = judge(&self.plan, &self.promises, &expected, &self.log, &observed);
        assert_eq!(verdict, again, "judging the same twice");
        verdict
    }
}

/// What every scenario file says, and no test wants to.
const WORDS: &str =
    "requirements = [\"stream/closed-after\"]\nfault-kinds = [\"CT05\"]\nwhy = \"t\"\n";

/// Requirements that a verdict found broken, each once.
pub(super) fn broken(verdict: &Verdict) -> Vec<&str> {
    let mut ids: Vec<&str> = Vec::new();
    for violation in &verdict.violations {
        if !ids.contains(&violation.requirement.as_str()) {
            ids.push(&violation.requirement);
        }
    }
    ids
}

/// The status of one check.
pub(super) fn status(verdict: &Verdict, id: &str) -> CheckStatus {
    verdict
        .checks
        .iter()
        .find(|check| check.requirement == id)
        .unwrap_or_else(|| panic!("no check of {id}"))
        .status
}

/// Claims that nothing was found, and every check passed.
#[track_caller]
pub(super) fn right(verdict: &Verdict) {
    assert_eq!(verdict.violations, [], "nothing is wrong");
    for check in &verdict.checks {
        assert_eq!(
            check.status,
            CheckStatus::Pass,
            "{}: {}",
            check.requirement,
            check.reason
        );
    }
}

/// Claims that exactly this was found broken.
#[track_caller]
pub(super) fn breaks(verdict: &Verdict, id: &str) {
    assert_eq!(broken(verdict), [id], "{:#?}", verdict.violations);
    assert_eq!(status(verdict, id), CheckStatus::Fail);
}

/// Claims that exactly this was found broken, at this level.
#[track_caller]
pub(super) fn breaks_at(verdict: &Verdict, id: &str, level: Level) {
    breaks(verdict, id);
    assert_eq!(verdict.violations[0].level, level);
}
