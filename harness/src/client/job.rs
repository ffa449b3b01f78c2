//! A job as a client gets it, and what it hands over on the way (`adapter-protocol`).

use crate::observed::{ClientEvent, LiveOutput};
use fake_server::{script::model::Plan, wire::Op, wirelog::Names};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// One job. Serialised it is the `job` line of the adapter protocol.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobRequest {
    /// Unique in the run.
    pub id: String,
    /// What is asked.
    pub op: Op,
    /// `http://127.0.0.1:PORT`, no path.
    pub base_url: String,
    /// The key.
    pub api_key: String,
    /// The sandbox.
    pub sandbox_id: String,
    /// The op's own fields.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
    /// The client's own deadline for the whole op.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// What must not be printed while it runs. Not part of the line.
    #[serde(skip)]
    pub secrets: Vec<Secret>,
}

/// Text that a client must keep to itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// What it is, as it is shown in its place: `{api-key}`, `{canary}`, `{env NAME}`, `{stdin}`.
    pub name: String,
    /// The text itself.
    pub value: Vec<u8>,
}

/// Bytes from which on a value of the job's environment or its stdin counts as a secret: shorter
/// ones (`1`, `true`, `C.UTF-8`) also stand in innocent texts.
const SECRET_BYTES: usize = 8;

impl JobRequest {
    /// The job that a plan asks for, under a trial's names.
    #[must_use]
    pub fn new(id: String, plan: &Plan, names: &Names) -> Self {
        let job = &plan.job;
        let mut fields = job.extra.clone();
        match plan.op {
            Op::Execute | Op::Exec | Op::ExecStream | Op::Terminal => {
                if !(job.command.is_empty() && plan.op == Op::Terminal) {
                    fields.insert("command".to_owned(), json!(job.command));
                }
                if let Some(cwd) = &job.cwd {
                    fields.insert("cwd".to_owned(), json!(cwd));
                }
                if !job.env.is_empty() {
                    let env: Map<String, Value> = job
                        .env
                        .iter()
                        .map(|(key, value)| (key.clone(), json!(value)))
                        .collect();
                    fields.insert("env".to_owned(), Value::Object(env));
                }
                if let Some(stdin) = &job.stdin {
                    fields.insert("stdin_base64".to_owned(), json!(stdin.to_base64()));
                }
            }
            Op::Follow | Op::Connect => {
                fields.insert("process_id".to_owned(), json!(names.process_id));
                fields.insert("after".to_owned(), json!(job.after));
            }
            _ => {}
        }
        let mut secrets = vec![
            Secret::new("{api-key}", names.api_key.as_bytes()),
            Secret::new("{canary}", names.canary.as_bytes()),
        ];
        secrets.extend(
            job.env
                .iter()
                .map(|(key, value)| Secret::new(&format!("{{env {key}}}"), value.as_bytes())),
        );
        secrets.extend(
            job.stdin
                .iter()
                .map(|stdin| Secret::new("{stdin}", stdin.trim_ascii())),
        );
        secrets.retain(|secret| secret.value.len() >= SECRET_BYTES);
        Self {
            id,
            op: plan.op,
            base_url: names.base_url.clone(),
            api_key: names.api_key.clone(),
            sandbox_id: names.sandbox_id.clone(),
            fields,
            timeout_ms: job.timeout_ms,
            secrets,
        }
    }
}

impl Secret {
    fn new(name: &str, value: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            value: value.to_vec(),
        }
    }
}

/// Something handed over while the job runs.
#[expect(
    clippy::large_enum_variant,
    reason = "a client hands over one kind or the other, so the larger one wastes nothing"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum Live {
    /// An `output` message.
    Output(LiveOutput),
    /// An `event` message.
    Event(ClientEvent),
}
