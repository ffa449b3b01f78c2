//! Frames that must end the call, and frames about which the contract leaves a choice.

use super::frames::{Script, fields};
use fake_server::script::model::{End, FrameRef, Span, Step};
use serde_json::{Value, json};

/// Values of `seq` that are none.
const BAD_SEQ: &[&str] = &[
    "0",
    "-1",
    "1.5",
    "\"SEQ\"",
    "true",
    "null",
    "[]",
    "{}",
    "\"\"",
    "1e400",
    "-0",
    "123456789012345678901234567890",
];
/// Payloads that are no base64, and one with spare bits.
const BAD_PAYLOAD: &[&str] = &[
    "\"b25lCg\"",
    "\"b25lCg=\"",
    "\"b25lCg===\"",
    "\"b2=5\"",
    "\"b25l\\nCg==\"",
    "\"b25l Cg==\"",
    "\"-_-_\"",
    "\"b25lC\"",
    "\"!!!!\"",
    "\"=\"",
    "\"b25lCh==\"",
    "7",
    "null",
    "true",
    "[]",
    "\"é\"",
];
/// Names that are no stream of a pipe process.
const BAD_STREAM: &[&str] = &[
    "\"stdin\"",
    "\"STDOUT\"",
    "\"stdout \"",
    "\"pty\"",
    "\"\"",
    "null",
    "1",
    "[\"stdout\"]",
];
/// Types that nobody knows.
const BAD_TYPE: &[&str] = &[
    "\"log\"",
    "\"DATA\"",
    "\"exited\"",
    "\"\"",
    "null",
    "7",
    "[\"data\"]",
];
/// Lines that are no JSON object, and some about which one may think so or not.
const BAD_LINE: &[&[u8]] = &[
    b"x\n",
    b"null\n",
    b"[]\n",
    b"{\n",
    b"{}{}\n",
    b"\"data\"\n",
    b"42\n",
    b"NaN\n",
    b"{\"type\":\"heartbeat\"\n",
    b"{\"type\":\"heartbeat\",}\n",
    b"{'type':'heartbeat'}\n",
    b"data: {\"type\":\"heartbeat\"}\n",
    b"{\"type\":\"heartbeat\"} x\n",
    b"{\"type\":\"hea\xffrtbeat\"}\n",
    b"{\"type\":\"heartbeat\",\"note\":\"\xed\xa0\x80\"}\n",
    b"{\"type\":\"heartbeat\",\"note\":\"a\tb\"}\n",
    b"\xef\xbb\xbf{\"type\":\"heartbeat\"}\n",
    b"{}\n",
    b"\x00\n",
    b"\xc2\xa0\n",
];
/// Statuses that are none, or that need care.
const BAD_EXIT: &[(&str, &str)] = &[
    ("null", "null"),
    ("-1", "null"),
    ("256", "null"),
    ("1.5", "null"),
    ("7.0", "null"),
    ("\"0\"", "null"),
    ("true", "null"),
    ("[]", "null"),
    ("null", "\"sigkill\""),
    ("null", "\"SIG\""),
    ("null", "\"KILL\""),
    ("null", "\"\""),
    ("null", "\"SIGKILL\\n\""),
    ("null", "9"),
    ("0", "\"sigkill\""),
    ("0", "7"),
    ("256", "\"SIGTERM\""),
    ("4294967296", "null"),
];
/// Codes of error frames.
const ERRORS: &[&str] = &[
    "internal",
    "boom",
    "stream_failed",
    "",
    "{canary}",
    "Not A Code!",
];

/// Something wrong where the next frame belongs. Tells whether a right client may go on after it.
pub(super) fn step(script: &mut Script<'_, '_>) {
    #[derive(Clone, Copy)]
    enum Kind {
        Gap,
        Swap,
        Field,
        Line,
        DoubleKey,
        Error,
        Expired,
        Exit,
        Missing,
    }
    script.catch_up();
    let kind = script.dice.weighted(&[
        (18, Kind::Gap),
        (8, Kind::Swap),
        (30, Kind::Field),
        (12, Kind::Line),
        (4, Kind::DoubleKey),
        (8, Kind::Error),
        (6, Kind::Expired),
        (9, Kind::Exit),
        (5, Kind::Missing),
    ]);
    let next = script.at + 1;
    match kind {
        Kind::Gap if next < script.last() => {
            let to = script.dice.between(next + 1, script.last());
            script.push(Step::SendOne(FrameRef::Seq(to)));
        }
        Kind::Swap if next < script.last() => {
            script.push(Step::SendOne(FrameRef::Seq(next + 1)));
            script.push(Step::SendOne(FrameRef::Seq(next)));
        }
        Kind::Field if next <= script.last() => {
            let step = bad_field(script, next);
            script.push(step);
        }
        Kind::DoubleKey if next <= script.last() => {
            let line = script.line(FrameRef::Seq(next));
            let text = String::from_utf8_lossy(&line);
            let twice = match script.dice.below(3) {
                0 => text.replacen("{\"type\"", "{\"type\":\"heartbeat\",\"type\"", 1),
                1 => text.replacen("\"seq\"", "\"seq\":999,\"seq\"", 1),
                _ => text.replacen(
                    "\"data_base64\"",
                    "\"data_base64\":\"eA==\",\"data_base64\"",
                    1,
                ),
            };
            script.push(Step::Raw {
                bytes: twice.as_bytes().into(),
                is: Some(FrameRef::Seq(next)),
            });
        }
        Kind::Missing if next <= script.last() => {
            let field = script
                .dice
                .one_of(&["type", "seq", "stream", "data_base64"]);
            script.push(Step::Edited {
                frame: FrameRef::Seq(next),
                with: serde_json::Map::new(),
                without: vec![field.to_owned()],
            });
        }
        Kind::Error => {
            let code = script.dice.one_of(ERRORS).to_owned();
            script.push(Step::Error { code, oldest: None });
        }
        Kind::Expired => {
            let oldest = match script.dice.below(4) {
                0 => None,
                1 => Some(json!("2")),
                _ => Some(Value::from(next.saturating_add(script.dice.below(3)))),
            };
            script.push(Step::Error {
                code: "output_offset_expired".to_owned(),
                oldest,
            });
        }
        Kind::Exit => {
            // Behind the whole output, so that only the status is in question.
            if script.dice.percent(70) {
                script.forward(script.last());
            }
            let (code, signal) = script.dice.one_of(BAD_EXIT);
            let line = format!("{{\"type\":\"exit\",\"exit_code\":{code},\"signal\":{signal}}}\n");
            script.push(Step::Raw {
                bytes: line.as_str().into(),
                is: None,
            });
        }
        Kind::Gap | Kind::Swap | Kind::Field | Kind::DoubleKey | Kind::Missing | Kind::Line => {
            let bytes = script.dice.one_of(BAD_LINE).into();
            script.push(Step::Raw { bytes, is: None });
        }
    }
}

/// The true frame with one field that is wrong.
fn bad_field(script: &mut Script<'_, '_>, seq: u64) -> Step {
    let frame = FrameRef::Seq(seq);
    let (key, text) = match script.dice.below(8) {
        0..=2 => ("seq", script.dice.one_of(BAD_SEQ)),
        3..=5 => ("data_base64", script.dice.one_of(BAD_PAYLOAD)),
        6 => ("stream", script.dice.one_of(BAD_STREAM)),
        _ => ("type", script.dice.one_of(BAD_TYPE)),
    };
    let text = text.replace("SEQ", &seq.to_string());
    // TOML has neither null nor numbers beyond 64 bits: those go as raw text.
    match serde_json::from_str(&text) {
        Ok(value) if is_toml(&value) => Step::Edited {
            frame,
            with: fields(&[(key, value)]),
            without: Vec::new(),
        },
        _ => {
            let line = script.line(frame);
            let whole: serde_json::Map<String, Value> =
                serde_json::from_slice(&line).unwrap_or_default();
            let members: Vec<String> = whole
                .iter()
                .map(|(name, value)| {
                    let value = if name == key {
                        text.clone()
                    } else {
                        value.to_string()
                    };
                    format!("\"{name}\":{value}")
                })
                .collect();
            Step::Raw {
                bytes: format!("{{{}}}\n", members.join(",")).as_str().into(),
                is: Some(frame),
            }
        }
    }
}

fn is_toml(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Number(number) => {
            number.is_i64() || number.as_f64().is_some_and(|it| it.abs() < 1e15)
        }
        _ => true,
    }
}

/// What comes after something that decides the call: the good frames, or silence, or the end.
pub(super) fn aftermath(script: &mut Script<'_, '_>) {
    if script.dice.percent(55) {
        script.push(Step::Send(Span::Rest));
    }
    let end = script.dice.weighted(&[
        (3, End::Hold),
        (2, End::Fin),
        (2, End::Reset),
        (3, End::Chunk),
    ]);
    script.end(end);
}
