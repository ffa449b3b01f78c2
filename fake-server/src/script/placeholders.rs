//! Placeholders in texts that the server writes: known at serving time, checked here for slips.

use super::{mistakes::Gather, read::At, suggest::nearest};
use serde_json::Value;
use std::ops::Range;

/// Every placeholder, without its braces.
pub(super) const KNOWN: &[&str] = &[
    "api-key", "canary", "base-url", "trap-url", "n", "sandbox", "process",
];

/// Notes a placeholder that looks like a slip of a known one. Other braces are ordinary text.
pub(super) fn check(text: &str, span: &Range<usize>, gather: &mut Gather) {
    for (name, near) in slips(text) {
        gather
            .at(span, format!("there is no placeholder {{{name}}}"))
            .help(format!("did you mean {{{near}}}?"));
    }
}

/// Whether [`check`] would note anything.
pub(super) fn has_slip(text: &str) -> bool {
    slips(text).next().is_some()
}

/// Names that look like a slip of a known one, each with that one.
fn slips(text: &str) -> impl Iterator<Item = (&str, &'static str)> {
    names(text)
        .filter(|name| !KNOWN.contains(name))
        .filter_map(|name| {
            let near = nearest(name, KNOWN.iter().copied())?;
            // One letter more or less would make every `{m}` an `{n}`.
            (near.len() > 1).then_some((name, near))
        })
}

/// [`check`] of a value.
pub(super) fn check_at(at: &At<String>, gather: &mut Gather) {
    check(&at.value, &at.span, gather);
}

/// [`check`] of every text in a JSON value.
pub(super) fn check_json(value: &Value, span: &Range<usize>, gather: &mut Gather) {
    match value {
        Value::String(text) => check(text, span, gather),
        Value::Array(items) => items.iter().for_each(|item| check_json(item, span, gather)),
        Value::Object(fields) => fields
            .values()
            .for_each(|field| check_json(field, span, gather)),
        _ => {}
    }
}

/// Texts in braces that look like a placeholder's name.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| {
        let name = rest.split_once('}')?.0;
        let plain = |byte: u8| byte.is_ascii_alphabetic() || byte == b'-' || byte == b'_';
        (!name.is_empty() && name.bytes().all(plain)).then_some(name)
    })
}
