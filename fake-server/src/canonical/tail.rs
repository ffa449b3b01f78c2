//! Finds the last byte of a stream that a right client needs: an exit, an error, or the first thing
//! that the contract forbids. What follows may or may not have been sent when the client left.
//!
//! This is no judge: it only decides where a text ends. Stopping too early would hide something from
//! a snapshot and nothing else.

use crate::wirelog::Payload;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

/// The longest line that every client has to take.
const LINE_BYTES: usize = 1 << 20;

/// Reads a stream as far as it makes sense.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The last seq in order; none where the request said no cursor.
    cursor: Option<u64>,
    /// A line without its LF so far.
    line: Vec<u8>,
}

impl Reader {
    /// A stream that goes on after this seq.
    pub(super) const fn new(after: Option<u64>) -> Self {
        Self {
            cursor: after,
            line: Vec::new(),
        }
    }

    /// Whole true frames; whether the first of them is the last thing needed.
    pub(super) fn frames(&mut self, from: u64, to: u64) -> bool {
        let is_gap = self.cursor.is_some_and(|cursor| from > cursor + 1);
        let is_glued = !self.line.is_empty();
        self.cursor = self.cursor.max(Some(to));
        is_gap || is_glued
    }

    /// Other bytes; whether the last thing needed is among them.
    pub(super) fn bytes(&mut self, what: Payload, bytes: &[u8]) -> bool {
        if matches!(what, Payload::Exit | Payload::Error) {
            return true;
        }
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if self.line.len() > LINE_BYTES {
                return true;
            }
            if self.line.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                if self.is_last(&line) {
                    return true;
                }
            }
        }
        false
    }

    fn is_last(&mut self, line: &[u8]) -> bool {
        if line.trim_ascii().is_empty() {
            return false;
        }
        let Ok(Value::Object(frame)) = serde_json::from_slice(line) else {
            return true;
        };
        let text = |name: &str| frame.get(name).and_then(Value::as_str);
        match text("type") {
            Some("heartbeat") => false,
            Some("data") => {
                let known = matches!(text("stream"), Some("stdout" | "stderr" | "pty"));
                let decodes = text("data_base64").is_some_and(|data| STANDARD.decode(data).is_ok());
                let seq = frame.get("seq").and_then(Value::as_u64);
                let in_order = seq.is_some_and(|seq| {
                    seq > 0 && self.cursor.is_none_or(|cursor| seq <= cursor + 1)
                });
                self.cursor = self.cursor.max(seq);
                !(known && decodes && in_order)
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: Payload = Payload::Raw(None);

    #[test]
    fn true_frames_heartbeats_and_blank_lines_are_not_the_last() {
        let mut reader = Reader::default();
        assert!(!reader.frames(4, 6));
        assert!(!reader.bytes(Payload::Heartbeat, b"{\"type\":\"heartbeat\"}\n"));
        assert!(!reader.bytes(RAW, b"\r\n \n"));
        let frame = br#"{"type":"data","seq":7,"stream":"stdout","data_base64":"YQ=="}"#;
        assert!(!reader.bytes(RAW, frame));
        assert!(!reader.bytes(RAW, b"\n"));
        assert!(!reader.frames(8, 8));
    }

    #[test]
    fn an_exit_an_error_and_what_is_forbidden_are() {
        for last in [
            &b"{\"type\":\"exit\",\"exit_code\":0,\"signal\":null}\n"[..],
            b"{\"type\":\"error\",\"error\":\"x\"}\n",
            b"no json\n",
            b"[]\n",
            br#"{"type":"data","seq":9,"stream":"stdout","data_base64":"YQ=="}
"#,
            br#"{"type":"data","seq":2,"stream":"else","data_base64":"YQ=="}
"#,
            br#"{"type":"data","seq":2,"stream":"stdout","data_base64":"YQ"}
"#,
        ] {
            let mut reader = Reader::default();
            assert!(!reader.frames(1, 1));
            assert!(reader.bytes(RAW, last), "{}", last.escape_ascii());
        }
        assert!(Reader::default().bytes(Payload::Exit, b"{"));
    }

    #[test]
    fn a_gap_and_a_frame_glued_to_half_a_line_are() {
        let mut reader = Reader::new(Some(0));
        assert!(!reader.frames(1, 2));
        assert!(reader.frames(4, 5));
        assert!(Reader::new(Some(1)).frames(3, 3));
        let mut reader = Reader::default();
        assert!(!reader.bytes(
            Payload::Part(crate::script::model::FrameRef::Seq(1)),
            b"{\"t"
        ));
        assert!(reader.frames(2, 2));
    }
}
