//! `[job]` as it is written.

use super::List;
use crate::{
    script::{
        model::CancelPoint,
        read::{Free, Named, table},
        units::{Millis, Size},
    },
    wire::Call,
};

table! {
    /// The op's own fields.
    RawJob ["[job]"] {
        /// Program and arguments (execute, exec, exec-stream, terminal); default ["run.sh"], for a terminal the shell.
        command = "command": List<String>,
        /// Working folder.
        cwd = "cwd": String,
        /// Environment variables.
        env = "env": Free<String>,
        /// Standard input as text.
        stdin = "stdin": String,
        /// Standard input as base64.
        stdin_base64 = "stdin-base64": String,
        /// Cursor to start from (follow, connect); default 0.
        after = "after": u64,
        /// The client's own deadline for the whole op; implies the capability `timeout`.
        timeout = "timeout": Millis,
        /// When the client is asked to stop; implies the capability `cancel`.
        cancel = "cancel": RawCancel,
        /// Size of the sandbox (acquire).
        shape = "shape": String,
        /// Image of the sandbox (acquire).
        rootfs = "rootfs": String,
        /// Beginning of the sandbox's name (acquire).
        name_prefix = "name-prefix": String,
        /// How a whole acquisition is repeated (acquire); implies the capability `lease-policy`.
        policy = "policy": RawPolicy,
        /// Path in the sandbox (upload, download).
        path = "path": String,
        /// Contents as text (upload).
        data = "data": String,
        /// Contents as base64 (upload).
        data_base64 = "data-base64": String,
        /// Contents of so many bytes, of which no two neighbouring stretches are alike (upload).
        data_fill = "data-fill": Size,
        /// Width of the terminal in characters (terminal); default 80.
        cols = "cols": u16,
        /// Height of the terminal in lines (terminal); default 24.
        rows = "rows": u16,
        /// What is typed and how the terminal is resized, in order (terminal).
        input = "input": List<RawInput>,
    }
    hints {
        "args" => "program and arguments are one list: command = [\"build.sh\", \"--fast\"]",
        "cmd" => "program and arguments are one list: command = [\"build.sh\", \"--fast\"]",
        "cursor" => "the cursor to start from is `after`",
        "op" => "`op` stands above the first table, beside `title`",
    }
}

table! {
    /// A moment on the wire at which the client is asked to stop.
    RawCancel ["cancel", "on", "at"] {
        /// On which call.
        on = "on": Named<Call>,
        /// The nth such call; default 1.
        attempt = "attempt": u32,
        /// "sent" (the request has arrived), "answered" (the answer has left whole) or "frame n" (its nth data frame was acknowledged).
        at = "at": CancelPoint,
        /// How long after that moment; default "0ms".
        plus = "plus": Millis,
    }
}

table! {
    /// How a whole acquisition is repeated.
    RawPolicy ["policy", "attempts"] {
        /// Acquisitions at the most.
        attempts = "attempts": u32,
        /// Time between two at least; default "0ms".
        min_delay = "min-delay": Millis,
    }
}

table! {
    /// Something typed into a terminal, or a new size of it.
    RawInput ["an input"] {
        /// What is typed, as text.
        text = "text": String,
        /// What is typed, as base64.
        base64 = "base64": String,
        /// So many bytes are typed, of which no two neighbouring stretches are alike.
        fill = "fill": Size,
        /// New width; with `rows`.
        cols = "cols": u16,
        /// New height; with `cols`.
        rows = "rows": u16,
    }
}
