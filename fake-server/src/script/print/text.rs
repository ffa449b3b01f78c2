//! TOML's notation: strings, keys, values, and how they are laid out on lines.

use crate::script::{matrix, placeholders, read::Word};
use serde_json::Value;
use std::fmt::Write as _;

/// Columns that a line fills at the most when it can be broken (a string cannot).
const WIDTH: usize = 100;

/// A file, or a table of it, line by line.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(Vec<String>);

impl Lines {
    /// A line as it is.
    pub(super) fn raw(&mut self, line: &str) {
        self.0.push(line.to_owned());
    }

    /// `key = value`.
    pub(super) fn set(&mut self, key: &str, value: String) {
        self.0.push(format!("{key} = {value}"));
    }

    /// A list of tables: on one line when it has one item that fits, else an item a line.
    pub(super) fn items(&mut self, key: &str, items: &[String]) {
        let line = format!("{key} = [{}]", items.join(", "));
        if items.len() < 2 && line.len() <= WIDTH {
            self.0.push(line);
        } else {
            self.tall(key, items);
        }
    }

    /// A list of tables, an item a line.
    pub(super) fn tall(&mut self, key: &str, items: &[String]) {
        self.0.push(format!("{key} = ["));
        self.0.extend(items.iter().map(|item| format!("  {item},")));
        self.0.push("]".to_owned());
    }

    /// A list of numbers, in as many lines as they need.
    pub(super) fn numbers(&mut self, key: &str, numbers: &[usize]) {
        let all: Vec<_> = numbers.iter().map(usize::to_string).collect();
        let line = format!("{key} = [{}]", all.join(", "));
        if line.len() <= WIDTH {
            self.0.push(line);
            return;
        }
        self.0.push(format!("{key} = ["));
        let mut line = " ".to_owned();
        for number in all {
            if line.len() + number.len() + 2 > WIDTH {
                self.0.push(std::mem::replace(&mut line, " ".to_owned()));
            }
            let _ = write!(line, " {number},");
        }
        self.0.push(line);
        self.0.push("]".to_owned());
    }

    /// `[name]` with its lines, unless there are none.
    pub(super) fn table(&mut self, name: &str, lines: Self) {
        if !lines.0.is_empty() {
            self.header(&format!("[{name}]"), lines);
        }
    }

    /// `[[name]]` with its lines.
    pub(super) fn item(&mut self, name: &str, lines: Self) {
        self.header(&format!("[[{name}]]"), lines);
    }

    fn header(&mut self, header: &str, lines: Self) {
        self.0.extend([String::new(), header.to_owned()]);
        self.append(lines);
    }

    /// The lines of another after these.
    pub(super) fn append(&mut self, lines: Self) {
        self.0.extend(lines.0);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The whole text.
    pub(super) fn finish(self) -> String {
        let mut text = self.0.join("\n");
        text.push('\n');
        text
    }
}

/// A table on one line.
#[derive(Clone, Debug, Default)]
pub(super) struct Inline(Vec<String>);

impl Inline {
    pub(super) fn with(mut self, key: &str, value: impl AsRef<str>) -> Self {
        self.0
            .push(format!("{} = {}", self::key(key), value.as_ref()));
        self
    }

    pub(super) fn maybe(self, key: &str, value: Option<String>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    pub(super) fn finish(self) -> String {
        if self.0.is_empty() {
            "{}".to_owned()
        } else {
            format!("{{ {} }}", self.0.join(", "))
        }
    }
}

/// A list on one line.
pub(super) fn list(items: Vec<String>) -> String {
    format!("[{}]", items.join(", "))
}

/// A key, in quotes where it needs them.
pub(super) fn key(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !text.is_empty() && text.bytes().all(plain) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// A string: `'..'` where that spares backslashes, as around JSON, else `".."`.
pub(super) fn quoted(text: &str) -> String {
    let spared = text.contains(['"', '\\']) && !text.contains('\'');
    if spared
        && !text
            .chars()
            .any(|letter| letter.is_control() || is_unseen(letter))
    {
        return format!("'{text}'");
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            letter if (letter.is_control() || is_unseen(letter)) && u32::from(letter) > 0xffff => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(letter));
            }
            letter if letter.is_control() || is_unseen(letter) => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Characters that a reader of the file would not see, or that would reorder what he sees.
const fn is_unseen(letter: char) -> bool {
    matches!(letter,
        '\u{a0}' | '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{61c}' | '\u{180e}' | '\u{2000}'..='\u{200f}'
        | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{3000}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..='\u{10ffff}')
}

/// Text without anything that would end its line.
pub(super) fn one_line(text: &str) -> String {
    text.trim()
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

/// The word of a scenario file for a value.
pub(super) fn word<T: Word + PartialEq>(value: T) -> String {
    let found = T::words().into_iter().find(|(_, known)| *known == value);
    quoted(found.map_or("", |(word, _)| word))
}

/// Milliseconds with the largest unit that divides them.
pub(super) fn duration(ms: u64) -> String {
    match ms {
        0 => "\"0ms\"".to_owned(),
        ms if ms % 60_000 == 0 => format!("\"{}m\"", ms / 60_000),
        ms if ms % 1_000 == 0 => format!("\"{}s\"", ms / 1_000),
        ms => format!("\"{ms}ms\""),
    }
}

/// Bytes: a bare number, or the largest unit that divides them.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0 => "0".to_owned(),
        bytes if bytes % (1 << 20) == 0 => format!("\"{}MiB\"", bytes >> 20),
        bytes if bytes % (1 << 10) == 0 => format!("\"{}KiB\"", bytes >> 10),
        bytes => bytes.to_string(),
    }
}

/// One byte: a character that can be seen, or a number.
pub(super) fn byte(byte: u8) -> String {
    if byte.is_ascii_graphic() || byte == b' ' {
        quoted(&char::from(byte).to_string())
    } else {
        byte.to_string()
    }
}

/// A JSON value. What TOML has no word for (null) is printed as what cannot be read back.
pub(super) fn json(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) => list(items.iter().map(json).collect()),
        Value::Object(fields) => fields
            .iter()
            .fold(Inline::default(), |table, (name, field)| {
                table.with(name, json(field))
            })
            .finish(),
    }
}

/// Bytes as text, if a reader is better off with it: no more than a few characters without a shape.
pub(super) fn readable(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let shapeless = text
        .chars()
        .filter(|letter| letter.is_control() && !matches!(letter, '\n' | '\r' | '\t'))
        .count();
    // A text of the form `$name` would be taken for a name of the matrix.
    (4 * shapeless <= bytes.len() && !matrix::is_reference(text)).then_some(text)
}

/// [`readable`] text that the server writes: a slip of a placeholder is refused when it is read.
pub(super) fn writable(bytes: &[u8]) -> Option<&str> {
    readable(bytes).filter(|text| !placeholders::has_slip(text))
}
