//! The steps of a stream: each is one thing, in the truth where it says so, and nothing follows an end.

mod flow;
mod frames;

use super::{answer::object, base64, fault::Facts, positive};
use crate::{
    script::{
        mistakes::Gather,
        model::{Attempts, Span, Step},
        placeholders,
        raw::RawStep,
        read::{At, Table as _},
        suggest::listed,
    },
    wire::{Blob, Call, call::Capability},
};
use std::{collections::BTreeSet, ops::Range};

/// Each kind of step with what may stand beside it.
const KINDS: &[(&str, &[&str])] = &[
    ("send", &["bytes", "with", "without"]),
    ("frame", &["is"]),
    ("line", &["is"]),
    ("text", &["is"]),
    ("base64", &["is"]),
    ("heartbeat", &[]),
    ("exit", &[]),
    ("error", &["oldest"]),
    ("pause", &[]),
    ("trickle", &["every", "step"]),
    ("every", &["step"]),
    ("loop", &["steps"]),
    ("until", &["seq"]),
    ("end", &[]),
    ("journal", &[]),
];

/// Pieces that one stream expands to at the most.
const MAX_PIECES: u64 = 4_000_000;

/// Where a step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Top,
    Trickle,
    Every,
    Loop,
}

impl Level {
    /// Whether such a step makes sense there.
    fn admits(self, kind: &str) -> bool {
        match self {
            Self::Top => true,
            Self::Loop => !matches!(kind, "end" | "every" | "journal"),
            Self::Every => !matches!(kind, "end" | "every" | "journal" | "until"),
            Self::Trickle => !matches!(
                kind,
                "end" | "every" | "journal" | "until" | "pause" | "trickle"
            ),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Top => "a stream",
            Self::Trickle => "`trickle`",
            Self::Every => "`every`",
            Self::Loop => "`loop`",
        }
    }
}

pub(super) fn build(
    stream: &At<Vec<At<RawStep>>>,
    on: Option<Call>,
    attempts: Attempts,
    facts: &Facts<'_>,
    needs: &mut BTreeSet<Capability>,
    gather: &mut Gather,
) -> Vec<Step> {
    let before = gather.count();
    let mut reader = Reader {
        facts,
        needs,
        gather,
        on,
        first_answer: attempts.first() == 1,
        newest: 0,
        exited: false,
        ended: None,
    };
    let steps: Vec<Step> = stream
        .value
        .iter()
        .filter_map(|step| reader.step(step, Level::Top))
        .collect();
    let (exited, ended) = (reader.exited, reader.ended.is_some());
    if gather.count() > before || !stream.clean {
        return steps;
    }
    if !exited && !ended {
        // An end that nobody wrote would be a guess, and the guess would decide the trial.
        let place = stream.value.last().map_or(&stream.span, |step| &step.span);
        gather
            .at(place, "how does this answer end?")
            .help("add { end = \"chunk\" } (as HTTP ends a body), \"fin\", \"reset\", or \"hold\" to stay open");
    }
    let truth = facts.truth.map_or(0, |truth| truth.frames.len() as u64);
    let pieces = steps
        .iter()
        .fold(0_u64, |sum, step| sum.saturating_add(cost(step, truth)));
    if pieces > MAX_PIECES {
        gather
            .at(&stream.span, "this stream is too long to be played")
            .help(format!(
                "it would be more than {MAX_PIECES} pieces; fewer rounds, or `every`"
            ));
    }
    steps
}

/// Pieces that a step expands to, about.
fn cost(step: &Step, truth: u64) -> u64 {
    match step {
        Step::Send(Span::Range(from, to)) => to.saturating_sub(*from).saturating_add(1),
        Step::Send(_) => truth.saturating_add(1),
        Step::Heartbeat(count) => *count,
        Step::Loop { count, steps } => {
            let round = steps
                .iter()
                .fold(0_u64, |sum, step| sum.saturating_add(cost(step, truth)));
            count.saturating_mul(round.max(1))
        }
        Step::Trickle { step, .. } | Step::Every { step, .. } => cost(step, truth),
        _ => 1,
    }
}

struct Reader<'a, 'b> {
    facts: &'a Facts<'a>,
    needs: &'b mut BTreeSet<Capability>,
    gather: &'b mut Gather,
    /// The call that is answered.
    on: Option<Call>,
    /// No earlier answer can have brought frames.
    first_answer: bool,
    /// The newest true frame that was sent so far.
    newest: u64,
    /// An exit was sent.
    exited: bool,
    /// What ended the stream, and where.
    ended: Option<(String, Range<usize>)>,
}

impl Reader<'_, '_> {
    fn step(&mut self, at: &At<RawStep>, level: Level) -> Option<Step> {
        let raw = &at.value;
        let kind = self.kind(at)?;
        if let Some((what, place)) = &self.ended {
            self.gather
                .at(&at.span, format!("this step is never played: {what}"))
                .context(place, "the end")
                .help("take it out, or move it before the end");
            return None;
        }
        if self.on != Some(Call::Connect) && self.of_connect(at, kind) {
            return None;
        }
        if !level.admits(kind) {
            self.gather
                .at(&at.span, format!("`{kind}` cannot stand in {}", level.name()))
                .help(match level {
                    Level::Trickle => "what is trickled is bytes: send, frame, line, text, base64, heartbeat, exit, error or a loop of those",
                    _ => "it stands in the stream itself",
                });
            return None;
        }
        match kind {
            "send" => self.send(raw),
            "frame" => {
                let fields = object(&raw.frame.as_ref()?.value, self.gather);
                let is = self.is(raw);
                Some(Step::Frame {
                    fields: fields?,
                    is,
                })
            }
            "line" | "text" => {
                let text = raw.line.as_ref().or(raw.text.as_ref())?;
                placeholders::check_at(text, self.gather);
                let mut bytes = text.value.clone().into_bytes();
                if kind == "line" {
                    bytes.push(b'\n');
                }
                let is = self.is(raw);
                Some(Step::Raw {
                    bytes: Blob(bytes),
                    is,
                })
            }
            "base64" => {
                let bytes = base64(raw.base64.as_ref()?, self.gather);
                let is = self.is(raw);
                Some(Step::Raw {
                    bytes: Blob(bytes?),
                    is,
                })
            }
            "heartbeat" => {
                let count = raw.heartbeat.as_ref()?;
                positive(Some((count.value, &count.span)), self.gather).map(Step::Heartbeat)
            }
            "exit" => {
                self.exited = true;
                let exit = &raw.exit.as_ref()?.value;
                Some(Step::Exit {
                    code: exit.code.as_ref().map(|code| code.value),
                    signal: exit.signal.as_ref().map(|signal| signal.value.clone()),
                })
            }
            "error" => {
                let oldest = match &raw.oldest {
                    None => None,
                    Some(oldest) => Some(oldest.value.to_json(self.gather)?),
                };
                let code = raw.error.as_ref()?;
                placeholders::check_at(code, self.gather);
                Some(Step::Error {
                    code: code.value.clone(),
                    oldest,
                })
            }
            "pause" => {
                let pause = raw.pause.as_ref()?;
                positive(Some((pause.value.0, &pause.span)), self.gather)
                    .map(|ms| Step::Pause { ms })
            }
            "trickle" => self.trickle(at),
            "every" => {
                let every = raw.every.as_ref()?;
                let every_ms = positive(Some((every.value.0, &every.span)), self.gather);
                let step = self.inner(at, "every", Level::Every)?;
                self.ended = Some((
                    "`every` goes on until the client leaves".to_owned(),
                    at.span.clone(),
                ));
                Some(Step::Every {
                    every_ms: every_ms?,
                    step: Box::new(step),
                })
            }
            "loop" => self.repeat(at),
            "until" => self.until(at),
            "end" => {
                let end = raw.end.as_ref()?;
                self.ended = Some(("the answer has ended".to_owned(), at.span.clone()));
                Some(Step::End(end.value.0))
            }
            "journal" => self.journal(raw),
            _ => None,
        }
    }

    /// Notes a step that only the answer of a connect can have.
    fn of_connect(&mut self, at: &At<RawStep>, kind: &str) -> bool {
        let raw = &at.value;
        let framed = matches!(kind, "send" | "heartbeat" | "exit" | "error" | "journal")
            || raw.is.is_some()
            || raw.seq.is_some();
        if framed {
            let call = self.on.map_or("any call", Call::name);
            self.gather
                .at(&at.span, format!("the answer of {call} has no frames of the truth"))
                .help("line, text, base64, frame, pause, trickle, every, loop, until and end can stand in any answer; the others in that of `connect`");
        }
        framed
    }

    /// Which kind of step this is; notes none, two, and what does not belong to it.
    fn kind(&mut self, at: &At<RawStep>) -> Option<&'static str> {
        let present = at.value.present();
        let all: Vec<&'static str> = KINDS.iter().map(|(kind, _)| *kind).collect();
        let mut heads: Vec<_> = present
            .iter()
            .filter(|(key, _)| all.contains(key))
            .collect();
        if heads.iter().any(|(key, _)| *key == "trickle") {
            heads.retain(|(key, _)| *key != "every");
        }
        let (kind, _) = match heads.as_slice() {
            [] => {
                // With an unknown key in it the step has been answered already.
                if at.clean {
                    let beside: Vec<_> = present.iter().map(|(key, _)| *key).collect();
                    let owner = KINDS
                        .iter()
                        .find(|(_, with)| beside.first().is_some_and(|key| with.contains(key)));
                    let help = match (owner, beside.first()) {
                        (Some((owner, _)), Some(key)) => format!("`{key}` stands beside `{owner}`"),
                        _ => format!("a step is {}", listed(&all)),
                    };
                    self.gather
                        .at(&at.span, "this step does nothing")
                        .help(help);
                }
                return None;
            }
            [only] => *only,
            [first, second, ..] => {
                self.gather
                    .at(
                        &second.1,
                        format!("`{}` and `{}` are two steps", first.0, second.0),
                    )
                    .context(&first.1, "the first one")
                    .help(format!(
                        "a table for each: {{ {} = .. }}, {{ {} = .. }}",
                        first.0, second.0
                    ));
                return None;
            }
        };
        let beside = KINDS
            .iter()
            .find(|(name, _)| name == kind)
            .map_or(&[][..], |(_, with)| *with);
        let mut fits = true;
        for (key, place) in present
            .iter()
            .filter(|(key, _)| key != kind && !beside.contains(key))
        {
            fits = false;
            let help = if beside.is_empty() {
                format!("`{kind}` stands alone")
            } else {
                format!("beside `{kind}` may stand {}", listed(beside))
            };
            self.gather
                .at(place, format!("`{key}` does not belong to `{kind}`"))
                .help(help);
        }
        fits.then_some(*kind)
    }
}
