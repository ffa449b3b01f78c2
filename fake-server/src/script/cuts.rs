//! How writes and chunks are cut: by a word, by sizes, or by the seed.

use super::{
    mistakes::Gather,
    model::{Chunks, Segments},
    node::{Node, Value},
    read::{Read, or_matrix, wrong},
    suggest::{instead, listed, short},
};
use schemars::{Schema, SchemaGenerator, json_schema};

/// A cut of bytes that the seed may have to resolve.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cuts<T> {
    Fixed(T),
    /// Chosen by the seed.
    Random,
}

impl Read for Cuts<Segments> {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        cuts(
            node,
            gather,
            &[
                ("frame", Segments::Frame),
                ("byte", Segments::Byte),
                ("all", Segments::All),
            ],
            Segments::Sizes,
        )
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        cuts_schema(&["frame", "byte", "all", "random"])
    }
}

impl Read for Cuts<Chunks> {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        cuts(
            node,
            gather,
            &[
                ("frame", Chunks::Frame),
                ("one", Chunks::One),
                ("step", Chunks::Step),
            ],
            Chunks::Sizes,
        )
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        cuts_schema(&["frame", "one", "step", "random"])
    }
}

fn cuts<T: Clone>(
    node: &Node,
    gather: &mut Gather,
    words: &[(&str, T)],
    sizes: fn(Vec<usize>) -> T,
) -> Option<Cuts<T>> {
    let mut known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
    known.push("random");
    match &node.value {
        Value::Text(text) if text == "random" => Some(Cuts::Random),
        Value::Text(text) => {
            let found = words.iter().find(|(word, _)| word == text);
            if found.is_none() {
                gather
                    .at(&node.span, format!("`{}` is no way to cut", short(text)))
                    .help(format!(
                        "{} Sizes in bytes do too: [7, 1, 300]",
                        instead(text, &known)
                    ));
            }
            found.map(|(_, cut)| Cuts::Fixed(cut.clone()))
        }
        Value::List(items) => {
            let read: Option<Vec<usize>> = items
                .iter()
                .map(|item| {
                    let size = match item.value {
                        Value::Integer(size @ 1..=0x4000_0000) => usize::try_from(size).ok(),
                        _ => None,
                    };
                    if size.is_none() {
                        wrong(item, gather, "a size in bytes from 1", "as in [7, 1, 300]");
                    }
                    size
                })
                .collect();
            if items.is_empty() {
                gather
                    .at(&node.span, "no sizes")
                    .help("as in [7, 1, 300]; they go round and round");
                return None;
            }
            read.map(|list| Cuts::Fixed(sizes(list)))
        }
        _ => {
            let words = listed(&known).replace('`', "\"");
            wrong(
                node,
                gather,
                "a way to cut",
                &format!("{words}, or sizes in bytes: [7, 1, 300]"),
            );
            None
        }
    }
}

fn cuts_schema(words: &[&str]) -> Schema {
    or_matrix(json_schema!({ "anyOf": [
        { "enum": words },
        { "type": "array", "items": { "type": "integer", "minimum": 1 }, "minItems": 1 },
    ] }))
}
