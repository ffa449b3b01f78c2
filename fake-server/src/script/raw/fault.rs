//! `[[fault]]` as it is written.

use super::{List, RawStep};
use crate::script::{
    cuts::Cuts,
    model::{Attempts, Chunks, Coding, ConnectionUse, CutPoint, Effect, End, Redirect, Segments},
    node::Node,
    read::{Free, Named, table},
    units::{Byte, Delta, Millis},
    words::{Also, Flush, Http10, On},
};

table! {
    /// A deviation: which calls it meets and what they get.
    RawFault ["[[fault]]", "on"] {
        /// Which call, or "any".
        on = "on": Named<On>,
        /// The nth such call of the trial: 1, "1..3", "2.." or "every"; default: the next that no earlier fault takes.
        attempt = "attempt": Attempts,
        /// Only when the request looks so.
        when = "when": RawWhen,
        /// Only on a "fresh" or a "reused" connection.
        on_connection = "on-connection": Named<ConnectionUse>,
        /// A right client never gets here; default false.
        bait = "bait": bool,
        /// Status of the answer.
        status = "status": u16,
        /// Reason phrase of the answer.
        reason = "reason": String,
        /// Headers, each a list of values, in place of the faithful ones; an empty list leaves one out.
        headers = "headers": Free<List<String>>,
        /// Body of the answer.
        body = "body": RawBody,
        /// A success envelope with these fields merged over the faithful data.
        data = "data": Free<Node>,
        /// Fields left out of the envelope's data.
        without = "without": List<String>,
        /// "done" or "none": whether the call took effect although the answer says otherwise.
        effect = "effect": Named<Effect>,
        /// A redirect, with status 302 unless said.
        redirect = "redirect": Named<Redirect>,
        /// The frames of a connect, step by step.
        stream = "stream": List<RawStep>,
        /// Time before anything is answered.
        delay = "delay": Millis,
        /// The port refuses connections just before this call would arrive.
        refuse = "refuse": bool,
        /// The connection ends by FIN without an answer.
        close = "close": RawCut,
        /// The connection ends by RST without an answer.
        reset = "reset": RawCut,
        /// Time without an answer; then the connection is closed.
        hold = "hold": Millis,
        /// "1.0": answer so, the body ended by close.
        http = "http": Named<Http10>,
        /// Content-Length announces so many bytes more or fewer, as in "+10".
        content_length = "content-length": Delta,
        /// "also": Transfer-Encoding beside Content-Length.
        transfer_encoding = "transfer-encoding": Named<Also>,
        /// A content coding nobody asked for.
        encoding = "encoding": RawEncoding,
        /// How writes are cut: "frame" (default), "byte", "all", "random" or sizes.
        segments = "segments": Cuts<Segments>,
        /// How HTTP chunks are cut: "frame" (default), "one", "step", "random" or sizes.
        chunks = "chunks": Cuts<Chunks>,
        /// The stream breaks off at a byte, whatever was to come.
        break_at = "break-at": RawBreak,
    }
    hints {
        "steps" => "the steps of an answer are `stream`",
        "end" => "an end is a step of the stream: stream = [.., { end = \"fin\" }]",
        "call" => "which call is `on`",
        "times" => "which of the calls is `attempt`: 1, \"1..3\", \"2..\" or \"every\"",
        "text" => "body = { text = \"..\" }",
        "json" => "body = { json = .. }",
        "retry-after" => "a header: headers = { retry-after = [\"1\"] }",
        "cancel" => "a cancel is asked of the client: [job] cancel = { on = .., at = .. }",
    }
}

table! {
    /// A condition on the request.
    RawWhen ["when", "after"] {
        /// Its cursor.
        after = "after": u64,
    }
}

table! {
    /// The body of an answer: one of these.
    RawBody ["body"] {
        /// Text; may hold placeholders.
        text = "text": String,
        /// JSON; its strings may hold placeholders.
        json = "json": Node,
        /// Bytes as base64.
        base64 = "base64": String,
        /// Bytes of a file, by its path from the folder of this one.
        file = "file": String,
        /// This byte without end.
        endless = "endless": Byte,
    }
}

table! {
    /// When the connection ends.
    RawCut ["a cut", "at"] {
        /// "accept" (nothing is read), "head-read" or "body-read".
        at = "at": Named<CutPoint>,
    }
}

table! {
    /// Where a stream breaks off: at a byte on the wire, or of what it carries.
    RawBreak ["break-at", "by"] {
        /// So many bytes of the body leave as they stand on the wire: sizes of chunks, CR LF and zero chunk counted.
        byte = "byte": u64,
        /// So many bytes of the lines leave, in chunks that are right.
        payload = "payload": u64,
        /// How it ends there: "fin", "reset", "hold"; with `payload` also "chunk" (the zero chunk).
        by = "by": Named<End>,
    }
}

table! {
    /// A content coding nobody asked for.
    RawEncoding ["encoding", "coding"] {
        /// Which: "gzip".
        coding = "coding": Named<Coding>,
        /// "frame" (default): flushed after each frame; "never": only at the end.
        flush = "flush": Named<Flush>,
        /// So many bytes are missing at the end of the coded body.
        cut = "cut": u64,
        /// Only the header says so; the body is plain.
        lie = "lie": bool,
        /// So many foreign bytes after the coded body.
        extra = "extra": u64,
    }
}
