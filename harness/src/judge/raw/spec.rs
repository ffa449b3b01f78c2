//! What a line of a raw stream may be handed over as.

use crate::{
    contract::line::{Whole, whole},
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
                "a data event (seq {}, {}, {})",
                seq.as_deref().unwrap_or("?"),
                stream.as_deref().unwrap_or("?"),
                data.as_ref().map_or_else(
                    || "no bytes".to_owned(),
                    |data| crate::judge::words::bytes(data)
                )
            ),
            Self::Exit { code, signal } => format!(
                "an exit event (code {}, signal {})",
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
            .filter(|value| !value.is_null())
            .map_or_else(|| "none".to_owned(), ToString::to_string)
    };
    match event.kind.as_str() {
        "data" => Spec::Data {
            seq: event.seq.clone(),
            stream: event.stream.clone(),
            data: event.data.as_ref().map(|data| data.0.clone()),
        }
        .words(),
        "exit" => format!(
            "an exit event (code {}, signal {})",
            text(&event.exit_code),
            text(&event.signal)
        ),
        other => format!("a `{}` event", crate::judge::words::short(other)),
    }
}

/// A number from 0 to 255.
pub(super) fn is_code(text: &str) -> bool {
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
