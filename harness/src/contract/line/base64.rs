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
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut spare = false;
    let groups = text.len() / 4;
    for (index, group) in text.chunks_exact(4).enumerate() {
        let padding = group
            .iter()
            .rev()
            .take_while(|letter| **letter == b'=')
            .count();
        if padding > 2 || (padding > 0 && index + 1 < groups) {
            return Decoded::Invalid;
        }
        let mut bits: u32 = 0;
        for letter in &group[..4 - padding] {
            let Some(value) = value(*letter) else {
                return Decoded::Invalid;
            };
            bits = bits << 6 | value;
        }
        bits <<= 6 * padding;
        let [_, first, second, third] = bits.to_be_bytes();
        match padding {
            0 => bytes.extend([first, second, third]),
            1 => {
                bytes.extend([first, second]);
                spare |= third != 0;
            }
            _ => {
                bytes.push(first);
                spare |= second != 0 || third != 0;
            }
        }
    }
    if spare {
        Decoded::SpareBits(bytes)
    } else {
        Decoded::Exact(bytes)
    }
}

fn value(letter: u8) -> Option<u32> {
    let value = match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
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
