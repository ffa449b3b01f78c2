//! From what the world says and what the scenario wants instead to an answer on the wire.

use super::{
    Act, Answer, Arrival, Headers, RawAnswer, RawBody,
    faults::is_mute,
    reply::{self, Reply},
};
use crate::{
    script::{
        expand::{expand, substitute},
        model::{Behaviour, Chunks, Content, Plan, Redirect, Segments},
    },
    wire::{Call, Problem, envelope},
    wirelog::Names,
};
use bytes::Bytes;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What an answer is made for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    pub(super) plan: &'a Plan,
    pub(super) names: &'a Names,
    pub(super) arrival: &'a Arrival,
    /// The request's cursor.
    pub(super) after: u64,
}

/// An answer before it is known who writes it.
#[derive(Clone, Debug)]
struct Draft {
    status: u16,
    headers: Headers,
    body: RawBody,
    heartbeat_ms: u64,
    follows: Option<super::Follow>,
}

impl Draft {
    const fn new(status: u16, body: RawBody) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body,
            heartbeat_ms: 0,
            follows: None,
        }
    }

    fn typed(status: u16, media_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self::new(status, RawBody::Bytes(body.into())).with("content-type", media_type)
    }

    fn json(status: u16, body: &Value) -> Self {
        Self::typed(status, "application/json", body.to_string())
    }

    fn with(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

/// What to do under a behaviour (the default one is faithful). `said` is what the world says, as far as
/// the behaviour needs it.
pub(super) fn act(
    context: Context<'_>,
    behaviour: &Behaviour,
    said: Option<Result<Reply, Problem>>,
) -> Act {
    if let Some(cut) = behaviour.cut {
        return Act::Cut(cut);
    }
    if let Some(ms) = behaviour.hold_ms.filter(|_| is_mute(behaviour)) {
        return Act::Hold { ms };
    }
    let names = context.names;
    let status = behaviour.status.unwrap_or(200);
    let streams = context.arrival.call == Some(Call::Connect) && (200..300).contains(&status);
    let mut draft = match &behaviour.content {
        Content::Faithful => match said {
            Some(said) if behaviour.status.is_none_or(|status| status / 100 == 2) => draft_of(said),
            // Below 200, and for redirects, there is no body to speak of.
            _ if status < 400 => Draft::new(status, RawBody::Bytes(Bytes::new())),
            _ => Draft::json(status, &envelope::of_status(status)),
        },
        Content::Data { with, without } => changed(said, with, without, names),
        Content::Text(text) => {
            let body = substitute(text.as_bytes(), names);
            Draft::typed(status, text_type(text, streams), body)
        }
        Content::Json(value) => {
            let body = substitute(value.to_string().as_bytes(), names);
            Draft::typed(status, "application/json", body)
        }
        Content::Bytes(bytes) => {
            let media_type = if streams {
                NDJSON
            } else {
                "application/octet-stream"
            };
            Draft::typed(status, media_type, bytes.to_vec())
        }
        Content::Endless(byte) => Draft::new(status, RawBody::Endless(*byte))
            .with("content-type", if streams { NDJSON } else { "text/plain" }),
        Content::Stream(steps) => {
            let pieces = expand(context.plan, steps, context.after);
            let media_type = if context.arrival.call == Some(Call::GetFile) {
                "application/octet-stream"
            } else {
                NDJSON
            };
            let mut draft =
                Draft::new(status, RawBody::Pieces(pieces)).with("content-type", media_type);
            draft.heartbeat_ms = context.plan.truth.heartbeat_ms;
            draft
        }
        Content::Redirect(to) => {
            Draft::new(302, RawBody::Bytes(Bytes::new())).with("location", location(*to, context))
        }
    };
    if let Some(status) = behaviour.status {
        draft.status = status;
        if matches!(behaviour.content, Content::Faithful) && matches!(status, 204 | 205 | 304) {
            draft.body = RawBody::Bytes(Bytes::new());
            draft.headers.retain(|(name, _)| name != "content-type");
        }
    }
    finish(context, behaviour, draft)
}

const NDJSON: &str = "application/x-ndjson";

fn text_type(text: &str, streams: bool) -> &'static str {
    if text.trim_start().starts_with('<') {
        "text/html; charset=utf-8"
    } else if streams {
        NDJSON
    } else {
        "text/plain; charset=utf-8"
    }
}

fn draft_of(said: Result<Reply, Problem>) -> Draft {
    match said {
        Ok(Reply::Data {
            status,
            data,
            headers,
        }) => headers.into_iter().fold(
            Draft::typed(status, "application/json", data.into_text()),
            |draft, (name, value)| draft.with(name, value),
        ),
        Ok(Reply::Bytes(body)) => Draft::typed(200, "application/octet-stream", body),
        Ok(Reply::Stream {
            body,
            heartbeat_ms,
            follows,
        }) => {
            let mut draft = Draft::new(200, body).with("content-type", NDJSON);
            draft.heartbeat_ms = heartbeat_ms;
            draft.follows = follows;
            draft
        }
        // The session keeps waits to itself until they are over.
        Ok(Reply::Wait { .. }) => Draft::json(500, &envelope::of_status(500)),
        Err(problem) => {
            let (status, body) = reply::refusal(&problem);
            let draft = Draft::json(status, &body);
            match problem {
                Problem::WrongMethod(allow) => draft.with("allow", allow),
                _ => draft,
            }
        }
    }
}

/// The faithful success envelope with its data changed; where the world says no, data of its own.
fn changed(
    said: Option<Result<Reply, Problem>>,
    with: &Map<String, Value>,
    without: &[String],
    names: &Names,
) -> Draft {
    // Data that is no object has no fields to change: it is replaced by one.
    let (status, mut fields) = match said {
        Some(Ok(Reply::Data { status, data, .. })) => (
            status,
            serde_json::from_str(data.data()).unwrap_or_default(),
        ),
        _ => (200, Map::new()),
    };
    for (key, value) in with {
        fields.insert(key.clone(), value.clone());
    }
    for key in without {
        fields.shift_remove(key);
    }
    let body = envelope::success(Value::Object(fields)).to_string();
    Draft::typed(
        status,
        "application/json",
        substitute(body.as_bytes(), names),
    )
}

fn location(to: Redirect, context: Context<'_>) -> String {
    let (names, target) = (context.names, context.arrival.meant.target.as_str());
    match to {
        // Without TLS there is no lower scheme to go to: the trap stands for it.
        Redirect::OtherOrigin | Redirect::Downgrade => format!("{}{target}", names.trap_url),
        // The same resource under another URL, so that a client that follows gets somewhere and is seen.
        Redirect::SameOrigin => {
            let mark = if target.contains('?') { '&' } else { '?' };
            format!("{}{target}{mark}redirected=1", names.base_url)
        }
        Redirect::Loop => format!("{}{target}", names.base_url),
    }
}

fn finish(context: Context<'_>, behaviour: &Behaviour, mut draft: Draft) -> Act {
    draft.headers.push((
        Cow::Borrowed("x-request-id"),
        request_id(context.arrival.index).into(),
    ));
    let set_by_hand = set_headers(&mut draft.headers, &behaviour.headers, context.names);
    let plain = behaviour.reason.is_none()
        && !set_by_hand
        && !behaviour.http10
        && behaviour.content_length.is_none()
        && !behaviour.transfer_encoding_also
        && behaviour.encoding.is_none()
        && behaviour.break_at.is_none()
        && behaviour.segments == Segments::default()
        && behaviour.chunks == Chunks::default()
        && (200..=599).contains(&draft.status);
    match draft.body {
        RawBody::Bytes(body) if plain && (body.is_empty() || !bodyless(draft.status)) => {
            Act::Answer(Answer {
                status: draft.status,
                reason: envelope::reason(draft.status),
                headers: draft.headers,
                body,
            })
        }
        body => Act::Raw(RawAnswer {
            http10: behaviour.http10,
            status: draft.status,
            reason: behaviour.reason.as_ref().map_or_else(
                || envelope::reason(draft.status).to_owned(),
                |reason| {
                    let reason = substitute(reason.as_bytes(), context.names);
                    String::from_utf8_lossy(&reason).into_owned()
                },
            ),
            headers: draft
                .headers
                .into_iter()
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect(),
            body,
            content_length: behaviour.content_length,
            transfer_encoding_also: behaviour.transfer_encoding_also,
            encoding: behaviour.encoding,
            segments: behaviour.segments.clone(),
            chunks: behaviour.chunks.clone(),
            break_at: behaviour.break_at,
            heartbeat_ms: draft.heartbeat_ms,
            follows: draft.follows,
        }),
    }
}

/// The id of the request with this index: 26 digits, as a ULID has.
fn request_id(index: usize) -> String {
    let mut text = *b"req_00000000000000000000000000";
    let (mut at, mut rest) = (text.len(), index + 1);
    while rest > 0 {
        at -= 1;
        // A digit fits in a byte.
        text[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    std::str::from_utf8(&text).unwrap_or_default().to_owned()
}

const fn bodyless(status: u16) -> bool {
    matches!(status, 204 | 205 | 304)
}

/// Puts the scenario's headers in the place of those of the same name (no value: none). Says whether
/// one of them needs a writer that lets anything pass.
fn set_headers(headers: &mut Headers, wanted: &[(String, Vec<String>)], names: &Names) -> bool {
    let mut by_hand = false;
    for (name, values) in wanted {
        let name = name.to_ascii_lowercase();
        headers.retain(|(other, _)| *other != name);
        by_hand |= matches!(
            name.as_str(),
            "content-length" | "transfer-encoding" | "connection" | "content-encoding" | "upgrade"
        ) || !name.bytes().all(is_token);
        for value in values {
            let value = substitute(value.as_bytes(), names);
            let value = String::from_utf8_lossy(&value).into_owned();
            by_hand |= !value
                .bytes()
                .all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
            headers.push((name.clone().into(), value.into()));
        }
    }
    by_hand
}

const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'!' | b'~' | b'+')
}
