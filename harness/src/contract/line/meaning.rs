//! From a line's bytes to its allowed meanings.

mod collector;
mod fields;
mod text;

use super::json::{self, Line, Object, Value};
use collector::Collector;
use fake_server::wire::StreamName;
use fields::{exit, payload, refusals_of_doubles, sequence};
use text::{has_unicode_separator, is_odd_space, trim};

/// How lines are read for one client and one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader {
    /// Which streams the process has.
    pub streams: Streams,
    /// The client skips event types it does not know.
    pub tolerates_unknown: bool,
    /// Bytes between two LF that work.
    pub max_line: u64,
}

/// Which streams a process has, as far as the client must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    /// stdout and stderr.
    Pipe,
    /// `pty`; others are not judged.
    Terminal,
    /// Not judged: all three may be taken or refused (`follow` of a PTY process).
    Unjudged,
}

/// What a line may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Every right meaning, at least one.
    pub alternatives: Vec<Alternative>,
    /// Requirements that this line puts to the test.
    pub touches: Vec<&'static str>,
}

/// One way to take a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The meaning.
    pub meaning: Meaning,
    /// A `should` that this way breaks.
    pub blemish: Option<&'static str>,
}

/// A meaning of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing: blank, or a type that the client may skip.
    Nothing,
    /// Output.
    Data(Data),
    /// The end of the process.
    Exit(Exit),
    /// A heartbeat.
    Heartbeat,
    /// The call fails, with one of these problems.
    Broken(Vec<Problem>),
}

/// A data frame, perhaps with something wrong in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// Its number, if it has one that counts.
    pub seq: Option<u64>,
    /// Its stream; stdout where the name is broken.
    pub stream: StreamName,
    /// Its bytes; none where the text is broken.
    pub bytes: Vec<u8>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// An exit frame with a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The code as it stands, if it is reported.
    pub code: Option<String>,
    /// What the signal must be.
    pub signal: Signal,
}

/// What a reported signal must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// This name.
    Is(String),
    /// Not judged (the code is valid).
    Any,
}

/// A broken rule: the error kind that tells it, and the requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Error kind of the adapter protocol.
    pub kind: &'static str,
    /// Requirement id.
    pub requirement: &'static str,
}

const fn problem(kind: &'static str, requirement: &'static str) -> Problem {
    Problem { kind, requirement }
}

const NOT_AN_OBJECT: Problem = problem("frame-invalid", "frames/invalid");
const TOO_LARGE: Problem = problem("frame-too-large", "frames/long-line");
/// Lines from here on put the line limit to the test, in bytes: the first buffer size that clients get wrong.
const LONG: usize = 64 << 10;
/// Nesting that every client must bear.
const DEPTH: usize = 64;

impl Reader {
    /// Reads a line without its LF. `first` says whether it begins its body.
    #[must_use]
    pub fn read(&self, line: &[u8], first: bool) -> Reading {
        let mut reading = Collector::default();
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if line.len() >= LONG {
            reading.touch("frames/long-line");
        }
        if length > self.max_line {
            reading.touch("frames/long-line");
            reading.add(Meaning::Broken(vec![TOO_LARGE]));
            // Some count characters: what is below the limit in their measure may work.
            if line.is_ascii() || length > self.max_line.saturating_mul(3) {
                return reading.done();
            }
        }
        self.classify(line, first, &mut reading);
        reading.done()
    }

    fn classify(&self, line: &[u8], first: bool, out: &mut Collector) {
        let inner = trim(line);
        if inner.is_empty() {
            out.touch("frames/lines");
            out.add(Meaning::Nothing);
            return;
        }
        if is_odd_space(inner) {
            out.touch("frames/lines");
            out.add(Meaning::Nothing);
            out.add(Meaning::Broken(vec![NOT_AN_OBJECT]));
            return;
        }
        if inner.len() != line.len() {
            out.touch("frames/lines");
        }
        let without_mark = first.then(|| line.strip_prefix(b"\xef\xbb\xbf")).flatten();
        if let Some(rest) = without_mark {
            out.touch("frames/lines");
            out.add(Meaning::Broken(vec![NOT_AN_OBJECT]));
            return self.classify(rest, false, out);
        }
        match json::read(line) {
            Line::Invalid => {
                out.touch("frames/invalid");
                out.add(Meaning::Broken(vec![NOT_AN_OBJECT]));
            }
            Line::Object(object) => self.object(&object, line, out),
        }
    }

    fn object(&self, object: &Object, line: &[u8], out: &mut Collector) {
        if has_unicode_separator(line) {
            out.touch("frames/lines");
        }
        if object.damaged_text || object.huge_number {
            out.touch("frames/invalid");
            out.add(Meaning::Broken(vec![NOT_AN_OBJECT]));
        }
        if object.depth > DEPTH {
            out.touch("frames/extra-fields");
            out.add(Meaning::Broken(vec![
                problem("frame-invalid", "frames/extra-fields"),
                problem("other", "frames/extra-fields"),
            ]));
        }
        if object.has_doubles() {
            out.touch("frames/duplicate-keys");
            out.add(Meaning::Broken(refusals_of_doubles(object)));
            self.frame(object, None, out);
            self.frame(&object.first_wins(), Some("frames/duplicate-keys"), out);
        } else {
            self.frame(object, None, out);
        }
    }

    fn frame(&self, object: &Object, blemish: Option<&'static str>, out: &mut Collector) {
        let kind = match object.get("type") {
            Some(Value::Text(kind)) => kind.as_str(),
            _ => "",
        };
        let known: &[&str] = match kind {
            "data" => &["type", "seq", "stream", "data_base64"],
            "exit" => &["type", "exit_code", "signal"],
            "heartbeat" => &["type"],
            "error" => &["type", "error", "oldest_available_seq"],
            _ => &[],
        };
        if !known.is_empty()
            && object
                .members
                .iter()
                .any(|(name, _)| !known.contains(&name.as_str()))
        {
            out.touch("frames/extra-fields");
        }
        match kind {
            "data" => self.data(object, blemish, out),
            "exit" => exit(object, blemish, out),
            "heartbeat" => {
                out.touch("frames/heartbeat");
                out.add_as(Meaning::Heartbeat, blemish);
            }
            "error" => {
                let expired = matches!(object.get("error"), Some(Value::Text(code)) if code == "output_offset_expired");
                let broken = if expired {
                    problem("output-evicted", "journal/expired-frame")
                } else {
                    problem("stream-error", "frames/error-frame")
                };
                out.touch(broken.requirement);
                out.add_as(Meaning::Broken(vec![broken]), blemish);
            }
            _ => {
                out.touch("frames/unknown-type");
                out.add_as(
                    if self.tolerates_unknown {
                        Meaning::Nothing
                    } else {
                        Meaning::Broken(vec![problem("unknown-event", "frames/unknown-type")])
                    },
                    blemish,
                );
            }
        }
    }

    fn data(&self, object: &Object, blemish: Option<&'static str>, out: &mut Collector) {
        let seqs = sequence(object.get("seq"));
        if !matches!(seqs.as_slice(), [(Some(_), None)]) {
            out.touch("sequence/valid");
        }
        let streams = self.stream(object.get("stream"));
        if !matches!(streams.as_slice(), [(_, None)]) {
            out.touch("data/streams");
        }
        let payloads = payload(object.get("data_base64"));
        if !matches!(payloads.as_slice(), [(bytes, None)] if !bytes.is_empty()) {
            out.touch("data/base64");
        }
        for (seq, bad_seq) in &seqs {
            for (stream, bad_stream) in &streams {
                for (bytes, bad_bytes) in &payloads {
                    let problems = [*bad_seq, *bad_stream, *bad_bytes]
                        .into_iter()
                        .flatten()
                        .collect();
                    out.add_as(
                        Meaning::Data(Data {
                            seq: *seq,
                            stream: *stream,
                            bytes: bytes.clone(),
                            problems,
                        }),
                        blemish,
                    );
                }
            }
        }
    }

    fn stream(&self, value: Option<&Value>) -> Vec<(StreamName, Option<Problem>)> {
        const BAD: Problem = problem("output-invalid", "data/streams");
        let name = match value {
            Some(Value::Text(name)) => StreamName::from_name(name),
            _ => None,
        };
        let Some(name) = name else {
            return vec![(StreamName::Stdout, Some(BAD))];
        };
        match (self.streams, name) {
            (Streams::Pipe, StreamName::Pty) => vec![(name, Some(BAD))],
            (Streams::Pipe, _) | (Streams::Terminal, StreamName::Pty) => vec![(name, None)],
            (Streams::Terminal | Streams::Unjudged, _) => vec![(name, None), (name, Some(BAD))],
        }
    }
}
