//! Reads a JSON body field by field and collects all that is wrong, so that one answer tells everything.

use super::Problem;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// A JSON object being read. `null` counts as absent; unknown fields are ignored.
#[derive(Debug)]
pub struct Fields {
    map: Map<String, Value>,
    mistakes: Vec<(String, String)>,
}

impl Fields {
    /// Reads a body that must be a JSON object.
    ///
    /// # Errors
    /// `Invalid` with the field `body` if it is not JSON or no object.
    pub fn read(body: &[u8]) -> Result<Self, Problem> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(Problem::invalid("body", "is empty: send a JSON object"));
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(map)) => Ok(Self {
                map,
                mistakes: Vec::new(),
            }),
            Ok(other) => Err(Problem::invalid(
                "body",
                format!("is {}: send a JSON object", kind(&other)),
            )),
            Err(error) => Err(Problem::invalid("body", format!("is no JSON: {error}"))),
        }
    }

    /// Reads a body that may be left out (empty or `null`).
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_optional(body: &[u8]) -> Result<Self, Problem> {
        if matches!(body.trim_ascii(), b"" | b"null") {
            return Ok(Self {
                map: Map::new(),
                mistakes: Vec::new(),
            });
        }
        Self::read(body)
    }

    /// Notes a mistake.
    pub fn wrong(&mut self, field: &str, message: impl Into<String>) {
        self.mistakes.push((field.to_owned(), message.into()));
    }

    /// The field, if it is there and not `null`.
    pub fn value(&mut self, field: &str) -> Option<Value> {
        self.map
            .shift_remove(field)
            .filter(|value| !value.is_null())
    }

    /// Whether the field is there and not `null`.
    #[must_use]
    pub fn has(&self, field: &str) -> bool {
        self.map.get(field).is_some_and(|value| !value.is_null())
    }

    /// A string.
    pub fn text(&mut self, field: &str) -> Option<String> {
        match self.value(field)? {
            Value::String(text) => Some(text),
            other => {
                self.wrong(field, format!("is {}, not a string", kind(&other)));
                None
            }
        }
    }

    /// A string that must be there and not be empty; an empty one is returned when it is not.
    pub fn required_text(&mut self, field: &str) -> String {
        let before = self.mistakes.len();
        let text = self.text(field).unwrap_or_default();
        if text.is_empty() && self.mistakes.len() == before {
            self.wrong(field, "is missing or empty");
        }
        text
    }

    /// `true` or `false`.
    pub fn flag(&mut self, field: &str) -> Option<bool> {
        match self.value(field)? {
            Value::Bool(flag) => Some(flag),
            other => {
                self.wrong(field, format!("is {}, not true or false", kind(&other)));
                None
            }
        }
    }

    /// A whole number within a range.
    pub fn integer(&mut self, field: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let value = self.value(field)?;
        let found = value.as_u64().filter(|number| range.contains(number));
        if found.is_none() {
            self.wrong(
                field,
                format!(
                    "must be a whole number from {} to {}",
                    range.start(),
                    range.end()
                ),
            );
        }
        found
    }

    /// A list of strings.
    pub fn texts(&mut self, field: &str) -> Option<Vec<String>> {
        let value = self.value(field)?;
        let texts = value.as_array().and_then(|items| {
            items
                .iter()
                .map(|item| item.as_str().map(str::to_owned))
                .collect()
        });
        if texts.is_none() {
            self.wrong(field, "must be a list of strings");
        }
        texts
    }

    /// An object of strings, in order.
    pub fn pairs(&mut self, field: &str) -> Option<Vec<(String, String)>> {
        let value = self.value(field)?;
        let pairs = value.as_object().and_then(|object| {
            object
                .iter()
                .map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
                .collect()
        });
        if pairs.is_none() {
            self.wrong(field, "must be an object of strings");
        }
        pairs
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// `Invalid` with everything that was noted.
    pub fn finish(self) -> Result<(), Problem> {
        if self.mistakes.is_empty() {
            Ok(())
        } else {
            Err(Problem::Invalid(self.mistakes))
        }
    }
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A query parameter as a whole number.
///
/// # Errors
/// `Invalid` if it is there and is no plain decimal number that fits 64 bits.
pub fn query_integer(query: &[(String, String)], name: &str) -> Result<Option<u64>, Problem> {
    let mut values = query.iter().filter(|(key, _)| key == name);
    let Some((_, text)) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(Problem::invalid(name, "stands in the query more than once"));
    }
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if plain => Ok(Some(number)),
        _ => Err(Problem::invalid(
            name,
            "must be a plain whole number, zero or more",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_mistakes_are_told_at_once() {
        let mut fields = Fields::read(br#"{"a":1,"b":"x","c":[1],"d":null}"#).unwrap();
        assert_eq!(fields.text("a"), None);
        assert_eq!(fields.flag("b"), None);
        assert_eq!(fields.texts("c"), None);
        assert_eq!(fields.required_text("d"), "");
        let Err(Problem::Invalid(mistakes)) = fields.finish() else {
            panic!("four mistakes were made")
        };
        let names: Vec<&str> = mistakes.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
    }

    #[test]
    fn what_is_no_object_is_refused_with_its_kind() {
        for (body, word) in [
            (&b"[]"[..], "a list"),
            (b"3", "a number"),
            (b"", "empty"),
            (b"{", "no JSON"),
            (b"\xff", "no JSON"),
        ] {
            let problem = Fields::read(body).unwrap_err();
            assert!(problem.to_string().contains(word), "{problem}");
        }
        assert!(Fields::read_optional(b" null ").is_ok());
    }

    #[test]
    fn query_numbers_are_plain() {
        let query = |text: &str| vec![("after".to_owned(), text.to_owned())];
        assert_eq!(query_integer(&query("7"), "after"), Ok(Some(7)));
        assert_eq!(query_integer(&[], "after"), Ok(None));
        let twice = [query("7"), query("7")].concat();
        assert!(query_integer(&twice, "after").is_err());
        for text in ["", "+7", "-1", "7.0", " 7", "99999999999999999999999"] {
            assert!(query_integer(&query(text), "after").is_err(), "{text:?}");
        }
    }
}
