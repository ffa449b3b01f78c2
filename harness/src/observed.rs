//! What a client said: its result, what it handed over on the way, how it ended.

pub use fake_server::script::{ERROR_KINDS, OUTCOMES};

use fake_server::{wire::Blob, wirelog::Micros};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Everything one job brought from the client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// How the job ended.
    pub reply: Reply,
    /// Output handed over as it arrived (`live-output`), in order.
    pub outputs: Vec<LiveOutput>,
    /// Events of a `connect` op, in order.
    pub events: Vec<ClientEvent>,
    /// When the reply was there (or when we stopped waiting).
    pub ended_us: Micros,
    /// When a `cancel` was sent, if one was.
    pub cancelled_us: Option<Micros>,
    /// How late timers of the harness came at worst from that cancel on: so busy was the machine.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub late_us: Micros,
    /// The last words on stderr, when something went wrong. Secrets are redacted.
    pub stderr: String,
    /// Where stderr or stdout held the API key or another secret (which one), before redaction.
    pub leaks: Vec<String>,
    /// Why the harness stopped listening before the deadline, if it did: the client was out of hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(us: &Micros) -> bool {
    *us == 0
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::large_enum_variant,
    reason = "one a job, and a result is the ordinary case"
)]
pub enum Reply {
    /// The client answered.
    Result(JobResult),
    /// It had not answered by the scenario's deadline.
    Silent,
    /// The adapter broke its protocol on this job (a line that is no JSON object, a result without an
    /// outcome, a second result ...); what and the line's beginning.
    AdapterFault(String),
    /// The adapter's program ended before it answered; its exit status in words.
    AdapterDied(String),
    /// The harness itself failed.
    HarnessError(String),
}

/// A `result` message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobResult {
    /// `exited`, `ok`, `ended`, `error`, `timed-out`, `cancelled`, or what else the client said.
    pub outcome: String,
    /// As the client wrote it, so that 7.0 stays 7.0; absent and null differ.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub exit_code: Option<Value>,
    /// Signal name or null.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub signal: Option<Value>,
    /// Bytes of standard output.
    #[serde(
        default,
        rename = "stdout_base64",
        skip_serializing_if = "Option::is_none"
    )]
    pub stdout: Option<Blob>,
    /// Bytes of standard error.
    #[serde(
        default,
        rename = "stderr_base64",
        skip_serializing_if = "Option::is_none"
    )]
    pub stderr: Option<Blob>,
    /// Bytes of the terminal.
    #[serde(
        default,
        rename = "pty_base64",
        skip_serializing_if = "Option::is_none"
    )]
    pub pty: Option<Blob>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorReport>,
    /// A sandbox that may be left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_id: Option<String>,
    /// Downloaded bytes.
    #[serde(
        default,
        rename = "data_base64",
        skip_serializing_if = "Option::is_none"
    )]
    pub data: Option<Blob>,
}

/// An error as the client's caller sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorReport {
    /// One of [`ERROR_KINDS`].
    pub kind: String,
    /// The text a user sees, verbatim.
    #[serde(default)]
    pub message: String,
    /// Status it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// errno it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<String>,
    /// Whether it says that trying again may help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transient: Option<bool>,
    /// The first cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Box<Self>>,
}

/// An `output` message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveOutput {
    /// Stream name as said.
    pub stream: String,
    /// Bytes.
    #[serde(rename = "data_base64")]
    pub data: Blob,
    /// When it arrived.
    #[serde(default)]
    pub at_us: Micros,
}

/// An `event` message of a `connect` op. Absent fields are absent; values are kept as they were written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientEvent {
    /// `data`, `exit`, `heartbeat`, `error`, `other`.
    pub kind: String,
    /// As the client wrote it, digits exact (raw text of the number), or absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<String>,
    /// Stream name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// Bytes.
    #[serde(
        default,
        rename = "data_base64",
        skip_serializing_if = "Option::is_none"
    )]
    pub data: Option<Blob>,
    /// Exit code; `Some(Null)` where the client said null.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub exit_code: Option<Value>,
    /// Signal; `Some(Null)` where the client said null.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub signal: Option<Value>,
    /// Error code or text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it arrived.
    #[serde(default)]
    pub at_us: Micros,
}

/// Keeps an explicit null apart from an absent field: the one is `Some(Null)`, the other `None`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
