//! One line to one frame. Values stay raw text until a rule asks for them.

use super::{
    bug::{Bug, Quirk},
    failure::{Failure, Kind},
    object::{NoObject, Object},
};

/// A frame of `connect`, its fields as raw JSON texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame<'a> {
    Data {
        seq: Option<&'a str>,
        stream: Option<&'a str>,
        payload: Option<&'a str>,
    },
    Heartbeat {
        seq: Option<&'a str>,
    },
    Error {
        code: Option<&'a str>,
        oldest: Option<&'a str>,
    },
    Exit {
        code: Option<&'a str>,
        signal: Option<&'a str>,
    },
    Unknown,
}

/// Why a line is no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoFrame {
    /// It could become one if it went on.
    Unfinished,
    /// It is no JSON object, or one with a key twice.
    Invalid,
}

impl NoFrame {
    pub(super) fn failure(self) -> Failure {
        Failure::new(
            Kind::FrameInvalid,
            "the output stream has a line that is no frame (a JSON object with each key once)",
        )
    }
}

/// Reads one line; `None` where nothing stands on it.
pub(super) fn read(line: &[u8], quirk: Quirk) -> Result<Option<Frame<'_>>, NoFrame> {
    let carriage = line.last() == Some(&b'\r');
    let blank = line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
    if quirk.is(Bug::BlankLineRefused) && (blank || carriage) {
        return Err(NoFrame::Invalid);
    }
    if blank {
        return Ok(None);
    }
    match object(line) {
        Err(_) if quirk.is(Bug::MalformedLineSkipped) => Ok(None),
        Err(reason) => Err(reason),
        Ok(object) if object.repeated() && !quirk.is(Bug::DuplicateKeysDiffer) => {
            Err(NoFrame::Invalid)
        }
        Ok(object) if quirk.is(Bug::UnknownFieldRefused) && has_unknown(&object) => {
            Err(NoFrame::Invalid)
        }
        Ok(object) => Ok(Some(frame(&object, quirk))),
    }
}

fn object(line: &[u8]) -> Result<Object<'_>, NoFrame> {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        // Cut inside a character: the line may just not be whole yet.
        Err(error) if error.error_len().is_none() => return Err(NoFrame::Unfinished),
        Err(_) => return Err(NoFrame::Invalid),
    };
    Object::parse(text).map_err(|reason| match reason {
        NoObject::Unfinished => NoFrame::Unfinished,
        NoObject::Invalid => NoFrame::Invalid,
    })
}

fn frame<'a>(object: &Object<'a>, quirk: Quirk) -> Frame<'a> {
    let payload = if quirk.is(Bug::DuplicateKeysDiffer) {
        object.first_raw("data_base64")
    } else {
        object.raw("data_base64")
    };
    match object.text("type").as_deref() {
        Some("data") => Frame::Data {
            seq: object.raw("seq"),
            stream: object.raw("stream"),
            payload,
        },
        Some("heartbeat") => Frame::Heartbeat {
            seq: object.raw("seq"),
        },
        Some("error") => Frame::Error {
            code: object.raw("error"),
            oldest: object.raw("oldest_available_seq"),
        },
        Some("exit") => Frame::Exit {
            code: object.raw("exit_code"),
            signal: object.raw("signal"),
        },
        None if quirk.is(Bug::EnvelopeIsEmptyStream) && object.raw("status").is_some() => {
            Frame::Exit {
                code: Some("0"),
                signal: None,
            }
        }
        _ => Frame::Unknown,
    }
}

/// [`Bug::UnknownFieldRefused`]: whether a key is none of the protocol's.
fn has_unknown(object: &Object<'_>) -> bool {
    const KNOWN: [&str; 8] = [
        "type",
        "seq",
        "stream",
        "data_base64",
        "exit_code",
        "signal",
        "error",
        "oldest_available_seq",
    ];
    object.keys().any(|key| !KNOWN.contains(&key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(line: &[u8]) -> Result<Option<Frame<'_>>, NoFrame> {
        read(line, Quirk::default())
    }

    #[test]
    fn the_four_frames_are_read() {
        let data = br#"{"type":"data","seq":1,"stream":"stdout","data_base64":"YQ=="}"#;
        assert_eq!(
            right(data),
            Ok(Some(Frame::Data {
                seq: Some("1"),
                stream: Some("\"stdout\""),
                payload: Some("\"YQ==\""),
            }))
        );
        assert_eq!(
            right(b"{\"type\":\"heartbeat\"}"),
            Ok(Some(Frame::Heartbeat { seq: None }))
        );
        assert_eq!(
            right(br#"{"type":"exit","exit_code":7.0,"signal":null}"#),
            Ok(Some(Frame::Exit {
                code: Some("7.0"),
                signal: Some("null")
            }))
        );
        assert_eq!(
            right(br#"{"type":"error","error":"x","oldest_available_seq":5}"#),
            Ok(Some(Frame::Error {
                code: Some("\"x\""),
                oldest: Some("5")
            }))
        );
    }

    #[test]
    fn an_unknown_missing_or_odd_type_is_unknown() {
        for line in [
            "{\"type\":\"Data\"}",
            "{}",
            "{\"type\":1}",
            "{\"type\":null}",
            "{\"type\":[\"data\"]}",
        ] {
            assert_eq!(right(line.as_bytes()), Ok(Some(Frame::Unknown)), "{line}");
        }
        assert_eq!(
            right(br#"{"t\u0079pe":"heart\u0062eat"}"#),
            Ok(Some(Frame::Heartbeat { seq: None }))
        );
    }

    #[test]
    fn white_space_of_json_is_harmless_and_other_is_not() {
        assert_eq!(right(b" \t\r"), Ok(None));
        assert_eq!(
            right(b" {\"type\":\"heartbeat\"}\r"),
            Ok(Some(Frame::Heartbeat { seq: None }))
        );
        for line in [
            "\u{feff}{\"type\":\"heartbeat\"}",
            "\u{b}",
            "\u{c}",
            "\u{a0}",
            "\u{2028}",
        ] {
            assert_eq!(right(line.as_bytes()), Err(NoFrame::Invalid), "{line:?}");
        }
    }

    #[test]
    fn separators_inside_a_string_are_text() {
        let line = "{\"type\":\"heartbeat\",\"x\":\"\u{2028}\u{2029}\u{85}\"}";
        assert!(matches!(
            right(line.as_bytes()),
            Ok(Some(Frame::Heartbeat { .. }))
        ));
    }

    #[test]
    fn sixty_four_levels_of_an_unknown_field_are_fine() {
        let line = format!(
            "{{\"type\":\"heartbeat\",\"x\":{}{}}}",
            "{\"a\":[".repeat(32),
            "]}".repeat(32)
        );
        assert!(
            matches!(right(line.as_bytes()), Ok(Some(Frame::Heartbeat { .. }))),
            "{line}"
        );
    }

    #[test]
    fn invalid_lines_are_told_from_unfinished_ones() {
        for line in [
            &b"{\"type\":\"data\",\"x\":\"\xff\"}"[..],
            b"{}{}",
            b"<html>",
            b"[1]",
            b"{\"a\":1,\"a\":1}",
        ] {
            assert_eq!(right(line), Err(NoFrame::Invalid));
        }
        assert_eq!(right(b"{\"type\":\"da"), Err(NoFrame::Unfinished));
        assert_eq!(
            right("{\"x\":\"é".as_bytes().split_last().unwrap().1),
            Err(NoFrame::Unfinished)
        );
    }
}
