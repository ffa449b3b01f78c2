//! `[expect]` as it is written.

use super::List;
use crate::script::{
    forms::Cursor,
    read::{Free, Named, table},
    words::{ErrorKind, Outcome},
};

table! {
    /// What is expected beyond what follows from the truth and the faults. Everything narrows.
    RawExpect ["[expect]"] {
        /// Outcomes that are right.
        outcome = "outcome": List<Named<Outcome>>,
        /// Error kinds that are right.
        kind = "kind": List<Named<ErrorKind>>,
        /// The status that the error must tell.
        http_status = "http-status": u16,
        /// The cursor of each connect: exact, a range, or "same" as before.
        connects = "connects": List<Cursor>,
        /// How often each call is made.
        calls = "calls": Free<u32>,
        /// Output that must at least be handed over, by stream.
        output_at_least = "output-at-least": RawStreams,
        /// Output that may at most be handed over, by stream.
        output_at_most = "output-at-most": RawStreams,
        /// Texts that must not stand in anything reported; may hold placeholders.
        never_reported = "never-reported": List<String>,
        /// Requests that may reach the trap.
        trap = "trap": u32,
        /// Alternatives: one of them must hold as a whole.
        any_of = "any-of": List<RawExpect>,
    }
    hints {
        "exit-code" => "the true status follows from [process]; narrow by `outcome` and `kind`",
        "error" => "outcome = [\"error\"], and kind = [..] says which",
        "stdout" => "output-at-least = { stdout = \"..\" } or output-at-most",
        "status" => "http-status = 502",
    }
}

table! {
    /// Output by stream.
    RawStreams ["output by stream"] {
        /// Text on standard output.
        stdout = "stdout": String,
        /// Text on standard error.
        stderr = "stderr": String,
        /// Text on the terminal.
        pty = "pty": String,
        /// Base64 on standard output.
        stdout_base64 = "stdout-base64": String,
        /// Base64 on standard error.
        stderr_base64 = "stderr-base64": String,
        /// Base64 on the terminal.
        pty_base64 = "pty-base64": String,
    }
}
