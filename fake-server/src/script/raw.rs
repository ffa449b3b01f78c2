//! The tables of a scenario file as they are written: every key optional, each value with its place.
//! The JSON Schema is made from these.

use super::{
    forms::{Cursor, Cuts, ExitForm, Send},
    matrix::Values,
    mistakes::Gather,
    model::{
        Attempts, CancelPoint, Chunks, Coding, ConnectionUse, CutPoint, Effect, End, FrameRef,
        Redirect, Segments,
    },
    node::{Entry, Node},
    read::{At, Free, Named, Table, table},
    suggest::{listed, nearest, short},
    units::{Byte, Delta, Millis, Size},
    words::{Also, ErrorKind, Flush, Http10, On, Outcome, State, Wait},
};
use crate::wire::{Call, Op, ProcessKind, StreamName, call::Capability};

type List<T> = Vec<At<T>>;

table! {
    /// A scenario: a truth and what goes wrong.
    RawFile ["the file", "title", "requirements"] {
        /// One line for people.
        title = "title": String,
        /// Ids of the requirements that this scenario is about.
        requirements = "requirements": List<String>,
        /// Ids of the fault taxonomy, as in "CT03".
        fault_kinds = "fault-kinds": List<String>,
        /// Why a client gets this wrong and what it costs.
        why = "why": String,
        /// What the client is asked; default "execute".
        op = "op": Named<Op>,
        /// Capabilities beyond those that op, [job] and the faults imply.
        needs = "needs": List<Named<Capability>>,
        /// When the trial gives up waiting; default "10s".
        deadline = "deadline": Millis,
        /// Values that "$name" stands for anywhere in the file, as a list or, with names for the id, as a table; one instance for each combination.
        matrix = "matrix": Free<Values>,
        /// The op's own fields.
        job = "job": RawJob,
        /// The truth: what the process really writes and how it ends.
        process = "process": RawProcess,
        /// The sandbox that exists when the trial begins.
        sandbox = "sandbox": RawSandbox,
        /// What goes wrong, in order.
        fault = "fault": List<RawFault>,
        /// What is expected beyond what follows from the truth and the faults.
        expect = "expect": RawExpect,
    }
    hints {
        "id" => "the id of a scenario is its path (`stream/first-cut` for `stream/first-cut.toml`); take this line out",
        "name" => "its one line for people is `title`; its id is its path",
        "description" => "what people should know stands in `title` (one line) and `why`",
        "faults" => "each fault is a table of its own: [[fault]]",
        "seed" => "the seed is chosen when a scenario is run (`--seed`), not in the file",
        "requirement" => "a list: requirements = [\"area/name\"]",
        "skip" => "known failures of a client stand in its manifest",
    }
}

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
        /// New width; with `rows`.
        cols = "cols": u16,
        /// New height; with `cols`.
        rows = "rows": u16,
    }
}

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

table! {
    /// The sandbox that exists when the trial begins.
    RawSandbox ["[sandbox]"] {
        /// Its state; default "running", for op resume "paused".
        state = "state": Named<State>,
        /// Polls that still show the old state after an accepted change; default 0.
        lag = "lag": u32,
    }
}

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

/// The tables an author may have meant, by name, with their keys.
const OWNERS: &[(&str, &[&str])] = &[
    ("the file itself", <RawFile as Table>::KEYS),
    ("[job]", RawJob::KEYS),
    ("[process]", RawProcess::KEYS),
    ("[sandbox]", RawSandbox::KEYS),
    ("[[fault]]", RawFault::KEYS),
    ("[expect]", RawExpect::KEYS),
];

/// Notes a key that its table does not know, with the most useful answer there is.
pub(super) fn unknown_key(
    entry: &Entry,
    title: &str,
    keys: &[&str],
    hints: &[(&str, &str)],
    gather: &mut Gather,
) {
    let word = entry.key.as_str();
    let hint = hints
        .iter()
        .find(|(bad, _)| *bad == word)
        .map(|(_, hint)| *hint);
    let owner = OWNERS
        .iter()
        .find(|(owner, keys)| *owner != title && keys.contains(&word))
        .map(|(owner, _)| *owner);
    let help = match (hint, nearest(word, keys.iter().copied()), owner) {
        (Some(hint), _, _) => hint.to_owned(),
        (None, _, Some("the file itself")) if title.starts_with('[') => format!(
            "`{word}` is a key of the file itself: what follows a [table] belongs to that table, so it stands above the first one"
        ),
        (None, None, Some(owner)) => format!("`{word}` belongs in {owner}"),
        (None, Some(near), _) => format!("did you mean `{near}`?"),
        (None, None, None) => format!("known here: {}", listed(keys)),
    };
    gather
        .at(
            &entry.key_span,
            format!("{title} has no key `{}`", short(word)),
        )
        .help(help);
}
