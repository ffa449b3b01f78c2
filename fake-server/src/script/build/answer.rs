//! What an answer says: its headers and its body.

use super::{Around, base64, fault::Facts, steps};
use crate::{
    script::{
        mistakes::Gather,
        model::{Attempts, Content, Step},
        node::Node,
        placeholders,
        raw::{RawBody, RawFault},
        read::{At, Free, Table as _},
        suggest::short,
    },
    wire::{Blob, Call, call::Capability},
};
use serde_json::{Map, Value};
use std::{collections::BTreeSet, ops::Range};

pub(super) fn headers(raw: &RawFault, gather: &mut Gather) -> Vec<(String, Vec<String>)> {
    let Some(headers) = &raw.headers else {
        return Vec::new();
    };
    let mut seen: Vec<(String, Range<usize>)> = Vec::new();
    for (name, values) in &headers.value.0 {
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let lower = name.to_ascii_lowercase();
        if name.is_empty() || !name.bytes().all(token) {
            gather
                .at(&values.key, "this is no name of a header")
                .help("letters, digits and hyphens, as in retry-after");
        } else if let Some((_, first)) = seen.iter().find(|(known, _)| *known == lower) {
            gather
                .at(&values.key, format!("`{lower}` is here twice"))
                .context(first, "first here")
                .help(format!("{lower} = [\"one\", \"two\"] sends it twice"));
        }
        match lower.as_str() {
            "content-length" if !values.value.is_empty() => {
                gather
                    .at(&values.key, "the body's length is not set by a header")
                    .help("content-length = \"+10\" in the fault announces ten bytes more than there are");
            }
            "transfer-encoding" if !values.value.is_empty() => {
                gather
                    .at(&values.key, "the transfer coding is not set by a header")
                    .help(
                        "transfer-encoding = \"also\" in the fault sends it beside Content-Length",
                    );
            }
            _ => {}
        }
        for value in &values.value {
            check_field_text(value, "the value of a header", gather);
        }
        seen.push((lower, values.key.clone()));
    }
    let plain = |values: &[At<String>]| values.iter().map(|value| value.value.clone()).collect();
    let headers = headers.value.0.iter();
    headers
        .map(|(name, values)| (name.clone(), plain(&values.value)))
        .collect()
}

/// Text that goes into a response's head.
pub(super) fn check_field_text(text: &At<String>, what: &str, gather: &mut Gather) {
    if text.value.contains(['\r', '\n', '\0']) {
        gather
            .at(&text.span, format!("{what} is one line"))
            .help("CR, LF and NUL would end the head early");
    }
    placeholders::check_at(text, gather);
}

pub(super) fn content(
    raw: &RawFault,
    on: Option<Call>,
    attempts: Attempts,
    facts: &Facts<'_>,
    needs: &mut BTreeSet<Capability>,
    around: &mut Around<'_>,
    gather: &mut Gather,
) -> Content {
    if let Some(stream) = &raw.stream {
        let steps: Vec<Step> = steps::build(stream, on, attempts, facts, needs, gather);
        return Content::Stream(steps);
    }
    if let Some(redirect) = &raw.redirect {
        return Content::Redirect(redirect.value.0);
    }
    if let Some(body) = &raw.body {
        return self::body(body, around, gather).unwrap_or_default();
    }
    if raw.data.is_some() || raw.without.is_some() {
        let with = raw
            .data
            .as_ref()
            .and_then(|data| object(&data.value, gather));
        let without = raw.without.iter().flat_map(|without| &without.value);
        for field in without.clone() {
            if let Some((_, set)) = raw
                .data
                .iter()
                .flat_map(|data| &data.value.0)
                .find(|(name, _)| *name == field.value)
            {
                gather
                    .at(
                        &field.span,
                        format!("`{}` is set and left out", short(&field.value)),
                    )
                    .context(&set.key, "set here")
                    .help("one of the two");
            }
        }
        return Content::Data {
            with: with.unwrap_or_default(),
            without: without.map(|field| field.value.clone()).collect(),
        };
    }
    Content::Faithful
}

/// Fields of the author's choice as JSON.
pub(super) fn object(fields: &Free<Node>, gather: &mut Gather) -> Option<Map<String, Value>> {
    let mut object = Map::new();
    let mut whole = true;
    for (name, field) in &fields.0 {
        match field.value.to_json(gather) {
            Some(value) => {
                placeholders::check_json(&value, &field.span, gather);
                object.insert(name.clone(), value);
            }
            None => whole = false,
        }
    }
    whole.then_some(object)
}

fn body(at: &At<RawBody>, around: &mut Around<'_>, gather: &mut Gather) -> Option<Content> {
    let raw = &at.value;
    match raw.present().as_slice() {
        [_] => {}
        // A body whose only key was wrong has been answered already.
        [] if !at.clean => return None,
        [] => {
            gather
                .at(&at.span, "what is the body?")
                .help("{ text = \"..\" }, { json = .. }, { base64 = \"..\" }, { file = \"..\" } or { endless = \"x\" }");
            return None;
        }
        [(first, first_place), (second, place), ..] => {
            gather
                .at(
                    place,
                    format!("`{first}` and `{second}`: an answer has one body"),
                )
                .context(first_place, "the first one")
                .help("one of them");
            return None;
        }
    }
    if let Some(text) = &raw.text {
        placeholders::check_at(text, gather);
        return Some(Content::Text(text.value.clone()));
    }
    if let Some(json) = &raw.json {
        let value = json.value.to_json(gather)?;
        placeholders::check_json(&value, &json.span, gather);
        return Some(Content::Json(value));
    }
    if let Some(text) = &raw.base64 {
        return base64(text, gather).map(|bytes| Content::Bytes(Blob(bytes)));
    }
    if let Some(path) = &raw.file {
        return match (around.files)(&path.value) {
            Ok(bytes) => Some(Content::Bytes(Blob(bytes))),
            Err(reason) => {
                gather
                    .at(&path.span, format!("this file cannot be read: {reason}"))
                    .help("a path from the folder of this file, as in \"bodies/page.html\"");
                None
            }
        };
    }
    raw.endless
        .as_ref()
        .map(|byte| Content::Endless(byte.value.0))
}
