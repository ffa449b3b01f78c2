//! Secrets of the machine that a client may have come across: they are not kept.
//!
//! A client that reads its key from the environment, and not from the job, sends a real one to the fake server, and it
//! would stand in the wire log.

use super::Saved;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

/// Bytes from which on a value counts: shorter ones (`true`, `1`) stand in innocent texts as well.
const TELLING: usize = 8;
/// What the name of a variable with a secret holds.
const NAMES: [&str; 7] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASS",
    "CREDENTIAL",
    "AUTH",
    "COOKIE",
];

/// A variable of the environment whose value is not to be kept.
#[derive(Clone, PartialEq, Eq)]
pub struct MachineSecret {
    /// The variable.
    name: String,
    /// Its value.
    value: String,
}

impl std::fmt::Debug for MachineSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{{env {}}}", self.name)
    }
}

/// The variables that hold secrets, by their names (`.._KEY`, `.._TOKEN`, ..); longest values first, so that none hides a
/// part of another.
#[must_use]
pub fn machine_secrets(
    environment: impl IntoIterator<Item = (String, String)>,
) -> Vec<MachineSecret> {
    let mut secrets: Vec<MachineSecret> = environment
        .into_iter()
        .filter(|(name, value)| {
            let name = name.to_ascii_uppercase();
            value.len() >= TELLING && NAMES.iter().any(|part| name.contains(part))
        })
        .map(|(name, value)| MachineSecret { name, value })
        .collect();
    secrets.sort_by(|a, b| {
        let longest = b.value.len().cmp(&a.value.len());
        longest.then_with(|| a.name.cmp(&b.name))
    });
    secrets
}

/// Puts `{env NAME}` in the place of every secret in what was seen and said, bodies and output included.
pub(super) fn leave_out(
    saved: &mut Saved,
    secrets: &[MachineSecret],
) -> Result<(), serde_json::Error> {
    if secrets.is_empty() {
        return Ok(());
    }
    let Some(trial) = &saved.trial else {
        return Ok(());
    };
    // What stands in the plan, or was made for the trial, is no secret of the machine, whatever a variable says.
    let ours = serde_json::to_string(&saved.plan)? + &serde_json::to_string(&trial.log.names)?;
    let secrets: Vec<&MachineSecret> = secrets
        .iter()
        .filter(|secret| !ours.contains(&secret.value))
        .collect();
    let mut value = serde_json::to_value(trial)?;
    if walk(&mut value, &secrets) {
        saved.trial = Some(serde_json::from_value(value)?);
    }
    Ok(())
}

/// Whether anything was left out.
fn walk(value: &mut Value, secrets: &[&MachineSecret]) -> bool {
    let mut any = false;
    match value {
        Value::String(text) => any = hidden(text, secrets),
        Value::Array(values) => {
            for value in values {
                any |= walk(value, secrets);
            }
        }
        Value::Object(fields) => {
            for value in fields.values_mut() {
                any |= walk(value, secrets);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    any
}

/// Hides secrets in a text, or in the bytes that it stands for.
fn hidden(text: &mut String, secrets: &[&MachineSecret]) -> bool {
    let mut any = false;
    for secret in secrets {
        if text.contains(&secret.value) {
            *text = text.replace(&secret.value, &format!("{secret:?}"));
            any = true;
        }
    }
    if let Ok(mut bytes) = STANDARD.decode(text.as_bytes()) {
        let mut within = false;
        for secret in secrets {
            within |= replace(
                &mut bytes,
                secret.value.as_bytes(),
                format!("{secret:?}").as_bytes(),
            );
        }
        if within {
            *text = STANDARD.encode(bytes);
            any = true;
        }
    }
    any
}

/// Replaces every occurrence; whether there was one. `wanted` is never empty.
fn replace(bytes: &mut Vec<u8>, wanted: &[u8], by: &[u8]) -> bool {
    let mut out = Vec::new();
    let mut rest: &[u8] = bytes;
    let mut any = false;
    while let Some(at) = rest
        .windows(wanted.len())
        .position(|window| window == wanted)
    {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(by);
        rest = &rest[at + wanted.len()..];
        any = true;
    }
    if any {
        out.extend_from_slice(rest);
        *bytes = out;
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secrets() -> Vec<MachineSecret> {
        let variables = [
            ("CREATEOS_API_KEY", "sk-real-0123"),
            ("HOME", "/home/somebody"),
            ("CI_TOKEN", "short"),
            ("longer_secret", "sk-real-0123-and-more"),
        ];
        machine_secrets(variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        let names: Vec<String> = secrets()
            .iter()
            .map(|secret| format!("{secret:?}"))
            .collect();
        assert_eq!(names, ["{env longer_secret}", "{env CREATEOS_API_KEY}"]);
    }

    #[test]
    fn texts_and_bytes_lose_them() {
        let secrets = secrets();
        let secrets: Vec<&MachineSecret> = secrets.iter().collect();
        let body = STANDARD.encode("key=sk-real-0123&x=1 sk-real-0123-and-more");
        let mut value = json!({
            "headers": [["x-api-key", "sk-real-0123"]],
            "body": body,
            "home": "/home/somebody",
        });
        assert!(walk(&mut value, &secrets));
        let body = STANDARD.encode("key={env CREATEOS_API_KEY}&x=1 {env longer_secret}");
        assert_eq!(
            value,
            json!({
                "headers": [["x-api-key", "{env CREATEOS_API_KEY}"]],
                "body": body,
                "home": "/home/somebody",
            })
        );
        assert!(!walk(&mut value, &secrets));
    }
}
