//! The lines an adapter writes, decoded. Unknown fields and unknown types of message are ignored;
//! anything else that is wrong is a fault of the adapter, told in words for its author.

use super::lines::Line;
use crate::{
    client::manifest::{Abilities, ProfileKeys},
    observed::{ClientEvent, ERROR_KINDS, ErrorReport, JobResult, LiveOutput, OUTCOMES},
};
use fake_server::wire::Blob;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use std::{borrow::Cow, collections::BTreeMap};

/// The version of the adapter protocol that the harness speaks.
pub(super) const PROTOCOL: u64 = 1;

/// Kinds of an `event` message.
const EVENT_KINDS: &[&str] = &["data", "exit", "heartbeat", "error", "other"];

/// A message from an adapter.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// The first one.
    Hello(Box<Hello>),
    /// Output, handed over live.
    Output(String, LiveOutput),
    /// An event of a `connect` op.
    Event(String, Box<ClientEvent>),
    /// The end of a job.
    Result(String, Box<JobResult>),
    /// A type we do not know.
    Unknown(String),
}

/// A `hello` message.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Hello {
    /// The client's name.
    pub name: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// What it is written in.
    pub language: Option<String>,
    /// What it can do.
    pub abilities: Option<Abilities>,
    /// What it promises.
    pub profile: ProfileKeys,
    /// Capabilities we do not know.
    pub unknown: Vec<String>,
}

/// A line that breaks the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The job it names, as far as it names one.
    pub id: Option<String>,
    /// What is wrong, and the line's beginning.
    pub words: String,
    /// It says it is a hello.
    pub is_hello: bool,
}

/// Decodes a line.
pub(super) fn decode(line: &[u8]) -> Result<Message, Fault> {
    let text = std::str::from_utf8(line).map_err(|_| fault(line, "is not UTF-8"))?;
    let fields: Fields<'_> = serde_json::from_str(text).map_err(|error| {
        fault(
            line,
            &match error.classify() {
                serde_json::error::Category::Data => "is no JSON object".to_owned(),
                _ => format!("is no JSON ({error})"),
            },
        )
    })?;
    let fields = Object(fields);
    let id: Option<String> = fields.get("id").ok().flatten();
    fields.message(id.as_deref()).map_err(|words| Fault {
        words: format!("{words}: {}", excerpt(line)),
        is_hello: matches!(fields.get::<String>("type"), Ok(Some(kind)) if kind == "hello"),
        id,
    })
}

/// What the first lines of a program are: its hello, or something that does not belong there.
pub(super) fn greeting(line: &Line) -> Result<Box<Hello>, Fault> {
    let (bytes, what) = match line {
        Line::Whole(bytes) => match decode(bytes)? {
            Message::Hello(hello) => return Ok(hello),
            _ => (bytes, "stands before its hello"),
        },
        Line::TooLong(beginning) => (beginning, "is too long"),
    };
    Err(fault(bytes, what))
}

type Fields<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// A JSON object whose values are still text, so that numbers keep their digits.
struct Object<'a>(Fields<'a>);

impl Object<'_> {
    fn message(&self, id: Option<&str>) -> Result<Message, String> {
        let kind: String = self
            .get("type")?
            .ok_or_else(|| "a message without `type`".to_owned())?;
        let job = || {
            id.map(str::to_owned)
                .ok_or_else(|| format!("`{kind}` without the `id` of its job"))
        };
        Ok(match kind.as_str() {
            "hello" => Message::Hello(Box::new(self.hello()?)),
            "output" => Message::Output(
                job()?,
                LiveOutput {
                    stream: self.required(&kind, "stream")?,
                    data: self.required(&kind, "data_base64")?,
                    at_us: 0,
                },
            ),
            "event" => Message::Event(job()?, Box::new(self.event()?)),
            "result" => Message::Result(job()?, Box::new(self.result()?)),
            _ => Message::Unknown(kind),
        })
    }

    fn hello(&self) -> Result<Hello, String> {
        let protocol: u64 = self.required("hello", "protocol")?;
        if protocol != PROTOCOL {
            return Err(format!(
                "the adapter speaks protocol {protocol}, this harness speaks {PROTOCOL}"
            ));
        }
        #[derive(Default, Deserialize)]
        struct About {
            name: Option<String>,
            version: Option<String>,
            language: Option<String>,
        }
        let about: About = self.get("client")?.unwrap_or_default();
        let profile: ProfileKeys = self.get("profile")?.unwrap_or_default();
        if let Some(mistake) = profile.mistake() {
            return Err(format!("`hello` with a profile that can't be: {mistake}"));
        }
        let mut hello = Hello {
            name: about.name,
            version: about.version,
            language: about.language,
            profile,
            ..Hello::default()
        };
        if let Some(names) = self.get::<Vec<String>>("capabilities")? {
            let (abilities, unknown) = Abilities::of(names.iter().map(String::as_str));
            hello.abilities = Some(abilities);
            hello.unknown = unknown;
        }
        Ok(hello)
    }

    fn event(&self) -> Result<ClientEvent, String> {
        let kind: String = self.required("event", "kind")?;
        if !EVENT_KINDS.contains(&kind.as_str()) {
            return Err(one_of("event", "kind", &kind, EVENT_KINDS));
        }
        Ok(ClientEvent {
            kind,
            seq: self.raw("seq").filter(|text| text != "null"),
            stream: self.get("stream")?,
            data: self.get("data_base64")?,
            exit_code: self.value("exit_code")?,
            signal: self.value("signal")?,
            error: self.words("error")?,
            at_us: 0,
        })
    }

    fn result(&self) -> Result<JobResult, String> {
        let outcome: String = self.required("result", "outcome")?;
        if !OUTCOMES.contains(&outcome.as_str()) {
            return Err(one_of("result", "outcome", &outcome, OUTCOMES));
        }
        let error: Option<ErrorReport> = self.get("error")?;
        if outcome == "error" && error.is_none() {
            return Err("a result with outcome `error` but without `error`".to_owned());
        }
        let mut report = error.as_ref();
        while let Some(ErrorReport { kind, cause, .. }) = report {
            if !ERROR_KINDS.contains(&kind.as_str()) {
                return Err(one_of("result", "error.kind", kind, ERROR_KINDS));
            }
            report = cause.as_deref();
        }
        Ok(JobResult {
            outcome,
            exit_code: self.value("exit_code")?,
            signal: self.value("signal")?,
            stdout: self.get("stdout_base64")?,
            stderr: self.get("stderr_base64")?,
            pty: self.get("pty_base64")?,
            error,
            sandbox_id: self.get("sandbox_id")?,
            data: self.get("data_base64")?,
        })
    }

    /// A field's value; absent and null are the same.
    fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, String> {
        self.0.get(name).map_or(Ok(None), |raw| {
            serde_json::from_str(raw.get()).map_err(|error| format!("`{name}` is wrong ({error})"))
        })
    }

    fn required<T: DeserializeOwned>(&self, message: &str, name: &str) -> Result<T, String> {
        self.get(name)?
            .ok_or_else(|| format!("`{message}` without `{name}`"))
    }

    /// A field's value, null told from absent.
    fn value(&self, name: &str) -> Result<Option<Value>, String> {
        Ok(match self.get(name)? {
            Some(value) => Some(value),
            None => self.0.contains_key(name).then_some(Value::Null),
        })
    }

    /// A field's value as it was written.
    fn raw(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|raw| raw.get().to_owned())
    }

    /// A text; anything else but null as it was written.
    fn words(&self, name: &str) -> Result<Option<String>, String> {
        Ok(match self.get::<Value>(name)? {
            None => None,
            Some(Value::String(text)) => Some(text),
            Some(_) => self.raw(name),
        })
    }
}

fn one_of(message: &str, field: &str, said: &str, known: &[&str]) -> String {
    format!(
        "`{message}` with `{field}` \"{said}\"; it is one of {}",
        known.join(", ")
    )
}

/// A line that is no message at all. The jobs it may belong to are looked for by the caller.
fn fault(line: &[u8], what: &str) -> Fault {
    Fault {
        id: None,
        words: format!("a line that {what}: {}", excerpt(line)),
        is_hello: false,
    }
}

/// Characters of a line that are quoted.
const EXCERPT_CHARS: usize = 160;

/// The beginning of a line, printable.
pub(super) fn excerpt(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * EXCERPT_CHARS)]);
    let mut quoted: String = text
        .chars()
        .take(EXCERPT_CHARS)
        .flat_map(|char| {
            let escape = char.is_control().then(|| char.escape_default());
            let plain = escape.is_none().then_some(char);
            escape.into_iter().flatten().chain(plain)
        })
        .collect();
    if text.chars().nth(EXCERPT_CHARS).is_some() || line.len() > 4 * EXCERPT_CHARS {
        quoted.push('…');
    }
    quoted
}

/// An output's or event's bytes, to bound what a job may pour out.
pub(super) fn weight(data: Option<&Blob>) -> usize {
    /// What an entry costs beside its bytes.
    const ENTRY_BYTES: usize = 128;
    ENTRY_BYTES + data.map_or(0, |data| data.len())
}

#[cfg(test)]
mod tests;
