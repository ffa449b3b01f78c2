//! From the tree to raw tables: what shape a value must have, what keys a table knows, and what is
//! said when it is otherwise. Reading never stops at a mistake. The JSON Schema comes from the same
//! declarations.

use super::{
    mistakes::Gather,
    node::{Entry, Node, Value},
    suggest,
};
use schemars::{Schema, SchemaGenerator, json_schema};
use std::ops::Range;

/// A value of a raw table.
pub(super) trait Read: Sized {
    /// Reads it, or notes what is wrong.
    fn read(node: &Node, gather: &mut Gather) -> Option<Self>;

    /// Its JSON Schema.
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

/// A raw value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct At<T> {
    /// Where its key stands (in a list: where it stands itself).
    pub(super) key: Range<usize>,
    /// Where it stands. A table below a header stands at its header.
    pub(super) span: Range<usize>,
    /// Nothing was noted inside it while it was read.
    pub(super) clean: bool,
    /// The value.
    pub(super) value: T,
}

impl<T: Read> At<T> {
    /// The value of a key.
    pub(super) fn entry(entry: &Entry, gather: &mut Gather) -> Option<Self> {
        Self::read(&entry.key_span, &entry.node, gather)
    }

    /// An item of a list.
    pub(super) fn item(node: &Node, gather: &mut Gather) -> Option<Self> {
        Self::read(&node.span, node, gather)
    }

    fn read(key: &Range<usize>, node: &Node, gather: &mut Gather) -> Option<Self> {
        let before = gather.count();
        let value = T::read(node, gather)?;
        Some(Self {
            key: key.clone(),
            span: node.span.clone(),
            clean: gather.count() == before,
            value,
        })
    }
}

/// Notes a value of the wrong type. `example` is what would be right.
pub(super) fn wrong(node: &Node, gather: &mut Gather, wanted: &str, example: &str) {
    gather
        .at(
            &node.span,
            format!("expected {wanted}, found {}", node.found()),
        )
        .help(example);
}

/// A schema for what may also stand as `"$name"`, filled in from `[matrix]`.
pub(super) fn or_matrix(schema: Schema) -> Schema {
    json_schema!({ "anyOf": [schema, { "type": "string", "pattern": "^\\$[a-z][a-z0-9-]*$" }] })
}

impl Read for String {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        if let Value::Text(text) = &node.value {
            return Some(text.clone());
        }
        let example = match &node.value {
            Value::Integer(number) => format!("text stands in quotes: \"{number}\""),
            _ => "text stands in quotes: \"..\"".to_owned(),
        };
        wrong(node, gather, "text", &example);
        None
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

impl Read for bool {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        if let Value::Flag(flag) = node.value {
            return Some(flag);
        }
        wrong(node, gather, "`true` or `false`", "without quotes: true");
        None
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        or_matrix(json_schema!({ "type": "boolean" }))
    }
}

macro_rules! integers {
    ($($type:ty: $wanted:literal, $minimum:expr;)+) => {$(
        impl Read for $type {
            fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
                let Value::Integer(number) = node.value else {
                    wrong(node, gather, $wanted, "a number without quotes, as in 3");
                    return None;
                };
                let read = Self::try_from(number).ok();
                if read.is_none() {
                    gather
                        .at(&node.span, format!("{number} is out of range"))
                        .help(format!("{} from {} to {}", $wanted, Self::MIN, Self::MAX));
                }
                read
            }

            fn schema(_: &mut SchemaGenerator) -> Schema {
                or_matrix($minimum)
            }
        }
    )+};
}

integers! {
    u64: "an integer", json_schema!({ "type": "integer", "minimum": 0 });
    u32: "an integer", json_schema!({ "type": "integer", "minimum": 0 });
    u16: "an integer", json_schema!({ "type": "integer", "minimum": 0, "maximum": 65535 });
    i64: "an integer", json_schema!({ "type": "integer" });
}

/// Any value, kept as it stands.
impl Read for Node {
    fn read(node: &Node, _: &mut Gather) -> Option<Self> {
        Some(node.clone())
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        Schema::from(true)
    }
}

impl<T: Read> Read for Box<T> {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        T::read(node, gather).map(Self::new)
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        T::schema(generator)
    }
}

/// A list. Items that are wrong are noted and left out.
impl<T: Read> Read for Vec<At<T>> {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        let Value::List(items) = &node.value else {
            let example = match &node.value {
                Value::Text(text) => format!("in brackets: [\"{}\"]", suggest::short(text)),
                Value::Integer(number) => format!("in brackets: [{number}]"),
                Value::Table(_) => match gather.text(&node.span).strip_prefix('[') {
                    Some(header) => {
                        format!("each is a table of its own, with two brackets: [[{header}]")
                    }
                    None => "in brackets: [{ .. }]".to_owned(),
                },
                _ => "in brackets: [..]".to_owned(),
            };
            wrong(node, gather, "a list", &example);
            return None;
        };
        Some(
            items
                .iter()
                .filter_map(|item| At::item(item, gather))
                .collect(),
        )
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let items = T::schema(generator);
        json_schema!({ "type": "array", "items": items })
    }
}

/// A table with keys of the author's choice, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Free<T>(pub(super) Vec<(String, At<T>)>);

impl<T: Read> Read for Free<T> {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        let Some(entries) = node.table() else {
            wrong(node, gather, "a table", "in braces: { name = .. }");
            return None;
        };
        let read = entries
            .iter()
            .filter_map(|entry| Some((entry.key.clone(), At::entry(entry, gather)?)));
        Some(Self(read.collect()))
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let value = T::schema(generator);
        json_schema!({ "type": "object", "additionalProperties": value })
    }
}

/// One of a few words that stand for a value.
pub(super) trait Word: Copy + 'static {
    /// What such a word is called, with its article: `a call`.
    const WHAT: &'static str;

    /// Every word with its value, in the order of the documentation.
    fn words() -> Vec<(&'static str, Self)>;
}

/// A [`Word`] as it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Named<T>(pub(super) T);

impl<T: Word> Named<T> {
    /// The value of a word, or a note with the nearest one.
    pub(super) fn find(word: &str, span: &Range<usize>, gather: &mut Gather) -> Option<T> {
        let words = T::words();
        let found = words
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, value)| *value);
        if found.is_none() {
            let known: Vec<_> = words.iter().map(|(name, _)| *name).collect();
            gather
                .at(
                    span,
                    format!("`{}` is not {}", suggest::short(word), T::WHAT),
                )
                .help(suggest::instead(word, &known));
        }
        found
    }
}

impl<T: Word> Read for Named<T> {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        let Value::Text(word) = &node.value else {
            let words = T::words();
            let known: Vec<_> = words.iter().map(|(name, _)| *name).collect();
            let example = format!("in quotes: {}", suggest::listed(&known).replace('`', "\""));
            wrong(node, gather, T::WHAT, &example);
            return None;
        };
        Self::find(word, &node.span, gather).map(Self)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<_> = T::words().iter().map(|(name, _)| *name).collect();
        or_matrix(json_schema!({ "enum": words }))
    }
}

/// A key and what it holds, for the schema.
pub(super) struct Field {
    pub(super) key: &'static str,
    pub(super) doc: String,
    pub(super) required: bool,
    pub(super) schema: Schema,
}

/// The schema of a raw table.
pub(super) fn table_schema(doc: &str, fields: Vec<Field>) -> Schema {
    let mut properties = serde_json::Map::new();
    let mut required = Vec::new();
    for field in fields {
        let mut schema = field.schema;
        if schema.as_bool().is_none() || !field.doc.is_empty() {
            schema.insert("description".to_owned(), field.doc.into());
        }
        if field.required {
            required.push(field.key);
        }
        properties.insert(field.key.to_owned(), schema.to_value());
    }
    let mut schema = json_schema!({
        "type": "object",
        "description": doc,
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

/// What a value that should be a table would be as one.
pub(super) fn table_example(keys: &[&str], node: &Node, gather: &Gather) -> String {
    match (keys, &node.value) {
        ([key], Value::Text(_) | Value::Integer(_)) => {
            format!("in braces: {{ {key} = {} }}", gather.text(&node.span))
        }
        ([key, ..], _) => format!("in braces: {{ {key} = .. }}"),
        ([], _) => "in braces: { .. }".to_owned(),
    }
}

/// The lines of a doc comment as one paragraph.
pub(super) fn doc(lines: &[&str]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| line.trim()).collect();
    lines.join(" ")
}

/// A raw table with known keys.
pub(super) trait Table {
    /// Every key, in the order of the documentation.
    const KEYS: &'static [&'static str];

    /// The keys that stand here, with their places, in the order of the documentation.
    fn present(&self) -> Vec<(&'static str, Range<usize>)>;
}

/// Declares a raw table: every key an optional value with its place, unknown keys denied.
///
/// `[..]` holds the name for messages, then the keys that must be there; `{ word => help }` at the end are
/// answers for keys that an author may well try.
macro_rules! table {
    (
        $(#[doc = $doc:literal])*
        $name:ident [$title:literal $(, $required:literal)*] {
            $( $(#[doc = $field_doc:literal])* $field:ident = $key:literal: $type:ty, )+
        }
        $( hints { $($bad:literal => $hint:literal,)+ } )?
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(in crate::script) struct $name {
            $( $(#[doc = $field_doc])* pub(in crate::script) $field: Option<$crate::script::read::At<$type>>, )+
        }

        impl $crate::script::read::Table for $name {
            const KEYS: &'static [&'static str] = &[$($key,)+];

            fn present(&self) -> Vec<(&'static str, std::ops::Range<usize>)> {
                let mut present = Vec::new();
                $( if let Some(at) = &self.$field { present.push(($key, at.key.clone())); } )+
                present
            }
        }

        impl $crate::script::read::Read for $name {
            fn read(
                node: &$crate::script::node::Node,
                gather: &mut $crate::script::mistakes::Gather,
            ) -> Option<Self> {
                let Some(entries) = node.table() else {
                    let example = $crate::script::read::table_example(<Self as $crate::script::read::Table>::KEYS, node, gather);
                    $crate::script::read::wrong(node, gather, "a table", &example);
                    return None;
                };
                let mut this = Self::default();
                for entry in entries {
                    match entry.key.as_str() {
                        $( $key => this.$field = $crate::script::read::At::entry(entry, gather), )+
                        _ => {
                            let hints: &[(&str, &str)] = &[$($(($bad, $hint),)+)?];
                            $crate::script::raw::unknown_key(entry, $title, <Self as $crate::script::read::Table>::KEYS, hints, gather);
                        }
                    }
                }
                let required: &[&str] = &[$($required,)*];
                for required in required {
                    if !entries.iter().any(|entry| entry.key == *required) {
                        gather
                            .at(&node.span, format!("{} has no `{required}`", $title))
                            .help(format!("add `{required} = ..`"));
                    }
                }
                Some(this)
            }

            fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                generator.subschema_for::<Self>()
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let required: &[&str] = &[$($required,)*];
                let fields = vec![$(
                    $crate::script::read::Field {
                        key: $key,
                        doc: $crate::script::read::doc(&[$($field_doc,)*]),
                        required: required.contains(&$key),
                        schema: <$type as $crate::script::read::Read>::schema(generator),
                    },
                )+];
                $crate::script::read::table_schema(&$crate::script::read::doc(&[$($doc,)*]), fields)
            }
        }
    };
}
pub(super) use table;
