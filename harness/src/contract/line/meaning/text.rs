//! White space of lines, the harmless and the odd.

use super::json;

pub(super) fn trim(line: &[u8]) -> &[u8] {
    let start = line
        .iter()
        .position(|byte| !json::is_space(*byte))
        .unwrap_or(line.len());
    let end = line
        .iter()
        .rposition(|byte| !json::is_space(*byte))
        .map_or(start, |at| at + 1);
    &line[start..end]
}

/// Nothing but what some readers take for white space: BOM, VT, FF, NBSP, U+2028 and their like.
pub(super) fn is_odd_space(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| {
        text.chars()
            .all(|character| character.is_whitespace() || character == '\u{feff}')
    })
}

pub(super) fn has_unicode_separator(line: &[u8]) -> bool {
    // Most lines are long and plain.
    !line.is_ascii()
        && (line
            .windows(3)
            .any(|bytes| matches!(bytes, [0xe2, 0x80, 0xa8 | 0xa9]))
            || line.windows(2).any(|bytes| bytes == [0xc2, 0x85]))
}
