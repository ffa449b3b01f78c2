//! Whether a client can be asked at all: a trivial job of each op it claims, on a healthy server, and one of an
//! op that does not exist. Messages are all that counts here: an answer that is well-formed but wrong is for the
//! scenarios to judge.

use super::{Answer, Client, job::JobRequest};
use crate::observed::Reply;
use fake_server::{
    net::{Options, Server},
    script::model::{Expect, Job, Plan, SandboxTruth, Truth, TruthExit, TruthFile, TruthFrame},
    wire::{Op, ProcessKind, StreamName, limits},
};
use serde_json::{Map, Value, json};
use std::{fmt, io, sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

/// How long one job of the probe may take.
pub const JOB_TIME: Duration = Duration::from_secs(10);

/// The op that no client has.
const NO_OP: &str = "no-such-op";

/// What the probe found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smoke {
    /// One for each thing that was tried, in order.
    pub findings: Vec<Finding>,
}

/// One thing that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub tried: String,
    /// What was wrong, if anything.
    pub wrong: Option<String>,
    /// What the program printed on stderr meanwhile.
    pub stderr: String,
}

impl Smoke {
    /// Whether anything can be judged.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.findings.iter().all(|finding| finding.wrong.is_none())
    }
}

impl fmt::Display for Smoke {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            match &finding.wrong {
                None => writeln!(f, "ok    {}", finding.tried)?,
                Some(wrong) => writeln!(f, "FAIL  {}: {wrong}", finding.tried)?,
            }
            if finding.wrong.is_some() {
                for line in finding.stderr.lines() {
                    writeln!(f, "      stderr: {line}")?;
                }
            }
        }
        Ok(())
    }
}

/// Tries a client. Each job may take `limit`.
///
/// # Errors
/// When a server can't be started.
pub async fn smoke(client: &Client, limit: Duration) -> io::Result<Smoke> {
    let mut findings = Vec::new();
    let ops = &client.promises().ops;
    if ops.is_empty() {
        findings.push(Finding {
            tried: "claims".to_owned(),
            wrong: Some("it claims no op, so there is nothing to ask it".to_owned()),
            stderr: String::new(),
        });
    }
    for (number, op) in (0..).zip(ops) {
        findings.push(try_op(client, *op, number, limit).await?);
    }
    if let Client::Adapter(started) = client {
        let (server, job) = server(Op::Execute, u64::MAX)?;
        let deadline = Instant::now() + limit;
        let answer = started.client.probe(&job, NO_OP, deadline).await;
        server.stop().await;
        findings.push(Finding {
            tried: "an op that does not exist".to_owned(),
            wrong: not_unsupported(&answer),
            stderr: answer.stderr,
        });
    }
    let secrets = client.secrets();
    for Finding { wrong, stderr, .. } in &mut findings {
        for said in wrong.iter_mut().chain([stderr]) {
            *said = secrets.hide(said).into_owned();
        }
    }
    Ok(Smoke { findings })
}

async fn try_op(client: &Client, op: Op, trial: u64, limit: Duration) -> io::Result<Finding> {
    let (server, job) = server(op, trial)?;
    let key = job.api_key.clone();
    let (live, _) = mpsc::unbounded_channel();
    let (_keep, cancel) = watch::channel(false);
    let deadline = Instant::now() + limit;
    let answer = client
        .run(job, &server.connector(), live, cancel, deadline)
        .await;
    let log = server.stop().await;
    let mut keys = log
        .exchanges
        .iter()
        .flat_map(|exchange| exchange.request.header_values("x-api-key"));
    let wrong = no_result(&answer, limit).or_else(|| {
        (!keys.any(|sent| sent == key))
            .then(|| "no request with the API key reached the server".to_owned())
    });
    Ok(Finding {
        tried: format!("op `{op}`"),
        wrong,
        stderr: answer.stderr,
    })
}

/// Why an answer is no answer to an op that the client claims.
fn no_result(answer: &Answer, limit: Duration) -> Option<String> {
    match &answer.reply {
        Reply::Result(result) => {
            let kind = result.error.as_ref().map(|error| error.kind.as_str());
            (kind == Some("unsupported"))
                .then(|| "it claims this op, and calls it unsupported".to_owned())
        }
        Reply::Silent => Some(format!("no result within {limit:?}")),
        Reply::AdapterFault(words) => Some(format!("it broke the protocol: {words}")),
        Reply::AdapterDied(words) => Some(format!("it died: {words}")),
        Reply::HarnessError(words) => Some(format!("the harness failed: {words}")),
    }
}

/// Why an answer to an op that does not exist is not the right one.
fn not_unsupported(answer: &Answer) -> Option<String> {
    let Reply::Result(result) = &answer.reply else {
        return no_result(answer, JOB_TIME);
    };
    let kind = result.error.as_ref().map(|error| error.kind.as_str());
    match (result.outcome.as_str(), kind) {
        ("error", Some("unsupported")) => None,
        ("error", kind) => Some(format!(
            "its error is `{}`, not `unsupported`",
            kind.unwrap_or_default()
        )),
        (outcome, _) => Some(format!(
            "its outcome is `{outcome}`, not an error `unsupported`"
        )),
    }
}

/// A healthy server with a small process, and the job that asks for it.
fn server(op: Op, trial: u64) -> io::Result<(Server, JobRequest)> {
    let plan = Arc::new(healthy(op));
    let options = Options {
        trial,
        ..Options::default()
    };
    let server = Server::start(Arc::clone(&plan), options)?;
    let job = JobRequest::new(plan.id.clone(), &plan, server.names());
    Ok((server, job))
}

fn healthy(op: Op) -> Plan {
    let (kind, stream) = if op == Op::Terminal {
        (ProcessKind::Pty, StreamName::Pty)
    } else {
        (ProcessKind::Pipe, StreamName::Stdout)
    };
    Plan {
        id: format!("smoke/{op}"),
        title: "A healthy server".to_owned(),
        requirements: Vec::new(),
        fault_kinds: Vec::new(),
        why: String::new(),
        op,
        needs: Vec::new(),
        deadline_ms: 10_000,
        job: Job {
            command: vec!["hello".to_owned()],
            extra: own_fields(op),
            ..Job::default()
        },
        sandbox: SandboxTruth {
            state: "running".to_owned(),
            lag: 0,
            files: vec![TruthFile {
                path: SMOKE_FILE.to_owned(),
                data: "hello\n".into(),
            }],
        },
        truth: Truth {
            kind,
            first_seq: 1,
            frames: vec![TruthFrame {
                seq: 1,
                stream,
                data: "hello\n".into(),
                pause_ms: 0,
            }],
            exit: TruthExit::Status {
                code: Some(0),
                signal: None,
                pause_ms: 0,
            },
            heartbeat_ms: limits::HEARTBEAT_MS,
            journal_bytes: limits::JOURNAL_BYTES,
            children: 0,
            live: false,
        },
        faults: Vec::new(),
        expect: Expect::default(),
        seed: 0,
    }
}

/// What is uploaded and downloaded.
const SMOKE_FILE: &str = "/tmp/smoke";

/// The fields of ops that a plan has no words of its own for.
fn own_fields(op: Op) -> Map<String, Value> {
    let fields = match op {
        Op::Acquire => {
            json!({"shape": "s-1vcpu-1gb", "rootfs": "devbox:1", "name_prefix": "smoke"})
        }
        Op::Upload => json!({"path": SMOKE_FILE, "data_base64": "aGVsbG8K"}),
        Op::Download => json!({"path": SMOKE_FILE}),
        Op::Terminal => json!({"cols": 80, "rows": 24, "input": []}),
        _ => json!({}),
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
