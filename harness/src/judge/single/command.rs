//! One-shot commands: what an answer says of the run, buffered or frame by frame.

use super::{
    Last,
    reading::{Envelope, Right, envelope, fails, foreign},
};
use crate::judge::{
    Place,
    answer::{Answer, Ending, body},
    findings::{Findings, Wrong},
};
use fake_server::{script::model::Plan, wire::Op, wirelog::Exchange};
use serde_json::{Map, Value};

/// A run as a client reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// Exit code.
    pub(crate) code: i64,
    /// Text on standard output.
    pub(crate) stdout: String,
    /// Text on standard error.
    pub(crate) stderr: String,
}

/// What was put out, by the lines that came, whatever became of the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Came {
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// No exit code where there should be one.
const UNKNOWN_EXIT: &[&str] = &["exit-status-missing", "invalid-response", "frame-invalid"];
/// A stream that is over, or broke off, before an exit code came.
const UNFINISHED: &[&str] = &[
    "stream-ended",
    "transport",
    "exit-status-missing",
    "invalid-response",
    "frame-invalid",
];
/// A line or a field that is none.
const UNREADABLE: &[&str] = &["frame-invalid", "invalid-response", "output-invalid"];
/// The server says that something went wrong.
const SERVER_ERROR: &[&str] = &["stream-error", "invalid-response", "http-error"];

/// Judges that a command was sent again.
pub(super) fn repeated(before: &Last<'_>, index: usize, findings: &mut Findings<'_>) {
    if may_repeat(before.answer.status) {
        return;
    }
    let after = match before.answer.status {
        None => "no answer, after which nobody knows whether it ran".to_owned(),
        Some(status @ 500..) => format!("{status}, after which nobody knows whether it ran"),
        Some(status) => format!("{status}: it ran"),
    };
    findings.add(
        Wrong::new(
            &["exec/once"],
            Place::Exchange(index),
            format!("the command is not sent again after {after}"),
            "it was sent again",
        )
        .always(),
    );
}

/// Whether a command that was answered so has surely not run: a refusal, a redirect, 503.
pub(crate) const fn may_repeat(status: Option<u16>) -> bool {
    matches!(status, Some(300..=499 | 503))
}

/// The body of a request for the job's command.
pub(crate) fn request(plan: &Plan) -> String {
    let argv = &plan.job.command;
    let mut body = serde_json::json!({
        "cmd": argv.first(),
        "args": argv.get(1..).unwrap_or_default(),
    });
    if plan.op == Op::ExecStream {
        body["stream"] = Value::Bool(true);
    }
    body.to_string()
}

/// Whether the command's output comes frame by frame: as the op says, or as the client asked for it.
pub(super) fn is_streamed(plan: &Plan, exchange: &Exchange) -> bool {
    let asked = || {
        let body: Option<Map<String, Value>> = serde_json::from_slice(&exchange.request.body).ok();
        body.is_some_and(|body| body.get("stream") == Some(&Value::Bool(true)))
    };
    plan.op == Op::ExecStream
        || exchange.request.query_values("stream").next() == Some("true")
        || asked()
}

/// What a whole buffered answer leaves.
pub(super) fn buffered(exchange: &Exchange, status: u16) -> Vec<Right> {
    let no_result = || vec![foreign(status, "it is no result of a command")];
    let Envelope::Success(data) = envelope(exchange) else {
        return no_result();
    };
    let Some(Value::Object(result)) = data.get("result") else {
        return no_result();
    };
    let text = |name: &str| match result.get(name) {
        None => Some(String::new()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => None,
    };
    let (Some(stdout), Some(stderr)) = (text("stdout"), text("stderr")) else {
        return vec![fails(UNREADABLE, Some(status), "its output is no text")];
    };
    let written = result.get("exit_code");
    let Some(code) = written.and_then(whole) else {
        return vec![fails(UNKNOWN_EXIT, Some(status), "it has no exit code")];
    };
    let ran = Right::Ran(Run {
        code,
        stdout,
        stderr,
    });
    let failed = || fails(SERVER_ERROR, Some(status), "it says that it failed");
    let mut rights = match result.get("error") {
        None | Some(Value::Null) => vec![ran],
        Some(_) if code == 0 => vec![failed()],
        Some(_) => vec![failed(), ran],
    };
    if !written.is_some_and(is_plain) {
        rights.push(fails(UNKNOWN_EXIT, Some(status), "its exit code is none"));
    }
    if status != 200 {
        rights.push(foreign(status, "its status is not that of a result"));
    }
    rights
}

/// How a frame is read: by its place and its fields, what is left of them.
type Seen<'a> = &'a dyn Fn(usize, &Map<String, Value>) -> Map<String, Value>;

/// Ways in which frames with several keys may be half read, that are followed at the most.
const MOST_HALVES: usize = 2_000;

/// What a stream leaves.
pub(super) fn streamed(plan: &Plan, exchange: &Exchange, answer: &Answer) -> Vec<Right> {
    let all = body(exchange);
    let (lines, tail) = lines(&all);
    let whole: Seen<'_> = &|_, frame| frame.clone();
    let mut rights = follow(&lines, answer, plan, whole);
    // What follows the last LF may be used or not.
    if object(tail).is_some() {
        let used = follow(&[lines.as_slice(), &[tail]].concat(), answer, plan, whole);
        push_all(&mut rights, used);
        // The usual way first.
        rights.reverse();
    } else if !tail.trim_ascii().is_empty() && answer.ending != Ending::Unclean {
        let no_frame = fails(UNREADABLE, answer.status, "its last line is no frame");
        push_all(&mut rights, vec![no_frame]);
    }
    rights
}

/// Whole lines, and what follows the last LF.
fn lines(all: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let mut lines: Vec<&[u8]> = all.split(|byte| *byte == b'\n').collect();
    let tail = lines.pop().unwrap_or_default();
    (lines, tail)
}

/// How a stream would be read by clients that look at fewer keys of a frame than stand in it; no right ones.
pub(super) fn halves(plan: &Plan, exchange: &Exchange, answer: &Answer) -> Vec<Right> {
    let all = body(exchange);
    let (mut lines, tail) = lines(&all);
    lines.push(tail);
    let combined: Vec<(usize, Vec<String>)> = lines
        .iter()
        .enumerate()
        .filter_map(|(at, line)| Some((at, known_keys(&object(line)?))))
        .filter(|(_, keys)| keys.len() > 1)
        .collect();
    if combined.is_empty() {
        return Vec::new();
    }
    // Each frame is read by some of its keys: a number says which, the first frame in its lowest bits.
    let bits = combined.iter().map(|(_, keys)| keys.len()).sum::<usize>();
    let bits = u32::try_from(bits).unwrap_or(u32::MAX);
    let ways = 1_usize.checked_shl(bits).unwrap_or(usize::MAX);
    let mut halves = Vec::new();
    for way in 0..ways.min(MOST_HALVES) {
        let some = |line: usize, frame: &Map<String, Value>| {
            let mut frame = frame.clone();
            let keys = combined
                .iter()
                .flat_map(|(at, keys)| keys.iter().map(move |key| (*at, key)));
            for (bit, (at, key)) in keys.enumerate() {
                if at == line && (way >> bit) & 1 == 0 {
                    frame.remove(key);
                }
            }
            frame
        };
        push_all(&mut halves, follow(&lines, answer, plan, &some));
    }
    halves
}

fn push_all(all: &mut Vec<Right>, more: Vec<Right>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

fn object(line: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(line).ok()
}

/// Keys of a frame that mean something.
fn known_keys(frame: &Map<String, Value>) -> Vec<String> {
    const KNOWN: &[&str] = &["stdout", "stderr", "error", "exit_code", "hb"];
    let known = KNOWN.iter().filter(|key| frame.contains_key(**key));
    known.map(|key| (*key).to_owned()).collect()
}

/// Output that these lines brought, at the most: every text of every frame.
pub(super) fn came(exchange: &Exchange) -> Came {
    let mut came = Came::default();
    for frame in body(exchange)
        .split(|byte| *byte == b'\n')
        .filter_map(object)
    {
        let text = |key: &str| frame.get(key).and_then(Value::as_str).unwrap_or_default();
        came.stdout.push_str(text("stdout"));
        came.stderr.push_str(text("stderr"));
    }
    came
}

/// Reads lines to the exit code, each frame as `seen` leaves it.
fn follow(lines: &[&[u8]], answer: &Answer, plan: &Plan, seen: Seen<'_>) -> Vec<Right> {
    let status = answer.status;
    let mut rights = Vec::new();
    // Who steps over a line that is no frame may still have all that the command said.
    let mut stepped = false;
    for right in followed(lines, answer, seen, &mut stepped) {
        if !stepped || is_the_truth(&right, plan) {
            rights.push(right);
        }
    }
    if stepped {
        rights.insert(0, fails(UNREADABLE, status, "a line is no frame"));
    }
    rights
}

fn followed(lines: &[&[u8]], answer: &Answer, seen: Seen<'_>, stepped: &mut bool) -> Vec<Right> {
    let status = answer.status;
    let failed = || fails(SERVER_ERROR, status, "it says that it failed");
    let mut run = Run::default();
    for (at, line) in lines.iter().enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Some(frame) = object(line) else {
            *stepped = true;
            continue;
        };
        let frame = seen(at, &frame);
        for (key, text) in [("stdout", &mut run.stdout), ("stderr", &mut run.stderr)] {
            match frame.get(key) {
                None => {}
                Some(Value::String(more)) => text.push_str(more),
                Some(_) => return vec![fails(UNREADABLE, status, "its output is no text")],
            }
        }
        let error = frame.get("error").is_some_and(|error| !error.is_null());
        let Some(code) = frame.get("exit_code") else {
            if error {
                return vec![failed()];
            }
            continue;
        };
        let plain = is_plain(code);
        let Some(code) = whole(code) else {
            return vec![fails(UNKNOWN_EXIT, status, "its exit code is none")];
        };
        let ran = Right::Ran(Run { code, ..run });
        let mut rights = match (error, code) {
            (false, _) => vec![ran],
            (true, 0) => vec![failed()],
            (true, _) => vec![failed(), ran],
        };
        if !plain {
            rights.push(fails(UNKNOWN_EXIT, status, "its exit code is none"));
        }
        match answer.ending {
            // With the connection the end may have been thrown away unread.
            Ending::Unclean => rights.push(unfinished(status)),
            Ending::Open => rights.push(Right::Waits),
            _ => {}
        }
        return rights;
    }
    vec![match answer.ending {
        Ending::Open | Ending::Left => Right::Waits,
        _ => unfinished(status),
    }]
}

/// A whole number, however it is written: 7, 7.0 or 7e0.
fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
        format!("{number:.0}").parse().ok()
    })
}

/// An exit code as every client reads it. Others are taken as they are, or for none.
fn is_plain(value: &Value) -> bool {
    value.as_i64().is_some_and(|code| (0..=255).contains(&code))
}

fn unfinished(status: Option<u16>) -> Right {
    fails(UNFINISHED, status, "it ended without an exit code")
}

/// Whether a run is what the process really did.
fn is_the_truth(right: &Right, plan: &Plan) -> bool {
    use fake_server::{script::model::TruthExit, wire::StreamName};
    let Right::Ran(run) = right else { return false };
    let text = |wanted: StreamName| -> String {
        let frames = plan.truth.frames.iter();
        frames
            .filter(|frame| frame.stream == wanted)
            .map(|frame| String::from_utf8_lossy(&frame.data).into_owned())
            .collect()
    };
    let code = match &plan.truth.exit {
        TruthExit::Status { code, .. } => *code,
        TruthExit::Never => None,
    };
    run.stdout == text(StreamName::Stdout)
        && run.stderr == text(StreamName::Stderr)
        && Some(run.code) == code
}
