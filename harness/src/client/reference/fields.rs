//! A job's own fields, read once.

use super::{
    bug::{Bug, Quirk},
    failure::{Failure, Kind},
};
use crate::client::job::JobRequest;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use fake_server::wire::Op;
use serde_json::{Map, Value, json};

/// Whether a text may stand in a URL as an id.
pub(super) fn is_id(text: &str) -> bool {
    (1..=200).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// An existing process to read from.
#[derive(Debug)]
pub(super) struct Existing {
    /// `/v1/sandboxes/{id}/processes/{id}`
    pub(super) process: String,
    pub(super) after: u64,
}

/// A process to start.
#[derive(Debug)]
pub(super) struct Start {
    /// `/v1/sandboxes/{id}/processes`
    pub(super) processes: String,
    /// The create call's body.
    pub(super) body: String,
    /// What is sent once it runs, in order.
    pub(super) inputs: Vec<Input>,
    /// A terminal instead of pipes.
    pub(super) terminal: bool,
}

/// Something sent to a running process.
#[derive(Clone, Debug)]
pub(super) enum Input {
    Bytes(Vec<u8>),
    Size { rows: u64, cols: u64 },
}

/// Reads the fields of `follow` and `connect`.
///
/// # Errors
/// A field that is missing or of another type; nothing was asked then.
pub(super) fn existing(job: &JobRequest) -> Result<Existing, Failure> {
    let processes = processes(job)?;
    let id = job.fields.get("process_id").and_then(Value::as_str);
    let id = id
        .filter(|id| is_id(id))
        .ok_or_else(|| unusable("process_id"))?;
    let after = match job.fields.get("after") {
        None => 0,
        Some(after) => after.as_u64().ok_or_else(|| unusable("after"))?,
    };
    Ok(Existing {
        process: format!("{processes}/{id}"),
        after,
    })
}

/// Reads the fields of `execute` and `terminal`.
///
/// # Errors
/// As [`existing`].
pub(super) fn start(job: &JobRequest, quirk: Quirk) -> Result<Start, Failure> {
    let terminal = job.op == Op::Terminal;
    let mut body = Map::new();
    match job.fields.get("command") {
        None if terminal => {}
        command => {
            let words = command.and_then(Value::as_array).map(Vec::as_slice);
            let Some([program, arguments @ ..]) = words else {
                return Err(unusable("command"));
            };
            body.insert("cmd".to_owned(), program.clone());
            if !arguments.is_empty() {
                body.insert("args".to_owned(), json!(arguments));
            }
        }
    }
    for field in ["cwd", "env"] {
        if let Some(value) = job.fields.get(field) {
            body.insert(field.to_owned(), value.clone());
        }
    }
    let mut inputs = Vec::new();
    if terminal {
        let number = |field, default| {
            let value = job.fields.get(field);
            value
                .map_or(Some(default), Value::as_u64)
                .ok_or_else(|| unusable(field))
        };
        let (rows, cols) = match (number("rows", 24)?, number("cols", 80)?) {
            _ if quirk.is(Bug::SizeUsual) => (24, 80),
            (rows, cols) if quirk.is(Bug::SizeTransposed) => (cols, rows),
            asked => asked,
        };
        body.insert("pty".to_owned(), json!({ "rows": rows, "cols": cols }));
        if let Some(list) = job.fields.get("input") {
            for input in list.as_array().ok_or_else(|| unusable("input"))? {
                inputs.push(self::input(input).ok_or_else(|| unusable("input"))?);
            }
        }
    } else if let Some(stdin) = job.fields.get("stdin_base64") {
        let stdin = bytes(stdin).ok_or_else(|| unusable("stdin_base64"))?;
        inputs.push(Input::Bytes(stdin));
    }
    Ok(Start {
        processes: processes(job)?,
        body: Value::Object(body).to_string(),
        inputs,
        terminal,
    })
}

/// A command to run once.
#[derive(Debug)]
pub(super) struct Command {
    /// `/v1/sandboxes/{id}/exec`
    pub(super) exec: String,
    /// The call's body.
    pub(super) body: String,
    /// Frame by frame.
    pub(super) streamed: bool,
}

/// Reads the fields of `exec` and `exec-stream`.
///
/// # Errors
/// As [`existing`].
pub(super) fn command(job: &JobRequest) -> Result<Command, Failure> {
    if !is_id(&job.sandbox_id) {
        return Err(unusable("sandbox_id"));
    }
    let words = job.fields.get("command").and_then(Value::as_array);
    let Some([program, arguments @ ..]) = words.map(Vec::as_slice) else {
        return Err(unusable("command"));
    };
    let mut body = Map::new();
    body.insert("cmd".to_owned(), program.clone());
    if !arguments.is_empty() {
        body.insert("args".to_owned(), json!(arguments));
    }
    if let Some(stdin) = job.fields.get("stdin_base64") {
        // The call carries text; other bytes have no place in it.
        let stdin = bytes(stdin).and_then(|bytes| String::from_utf8(bytes).ok());
        let stdin = stdin.ok_or_else(|| unusable("stdin_base64"))?;
        body.insert("stdin".to_owned(), json!(stdin));
    }
    let streamed = job.op == Op::ExecStream;
    if streamed {
        body.insert("stream".to_owned(), json!(true));
    }
    Ok(Command {
        exec: format!("/v1/sandboxes/{}/exec", job.sandbox_id),
        body: Value::Object(body).to_string(),
        streamed,
    })
}

/// A sandbox to get.
#[derive(Debug)]
pub(super) struct Lease {
    /// What the create call says beside the name.
    wanted: Map<String, Value>,
    /// Beginning of every name.
    prefix: String,
    /// Makes the rest of the names this job's own.
    seed: u64,
    /// Acquisitions at the most.
    pub(super) attempts: u64,
    /// Milliseconds between two of them at least.
    pub(super) min_delay_ms: u64,
}

impl Lease {
    /// Characters of the prefix that fit into a name, which has 22 at the most.
    const PREFIX: usize = 12;

    /// The name of one acquisition: no two have the same.
    pub(super) fn name(&self, number: u64) -> String {
        let mixed = (self.seed ^ number).wrapping_mul(0x100_0000_01b3);
        format!(
            "{}-{:08x}",
            self.prefix,
            (mixed ^ (mixed >> 32)) & 0xffff_ffff
        )
    }

    /// The create call's body.
    pub(super) fn body(&self, name: &str) -> String {
        let mut body = self.wanted.clone();
        body.insert("name".to_owned(), json!(name));
        Value::Object(body).to_string()
    }
}

/// Reads the fields of `acquire`.
///
/// # Errors
/// As [`existing`].
pub(super) fn lease(job: &JobRequest) -> Result<Lease, Failure> {
    let mut wanted = Map::new();
    for field in ["shape", "rootfs"] {
        if let Some(value) = job.fields.get(field) {
            wanted.insert(field.to_owned(), value.clone());
        }
    }
    if !wanted.contains_key("shape") {
        return Err(unusable("shape"));
    }
    let prefix = match job.fields.get("name_prefix") {
        None => "lease",
        Some(prefix) => prefix.as_str().ok_or_else(|| unusable("name_prefix"))?,
    };
    let policy = |field, default| match job.fields.get("policy") {
        None => Ok(default),
        Some(policy) => match policy.get(field) {
            None => Ok(default),
            Some(value) => value.as_u64().ok_or_else(|| unusable("policy")),
        },
    };
    // FNV-1a. What follows `#` counts the jobs of a run; without it a case has the same names in every run.
    let case = job.id.split('#').next().unwrap_or_default();
    let seed = case.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    Ok(Lease {
        wanted,
        prefix: prefix.chars().take(Lease::PREFIX).collect(),
        seed,
        attempts: policy("attempts", 1)?,
        min_delay_ms: policy("min_delay_ms", 0)?,
    })
}

/// A change of a sandbox's state.
#[derive(Debug)]
pub(super) struct Change {
    /// The call's last word.
    pub(super) verb: &'static str,
    /// The state on the way.
    pub(super) via: &'static str,
    /// The state at its end.
    pub(super) wanted: &'static str,
}

impl Change {
    /// That of `pause`, else that of `resume`.
    pub(super) fn of(op: Op) -> Self {
        if op == Op::Pause {
            Self {
                verb: "pause",
                via: "pausing",
                wanted: "paused",
            }
        } else {
            Self {
                verb: "resume",
                via: "resuming",
                wanted: "running",
            }
        }
    }
}

/// The sandbox of `release`, `pause` and `resume`.
///
/// # Errors
/// As [`existing`].
pub(super) fn sandbox(job: &JobRequest) -> Result<&str, Failure> {
    let id = Some(job.sandbox_id.as_str()).filter(|id| is_id(id));
    id.ok_or_else(|| unusable("sandbox_id"))
}

/// A file to store or to fetch.
#[derive(Debug)]
pub(super) struct File {
    /// `/v1/sandboxes/{id}/files`
    pub(super) files: String,
    pub(super) path: String,
    /// What is stored.
    pub(super) data: Vec<u8>,
}

/// Reads the fields of `upload` and `download`.
///
/// # Errors
/// As [`existing`].
pub(super) fn file(job: &JobRequest) -> Result<File, Failure> {
    if !is_id(&job.sandbox_id) {
        return Err(unusable("sandbox_id"));
    }
    let path = job.fields.get("path").and_then(Value::as_str);
    let data = match job.fields.get("data_base64") {
        None if job.op == Op::Download => Some(Vec::new()),
        None => None,
        Some(data) => bytes(data),
    };
    Ok(File {
        files: format!("/v1/sandboxes/{}/files", job.sandbox_id),
        path: path.ok_or_else(|| unusable("path"))?.to_owned(),
        data: data.ok_or_else(|| unusable("data_base64"))?,
    })
}

fn processes(job: &JobRequest) -> Result<String, Failure> {
    if !is_id(&job.sandbox_id) {
        return Err(unusable("sandbox_id"));
    }
    Ok(format!("/v1/sandboxes/{}/processes", job.sandbox_id))
}

fn input(value: &Value) -> Option<Input> {
    if let Some(data) = value.get("data_base64") {
        return bytes(data).map(Input::Bytes);
    }
    Some(Input::Size {
        rows: value.get("rows")?.as_u64()?,
        cols: value.get("cols")?.as_u64()?,
    })
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    STANDARD.decode(value.as_str()?).ok()
}

fn unusable(field: &str) -> Failure {
    Failure::new(
        Kind::Other,
        format!("the job's field {field} is missing or unusable"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_of_the_safe_letters_only() {
        assert!(is_id("proc_test-1"));
        assert!(is_id(&"a".repeat(200)));
        for id in ["", "..", "a/b", "a?b", "a b", "a%2Fb", "é", "a\n"] {
            assert!(!is_id(id), "{id:?}");
        }
        assert!(!is_id(&"a".repeat(201)));
    }
}
