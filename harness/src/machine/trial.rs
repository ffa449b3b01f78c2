//! Secrets of the machine in a trial: whether there are any, which is asked of every one, and taking them out.

use super::MachineSecrets;
use crate::observed::{ClientEvent, ErrorReport, JobResult, LiveOutput, Observed, Reply};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use fake_server::{
    script::model::Plan,
    wire::Blob,
    wirelog::{Exchange, Names, Request, Sent, TrapRequest, WireLog},
};
use serde::Serialize;
use serde_json::Value;

impl MachineSecrets {
    /// Takes every secret out of what was seen and said, bodies and output included. What stands in the plan, or was made
    /// for the trial, is no secret of the machine, whatever a variable says.
    pub fn leave_out(&self, plan: &Plan, log: &mut WireLog, observed: &mut Observed) {
        let mut seek = |bytes: &mut Bytes<'_>| self.are_in(bytes.get());
        if self.0.is_empty() || !(in_log(log, &mut seek) || in_observed(observed, &mut seek)) {
            return;
        }
        let mut ours = texts_of(plan);
        ours.extend(texts_of(&log.names));
        let secrets = self.not_in(&ours);
        let mut take_out = |bytes: &mut Bytes<'_>| {
            if let Some(hidden) = secrets.hidden(bytes.get()) {
                bytes.set(hidden);
            }
            // There may be more.
            false
        };
        in_log(log, &mut take_out);
        in_observed(observed, &mut take_out);
    }
}

/// Every text in a value, and the bytes that it may stand for.
fn texts_of(value: &impl Serialize) -> Vec<Vec<u8>> {
    fn walk(value: &Value, texts: &mut Vec<Vec<u8>>) {
        match value {
            Value::String(text) => {
                texts.push(text.clone().into_bytes());
                texts.extend(STANDARD.decode(text).ok());
            }
            Value::Array(values) => values.iter().for_each(|value| walk(value, texts)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    texts.push(name.clone().into_bytes());
                    walk(value, texts);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut texts = Vec::new();
    // What has no JSON is never saved, nor played: there is none.
    walk(&serde_json::to_value(value).unwrap_or_default(), &mut texts);
    texts
}

/// A text or bytes of a trial.
enum Bytes<'a> {
    Text(&'a mut String),
    Blob(&'a mut Blob),
}

impl Bytes<'_> {
    fn get(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Blob(blob) => blob,
        }
    }

    fn set(&mut self, bytes: Vec<u8>) {
        match self {
            // Text in the place of text leaves text.
            Self::Text(text) => **text = String::from_utf8_lossy(&bytes).into_owned(),
            Self::Blob(blob) => **blob = Blob(bytes),
        }
    }
}

/// What is done with each; true ends the walk.
type Visit<'a> = dyn FnMut(&mut Bytes<'_>) -> bool + 'a;

fn text(text: &mut String, visit: &mut Visit<'_>) -> bool {
    visit(&mut Bytes::Text(text))
}

fn blob(blob: &mut Blob, visit: &mut Visit<'_>) -> bool {
    visit(&mut Bytes::Blob(blob))
}

fn pairs(pairs: &mut [(String, String)], visit: &mut Visit<'_>) -> bool {
    pairs
        .iter_mut()
        .any(|(name, value)| text(name, visit) || text(value, visit))
}

fn texts<'t>(texts: impl IntoIterator<Item = &'t mut String>, visit: &mut Visit<'_>) -> bool {
    texts.into_iter().any(|one| text(one, visit))
}

fn json(value: &mut Value, visit: &mut Visit<'_>) -> bool {
    match value {
        Value::String(said) => text(said, visit),
        Value::Array(values) => values.iter_mut().any(|value| json(value, visit)),
        Value::Object(fields) => fields.values_mut().any(|value| json(value, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

// All fields are named below, so that a new one is not forgotten.

fn in_log(log: &mut WireLog, visit: &mut Visit<'_>) -> bool {
    let WireLog {
        names: Names { .. },
        connections: _,
        exchanges,
        trap,
        refusals: _,
        ledger,
        dropped_bytes: _,
    } = log;
    exchanges.iter_mut().any(|one| in_exchange(one, visit))
        || trap
            .iter_mut()
            .any(|TrapRequest { request: asked, .. }| request(asked, visit))
        // Made of what a client asked for.
        || ledger.iter_mut().any(|entry| text(&mut entry.id, visit))
}

fn in_exchange(exchange: &mut Exchange, visit: &mut Visit<'_>) -> bool {
    request(&mut exchange.request, visit)
        // An answer may repeat what was asked.
        || exchange.answer.iter_mut().any(|sent| match sent {
            Sent::Head {
                http10: _,
                status: _,
                reason,
                headers,
            } => text(reason, visit) || pairs(headers, visit),
            Sent::Body { bytes, .. } => blob(bytes, visit),
            Sent::Frames { .. } | Sent::Waited(_) | Sent::End { .. } => false,
        })
}

fn request(request: &mut Request, visit: &mut Visit<'_>) -> bool {
    let Request {
        method,
        target,
        headers,
        body,
        body_complete: _,
        path,
        query,
    } = request;
    texts([method, target], visit)
        || pairs(headers, visit)
        || blob(body, visit)
        || texts(path, visit)
        || pairs(query, visit)
}

fn in_observed(observed: &mut Observed, visit: &mut Visit<'_>) -> bool {
    let Observed {
        reply,
        outputs,
        events,
        ended_us: _,
        cancelled_us: _,
        late_us: _,
        stderr,
        leaks,
        stopped,
    } = observed;
    (match reply {
        Reply::Result(said) => result(said, visit),
        Reply::Silent => false,
        Reply::AdapterFault(words) | Reply::AdapterDied(words) | Reply::HarnessError(words) => {
            text(words, visit)
        }
    }) || outputs.iter_mut().any(
        |LiveOutput {
             stream,
             data,
             at_us: _,
         }| text(stream, visit) || blob(data, visit),
    ) || events.iter_mut().any(|one| event(one, visit))
        || text(stderr, visit)
        || texts(leaks, visit)
        || texts(stopped, visit)
}

fn result(result: &mut JobResult, visit: &mut Visit<'_>) -> bool {
    let JobResult {
        outcome,
        exit_code,
        signal,
        stdout,
        stderr,
        pty,
        error: failure,
        sandbox_id,
        data,
    } = result;
    text(outcome, visit)
        || [exit_code, signal]
            .into_iter()
            .flatten()
            .any(|value| json(value, visit))
        || [stdout, stderr, pty, data]
            .into_iter()
            .flatten()
            .any(|bytes| blob(bytes, visit))
        || failure
            .as_mut()
            .is_some_and(|failure| error(failure, visit))
        || texts(sandbox_id, visit)
}

fn error(error: &mut ErrorReport, visit: &mut Visit<'_>) -> bool {
    let mut next = Some(error);
    while let Some(ErrorReport {
        kind,
        message,
        http_status: _,
        errno,
        transient: _,
        cause,
    }) = next
    {
        if texts([kind, message], visit) || texts(errno, visit) {
            return true;
        }
        next = cause.as_deref_mut();
    }
    false
}

fn event(event: &mut ClientEvent, visit: &mut Visit<'_>) -> bool {
    let ClientEvent {
        kind,
        seq,
        stream,
        data,
        exit_code,
        signal,
        error,
        at_us: _,
    } = event;
    text(kind, visit)
        || texts([seq, stream, error].into_iter().flatten(), visit)
        || data.as_mut().is_some_and(|data| blob(data, visit))
        || [exit_code, signal]
            .into_iter()
            .flatten()
            .any(|value| json(value, visit))
}
