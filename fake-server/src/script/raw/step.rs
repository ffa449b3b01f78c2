//! The steps of a stream as they are written.

use super::{List, RawExit};
use crate::script::{
    forms::Send,
    model::{End, FrameRef},
    node::Node,
    read::{Free, Named, table},
    units::Millis,
    words::Wait,
};

table! {
    /// A step of a stream: one of its kinds, with what belongs to it.
    RawStep ["a step"] {
        /// True frames: 5, "..4" (from the cursor), "4..9", "rest" (with the exit) or "exit".
        send = "send": Send,
        /// With send of one frame: only the first so many bytes of its line.
        bytes = "bytes": u64,
        /// With send of one frame: these fields set.
        with = "with": Free<Node>,
        /// With send of one frame: these fields left out.
        without = "without": List<String>,
        /// A forged frame with these fields.
        frame = "frame": Free<Node>,
        /// Raw text and a LF.
        line = "line": String,
        /// Raw text.
        text = "text": String,
        /// Raw bytes.
        base64 = "base64": String,
        /// The true frame that a forged or raw one stands for: its seq, or "exit".
        is = "is": FrameRef,
        /// So many heartbeats.
        heartbeat = "heartbeat": u64,
        /// An exit frame that need not be the true one.
        exit = "exit": RawExit,
        /// The server's error frame with this code.
        error = "error": String,
        /// With error: its oldest_available_seq, any value.
        oldest = "oldest": Node,
        /// Quiet for so long.
        pause = "pause": Millis,
        /// A step's bytes, so many at a time; with `every` and `step`.
        trickle = "trickle": u64,
        /// A step again and again until the client leaves; with `step`. Beside `trickle`: the time between two writes.
        every = "every": Millis,
        /// What is trickled or repeated.
        step = "step": Box<RawStep>,
        /// Steps repeated so often; with `steps`.
        repeat = "loop": u64,
        /// What a loop repeats.
        steps = "steps": List<RawStep>,
        /// Wait: "acked", "delivered" (with seq) or "closed".
        until = "until": Named<Wait>,
        /// With until = "delivered": which frame.
        seq = "seq": u64,
        /// How the answer ends: "chunk", "fin", "reset", "reset-now", "hold", "truncated-chunk" or "bad-chunk".
        end = "end": Named<End>,
        /// What this replica's journal holds from here on.
        journal = "journal": RawWindow,
    }
    hints {
        "delay" => "quiet inside a stream is { pause = \"50ms\" }",
        "wait" => "{ until = \"acked\" } waits for the client, { pause = \"50ms\" } for time",
        "sleep" => "{ pause = \"50ms\" }",
        "close" => "{ end = \"fin\" }",
        "reset" => "{ end = \"reset\" }",
        "fin" => "{ end = \"fin\" }",
        "data" => "{ send = 3 } is a true frame; { frame = { type = \"data\", .. } } a forged one",
        "stdout" => "the truth stands in [process]; { send = 3 } sends its third frame",
        "repeat" => "{ loop = 5, steps = [..] }",
        "times" => "{ loop = 5, steps = [..] }",
        "json" => "{ frame = { .. } } or { line = '{..}' }",
        "rest" => "{ send = \"rest\" }",
        "status" => "status stands beside `stream`, not in it",
        "as" => "the true frame it stands for is `is`",
    }
}

table! {
    /// What a replica's journal holds, both ends included.
    RawWindow ["journal", "oldest", "newest"] {
        /// Oldest seq kept.
        oldest = "oldest": u64,
        /// Newest seq.
        newest = "newest": u64,
    }
}
