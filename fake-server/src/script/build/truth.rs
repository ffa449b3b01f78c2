//! The truth: frames numbered in order, and the exit.

use super::{base64, positive};
use crate::{
    script::{
        forms::ExitForm,
        mistakes::Gather,
        model::{Truth, TruthExit, TruthFrame},
        placeholders,
        raw::{RawExit, RawOutput, RawProcess},
        read::{At, Table as _},
        suggest::listed,
    },
    wire::{Blob, Op, ProcessKind, StreamName, limits},
};
use std::ops::Range;

/// Largest number a true frame can have: what fits 64 bits with a sign. Beyond 2^53 - 1 a client may
/// refuse it, so a scenario must be able to go there.
const SEQ_MAX: u64 = i64::MAX as u64;
/// Frames of a truth at the most.
const MAX_FRAMES: u64 = 2_000_000;
/// Bytes of all its frames together at the most.
const MAX_BYTES: u64 = 256 << 20;

/// What a file without `[process]` means: no output and a clean exit.
#[must_use]
pub fn default(op: Op) -> Truth {
    Truth {
        kind: if op == Op::Terminal {
            ProcessKind::Pty
        } else {
            ProcessKind::Pipe
        },
        first_seq: 1,
        frames: Vec::new(),
        exit: TruthExit::Status {
            code: Some(0),
            signal: None,
            pause_ms: 0,
        },
        heartbeat_ms: limits::HEARTBEAT_MS,
        journal_bytes: limits::JOURNAL_BYTES,
        children: 0,
        live: false,
    }
}

/// The truth, or nothing when it has mistakes: then no other place is compared with it.
pub(super) fn build(raw: Option<&At<RawProcess>>, op: Op, gather: &mut Gather) -> Option<Truth> {
    let before = gather.count();
    let mut truth = default(op);
    let Some(at) = raw else {
        return Some(truth);
    };
    let raw = &at.value;
    if let Some(kind) = &raw.kind {
        truth.kind = kind.value.0;
        if op == Op::Terminal && truth.kind == ProcessKind::Pipe {
            gather
                .at(&kind.span, "the process of a terminal is a pty")
                .help("leave `kind` out, or choose another op");
        }
    }
    truth.live = raw.live.as_ref().is_some_and(|live| live.value);
    truth.children = raw.children.as_ref().map_or(0, |children| children.value);
    if let Some(journal) = &raw.journal {
        truth.journal_bytes = journal.value.0;
    }
    if let Some(ms) = positive(
        raw.heartbeat.as_ref().map(|at| (at.value.0, &at.span)),
        gather,
    ) {
        truth.heartbeat_ms = ms;
    }
    if let Some(first) = &raw.first_seq {
        if !(1..=SEQ_MAX).contains(&first.value) {
            gather
                .at(&first.span, format!("a true seq lies between 1 and {}", SEQ_MAX))
                .help("other numbers are forged: { frame = { type = \"data\", seq = 0, .. } } in a stream");
        }
        truth.first_seq = first.value.clamp(1, SEQ_MAX);
    }
    let mut writer = Writer {
        truth,
        pending: None,
        bytes: 0,
        live: raw.live.as_ref().map(|live| live.value).unwrap_or_default(),
    };
    let items = raw.output.as_ref().map_or(&[][..], |output| &output.value);
    for item in items {
        writer.item(item, gather);
    }
    let pending = writer.pending.take();
    let mut truth = writer.truth;
    truth.exit = exit(raw, pending, gather);
    (at.clean && gather.count() == before).then_some(truth)
}

struct Writer {
    truth: Truth,
    /// Quiet before the next frame, and where it was said.
    pending: Option<(u64, Range<usize>)>,
    bytes: u64,
    live: bool,
}

/// What one frame holds.
enum Source<'a> {
    Text(&'a At<String>),
    Bytes(Vec<u8>),
    Fill(u64, u8),
}

impl Writer {
    fn item(&mut self, item: &At<RawOutput>, gather: &mut Gather) {
        let raw = &item.value;
        if let Some(pause) = &raw.pause {
            if !self.live {
                gather
                    .at(&pause.key, "a pause means nothing here: all output is in the journal from the beginning")
                    .help("add `live = true` to [process], or pause in the stream of a fault");
            }
            let (ms, _) = self.pending.take().unwrap_or_default();
            self.pending = Some((ms.saturating_add(pause.value.0), pause.span.clone()));
        }
        let Some((stream, source)) = self.source(item, gather) else {
            return;
        };
        self.check_stream(stream, item, gather);
        let count = match &raw.repeat {
            None => 1,
            Some(repeat) => positive(Some((repeat.value, &repeat.span)), gather).unwrap_or(1),
        };
        let size = match &source {
            Source::Text(text) => text.value.len() as u64,
            Source::Bytes(bytes) => bytes.len() as u64,
            Source::Fill(size, _) => *size,
        };
        self.bytes = self.bytes.saturating_add(size.saturating_mul(count));
        let frames = (self.truth.frames.len() as u64).saturating_add(count);
        if frames > MAX_FRAMES || self.bytes > MAX_BYTES {
            gather
                .at(&item.span, "this is more output than a trial can hold")
                .help(format!("at most {MAX_FRAMES} frames and 256 MiB in all"));
            self.bytes = MAX_BYTES + 1;
            return;
        }
        let last = self.truth.first_seq.saturating_add(frames - 1);
        if last > SEQ_MAX {
            gather
                .at(
                    &item.span,
                    format!("the numbers of these frames go beyond {}", SEQ_MAX),
                )
                .help("a smaller `first-seq`");
            return;
        }
        let each_pause = raw.pause.as_ref().map_or(0, |pause| pause.value.0);
        let first_pause = self.pending.take().map_or(0, |(ms, _)| ms);
        for n in 1..=count {
            let data = match &source {
                Source::Text(text) if raw.repeat.is_some() => {
                    Blob::from(text.value.replace("{n}", &n.to_string()).as_str())
                }
                Source::Text(text) => Blob::from(text.value.as_str()),
                Source::Bytes(bytes) => Blob::from(bytes.as_slice()),
                Source::Fill(size, byte) => {
                    Blob(vec![*byte; usize::try_from(*size).unwrap_or_default()])
                }
            };
            self.truth.frames.push(TruthFrame {
                seq: self.truth.first_seq + self.truth.frames.len() as u64,
                stream,
                data,
                pause_ms: if n == 1 { first_pause } else { each_pause },
            });
        }
    }

    /// Stream and contents of an item; nothing when it is only a pause, or wrong.
    fn source<'a>(
        &self,
        item: &'a At<RawOutput>,
        gather: &mut Gather,
    ) -> Option<(StreamName, Source<'a>)> {
        let raw = &item.value;
        let contents: Vec<_> = raw
            .present()
            .into_iter()
            .filter(|(key, _)| !matches!(*key, "repeat" | "byte" | "stream" | "pause"))
            .collect();
        if let [(first, first_place), (second, place), ..] = contents.as_slice() {
            gather
                .at(place, format!("`{first}` and `{second}` in one item"))
                .context(first_place, "the first one")
                .help("each frame is an item of its own");
            return None;
        }
        // Of an item that could not be read, a `fill` may be missing only because its size is wrong.
        if raw.fill.is_none() && item.clean {
            for (at, key) in [
                (raw.byte.as_ref().map(|at| &at.key), "byte"),
                (raw.stream.as_ref().map(|at| &at.key), "stream"),
            ] {
                if let Some(place) = at {
                    gather
                        .at(place, format!("`{key}` belongs to `fill`"))
                        .help("{ fill = 65536, byte = \"x\", stream = \"stderr\" }");
                }
            }
        }
        if contents.is_empty() {
            if !item.clean {
                return None;
            }
            if let Some(repeat) = &raw.repeat {
                gather
                    .at(&repeat.key, "nothing to repeat")
                    .help("{ repeat = 100, stdout = \"line {n}\\n\" }");
            } else if raw.pause.is_none() {
                gather
                    .at(&item.span, "this item writes nothing")
                    .help("{ stdout = \"one\\n\" }, { stdout-base64 = \"4oKs\" }, { fill = 65536 } or { pause = \"50ms\" }");
            }
            return None;
        }
        let texts = [
            (StreamName::Stdout, &raw.stdout),
            (StreamName::Stderr, &raw.stderr),
            (StreamName::Pty, &raw.pty),
        ];
        for (stream, text) in texts {
            if let Some(text) = text {
                check_text(text, raw.repeat.is_some(), gather);
                return Some((stream, Source::Text(text)));
            }
        }
        let coded = [
            (StreamName::Stdout, &raw.stdout_base64),
            (StreamName::Stderr, &raw.stderr_base64),
            (StreamName::Pty, &raw.pty_base64),
        ];
        for (stream, text) in coded {
            if let Some(text) = text {
                return base64(text, gather).map(|bytes| (stream, Source::Bytes(bytes)));
            }
        }
        let size = raw.fill.as_ref()?.value.0;
        let byte = raw.byte.as_ref().map_or(b'x', |byte| byte.value.0);
        let default = match self.truth.kind {
            ProcessKind::Pty => StreamName::Pty,
            ProcessKind::Pipe => StreamName::Stdout,
        };
        let stream = raw.stream.as_ref().map_or(default, |stream| stream.value.0);
        Some((stream, Source::Fill(size, byte)))
    }

    fn check_stream(&self, stream: StreamName, item: &At<RawOutput>, gather: &mut Gather) {
        let right: &[&str] = match self.truth.kind {
            ProcessKind::Pty => &["pty"],
            ProcessKind::Pipe => &["stdout", "stderr"],
        };
        if !right.contains(&stream.name()) {
            let kind = self.truth.kind;
            gather
                .at(
                    &item.span,
                    format!("a process of kind {kind} does not write to {stream}"),
                )
                .help(match kind {
                    ProcessKind::Pty => "{ pty = \"..\" }: a terminal has one stream".to_owned(),
                    ProcessKind::Pipe => {
                        format!("{}; or kind = \"pty\" in [process]", listed(right))
                    }
                });
        }
    }
}

fn check_text(text: &At<String>, repeated: bool, gather: &mut Gather) {
    for name in placeholders::names(&text.value) {
        match name {
            "n" if !repeated => {
                gather
                    .at(&text.span, "{n} counts only in a repeated frame")
                    .help("{ repeat = 100, stdout = \"line {n}\\n\" }");
            }
            "api-key" | "canary" | "base-url" | "trap-url" => {
                gather
                    .at(&text.span, format!("the truth does not know {{{name}}}"))
                    .help("it is filled in where the server lies: in bodies, headers, raw lines and forged frames of a fault");
            }
            _ => {}
        }
    }
}

fn exit(raw: &RawProcess, pending: Option<(u64, Range<usize>)>, gather: &mut Gather) -> TruthExit {
    let pause_ms = pending.as_ref().map_or(0, |(ms, _)| *ms);
    match raw.exit.as_ref().map(|exit| (&exit.value, &exit.span)) {
        None => TruthExit::Status {
            code: Some(0),
            signal: None,
            pause_ms,
        },
        Some((ExitForm::Never, _)) => {
            if let Some((_, place)) = pending {
                gather
                    .at(&place, "nothing follows this pause: the process never ends")
                    .help("take the pause out, or let the process end");
            }
            TruthExit::Never
        }
        Some((ExitForm::Status(status), place)) => {
            check_status(status, place, gather);
            TruthExit::Status {
                code: status.code.as_ref().map(|code| code.value),
                signal: status.signal.as_ref().map(|signal| signal.value.clone()),
                pause_ms,
            }
        }
    }
}

fn check_status(status: &RawExit, place: &Range<usize>, gather: &mut Gather) {
    const FORGED: &str =
        "to send one that cannot be true, use { exit = { .. } } in the stream of a fault";
    if status.code.is_none() && status.signal.is_none() {
        gather
            .at(place, "a process ends with a code or a signal")
            .help("{ code = 0 }, { signal = \"SIGKILL\" } or \"never\"");
    }
    if let Some(signal) = &status.signal {
        let name = signal.value.strip_prefix("SIG").unwrap_or_default();
        let plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        if name.is_empty() || !name.bytes().all(plain) {
            gather
                .at(
                    &signal.span,
                    format!(
                        "\"{}\" is no name of a signal",
                        crate::script::suggest::short(&signal.value)
                    ),
                )
                .help(format!("SIG and capitals, as in \"SIGKILL\"; {FORGED}"));
        }
    }
}
