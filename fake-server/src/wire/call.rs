//! The calls of the protocol and the ops a client is asked for, by the names that scenario files,
//! adapters and reports use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $text)] $variant,)+ }

        impl $name {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name used in scenario files, messages and reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The value with that name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
pub(crate) use named;

named! {
    /// One call of the CreateOS protocol: a method and a path template.
    Call {
        /// `POST /v1/sandboxes`
        CreateSandbox = "create-sandbox",
        /// `GET /v1/sandboxes/{id}`
        GetSandbox = "get-sandbox",
        /// `GET /v1/sandboxes`
        ListSandboxes = "list-sandboxes",
        /// `PATCH /v1/sandboxes/{id}`
        PatchSandbox = "patch-sandbox",
        /// `DELETE /v1/sandboxes/{id}`
        DeleteSandbox = "delete-sandbox",
        /// `POST /v1/sandboxes/{id}/pause`
        Pause = "pause",
        /// `POST /v1/sandboxes/{id}/resume`
        Resume = "resume",
        /// `POST /v1/sandboxes/{id}/fork`
        Fork = "fork",
        /// `POST /v1/sandboxes/{id}/resize`
        ResizeSandbox = "resize-sandbox",
        /// `POST /v1/sandboxes/{id}/processes`
        CreateProcess = "create-process",
        /// `GET /v1/sandboxes/{id}/processes`
        ListProcesses = "list-processes",
        /// `GET /v1/sandboxes/{id}/processes/{pid}`
        GetProcess = "get-process",
        /// `GET /v1/sandboxes/{id}/processes/{pid}/connect?after=N`
        Connect = "connect",
        /// `POST /v1/sandboxes/{id}/processes/{pid}/stdin/close`
        StdinClose = "stdin-close",
        /// `POST /v1/sandboxes/{id}/processes/{pid}/input`
        Input = "input",
        /// `POST /v1/sandboxes/{id}/processes/{pid}/signal`
        Signal = "signal",
        /// `POST /v1/sandboxes/{id}/processes/{pid}/resize`
        ResizeProcess = "resize-process",
        /// `GET /v1/sandboxes/{id}/processes/{pid}/wait`
        Wait = "wait",
        /// `DELETE /v1/sandboxes/{id}/processes/{pid}`
        DeleteProcess = "delete-process",
        /// `POST /v1/sandboxes/{id}/exec`
        Exec = "exec",
        /// `PUT /v1/sandboxes/{id}/files?path=`
        PutFile = "put-file",
        /// `GET /v1/sandboxes/{id}/files?path=`
        GetFile = "get-file",
    }
}

named! {
    /// What a client is asked to do; each is a capability of the same name (`adapter-protocol`).
    Op {
        /// Start a managed process, close its stdin, follow it to its end, clean up on failure.
        Execute = "execute",
        /// Follow an existing process to its end.
        Follow = "follow",
        /// Open one output stream and hand over its events, raw.
        Connect = "connect",
        /// Run a command with the buffered `/exec`.
        Exec = "exec",
        /// Run a command with the streaming `/exec`.
        ExecStream = "exec-stream",
        /// Get a usable sandbox.
        Acquire = "acquire",
        /// Destroy a sandbox.
        Release = "release",
        /// Bring a sandbox to `paused`.
        Pause = "pause",
        /// Bring a sandbox to `running`.
        Resume = "resume",
        /// PUT a file.
        Upload = "upload",
        /// GET a file.
        Download = "download",
        /// Open a PTY process and follow it to its end.
        Terminal = "terminal",
    }
}

named! {
    /// What a client says it can do beyond its ops.
    Capability {
        /// Hands output over as it arrives.
        LiveOutput = "live-output",
        /// Can be told to stop.
        Cancel = "cancel",
        /// Honours `timeout_ms`.
        Timeout = "timeout",
        /// Reconnects with a cursor after a drop.
        ResumeStream = "resume-stream",
        /// Asks `/wait` for the exit status when the stream can't be completed.
        RecoverExit = "recover-exit",
        /// A failed `acquire` says whether it is transient.
        ClassifiesTransient = "classifies-transient",
        /// Repeats a whole acquisition by policy.
        LeasePolicy = "lease-policy",
        /// Skips event types it does not know.
        ToleratesUnknownEvents = "tolerates-unknown-events",
        /// Speaks HTTP/2.
        Http2 = "http2",
        /// Speaks TLS.
        Tls = "tls",
    }
}
