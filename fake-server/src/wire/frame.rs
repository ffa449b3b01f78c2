//! Encoding of the frames of `connect`: one JSON object a line, LF.

use super::{Blob, call::named};
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
    use std::io::Write as _;
    let mut line = Vec::with_capacity(64 + data.len() * 4 / 3);
    // Writing to a Vec cannot fail.
    let _ = writeln!(
        line,
        r#"{{"type":"data","seq":{seq},"stream":"{stream}","data_base64":"{}"}}"#,
        Blob::from(data).to_base64()
    );
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
