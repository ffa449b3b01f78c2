//! The envelope of every JSON answer: `{"status":"success","data":..}` or it is no success.

use super::{
    bug::{Bug, Quirk},
    object::Object,
};

/// A success envelope's data, as raw text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Success<'a> {
    data: Option<&'a str>,
}

impl<'a> Success<'a> {
    /// Reads a body; `None` if it is anything but a success envelope with each key once.
    pub(super) fn read(body: &'a [u8], quirk: Quirk) -> Option<Self> {
        let envelope = Object::parse(std::str::from_utf8(body).ok()?).ok()?;
        let success = envelope.text("status").as_deref() == Some("success");
        if (!success && !quirk.is(Bug::EnvelopeUnchecked)) || envelope.repeated() {
            return None;
        }
        Some(Self {
            data: envelope.raw("data"),
        })
    }

    /// The data, if it is an object with each key once.
    pub(super) fn object(self) -> Option<Object<'a>> {
        Object::parse(self.data?)
            .ok()
            .filter(|data| !data.repeated())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process_id(body: &str) -> Option<String> {
        Success::read(body.as_bytes(), Quirk::default())?
            .object()?
            .text("process_id")
    }

    #[test]
    fn only_a_success_envelope_counts() {
        let right = r#" {"status":"success","data":{"process_id":"p"}} "#;
        assert_eq!(process_id(right), Some("p".to_owned()));
        for wrong in [
            r#"{"status":"fail","data":{"process_id":"p"}}"#,
            r#"{"status":"SUCCESS","data":{"process_id":"p"}}"#,
            r#"{"data":{"process_id":"p"}}"#,
            r#"{"status":"success","data":{"process_id":7}}"#,
            r#"{"status":"success","data":null}"#,
            r#"{"status":"success"}"#,
            r#"{"status":"success","data":{"process_id":"p","process_id":"q"}}"#,
            r#"{"status":"success","data":{"process_id":"p"}"#,
            "<html>",
            "",
        ] {
            assert_eq!(process_id(wrong), None, "{wrong}");
        }
    }
}
