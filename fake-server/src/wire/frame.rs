//! Encoding of the frames of `connect`: one JSON object a line, LF.

use super::call::named;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

named! {
    /// Where output belongs.
    StreamName {
        /// Standard output of a pipe process.
        Stdout = "stdout",
        /// Standard error of a pipe process.
        Stderr = "stderr",
        /// The terminal of a PTY process.
        Pty = "pty",
    }
}

named! {
    /// How a process is attached.
    ProcessKind {
        /// stdout and stderr apart.
        Pipe = "pipe",
        /// One terminal.
        Pty = "pty",
    }
}

/// A whole data line with its LF.
#[must_use]
pub fn data_line(seq: u64, stream: StreamName, data: &[u8]) -> Vec<u8> {
    // Streams of a million frames are built of these: one allocation, no formatting of the payload.
    let encoded = data.len().div_ceil(3) * 4;
    let mut line = Vec::with_capacity(80 + encoded);
    line.extend_from_slice(b"{\"type\":\"data\",\"seq\":");
    line.extend_from_slice(seq.to_string().as_bytes());
    line.extend_from_slice(b",\"stream\":\"");
    line.extend_from_slice(stream.name().as_bytes());
    line.extend_from_slice(b"\",\"data_base64\":\"");
    let start = line.len();
    line.resize(start + encoded, 0);
    // The room is exactly what padded base64 needs.
    let written = STANDARD
        .encode_slice(data, &mut line[start..])
        .unwrap_or_default();
    line.truncate(start + written);
    line.extend_from_slice(b"\"}\n");
    line
}

/// A whole exit line with its LF. Both fields are always there; an absent one is `null`.
#[must_use]
pub fn exit_line(code: Option<i64>, signal: Option<&str>) -> Vec<u8> {
    let code = code.map_or_else(|| "null".to_owned(), |code| code.to_string());
    let signal = signal.map_or_else(
        || "null".to_owned(),
        |name| serde_json::Value::from(name).to_string(),
    );
    format!("{{\"type\":\"exit\",\"exit_code\":{code},\"signal\":{signal}}}\n").into_bytes()
}

/// The heartbeat line with its LF.
pub const HEARTBEAT_LINE: &[u8] = b"{\"type\":\"heartbeat\"}\n";

/// A whole error line with its LF.
#[must_use]
pub fn error_line(code: &str, oldest: Option<&serde_json::Value>) -> Vec<u8> {
    let code = serde_json::Value::from(code);
    match oldest {
        None => format!("{{\"type\":\"error\",\"error\":{code}}}\n").into_bytes(),
        Some(oldest) => {
            format!("{{\"type\":\"error\",\"error\":{code},\"oldest_available_seq\":{oldest}}}\n")
                .into_bytes()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_lines_are_json_with_padded_base64() {
        let text = |data: &[u8]| {
            let line = data_line(7, StreamName::Pty, data);
            String::from_utf8(line).unwrap()
        };
        assert_eq!(
            text(b""),
            "{\"type\":\"data\",\"seq\":7,\"stream\":\"pty\",\"data_base64\":\"\"}\n"
        );
        for (data, base64) in [(&b"a"[..], "YQ=="), (b"ab", "YWI="), (b"abc", "YWJj")] {
            assert!(text(data).ends_with(&format!(":\"{base64}\"}}\n")));
        }
    }

    #[test]
    fn exits_always_carry_both_fields() {
        assert_eq!(
            exit_line(None, Some("SIGKILL")),
            b"{\"type\":\"exit\",\"exit_code\":null,\"signal\":\"SIGKILL\"}\n"
        );
    }

    #[test]
    fn errors_carry_the_oldest_seq_only_if_there_is_one() {
        assert_eq!(
            error_line("gone", None),
            b"{\"type\":\"error\",\"error\":\"gone\"}\n"
        );
        assert_eq!(
            error_line("gone", Some(&42.into())),
            b"{\"type\":\"error\",\"error\":\"gone\",\"oldest_available_seq\":42}\n"
        );
    }
}
