//! From a line to everything that it may be handed over as.

use super::spec::{RawLine, Spec, Way, is_code};
use crate::contract::line::{
    Decoded, Meaning, Reader, Whole, decode,
    json::{self, Line as JsonLine, Object, Value},
    whole,
};

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
