//! The tree of a TOML file: values that know where they stand, tables in the order of the file.

use super::mistakes::Gather;
use serde_json::{Map, Number, Value as Json};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// Bytes of the file.
    pub(super) span: Range<usize>,
    /// The value itself.
    pub(super) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Integer(i128),
    Float(f64),
    Flag(bool),
    Date(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key of a table with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_span: Range<usize>,
    pub(super) node: Node,
}

/// Reads TOML. What is no TOML is noted; the readable rest is not returned then, because a broken
/// file makes every later message doubtful.
pub(super) fn read_toml(text: &str, gather: &mut Gather) -> Option<Node> {
    // A byte order mark is no part of the document, but spans count from the text as it is.
    let (table, errors) = DeTable::parse_recoverable(text);
    // Only the first: what follows a bracket or a quote left open is blamed for nothing.
    let Some(error) = errors.first() else {
        return Some(Node {
            span: 0..0,
            value: entries(table.into_inner(), gather),
        });
    };
    let span = error.span().unwrap_or(0..0);
    let message = error.message().trim().replace('\n', ", ");
    let (message, help, open) = reword(text, &span, &message);
    let mut note = gather.at(&span, format!("this is not TOML: {message}"));
    if let Some(open) = open {
        note = note.context(&open, "the list that is still open here");
    }
    if let Some(help) = help {
        note.help(help);
    }
    None
}

/// What an author most likely did where the text is no TOML: the message, help, and a bracket left open.
fn reword(
    text: &str,
    span: &Range<usize>,
    message: &str,
) -> (String, Option<String>, Option<Range<usize>>) {
    let same = |help: &str| (message.to_owned(), Some(help.to_owned()), None);
    let before = text.get(..span.start).unwrap_or_default();
    if message.contains("duplicate") {
        return same(
            "a key stands once in a table; a second fault begins with its own `[[fault]]`",
        );
    }
    if message.contains("escape") {
        return same(
            "inside \"..\" a backslash begins an escape (\\n, \\t, \\\\, \\u00e9); '..' takes it literally",
        );
    }
    if message.contains("array") {
        // The last line before that opens a list with its value.
        let open = before.rfind("= [").map(|at| at + 2..at + 3);
        return (
            message.to_owned(),
            Some("items stand apart by commas, and a list ends with `]`".to_owned()),
            open,
        );
    }
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(line..).and_then(|rest| rest.lines().next());
    let value = line
        .and_then(|line| line.split_once('='))
        .map_or("", |(_, value)| {
            value.split('#').next().unwrap_or_default().trim()
        });
    let bare = value.starts_with(|first: char| first.is_ascii_alphabetic())
        && !matches!(value, "true" | "false");
    let unit = value.starts_with(|first: char| first.is_ascii_digit())
        && value.ends_with(|last: char| last.is_ascii_alphabetic());
    if bare || unit {
        return (
            "text, durations and sizes stand in quotes".to_owned(),
            Some(format!("\"{value}\"")),
            None,
        );
    }
    (message.to_owned(), None, None)
}

fn entries(table: DeTable<'_>, gather: &mut Gather) -> Value {
    let mut entries: Vec<Entry> = table
        .into_iter()
        .map(|(key, value)| Entry {
            key_span: key.span(),
            key: key.into_inner().into_owned(),
            node: node(value.span(), value.into_inner(), gather),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    Value::Table(entries)
}

fn node(span: Range<usize>, value: DeValue<'_>, gather: &mut Gather) -> Node {
    let value = match value {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Integer(number),
            Err(_) => {
                gather.at(&span, "this number is too large").help(
                    "numbers beyond 64 bits can be sent as raw text: { line = '{\"type\":..}' }",
                );
                Value::Integer(0)
            }
        },
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Flag(flag),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => Value::List(
            items
                .into_iter()
                .map(|item| node(item.span(), item.into_inner(), gather))
                .collect(),
        ),
        DeValue::Table(table) => entries(table, gather),
    };
    Node { span, value }
}

impl Node {
    /// What this is, for a message: `the integer 5`, `a list`.
    pub(super) fn found(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("the text \"{}\"", super::suggest::short(text)),
            Value::Integer(number) => format!("the integer {number}"),
            Value::Float(number) => format!("the number {number}"),
            Value::Flag(flag) => format!("`{flag}`"),
            Value::Date(_) => "a date".to_owned(),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }

    /// The entries of a table.
    pub(super) fn table(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        }
    }

    /// The same value as JSON. TOML has no null; JSON has no dates, no `nan`, and only 64 bits.
    pub(super) fn to_json(&self, gather: &mut Gather) -> Option<Json> {
        Some(match &self.value {
            Value::Text(text) => Json::from(text.as_str()),
            Value::Flag(flag) => Json::from(*flag),
            Value::Integer(number) => {
                if let Ok(number) = i64::try_from(*number) {
                    Json::from(number)
                } else if let Ok(number) = u64::try_from(*number) {
                    Json::from(number)
                } else {
                    gather.at(&self.span, "this number is too large").help(
                        "numbers beyond 64 bits can be sent as raw text: { line = '{\"type\":..}' }",
                    );
                    return None;
                }
            }
            Value::Float(number) => match Number::from_f64(*number) {
                Some(number) => Json::Number(number),
                None => {
                    gather
                        .at(&self.span, "JSON has no such number")
                        .help("send it as raw text: { line = '{\"type\":..}' }");
                    return None;
                }
            },
            Value::Date(date) => {
                gather
                    .at(&self.span, "JSON has no dates")
                    .help(format!("write it as text: \"{date}\""));
                return None;
            }
            Value::List(items) => {
                let items: Vec<_> = items.iter().map(|item| item.to_json(gather)).collect();
                Json::Array(items.into_iter().collect::<Option<_>>()?)
            }
            Value::Table(_) => Json::Object(self.to_json_object(gather)?),
        })
    }

    /// A table as a JSON object, in the order of the file.
    pub(super) fn to_json_object(&self, gather: &mut Gather) -> Option<Map<String, Json>> {
        let entries = self.table()?;
        let fields: Vec<_> = entries
            .iter()
            .map(|entry| Some((entry.key.clone(), entry.node.to_json(gather)?)))
            .collect();
        fields.into_iter().collect()
    }
}
