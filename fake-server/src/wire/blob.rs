//! Bytes that serialise as base64, so that a saved plan or log is readable JSON and loses nothing.

use base64::{
    Engine as _, alphabet,
    engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::fmt;

/// Reads what [`STANDARD`] writes. Bits of the last letter that belong to nothing are let pass: an adapter may hand on a
/// payload as it stood in a frame, where they are allowed, and what bytes it means is in no doubt.
const READS: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Any bytes. In JSON a standard, padded base64 string.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Blob(pub Vec<u8>);

impl Blob {
    /// The bytes as standard, padded base64.
    #[must_use]
    pub fn to_base64(&self) -> String {
        STANDARD.encode(&self.0)
    }
}

impl std::ops::Deref for Blob {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for Blob {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<&str> for Blob {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_base64())
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        READS.decode(text).map(Self).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_and_read_again() {
        for (text, bytes) in [
            ("\"\"", &b""[..]),
            ("\"Zg==\"", b"f"),
            ("\"+/+/\"", b"\xfb\xff\xbf"),
        ] {
            let blob: Blob = serde_json::from_str(text).unwrap();
            assert_eq!(blob, Blob::from(bytes));
            assert_eq!(serde_json::to_string(&blob).unwrap(), text);
        }
    }

    #[test]
    fn bits_that_belong_to_nothing_are_let_pass_and_nothing_else_is() {
        let read = |text: &str| serde_json::from_str::<Blob>(&format!("\"{text}\""));
        assert_eq!(read("Zh==").unwrap(), Blob::from("f"));
        for wrong in ["Zg", "Zg=", "Z===", "Zm9v=", "-_-_", "Zm 9v"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
