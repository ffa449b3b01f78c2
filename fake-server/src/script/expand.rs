//! A stream's steps, spelled out: which bytes leave in which order, with which waits between.
//! Pure and deterministic, so that the server plays and the oracle reasons over the same list.
//!
//! Rules that the steps leave open are settled here:
//! * `UpTo` and `Rest` begin after the highest seq this answer has sent (or the request's cursor). A frame
//!   counts as sent when it went out whole, changed, or as something that `is` that frame; a part does not.
//! * After a `Journal` step true frames outside of it are not sent, and the exit only if the journal
//!   reaches the truth's last frame.
//! * A list without an `End` ends with the zero chunk if an exit frame was among its steps; otherwise
//!   nothing more is said and the socket stays open.

use super::model::{End, FrameRef, Plan, Span, Step, Truth, TruthExit, TruthFrame, Until};
pub use super::{
    faithful::Faithful,
    fill::{may_hold_placeholders, substitute},
};

use super::fill::numbered;
use crate::{wire::frame, wirelog::Payload};
use serde_json::{Map, Value};

/// One thing that the server does while it streams an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// These bytes leave.
    Bytes {
        /// The step of the list that caused them, from 0.
        step: usize,
        /// What they are.
        what: Payload,
        /// The bytes, placeholders not yet replaced.
        bytes: Vec<u8>,
    },
    /// These bytes leave, a few at a time; no wait before the first portion nor after the last.
    Trickle {
        /// The step of the list that caused them, from 0.
        step: usize,
        /// What they are as a whole.
        what: Payload,
        /// The bytes, placeholders not yet replaced.
        bytes: Vec<u8>,
        /// Bytes a portion, at least 1.
        portion: usize,
        /// Milliseconds between portions; no heartbeats meanwhile.
        every_ms: u64,
    },
    /// Nothing leaves for a while.
    Pause {
        /// Milliseconds.
        ms: u64,
        /// Heartbeats leave meanwhile, one for each `heartbeat_ms` of quiet.
        heartbeats: bool,
    },
    /// A wait for the peer.
    Until(Until),
    /// The pieces again and again until the client leaves (or a process that never ended is ended).
    /// Nothing after it is reached.
    Every {
        /// Milliseconds between two rounds; the first begins at once.
        every_ms: u64,
        /// One round.
        pieces: Vec<Self>,
    },
    /// The answer ends so.
    End(End),
}

/// The pieces of a scripted stream for a request with the cursor `after`.
#[must_use]
pub fn expand(plan: &Plan, steps: &[Step], after: u64) -> Vec<Piece> {
    let mut writer = Writer::new(&plan.truth, after);
    for (index, step) in steps.iter().enumerate() {
        writer.step = index;
        writer.play(step);
    }
    if !matches!(
        writer.out.last(),
        Some(Piece::End(_) | Piece::Every { .. } | Piece::Until(Until::Closed))
    ) {
        writer.out.push(Piece::End(if writer.exited {
            End::Chunk
        } else {
            End::Hold
        }));
    }
    writer.out
}

/// The pieces of a healthy `connect` with the cursor `after`: all that is left, the exit, the zero
/// chunk. For a process that never ends there is no exit and no end, only heartbeats.
#[must_use]
pub fn faithful(plan: &Plan, after: u64) -> Vec<Piece> {
    faithful_truth(&plan.truth, after)
}

/// [`faithful`] for any process.
#[must_use]
pub fn faithful_truth(truth: &Truth, after: u64) -> Vec<Piece> {
    Faithful::new(truth, after).collect()
}

/// The line of a true frame with its LF; `None` if the truth has no such frame.
#[must_use]
pub fn true_line(truth: &Truth, of: FrameRef) -> Option<Vec<u8>> {
    match of {
        FrameRef::Seq(seq) => {
            frame_at(truth, seq).map(|frame| frame::data_line(frame.seq, frame.stream, &frame.data))
        }
        FrameRef::Exit => match &truth.exit {
            TruthExit::Status { code, signal, .. } => {
                Some(frame::exit_line(*code, signal.as_deref()))
            }
            TruthExit::Never => None,
        },
    }
}

fn frame_at(truth: &Truth, seq: u64) -> Option<&TruthFrame> {
    // Seqs have no holes, so the place follows from the first one.
    let first = truth.frames.first()?.seq;
    let index = usize::try_from(seq.checked_sub(first)?).ok()?;
    truth.frames.get(index)
}

struct Writer<'a> {
    truth: &'a Truth,
    /// Highest seq sent in this answer, or the request's cursor.
    sent: u64,
    /// What this replica has: oldest and newest seq.
    journal: Option<(u64, u64)>,
    /// An exit frame went out.
    exited: bool,
    /// Index of the step being played.
    step: usize,
    out: Vec<Piece>,
}

impl<'a> Writer<'a> {
    const fn new(truth: &'a Truth, after: u64) -> Self {
        Self {
            truth,
            sent: after,
            journal: None,
            exited: false,
            step: 0,
            out: Vec::new(),
        }
    }

    fn play(&mut self, step: &Step) {
        match step {
            Step::Send(Span::UpTo(to)) => self.frames(self.sent.saturating_add(1), *to, false),
            Step::Send(Span::Range(from, to)) => self.frames(*from, *to, false),
            Step::Send(Span::Rest) => self.rest(),
            Step::SendOne(FrameRef::Seq(seq)) => self.frames(*seq, *seq, false),
            Step::SendOne(FrameRef::Exit) => self.true_exit(),
            Step::Part { frame, bytes } => {
                if let Some(mut line) = true_line(self.truth, *frame) {
                    line.truncate(*bytes);
                    self.bytes(Payload::Part(*frame), line);
                }
            }
            Step::Edited {
                frame,
                with,
                without,
            } => self.edited(*frame, with, without),
            Step::Frame { fields, is } => {
                let mut line = Value::Object(fields.clone()).to_string().into_bytes();
                line.push(b'\n');
                self.stands_for(*is);
                self.bytes(Payload::Forged(*is), line);
            }
            Step::Raw { bytes, is } => {
                self.stands_for(*is);
                self.bytes(Payload::Raw(*is), bytes.to_vec());
            }
            Step::Heartbeat(count) => {
                for _ in 0..*count {
                    self.bytes(Payload::Heartbeat, frame::HEARTBEAT_LINE.to_vec());
                }
            }
            Step::Exit { code, signal } => {
                self.exited = true;
                self.bytes(Payload::Exit, frame::exit_line(*code, signal.as_deref()));
            }
            Step::Error { code, oldest } => {
                self.bytes(Payload::Error, frame::error_line(code, oldest.as_ref()));
            }
            Step::Pause { ms } => self.out.push(Piece::Pause {
                ms: *ms,
                heartbeats: false,
            }),
            Step::Trickle {
                bytes,
                every_ms,
                step,
            } => self.trickle(*bytes, *every_ms, step),
            Step::Every { every_ms, step } => {
                let pieces = self.apart(|writer| writer.play(step));
                self.out.push(Piece::Every {
                    every_ms: *every_ms,
                    pieces,
                });
            }
            Step::Loop { count, steps } => {
                for round in 1..=*count {
                    let pieces = self.apart(|writer| {
                        for step in steps {
                            writer.play(step);
                        }
                    });
                    let number = round.to_string();
                    self.out
                        .extend(pieces.into_iter().map(|piece| numbered(piece, &number)));
                }
            }
            Step::Until(until) => self.out.push(Piece::Until(*until)),
            Step::End(end) => self.out.push(Piece::End(*end)),
            Step::Journal { oldest, newest } => self.journal = Some((*oldest, *newest)),
        }
    }

    /// True frames of an absolute range, as far as this replica has them.
    fn frames(&mut self, from: u64, to: u64, as_live: bool) {
        let (oldest, newest) = self.journal.unwrap_or((0, u64::MAX));
        let truth = self.truth;
        let first = truth.frames.first().map_or(0, |frame| frame.seq);
        let skip = from.max(oldest).saturating_sub(first);
        let frames = truth
            .frames
            .iter()
            .skip(usize::try_from(skip).unwrap_or(usize::MAX))
            .take_while(|frame| frame.seq <= to.min(newest));
        for frame in frames {
            if as_live {
                self.quiet(frame.pause_ms);
            }
            self.sent = self.sent.max(frame.seq);
            self.bytes(
                Payload::True(FrameRef::Seq(frame.seq)),
                frame::data_line(frame.seq, frame.stream, &frame.data),
            );
        }
    }

    /// Everything left, with the truth's pauses if it is written while the client watches.
    fn rest(&mut self) {
        self.frames(self.sent.saturating_add(1), u64::MAX, self.truth.live);
        let last = self.truth.frames.last().map_or(0, |frame| frame.seq);
        if self.journal.is_some_and(|(_, newest)| newest < last) {
            return;
        }
        if let TruthExit::Status { pause_ms, .. } = &self.truth.exit {
            if self.truth.live {
                self.quiet(*pause_ms);
            }
            self.true_exit();
        }
    }

    fn true_exit(&mut self) {
        if let Some(line) = true_line(self.truth, FrameRef::Exit) {
            self.exited = true;
            self.bytes(Payload::True(FrameRef::Exit), line);
        }
    }

    fn edited(&mut self, of: FrameRef, with: &Map<String, Value>, without: &[String]) {
        let Some(line) = true_line(self.truth, of) else {
            return;
        };
        // Our own line is an object; anything else would be a slip in `wire::frame`, and then it goes unchanged.
        let Ok(Value::Object(mut fields)) = serde_json::from_slice(&line) else {
            return;
        };
        for (key, value) in with {
            fields.insert(key.clone(), value.clone());
        }
        for key in without {
            fields.shift_remove(key);
        }
        let mut line = Value::Object(fields).to_string().into_bytes();
        line.push(b'\n');
        self.stands_for(Some(of));
        self.bytes(Payload::Edited(of), line);
    }

    fn trickle(&mut self, portion: usize, every_ms: u64, step: &Step) {
        let mut first = true;
        for piece in self.apart(|writer| writer.play(step)) {
            let Piece::Bytes { step, what, bytes } = piece else {
                self.out.push(piece);
                continue;
            };
            if !std::mem::take(&mut first) {
                self.out.push(Piece::Pause {
                    ms: every_ms,
                    heartbeats: false,
                });
            }
            self.out.push(Piece::Trickle {
                step,
                what,
                bytes,
                portion: portion.max(1),
                every_ms,
            });
        }
    }

    /// What a step adds, taken out of the list again.
    fn apart(&mut self, play: impl FnOnce(&mut Self)) -> Vec<Piece> {
        let before = std::mem::take(&mut self.out);
        play(self);
        std::mem::replace(&mut self.out, before)
    }

    fn stands_for(&mut self, is: Option<FrameRef>) {
        match is {
            Some(FrameRef::Seq(seq)) => self.sent = self.sent.max(seq),
            Some(FrameRef::Exit) => self.exited = true,
            None => {}
        }
    }

    fn quiet(&mut self, ms: u64) {
        if ms > 0 {
            self.out.push(Piece::Pause {
                ms,
                heartbeats: true,
            });
        }
    }

    fn bytes(&mut self, what: Payload, bytes: Vec<u8>) {
        self.out.push(Piece::Bytes {
            step: self.step,
            what,
            bytes,
        });
    }
}

#[cfg(test)]
#[path = "expand_tests.rs"]
mod tests;
