//! Strict JSON objects whose values stay raw text: `7.0` stays `7.0`, big numbers keep their digits, and
//! a key that stands there twice is seen.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::{borrow::Cow, collections::BTreeMap, fmt};

/// Why a text is no object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoObject {
    /// It could become one if it went on.
    Unfinished,
    /// It is something else.
    Invalid,
}

/// The members of one object. Values are not looked into, however deep they go.
#[derive(Debug)]
pub(super) struct Object<'a>(BTreeMap<Cow<'a, str>, Member<'a>>);

/// A value, and the one that stood at the same key before.
#[derive(Clone, Copy, Debug)]
struct Member<'a> {
    last: &'a RawValue,
    first: Option<&'a RawValue>,
}

impl<'a> Object<'a> {
    /// Reads the one object that `text` is. Equal keys are kept for [`Self::repeated`].
    pub(super) fn parse(text: &'a str) -> Result<Self, NoObject> {
        serde_json::from_str(text).map_err(|error| {
            let begun = text
                .trim_start_matches([' ', '\t', '\r', '\n'])
                .starts_with('{');
            if error.is_eof() && begun {
                NoObject::Unfinished
            } else {
                NoObject::Invalid
            }
        })
    }

    /// The raw text of a member.
    pub(super) fn raw(&self, key: &str) -> Option<&'a str> {
        self.0.get(key).map(|member| member.last.get())
    }

    /// The raw text of the first member with that key.
    pub(super) fn first_raw(&self, key: &str) -> Option<&'a str> {
        let member = self.0.get(key)?;
        Some(member.first.unwrap_or(member.last).get())
    }

    /// A member that is a string, unescaped. Absent and of another type are the same here.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        string(self.raw(key)?)
    }

    /// Whether some key stands there twice.
    pub(super) fn repeated(&self) -> bool {
        self.0.values().any(|member| member.first.is_some())
    }

    /// Every key.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(AsRef::as_ref)
    }
}

/// The string that a raw JSON text is.
pub(super) fn string(raw: &str) -> Option<String> {
    serde_json::from_str(raw).ok()
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = BTreeMap::<Cow<'de, str>, Member<'de>>::new();
                while let Some((Key(key), last)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    let first = members
                        .get(&key)
                        .map(|member| member.first.unwrap_or(member.last));
                    members.insert(key, Member { last, first });
                }
                Ok(Object(members))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// A key, borrowed where it has no escapes.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_digits() {
        let object = Object::parse(r#"{"a":9007199254740993,"b":7.0,"c":1e999}"#).unwrap();
        assert_eq!(object.raw("a"), Some("9007199254740993"));
        assert_eq!(object.raw("b"), Some("7.0"));
        assert_eq!(object.raw("c"), Some("1e999"));
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in [
            "[]",
            "null",
            "1",
            "\"a\"",
            "{} {}",
            "{\"a\":1,}",
            "{a:1}",
            "",
            "x",
            "{\"a\":\"\u{1}\"}",
        ] {
            assert_eq!(
                Object::parse(text).unwrap_err(),
                NoObject::Invalid,
                "{text}"
            );
        }
        for text in ["{", "{\"a", "{\"a\":1", " {\"a\":[{"] {
            assert_eq!(
                Object::parse(text).unwrap_err(),
                NoObject::Unfinished,
                "{text}"
            );
        }
    }

    #[test]
    fn equal_keys_are_seen_however_they_are_written() {
        let object = Object::parse(r#"{"a":1,"\u0061":2,"a":3}"#).unwrap();
        assert!(object.repeated());
        assert_eq!(
            (object.first_raw("a"), object.raw("a")),
            (Some("1"), Some("3"))
        );
        assert!(!Object::parse(r#"{"a":{"x":1,"x":2}}"#).unwrap().repeated());
    }

    #[test]
    fn depth_is_no_matter() {
        let deep = format!("{{\"x\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
        assert!(Object::parse(&deep).is_ok());
    }
}
