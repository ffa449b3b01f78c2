//! The rules for single values: seq, payload, stream name, exit status. Raw JSON text in, value or failure out.

use super::{
    bug::{Bug, Quirk},
    failure::{Failure, Kind},
    object,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};

/// Largest seq that every client can carry exactly.
const SEQ_MAX: u64 = (1 << 53) - 1;

/// How a process ended. At least one of the two is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) code: Option<i64>,
    pub(super) signal: Option<String>,
}

/// A seq: digits without a leading zero, from 1 to 2^53 - 1. `5.0` and `5e0` are refused.
pub(super) fn seq(raw: Option<&str>, quirk: Quirk) -> Result<u64, Failure> {
    let invalid = || {
        Failure::new(
            Kind::SequenceInvalid,
            "an output frame has no valid sequence number (an integer from 1 to 2^53-1)",
        )
    };
    let raw = raw.ok_or_else(invalid)?;
    if quirk.is(Bug::SeqAsFloat) {
        // The largest float below 2^64 is far from u64's edge, and `as` saturates.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the bug itself"
        )]
        return raw
            .parse::<f64>()
            .map(|seq| seq as u64)
            .map_err(|_| invalid());
    }
    let raw = if quirk.is(Bug::SeqCoerced) {
        raw.trim_matches('"').trim_end_matches(".0")
    } else {
        raw
    };
    if !raw.bytes().all(|byte| byte.is_ascii_digit()) || raw.starts_with('0') {
        return Err(invalid());
    }
    match raw.parse::<u64>() {
        Ok(seq) if quirk.is(Bug::SeqWraps) => Ok(seq & u64::from(u32::MAX)),
        Ok(seq) if seq <= SEQ_MAX => Ok(seq),
        _ => Err(invalid()),
    }
}

/// A payload: standard, padded base64 in a string. Empty is a payload too.
pub(super) fn payload(raw: Option<&str>, quirk: Quirk) -> Result<Vec<u8>, Failure> {
    let invalid = || {
        Failure::new(
            Kind::OutputInvalid,
            "an output frame's data is no standard, padded base64",
        )
    };
    let text = raw.and_then(object::string).ok_or_else(invalid)?;
    if quirk.is(Bug::EmptyPayloadRefused) && text.is_empty() {
        return Err(invalid());
    }
    if quirk.is(Bug::LenientBase64) {
        return Ok(lenient(&text));
    }
    STANDARD.decode(text).map_err(|_| invalid())
}

/// The stream's name, one of those that this kind of process has.
pub(super) fn stream(
    raw: Option<&str>,
    known: &'static [&'static str],
    quirk: Quirk,
) -> Result<&'static str, Failure> {
    let name = raw.and_then(object::string);
    match known.iter().find(|known| Some(**known) == name.as_deref()) {
        Some(name) => Ok(name),
        None if quirk.is(Bug::UnknownStreamIsStdout) => Ok("stdout"),
        None => Err(Failure::new(
            Kind::OutputInvalid,
            format!(
                "an output frame belongs to none of the streams {}",
                known.join(", ")
            ),
        )),
    }
}

/// An exit status: a code from 0 to 255, a signal's name, or both.
pub(super) fn status(
    code: Option<&str>,
    signal: Option<&str>,
    quirk: Quirk,
) -> Result<Status, Failure> {
    let mut code = code.and_then(|raw| {
        let digits = raw.bytes().all(|byte| byte.is_ascii_digit());
        raw.parse::<i64>()
            .ok()
            .filter(|code| digits && *code <= 255)
    });
    let mut signal = signal
        .and_then(object::string)
        .filter(|name| is_signal(name));
    if quirk.is(Bug::ZeroIsMissing) {
        code = code.filter(|code| *code != 0);
    }
    if quirk.is(Bug::CodeIsSigned) {
        code = code.map(|code| if code > 127 { code - 256 } else { code });
    }
    if quirk.is(Bug::SignalIsZero) && signal.take().is_some() {
        code.get_or_insert(0);
    }
    if quirk.is(Bug::SignalIsMinusOne) && signal.take().is_some() {
        code.get_or_insert(-1);
    }
    if quirk.is(Bug::MissingStatusIsZero) && signal.is_none() {
        code.get_or_insert(0);
    }
    if code.is_none() && signal.is_none() {
        return Err(Failure::new(
            Kind::ExitStatusMissing,
            "the process ended, but neither an exit code nor a signal was told",
        ));
    }
    Ok(Status { code, signal })
}

/// An error frame's code, where it is safe to quote.
pub(super) fn error_code(raw: Option<&str>) -> Option<String> {
    raw.and_then(object::string).filter(|code| {
        (1..=64).contains(&code.len())
            && code
                .bytes()
                .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    })
}

fn is_signal(name: &str) -> bool {
    name.strip_prefix("SIG").is_some_and(|rest| {
        !rest.is_empty()
            && rest
                .bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
    })
}

/// [`Bug::LenientBase64`]: whatever letters there are.
fn lenient(text: &str) -> Vec<u8> {
    let mut letters: Vec<u8> = text
        .bytes()
        .filter_map(|byte| match byte {
            b'-' => Some(b'+'),
            b'_' => Some(b'/'),
            b'+' | b'/' => Some(byte),
            _ => byte.is_ascii_alphanumeric().then_some(byte),
        })
        .collect();
    if letters.len() % 4 == 1 {
        letters.pop();
    }
    base64::engine::general_purpose::GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        base64::engine::GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
    )
    .decode(letters)
    .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seq_of(raw: &str) -> Option<u64> {
        seq(Some(raw), Quirk::default()).ok()
    }

    #[test]
    fn seq_is_an_exact_integer_in_range() {
        assert_eq!(seq_of("1"), Some(1));
        assert_eq!(seq_of("9007199254740991"), Some(9_007_199_254_740_991));
        for raw in [
            "0",
            "-1",
            "5.0",
            "5e0",
            "1.5",
            "\"5\"",
            "true",
            "null",
            "[]",
            "9007199254740992",
            "18446744073709551616",
            "",
        ] {
            assert_eq!(seq_of(raw), None, "{raw}");
        }
        assert!(seq(None, Quirk::default()).is_err());
    }

    #[test]
    fn base64_is_standard_and_padded() {
        let decode = |raw: &str| payload(Some(raw), Quirk::default()).ok();
        assert_eq!(decode(r#""""#), Some(vec![]));
        assert_eq!(decode(r#""AP+A/w==""#), Some(vec![0, 255, 128, 255]));
        assert_eq!(decode(r#""YQ\u003d=""#), Some(b"a".to_vec()));
        for raw in [
            "\"YQ\"",
            "\"YQ=\"",
            "\"YQ===\"",
            "\"Y=Q=\"",
            "\"YQ==YQ==\"",
            "\"-_8=\"",
            "\"Y Q==\"",
            "\"YQ==\\n\"",
            "\"Y*==\"",
            "\"Y\"",
            "1",
            "null",
            "[\"YQ==\"]",
            "\"é\"",
        ] {
            assert_eq!(decode(raw), None, "{raw}");
        }
    }

    #[test]
    fn lenient_base64_takes_all_of_that() {
        let decode = |raw: &str| payload(Some(raw), Quirk(Some(Bug::LenientBase64))).ok();
        for raw in ["\"YQ\"", "\"Y Q==\"", "\"Y*Q=\"", "\"YQ===\""] {
            assert_eq!(decode(raw), Some(b"a".to_vec()), "{raw}");
        }
    }

    #[test]
    fn streams_stay_apart() {
        let pipe: &[&str] = &["stdout", "stderr"];
        let name = |raw: &str| stream(Some(raw), pipe, Quirk::default()).ok();
        assert_eq!(name("\"stderr\""), Some("stderr"));
        for raw in ["\"pty\"", "\"STDOUT\"", "\"\"", "1"] {
            assert_eq!(name(raw), None, "{raw}");
        }
    }

    #[test]
    fn exit_status_is_told_as_it_is_or_missing() {
        let read = |code, signal| status(code, signal, Quirk::default()).ok();
        let code = |code| {
            Some(Status {
                code: Some(code),
                signal: None,
            })
        };
        assert_eq!(read(Some("0"), Some("null")), code(0));
        assert_eq!(read(Some("255"), None), code(255));
        assert_eq!(
            read(Some("null"), Some("\"SIGKILL\"")),
            Some(Status {
                code: None,
                signal: Some("SIGKILL".to_owned())
            })
        );
        assert_eq!(
            read(Some("1"), Some("\"SIGRT1\"")),
            Some(Status {
                code: Some(1),
                signal: Some("SIGRT1".to_owned())
            })
        );
        for bad in ["null", "-1", "256", "7.0", "true", "\"0\"", "1e0"] {
            for signal in [
                "null",
                "\"sigkill\"",
                "\"SIG\"",
                "\"\"",
                "\"SIGKILL \"",
                "9",
            ] {
                assert_eq!(read(Some(bad), Some(signal)), None, "{bad} {signal}");
            }
        }
    }

    #[test]
    fn an_error_code_is_quoted_only_where_it_is_harmless() {
        assert_eq!(
            error_code(Some("\"output_1\"")),
            Some("output_1".to_owned())
        );
        for raw in ["\"Key skp_x\"", "\"\"", "1"] {
            assert_eq!(error_code(Some(raw)), None);
        }
        assert_eq!(error_code(Some(&format!("\"{}\"", "a".repeat(65)))), None);
    }
}
