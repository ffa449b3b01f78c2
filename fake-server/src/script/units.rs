//! Values with a notation of their own that hold one number: durations, sizes, bytes, differences.

use super::{
    mistakes::Gather,
    node::{Node, Value},
    read::{Read, or_matrix, wrong},
    suggest::short,
};
use schemars::{Schema, SchemaGenerator, json_schema};

/// A duration in milliseconds: `"50ms"`, `"2s"`, `"1m"`. At most a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Millis(pub(super) u64);

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

impl Read for Millis {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        const EXAMPLE: &str = "a whole number and its unit in quotes: \"50ms\", \"2s\", \"1m\"";
        let text = match &node.value {
            Value::Text(text) => text,
            Value::Integer(number) => {
                gather
                    .at(
                        &node.span,
                        format!("a duration needs a unit, found {number}"),
                    )
                    .help(format!("\"{number}ms\" or \"{number}s\""));
                return None;
            }
            _ => {
                wrong(node, gather, "a duration", EXAMPLE);
                return None;
            }
        };
        let (digits, unit) = split_number(text);
        let factor = match unit {
            "ms" => Some(1),
            "s" => Some(1_000),
            "m" => Some(60_000),
            _ => None,
        };
        let (Ok(number), Some(factor)) = (digits.parse::<u64>(), factor) else {
            let help = match digits.parse::<u64>() {
                Ok(_) => {
                    format!("units are ms, s and m: \"{digits}ms\", \"{digits}s\", \"{digits}m\"")
                }
                Err(_) => EXAMPLE.to_owned(),
            };
            gather
                .at(&node.span, format!("\"{}\" is no duration", short(text)))
                .help(help);
            return None;
        };
        let ms = number.checked_mul(factor).filter(|ms| *ms <= DAY_MS);
        if ms.is_none() {
            gather
                .at(
                    &node.span,
                    format!("\"{}\" is longer than a day", short(text)),
                )
                .help("a trial that waits so long never ends");
        }
        ms.map(Self)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        or_matrix(json_schema!({ "type": "string", "pattern": "^[0-9]+(ms|s|m)$" }))
    }
}

/// A number of bytes: `65536`, `"64KiB"`, `"1MiB"`. At most 1 GiB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size(pub(super) u64);

impl Read for Size {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        const EXAMPLE: &str =
            "bytes, or a whole number and its unit in quotes: 65536, \"64KiB\", \"1MiB\"";
        let bytes = match &node.value {
            Value::Integer(number) => u64::try_from(*number).ok(),
            Value::Text(text) => {
                let (digits, unit) = split_number(text);
                let factor = match unit {
                    "B" => Some(1),
                    "KiB" => Some(1 << 10),
                    "MiB" => Some(1 << 20),
                    "GiB" => Some(1 << 30),
                    _ => None,
                };
                let (Ok(number), Some(factor)) = (digits.parse::<u64>(), factor) else {
                    let help = match (digits.parse::<u64>(), unit.chars().next()) {
                        (Ok(number), Some(unit @ ('k' | 'K' | 'm' | 'M' | 'g' | 'G'))) => {
                            let unit = unit.to_ascii_uppercase();
                            format!("units are powers of 1024: \"{number}{unit}iB\"")
                        }
                        _ => EXAMPLE.to_owned(),
                    };
                    gather
                        .at(&node.span, format!("\"{}\" is no size", short(text)))
                        .help(help);
                    return None;
                };
                number.checked_mul(factor)
            }
            _ => {
                wrong(node, gather, "a size", EXAMPLE);
                return None;
            }
        };
        let bytes = bytes.filter(|bytes| *bytes <= 1 << 30);
        if bytes.is_none() {
            gather
                .at(&node.span, "a size lies between 0 and 1 GiB")
                .help(EXAMPLE);
        }
        bytes.map(Self)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        or_matrix(json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 0 },
            { "type": "string", "pattern": "^[0-9]+(B|KiB|MiB|GiB)$" },
        ] }))
    }
}

fn split_number(text: &str) -> (&str, &str) {
    let end = text
        .find(|digit: char| !digit.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at(end)
}

/// One byte: a character of ASCII, or its number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Byte(pub(super) u8);

impl Read for Byte {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        let byte = match &node.value {
            Value::Integer(number) => u8::try_from(*number).ok(),
            Value::Text(text) => match text.as_bytes() {
                [byte] => Some(*byte),
                _ => None,
            },
            _ => None,
        };
        if byte.is_none() {
            wrong(
                node,
                gather,
                "one byte",
                "a character of ASCII or a number from 0 to 255: \"x\", 0",
            );
        }
        byte.map(Self)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        or_matrix(json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": 255 },
            { "type": "string", "minLength": 1, "maxLength": 1 },
        ] }))
    }
}

/// A difference in bytes with its sign: `"+10"`, `"-3"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Delta(pub(super) i64);

impl Read for Delta {
    fn read(node: &Node, gather: &mut Gather) -> Option<Self> {
        let delta = match &node.value {
            Value::Text(text) if text.starts_with(['+', '-']) => text.parse::<i64>().ok(),
            _ => None,
        };
        let delta = delta.filter(|delta| *delta != 0 && delta.unsigned_abs() <= 1 << 30);
        if delta.is_none() {
            let example = "how many bytes more or fewer than the body, in quotes: \"+10\", \"-3\"";
            wrong(node, gather, "a signed difference", example);
        }
        delta.map(Self)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        or_matrix(json_schema!({ "type": "string", "pattern": "^[+-][0-9]+$" }))
    }
}
