//! What a line of a raw stream may be handed over as.

use crate::{
    contract::line::{
        Decoded, Meaning, Reader, Whole, decode,
        json::{self, Line as JsonLine, Object, Value},
        whole,
    },
    observed::ClientEvent,
};

/// One line, or the unterminated end of the body.
pub(super) struct RawLine {
    /// Every right way to take it.
    pub(super) ways: Vec<Way>,
    /// Requirements about it, the nearest first.
    pub(super) rules: Vec<&'static str>,
    /// What it is, for people.
    pub(super) what: String,
}

/// A way to take a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Nothing is handed over.
    Skip,
    /// Nothing is handed over, although a `should` asks for it.
    SkipAgainst(&'static str),
    /// The client raises an error and is done.
    Fail,
    /// An event.
    Event(Spec),
}

/// What an event must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Spec {
    /// `data`, fields unchanged.
    Data {
        /// The number as it stands, where it is one.
        seq: Option<String>,
        /// The stream as it stands, where it is text.
        stream: Option<String>,
        /// The bytes; none where the text is no base64.
        data: Option<Vec<u8>>,
    },
    /// `exit`.
    Exit {
        /// The code as it stands, where it is a number.
        code: Option<String>,
        /// The signal as it stands, where it is text.
        signal: Option<String>,
    },
    /// `heartbeat`.
    Heartbeat,
    /// `error`.
    Error,
    /// Anything but data with bytes, and no exit.
    Other,
}

impl Spec {
    /// Whether an event is it.
    pub(super) fn is(&self, event: &ClientEvent) -> bool {
        match self {
            Self::Data { seq, stream, data } => {
                let same_seq = match (seq, &event.seq) {
                    (Some(seq), Some(said)) => same_number(seq, said),
                    (Some(_), None) => false,
                    // What is no number has no digits to keep.
                    (None, _) => true,
                };
                let same_stream = stream.is_none() || *stream == event.stream;
                let same_data = match (data, &event.data) {
                    (Some(data), Some(said)) => *data == said.0,
                    (Some(data), None) => data.is_empty(),
                    (None, said) => said.is_none(),
                };
                event.kind == "data" && same_seq && same_stream && same_data
            }
            Self::Exit { code, signal } => {
                let same_code = match (code, &event.exit_code) {
                    (Some(code), Some(serde_json::Value::Number(said))) => {
                        same_number(code, &said.to_string())
                    }
                    (Some(code), _) => !is_code(code),
                    (None, Some(serde_json::Value::Number(_))) => false,
                    (None, _) => true,
                };
                let same_signal = match (signal, &event.signal) {
                    (Some(signal), Some(serde_json::Value::String(said))) => signal == said,
                    (Some(_), _) => false,
                    (None, Some(serde_json::Value::String(said))) => said.is_empty(),
                    (None, _) => true,
                };
                event.kind == "exit" && same_code && same_signal
            }
            Self::Heartbeat => event.kind == "heartbeat",
            Self::Error => event.kind == "error",
            Self::Other => match event.kind.as_str() {
                "data" => event.data.is_none(),
                "exit" | "heartbeat" => false,
                _ => true,
            },
        }
    }

    /// In words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Data { seq, stream, data } => format!(
                "data seq {} {} {}",
                seq.as_deref().unwrap_or("?"),
                stream.as_deref().unwrap_or("?"),
                data.as_ref().map_or_else(
                    || "without bytes".to_owned(),
                    |data| crate::judge::words::bytes(data)
                )
            ),
            Self::Exit { code, signal } => format!(
                "exit code {}, signal {}",
                code.as_deref().unwrap_or("none"),
                signal.as_deref().unwrap_or("none")
            ),
            Self::Heartbeat => "a heartbeat".to_owned(),
            Self::Error => "an error".to_owned(),
            Self::Other => "an event of another kind".to_owned(),
        }
    }
}

/// An event in words.
pub(super) fn event_words(event: &ClientEvent) -> String {
    let text = |value: &Option<serde_json::Value>| {
        value
            .as_ref()
            .map_or_else(|| "absent".to_owned(), ToString::to_string)
    };
    match event.kind.as_str() {
        "data" => Spec::Data {
            seq: event.seq.clone(),
            stream: event.stream.clone(),
            data: event.data.as_ref().map(|data| data.0.clone()),
        }
        .words(),
        "exit" => format!(
            "exit code {}, signal {}",
            text(&event.exit_code),
            text(&event.signal)
        ),
        other => format!("an event of kind `{}`", crate::judge::words::short(other)),
    }
}

/// Reads a line without its LF.
pub(super) fn read(reader: &Reader, line: &[u8], first: bool) -> RawLine {
    let reading = reader.read(line, first);
    let fails = reading
        .alternatives
        .iter()
        .any(|one| matches!(&one.meaning, Meaning::Broken(_)));
    let nothing = reading
        .alternatives
        .iter()
        .any(|one| one.meaning == Meaning::Nothing && one.blemish.is_none());
    let object = without_mark(line, first);
    let JsonLine::Object(object) = json::read(object) else {
        let (ways, what) = if nothing {
            let mut ways = vec![Way::Skip];
            if fails {
                ways.push(Way::Fail);
            }
            (ways, "a blank line")
        } else {
            (
                vec![Way::Fail, Way::Event(Spec::Error)],
                "a line that is no JSON object",
            )
        };
        return RawLine {
            ways,
            rules: if nothing {
                vec!["raw/lines", "raw/segmentation"]
            } else {
                vec!["raw/invalid-visible", "raw/lines"]
            },
            what: what.to_owned(),
        };
    };
    let mut line = of_object(&object);
    if object.has_doubles() {
        line.ways.extend(of_object(&object.first_wins()).ways);
        line.ways.push(Way::Fail);
    }
    let long = reading.touches.contains(&"frames/long-line");
    let odd = object.damaged_text || object.huge_number || object.depth > 64;
    let marked = first && line_is_marked(&reading.touches) && fails;
    if odd || (long && fails) || marked {
        line.ways.push(Way::Fail);
    }
    for touched in reading.touches {
        match touched {
            "frames/lines" => line.rules.push("raw/lines"),
            "frames/extra-fields" => line.rules.push("raw/combined"),
            _ => {}
        }
    }
    line.rules.push("raw/segmentation");
    line
}

fn line_is_marked(touches: &[&'static str]) -> bool {
    touches.contains(&"frames/lines")
}

fn without_mark(line: &[u8], first: bool) -> &[u8] {
    if first {
        line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
    } else {
        line
    }
}

fn of_object(object: &Object) -> RawLine {
    let kind = match object.get("type") {
        Some(Value::Text(kind)) => kind.as_str(),
        _ => "",
    };
    match kind {
        "data" => data(object),
        "exit" => exit(object),
        "heartbeat" => RawLine {
            ways: vec![Way::Event(Spec::Heartbeat), Way::Skip],
            rules: vec!["raw/combined", "raw/long-stream", "raw/faithful"],
            what: "a heartbeat".to_owned(),
        },
        "error" => RawLine {
            ways: vec![Way::Event(Spec::Error), Way::Fail],
            rules: vec!["raw/error-frame-visible"],
            what: "an error frame".to_owned(),
        },
        _ => RawLine {
            ways: vec![
                Way::Event(Spec::Other),
                Way::Fail,
                Way::SkipAgainst("raw/unknown-visible"),
            ],
            rules: vec!["raw/unknown-visible", "raw/invalid-visible"],
            what: "an event of unknown type".to_owned(),
        },
    }
}

fn data(object: &Object) -> RawLine {
    let mut ways = Vec::new();
    let mut rules = vec!["raw/faithful"];
    let seq = match object.get("seq") {
        Some(Value::Number(text)) => Some(text.clone()),
        _ => None,
    };
    let sound_seq = seq
        .as_deref()
        .is_some_and(|text| matches!(whole(text), Whole::Plain(1..=9_007_199_254_740_991)));
    let stream = match object.get("stream") {
        Some(Value::Text(name)) => Some(name.clone()),
        _ => None,
    };
    let known_stream = stream
        .as_deref()
        .is_some_and(|name| fake_server::wire::StreamName::from_name(name).is_some());
    let decoded = match object.get("data_base64") {
        Some(Value::Text(text)) => decode(text),
        _ => Decoded::Invalid,
    };
    let what = match &decoded {
        Decoded::Exact(bytes) | Decoded::SpareBits(bytes) => {
            ways.push(Way::Event(Spec::Data {
                seq: seq.clone(),
                stream: stream.clone(),
                data: Some(bytes.clone()),
            }));
            if !sound_seq {
                // A number that no counter can be may be left out, but never changed.
                ways.push(Way::Event(Spec::Other));
            }
            "data"
        }
        Decoded::Invalid => {
            rules.insert(0, "raw/base64-visible");
            ways.push(Way::Event(Spec::Data {
                seq: None,
                stream: None,
                data: None,
            }));
            ways.push(Way::Event(Spec::Other));
            "data that is no base64"
        }
    };
    let sound = sound_seq && known_stream && matches!(decoded, Decoded::Exact(_));
    if !sound {
        ways.push(Way::Fail);
    }
    RawLine {
        ways,
        rules,
        what: seq.map_or_else(|| what.to_owned(), |seq| format!("{what} with seq {seq}")),
    }
}

fn exit(object: &Object) -> RawLine {
    let code = match object.get("exit_code") {
        Some(Value::Number(text)) => Some(text.clone()),
        _ => None,
    };
    let signal = match object.get("signal") {
        Some(Value::Text(name)) if !name.is_empty() => Some(name.clone()),
        _ => None,
    };
    let empty = |value: Option<&Value>| matches!(value, None | Some(Value::Null));
    let sound_code = code.as_deref().is_some_and(is_code) || empty(object.get("exit_code"));
    let sound_signal = match object.get("signal") {
        Some(Value::Text(name)) => !name.is_empty(),
        value => empty(value),
    };
    let mut ways = vec![Way::Event(Spec::Exit {
        code: code.clone(),
        signal: signal.clone(),
    })];
    let nothing = code.is_none() && signal.is_none();
    if !sound_code || !sound_signal || nothing {
        ways.push(Way::Fail);
    }
    RawLine {
        ways,
        rules: vec!["raw/exit-visible", "raw/faithful"],
        what: "an exit".to_owned(),
    }
}

/// A number from 0 to 255.
fn is_code(text: &str) -> bool {
    matches!(whole(text), Whole::Plain(0..=255))
}

fn same_number(one: &str, other: &str) -> bool {
    let value = |text| match whole(text) {
        Whole::Plain(value) | Whole::Written(value) => Some(value),
        Whole::Fraction | Whole::Beyond => None,
    };
    match (value(one), value(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}
