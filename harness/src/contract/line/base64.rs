//! Standard, padded base64, strictly.

/// What a text is as base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// Exactly these bytes.
    Exact(Vec<u8>),
    /// These bytes, but the last letter carries bits that belong to nothing: refusing is right too.
    SpareBits(Vec<u8>),
    /// Not standard, padded base64.
    Invalid,
}

/// Decodes by the rules of the contract: the standard alphabet, padding where it belongs and nowhere
/// else, no white space. The empty text is no bytes.
#[must_use]
pub fn decode(text: &str) -> Decoded {
    let text = text.as_bytes();
    if !text.len().is_multiple_of(4) {
        return Decoded::Invalid;
    }
    let padding = match text {
        [.., b'=', b'='] => 2,
        [.., b'='] => 1,
        _ => 0,
    };
    let whole = text.len() / 4 - usize::from(padding > 0);
    let (whole, last) = text.split_at(whole * 4);
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in whole.chunks_exact(4) {
        // Written out: with `bits` a long line costs three times as much in a build without optimisation.
        let [first, second, third, fourth] = [
            VALUES[group[0] as usize],
            VALUES[group[1] as usize],
            VALUES[group[2] as usize],
            VALUES[group[3] as usize],
        ];
        if (first | second | third | fourth) == NO_LETTER {
            return Decoded::Invalid;
        }
        bytes.push(first << 2 | second >> 4);
        bytes.push(second << 4 | third >> 2);
        bytes.push(third << 6 | fourth);
    }
    if padding == 0 {
        return Decoded::Exact(bytes);
    }
    let Some(bits) = bits(&last[..4 - padding]) else {
        return Decoded::Invalid;
    };
    let group = (bits << (6 * padding)).to_be_bytes();
    // The letters of the last group hold 3 - padding bytes; what they hold beyond belongs to nothing.
    let (ours, spare) = group[1..].split_at(3 - padding);
    bytes.extend_from_slice(ours);
    if spare.iter().any(|byte| *byte != 0) {
        Decoded::SpareBits(bytes)
    } else {
        Decoded::Exact(bytes)
    }
}

/// The bits of up to four letters, the first on top.
fn bits(letters: &[u8]) -> Option<u32> {
    let mut bits = 0;
    for letter in letters {
        let value = VALUES[usize::from(*letter)];
        if value == NO_LETTER {
            return None;
        }
        bits = bits << 6 | u32::from(value);
    }
    Some(bits)
}

const NO_LETTER: u8 = 0xff;

/// What each byte is worth as a letter. A table, because lines of a megabyte are judged in builds without optimisation.
static VALUES: [u8; 256] = values();

const fn values() -> [u8; 256] {
    let mut values = [NO_LETTER; 256];
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut value: u8 = 0;
    while value < 64 {
        values[letters[value as usize] as usize] = value;
        value += 1;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_text_is_exact() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
        ] {
            assert_eq!(decode(text), Decoded::Exact(bytes.into()), "{text}");
        }
        assert_eq!(decode("+/+/"), Decoded::Exact(vec![0xfb, 0xff, 0xbf]));
    }

    #[test]
    fn spare_bits_are_told_apart() {
        assert_eq!(decode("Zh=="), Decoded::SpareBits(b"f".to_vec()));
        assert_eq!(decode("Zm9="), Decoded::SpareBits(b"fo".to_vec()));
    }

    #[test]
    fn everything_else_is_invalid() {
        for text in [
            "Z", "Zg", "Zg=", "Zg===", "=", "====", "Zg==Zg==", "Zm8=Zm8=", "Z===", "Zm 9v",
            "Zm9v\n", "-_-_", "Zm*v", "Zm9é", "=Zm9", "Z=g=",
        ] {
            assert_eq!(decode(text), Decoded::Invalid, "{text}");
        }
    }
}
