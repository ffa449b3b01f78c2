//! `[process]`: the truth as it is written.

use super::List;
use crate::{
    script::{
        forms::ExitForm,
        read::{Named, table},
        units::{Byte, Millis, Size},
    },
    wire::{ProcessKind, StreamName},
};

table! {
    /// The truth: what the process really writes and how it ends.
    RawProcess ["[process]"] {
        /// What it writes, a frame an item, numbered in order.
        output = "output": List<RawOutput>,
        /// How its leader ends: { code = 0 } (default), { signal = "SIGKILL" } or "never".
        exit = "exit": ExitForm,
        /// "pipe", or "pty" (default for op terminal).
        kind = "kind": Named<ProcessKind>,
        /// Number of the first frame; default 1.
        first_seq = "first-seq": u64,
        /// Quiet after which a live stream carries a heartbeat; default "5s".
        heartbeat = "heartbeat": Millis,
        /// Raw bytes the journal keeps; default "1MiB".
        journal = "journal": Size,
        /// Descendants that outlive the leader; default 0.
        children = "children": u32,
        /// Written while the client watches; default false: all there from the beginning.
        live = "live": bool,
    }
    hints {
        "stdout" => "output is a list of frames: output = [{ stdout = \"one\\n\" }]",
        "stderr" => "output is a list of frames: output = [{ stderr = \"one\\n\" }]",
        "exit-code" => "exit = { code = 0 }",
        "exit_code" => "exit = { code = 0 }",
        "signal" => "exit = { signal = \"SIGKILL\" }",
        "state" => "the state of the sandbox stands in [sandbox]",
    }
}

table! {
    /// One frame of output, several alike, or a time of quiet.
    RawOutput ["an output"] {
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
        /// So many frames alike; {n} in the text counts them from 1.
        repeat = "repeat": u64,
        /// One frame of so many bytes.
        fill = "fill": Size,
        /// What `fill` repeats: a character or a number from 0 to 255; default "x".
        byte = "byte": Byte,
        /// Stream of a `fill`; default "stdout", of a pty "pty".
        stream = "stream": Named<StreamName>,
        /// Quiet before this frame (alone: before the next frame or the exit); needs live = true.
        pause = "pause": Millis,
    }
    hints {
        "text" => "say on which stream: { stdout = \"..\" } or { stderr = \"..\" }",
        "base64" => "say on which stream: { stdout-base64 = \"..\" }",
        "exit" => "the exit stands beside the output: exit = { code = 0 }",
        "seq" => "frames are numbered in order; `first-seq` in [process] is the first number",
    }
}

table! {
    /// An exit status.
    RawExit ["an exit"] {
        /// Exit code.
        code = "code": i64,
        /// Signal name, as in "SIGKILL".
        signal = "signal": String,
    }
    hints {
        "exit-code" => "{ code = 0 }",
        "exit_code" => "{ code = 0 }",
        "status" => "{ code = 0 }",
    }
}
