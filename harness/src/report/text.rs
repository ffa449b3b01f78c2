//! Text on a page of limited width: measuring, wrapping, quoting bytes, painting.

use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns a report is never narrower than.
pub const NARROWEST: usize = 80;
/// Columns a report is never wider than: longer lines are hard to read.
pub const WIDEST: usize = 120;

/// The page a report is written for.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Columns.
    pub width: usize,
    /// Colours, or none.
    pub palette: Palette,
}

impl Page {
    /// A page of this many columns, brought into what is readable.
    #[must_use]
    pub fn new(columns: usize, colour: bool) -> Self {
        Self {
            width: columns.clamp(NARROWEST, WIDEST),
            palette: if colour {
                Palette::colour()
            } else {
                Palette::default()
            },
        }
    }
}

/// What each kind of text looks like. The default is plain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Palette {
    /// What held.
    pub good: Style,
    /// What is broken.
    pub bad: Style,
    /// What could not be judged, and deviations of the server.
    pub warn: Style,
    /// What matters less.
    pub dim: Style,
    /// Titles.
    pub bold: Style,
    /// What the client did.
    pub client: Style,
}

impl Palette {
    /// The sixteen colours every terminal has, so that its theme decides.
    #[must_use]
    pub const fn colour() -> Self {
        Self {
            good: AnsiColor::Green.on_default(),
            bad: AnsiColor::Red.on_default().bold(),
            warn: AnsiColor::Yellow.on_default(),
            dim: Style::new().dimmed(),
            bold: Style::new().bold(),
            client: AnsiColor::Cyan.on_default(),
        }
    }
}

/// The text in a style.
#[must_use]
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Columns a text takes.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.width()
}

/// The text filled up with spaces to this many columns.
#[must_use]
pub fn pad(text: &str, width: usize) -> String {
    let mut padded = text.to_owned();
    padded.extend(std::iter::repeat_n(
        ' ',
        width.saturating_sub(columns(text)),
    ));
    padded
}

/// The text cut to this many columns, with an ellipsis if something is missing.
#[must_use]
pub fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for character in text.chars() {
        let wide = character.width().unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        kept.push(character);
    }
    kept.push('…');
    kept
}

/// The text in lines of at most `width` columns, broken at spaces, and inside a word only if it is longer than a
/// line. Line feeds of the text are kept, and the
/// indent of what they begin. Never empty.
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let indent = paragraph.len() - paragraph.trim_start_matches(' ').len();
        let (indent, words) = paragraph.split_at(indent.min(width / 2));
        let mut line = indent.to_owned();
        for word in words.split(' ') {
            let mut word = word;
            loop {
                let space = usize::from(!line.trim_start().is_empty());
                if columns(&line) + space + columns(word) <= width {
                    if space == 1 {
                        line.push(' ');
                    }
                    line.push_str(word);
                    break;
                }
                // A long word starts on a line of its own, unless more than a third of this one is free.
                let room = width.saturating_sub(columns(&line) + space);
                if space == 1 && (columns(word) <= width || room * 3 < width) {
                    lines.push(std::mem::replace(&mut line, indent.to_owned()));
                    continue;
                }
                let (head, tail) = split_at_columns(word, room);
                if space == 1 {
                    line.push(' ');
                }
                line.push_str(head);
                lines.push(std::mem::replace(&mut line, indent.to_owned()));
                word = tail;
            }
        }
        lines.push(line);
    }
    lines
}

/// At least one character, at most `width` columns.
fn split_at_columns(word: &str, width: usize) -> (&str, &str) {
    let mut used = 0;
    for (at, character) in word.char_indices() {
        used += character.width().unwrap_or(0);
        if used > width && at > 0 {
            return word.split_at(at);
        }
    }
    word.split_at(word.len())
}

/// Bytes in quotes (single ones around JSON, which is full of the other): text as text, everything else escaped; at most `most` characters of it, then how many bytes there are.
#[must_use]
pub fn quoted(bytes: &[u8], most: usize) -> String {
    let quote = if bytes.contains(&b'"') && !bytes.contains(&b'\'') {
        '\''
    } else {
        '"'
    };
    let mut text = String::from(quote);
    let mut used = 0;
    let mut rest = bytes;
    let mut whole = true;
    'all: while !rest.is_empty() {
        let (valid, bad) = match std::str::from_utf8(rest) {
            Ok(valid) => (valid, 0),
            Err(error) => {
                let (valid, _) = rest.split_at(error.valid_up_to());
                let bad = error.error_len().unwrap_or(rest.len() - valid.len());
                // The bytes up to there were just found to be valid.
                (std::str::from_utf8(valid).unwrap_or_default(), bad)
            }
        };
        for character in valid.chars() {
            let shown = if character == '"' && quote == '\'' {
                "\"".to_owned()
            } else {
                shown(character)
            };
            used += columns(&shown);
            if used > most {
                whole = false;
                break 'all;
            }
            text.push_str(&shown);
        }
        for byte in &rest[valid.len()..valid.len() + bad] {
            used += 4;
            if used > most {
                whole = false;
                break 'all;
            }
            let _ = write!(text, "\\x{byte:02x}");
        }
        rest = &rest[valid.len() + bad..];
    }
    if !whole {
        text.push('…');
    }
    text.push(quote);
    if !whole {
        let _ = write!(text, " ({} bytes)", thousands(bytes.len() as u64));
    }
    text
}

fn shown(character: char) -> String {
    match character {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        // Characters that take no column could hide or move text on a terminal.
        c if c.is_control()
            || c.width().unwrap_or(0) == 0
            || matches!(c, '\u{2028}' | '\u{2029}') =>
        {
            if c.is_ascii() {
                format!("\\x{:02x}", u32::from(c))
            } else {
                format!("\\u{{{:x}}}", u32::from(c))
            }
        }
        c => c.to_string(),
    }
}

/// Text of a stranger made safe for a terminal: controls escaped, line feeds kept.
#[must_use]
pub fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | ' '..='~' => safe.push(character),
            '\t' => safe.push(' '),
            other if other.is_control() || other.width().unwrap_or(0) == 0 => {
                safe.push_str(&shown(other));
            }
            other => safe.push(other),
        }
    }
    safe
}

/// A number with its thousands apart: `1,048,576`.
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Text of several lines in one.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `1 case`, `2 cases`.
#[must_use]
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        thousands(number as u64),
        if number == 1 { one } else { many }
    )
}

/// Wall time: seconds with one decimal, milliseconds below one.
#[must_use]
pub fn seconds(ms: u64) -> String {
    if ms < 1_000 {
        format!("{ms} ms")
    } else {
        format!("{}.{} s", ms / 1000, ms % 1000 / 100)
    }
}

/// A span of time: milliseconds below ten seconds, then seconds, with one decimal unless they are whole.
#[must_use]
pub fn span_ms(ms: u64) -> String {
    if ms < 10_000 {
        format!("{ms} ms")
    } else if ms.is_multiple_of(1000) {
        format!("{} s", ms / 1000)
    } else {
        format!("{}.{} s", ms / 1000, ms % 1000 / 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_breaks_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("a\nb", 9), ["a", "b"]);
        assert_eq!(wrap("", 9), [""]);
        assert_eq!(wrap("  at line 3", 9), ["  at line", "  3"]);
        for line in wrap("a very/long/path/that/never/ends 漢字漢字漢字漢字 x", 9) {
            assert!(columns(&line) <= 9, "{line}");
        }
    }

    #[test]
    fn bytes_are_quoted_so_that_nothing_is_hidden() {
        assert_eq!(quoted(b"one\n", 40), r#""one\n""#);
        assert_eq!(quoted(br#"{"a":1}"#, 40), r#"'{"a":1}'"#);
        assert_eq!(quoted(b"\xe2\x82", 40), r#""\xe2\x82""#);
        assert_eq!(
            quoted("a\u{2028}\u{1b}[1m".as_bytes(), 40),
            r#""a\u{2028}\x1b[1m""#
        );
        assert_eq!(quoted(&[b'x'; 5000], 3), r#""xxx…" (5,000 bytes)"#);
    }

    #[test]
    fn cutting_says_that_something_is_missing() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_048_576), "1,048,576");
        assert_eq!(span_ms(250), "250 ms");
        assert_eq!(span_ms(12_345), "12.3 s");
        assert_eq!(span_ms(10_000), "10 s");
    }
}
