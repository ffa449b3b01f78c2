//! A job as a command line, an environment variable and standard input.

use crate::client::job::JobRequest;
use fake_server::wire::Blob;
use serde_json::{Value, json};

/// The job as in adapter mode.
pub(super) fn job_value(job: &JobRequest) -> Result<Value, String> {
    let mut value = json!({"type": "job"});
    let fields =
        serde_json::to_value(job).map_err(|error| format!("a job can't be written: {error}"))?;
    if let (Value::Object(message), Value::Object(fields)) = (&mut value, fields) {
        message.extend(fields);
    }
    Ok(value)
}

/// The bytes of the job's `stdin_base64`.
pub(super) fn stdin(job: &Value) -> Option<Vec<u8>> {
    serde_json::from_value::<Blob>(job.get("stdin_base64")?.clone())
        .ok()
        .map(|blob| blob.0)
}

/// The command line of a job. Without a timeout, `{timeout_ms}` is 0: no limit, as most programs read it.
pub(super) fn expand(command: &[String], job: &JobRequest, value: &Value) -> Vec<String> {
    let timeout = job.timeout_ms.unwrap_or(0).to_string();
    let mut line = Vec::with_capacity(command.len());
    for argument in command {
        if argument == "{command...}" {
            let arguments = value.get("command").and_then(Value::as_array);
            line.extend(
                arguments
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .map(str::to_owned),
            );
        } else {
            line.push(fill(argument, |name| match name {
                "{sandbox_id}" => Some(&job.sandbox_id),
                "{base_url}" => Some(&job.base_url),
                "{api_key}" => Some(&job.api_key),
                "{timeout_ms}" => Some(&timeout),
                _ => None,
            }));
        }
    }
    line
}

/// Puts values in place of placeholders, in one pass: a value is never looked into again.
fn fill<'a>(text: &str, value: impl Fn(&str) -> Option<&'a String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        filled.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find('}').map_or(rest.len(), |end| end + 1);
        match value(&rest[..end]) {
            Some(value) => {
                filled.push_str(value);
                rest = &rest[end..];
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> JobRequest {
        JobRequest {
            id: "j1".to_owned(),
            op: fake_server::wire::Op::Execute,
            base_url: "http://127.0.0.1:1".to_owned(),
            api_key: "{sandbox_id}".to_owned(),
            sandbox_id: "sb-1".to_owned(),
            fields: [("command".to_owned(), json!(["sh", "-c", "{api_key}"]))]
                .into_iter()
                .collect(),
            timeout_ms: None,
            secrets: Vec::new(),
        }
    }

    fn expanded(command: &[&str]) -> Vec<String> {
        let job = job();
        let command: Vec<String> = command
            .iter()
            .map(|&argument| argument.to_owned())
            .collect();
        expand(&command, &job, &job_value(&job).unwrap())
    }

    #[test]
    fn placeholders_are_filled_in_once() {
        assert_eq!(
            expanded(&[
                "c",
                "--url={base_url}/{x}",
                "{api_key}",
                "{timeout_ms}",
                "--",
                "{command...}"
            ]),
            [
                "c",
                "--url=http://127.0.0.1:1/{x}",
                "{sandbox_id}",
                "0",
                "--",
                "sh",
                "-c",
                "{api_key}"
            ]
        );
        assert_eq!(expanded(&["{", "}{sandbox_id}{"]), ["{", "}sb-1{"]);
    }
}
