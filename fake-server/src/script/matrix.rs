//! The matrix: lists of values that `"$name"` stands for, one instance of the file for each
//! combination. Values are put into the tree, so that everything else is read as if it stood there.

use super::{
    mistakes::Gather,
    node::{Entry, Node, Value},
    suggest,
};
use std::ops::Range;

/// A matrix has so many instances at the most; more is a slip, not a test.
const MAX_INSTANCES: usize = 1_000;

/// Characters of a value in an id at the most.
const MAX_LABEL: usize = 40;

/// Names with their values, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Matrix {
    axes: Vec<Axis>,
    /// A name whose values cannot be read: what uses it cannot be read either.
    broken: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Axis {
    name: String,
    values: Vec<(Node, String)>,
}

/// A file with the values of one combination in their places.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Instance {
    /// `[how=fin]`, or nothing without a matrix.
    pub(super) suffix: String,
    /// The whole file.
    pub(super) root: Node,
    /// Where a value was put in: the place of `"$name"`, the place of the value, the value.
    pub(super) substituted: Vec<(Range<usize>, Range<usize>, String)>,
}

impl Matrix {
    /// Reads `[matrix]` and compares its names with the rest of the file.
    pub(super) fn read(root: &Node, gather: &mut Gather) -> Self {
        let entries = root.table().unwrap_or_default();
        let mut matrix = Self::default();
        let mut names: Vec<(&str, &Range<usize>)> = Vec::new();
        if let Some(table) = entries.iter().find(|entry| entry.key == "matrix") {
            match table.node.table() {
                Some(axes) => {
                    for entry in axes {
                        names.push((&entry.key, &entry.key_span));
                        match axis(entry, gather) {
                            Some(axis) => matrix.axes.push(axis),
                            None => matrix.broken = true,
                        }
                    }
                }
                None => {
                    matrix.broken = true;
                    super::read::wrong(
                        &table.node,
                        gather,
                        "a table of lists",
                        "[matrix] and below it how = [\"fin\", \"reset\"]",
                    );
                }
            }
        }
        let mut texts = Vec::new();
        for entry in entries.iter().filter(|entry| entry.key != "matrix") {
            collect(&entry.node, &mut texts);
        }
        for (name, key) in &names {
            let whole = format!("${name}");
            if texts.iter().any(|(text, _)| *text == whole) {
                continue;
            }
            let note = gather
                .at(key, format!("nothing in the file uses `{name}`"))
                .help(format!(
                    "\"${name}\" stands for its values, as a whole value: {{ end = \"${name}\" }}"
                ));
            if let Some((_, part)) = texts.iter().find(|(text, _)| text.contains(&whole)) {
                note.context(part, "here it is a part of a text, which stays as it is");
            }
        }
        for (text, span) in texts {
            let Some(name) = text.strip_prefix('$').filter(|_| is_reference(text)) else {
                continue;
            };
            if names.iter().all(|(known, _)| *known != name) {
                let known: Vec<_> = names.iter().map(|(name, _)| *name).collect();
                let help = if known.is_empty() {
                    format!("add a table: [matrix] {name} = [..]")
                } else {
                    suggest::instead(name, &known)
                };
                gather
                    .at(&span, format!("[matrix] has no `{name}`"))
                    .help(help);
                gather.settle(span);
            }
        }
        let instances = matrix.axes.iter().try_fold(1_usize, |product, axis| {
            product.checked_mul(axis.values.len())
        });
        if instances.is_none_or(|instances| instances > MAX_INSTANCES) {
            let place = names.first().map_or(0..0, |(_, span)| (*span).clone());
            gather
                .at(
                    &place,
                    format!("this matrix has more than {MAX_INSTANCES} instances"),
                )
                .help("fewer values, or several files");
            matrix.broken = true;
        }
        matrix
    }

    /// The file once for each combination; the last name varies fastest.
    pub(super) fn instances(&self, root: &Node) -> Vec<Instance> {
        if self.broken {
            return Vec::new();
        }
        let mut picks: Vec<Vec<usize>> = vec![Vec::new()];
        for axis in &self.axes {
            picks = picks
                .iter()
                .flat_map(|pick| {
                    (0..axis.values.len()).map(move |value| {
                        let mut pick = pick.clone();
                        pick.push(value);
                        pick
                    })
                })
                .collect();
        }
        picks.iter().map(|pick| self.instance(root, pick)).collect()
    }

    fn instance(&self, root: &Node, pick: &[usize]) -> Instance {
        let chosen: Vec<(&str, &(Node, String))> = self
            .axes
            .iter()
            .zip(pick)
            .map(|(axis, value)| (axis.name.as_str(), &axis.values[*value]))
            .collect();
        let labels: Vec<_> = chosen
            .iter()
            .map(|(name, (_, label))| format!("{name}={label}"))
            .collect();
        let mut instance = Instance {
            suffix: if labels.is_empty() {
                String::new()
            } else {
                format!("[{}]", labels.join(","))
            },
            root: root.clone(),
            substituted: Vec::new(),
        };
        if let Value::Table(entries) = &mut instance.root.value {
            for entry in entries.iter_mut().filter(|entry| entry.key != "matrix") {
                put(&mut entry.node, &chosen, &mut instance.substituted);
            }
        }
        instance
    }
}

/// A list of values, or a table of values with names for the id. Nothing when it was wrong.
fn axis(entry: &Entry, gather: &mut Gather) -> Option<Axis> {
    let before = gather.count();
    if !is_name(&entry.key) {
        gather
            .at(
                &entry.key_span,
                "a name of a matrix is small letters, digits and hyphens",
            )
            .help("as in how = [\"fin\", \"reset\"], used as \"$how\"");
    }
    let values = match &entry.node.value {
        Value::List(items) => listed(items, gather),
        Value::Table(named) => labelled(named, gather),
        _ => {
            super::read::wrong(
                &entry.node,
                gather,
                "a list of values",
                "as in how = [\"fin\", \"reset\"]",
            );
            return None;
        }
    };
    if values.is_empty() && gather.count() == before {
        gather
            .at(
                &entry.node.span,
                "no values, so no instance of this file would ever run",
            )
            .help("as in how = [\"fin\", \"reset\"]");
    }
    (gather.count() == before).then(|| Axis {
        name: entry.key.clone(),
        values,
    })
}

/// `how = ["fin", "reset"]`: each value is its own part of the id.
fn listed(items: &[Node], gather: &mut Gather) -> Vec<(Node, String)> {
    let mut values: Vec<(Node, String)> = Vec::new();
    for item in items {
        let text = match &item.value {
            Value::Text(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::Date(_) | Value::List(_) | Value::Table(_) => {
                super::read::wrong(
                    item,
                    gather,
                    "text or a number",
                    "give other values names, which then stand in the id: how = { short = [1, 2], long = [300] }",
                );
                continue;
            }
        };
        if let Some((first, _)) = values.iter().find(|(known, _)| known.value == item.value) {
            gather
                .at(
                    &item.span,
                    format!("`{}` is here twice", suggest::short(&text)),
                )
                .context(&first.span, "first here")
                .help("each value once");
            continue;
        }
        let label = id_part(&text);
        let mut unlike = label.clone();
        let mut number = 2;
        while values.iter().any(|(_, known)| *known == unlike) {
            unlike = format!("{label}-{number}");
            number += 1;
        }
        values.push((item.clone(), unlike));
    }
    values
}

/// `how = { clean = "fin", rude = "reset" }`: the names stand in the id, the values can be anything.
fn labelled(named: &[Entry], gather: &mut Gather) -> Vec<(Node, String)> {
    let mut values = Vec::new();
    for entry in named {
        if id_part(&entry.key) != entry.key {
            gather
                .at(
                    &entry.key_span,
                    format!("`{}` cannot be part of an id", suggest::short(&entry.key)),
                )
                .help(format!(
                    "letters, digits and . _ + -, at most {MAX_LABEL}: `{}`",
                    id_part(&entry.key)
                ));
        }
        values.push((entry.node.clone(), entry.key.clone()));
    }
    values
}

/// A value as a part of an id: what a shell or a pattern could misread becomes a hyphen.
fn id_part(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._+-".contains(letter);
    if !text.is_empty() && text.chars().all(plain) && text.len() <= MAX_LABEL {
        return text.to_owned();
    }
    let parts: Vec<_> = text
        .split(|letter| !plain(letter))
        .filter(|part| !part.is_empty())
        .collect();
    let mut label = parts.join("-");
    label.truncate(MAX_LABEL);
    if label.is_empty() {
        if text.is_empty() { "empty" } else { "signs" }.to_owned()
    } else {
        label
    }
}

/// Whether a text stands for a value of the matrix, as `"$how"` does.
pub(super) fn is_reference(text: &str) -> bool {
    text.strip_prefix('$').is_some_and(is_name)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn collect<'a>(node: &'a Node, texts: &mut Vec<(&'a str, Range<usize>)>) {
    match &node.value {
        Value::Text(text) => texts.push((text, node.span.clone())),
        Value::List(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Table(entries) => entries.iter().for_each(|entry| collect(&entry.node, texts)),
        _ => {}
    }
}

fn put(
    node: &mut Node,
    chosen: &[(&str, &(Node, String))],
    substituted: &mut Vec<(Range<usize>, Range<usize>, String)>,
) {
    match &mut node.value {
        Value::Text(text) => {
            let Some(name) = text.strip_prefix('$') else {
                return;
            };
            if let Some((_, (value, label))) = chosen.iter().find(|(known, _)| *known == name) {
                substituted.push((node.span.clone(), value.span.clone(), label.clone()));
                node.value = value.value.clone();
            }
        }
        Value::List(items) => items
            .iter_mut()
            .for_each(|item| put(item, chosen, substituted)),
        Value::Table(entries) => entries
            .iter_mut()
            .for_each(|entry| put(&mut entry.node, chosen, substituted)),
        _ => {}
    }
}

/// The values of one name, for the schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Values;

impl super::read::Read for Values {
    fn read(_: &Node, _: &mut Gather) -> Option<Self> {
        // `Matrix::read` has read them before anything else.
        Some(Self)
    }

    fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [
            {
                "type": "array",
                "items": { "type": ["string", "number", "boolean"] },
                "minItems": 1,
            },
            { "type": "object", "minProperties": 1 },
        ] })
    }
}
