//! Writing the steps of one answer: true frames on their way from a cursor, one way or another.

use super::{super::dice::Dice, noise};
use fake_server::{
    script::{
        expand::true_line,
        model::{End, FrameRef, Span, Step, Truth, TruthExit},
    },
    wire::limits,
};
use serde_json::{Map, Value, json};

/// Where a right client stands when it asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    /// Seq of the last frame that it has, if nothing was thrown away with a broken connection.
    pub(super) seq: u64,
    /// Nothing can have been thrown away so far.
    pub(super) certain: bool,
}

/// The steps of an answer to a connect.
pub(super) struct Script<'a, 'r> {
    pub(super) dice: &'a mut Dice<'r>,
    pub(super) truth: &'a Truth,
    pub(super) steps: Vec<Step>,
    /// Highest seq that this answer has sent, or the cursor.
    pub(super) at: u64,
    /// Every frame up to `at` was sent to whoever asked, wherever its cursor was.
    level: bool,
}

impl<'a, 'r> Script<'a, 'r> {
    pub(super) const fn new(dice: &'a mut Dice<'r>, truth: &'a Truth, cursor: Cursor) -> Self {
        Self {
            dice,
            truth,
            steps: Vec::new(),
            at: cursor.seq,
            level: cursor.certain,
        }
    }

    /// Seq of the newest true frame, or of the one before the first.
    pub(super) const fn last(&self) -> u64 {
        self.truth.first_seq - 1 + self.truth.frames.len() as u64
    }

    pub(super) fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// True frames up to this one, in one of the many ways to send them, with harmless noise between.
    pub(super) fn forward(&mut self, to: u64) {
        let to = to.min(self.last());
        if !self.level && self.at >= self.truth.first_seq {
            let up_to = self.dice.between(self.at, to.max(self.at));
            self.push(Step::Send(Span::UpTo(up_to)));
            self.at = up_to;
            self.level = true;
        }
        while self.at < to {
            if self.dice.percent(22) {
                let step = noise::step(self);
                self.push(step);
            }
            self.some(to);
        }
    }

    /// Makes sure that whoever asked has every frame up to `at` now.
    pub(super) fn catch_up(&mut self) {
        if !self.level && self.at >= self.truth.first_seq {
            self.push(Step::Send(Span::UpTo(self.at)));
        }
        self.level = true;
    }

    /// The next frame, or a few.
    fn some(&mut self, to: u64) {
        #[derive(Clone, Copy)]
        enum How {
            Run,
            One,
            Overlap,
            Extra,
            Spaced,
            Shuffled,
            Trickled,
            Double,
        }
        let how = self.dice.weighted(&[
            (55, How::Run),
            (20, How::One),
            (8, How::Overlap),
            (5, How::Extra),
            (4, How::Spaced),
            (3, How::Shuffled),
            (3, How::Trickled),
            (2, How::Double),
        ]);
        let next = self.at + 1;
        let mut upto = next;
        let step = match how {
            How::Run => {
                upto = self.dice.between(next, to);
                Step::Send(Span::UpTo(upto))
            }
            How::One => Step::SendOne(FrameRef::Seq(next)),
            How::Overlap => {
                upto = self.dice.between(next, to);
                let from = self.dice.between(self.truth.first_seq, next);
                Step::Send(Span::Range(from, upto))
            }
            How::Extra => Step::Edited {
                frame: FrameRef::Seq(next),
                with: extra_field(self.dice),
                without: Vec::new(),
            },
            How::Spaced => spaced(self, FrameRef::Seq(next)),
            How::Shuffled => shuffled(self, next),
            How::Trickled => self.trickled(FrameRef::Seq(next)),
            How::Double if next <= limits::SEQ_MAX => Step::Edited {
                frame: FrameRef::Seq(next),
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "a double holds it, it is at most SEQ_MAX"
                )]
                with: fields(&[("seq", json!(next as f64))]),
                without: Vec::new(),
            },
            How::Double => Step::SendOne(FrameRef::Seq(next)),
        };
        self.push(step);
        self.at = upto;
    }

    /// A true frame in a few small writes, over at most some dozen milliseconds.
    fn trickled(&mut self, frame: FrameRef) -> Step {
        let portions = self.dice.length(2, 12);
        Step::Trickle {
            bytes: self.line(frame).len().div_ceil(portions).max(1),
            every_ms: self.dice.between(1, 3),
            step: Box::new(Step::SendOne(frame)),
        }
    }

    /// The line of a true frame.
    pub(super) fn line(&self, frame: FrameRef) -> Vec<u8> {
        true_line(self.truth, frame).unwrap_or_default()
    }

    /// A frame that would come next: a data frame, or the exit when all were sent.
    pub(super) fn upcoming(&self) -> Option<FrameRef> {
        if self.at < self.last() {
            Some(FrameRef::Seq(self.at + 1))
        } else if self.truth.exit == TruthExit::Never {
            None
        } else {
            Some(FrameRef::Exit)
        }
    }

    /// The beginning of what would come next: nothing of it, a few bytes, or all but its LF.
    pub(super) fn part(&mut self) {
        let Some(frame) = self.upcoming() else {
            return;
        };
        self.catch_up();
        let length = self.line(frame).len();
        let bytes = match self.dice.below(4) {
            0 => length - 1,
            1 => self.dice.length(0, 4.min(length - 1)),
            _ => self.dice.length(1, length - 1),
        };
        self.push(Step::Part { frame, bytes });
    }

    pub(super) fn end(&mut self, end: End) {
        self.push(Step::End(end));
    }
}

/// A JSON object of these fields, in this order.
pub(super) fn fields(list: &[(&str, Value)]) -> Map<String, Value> {
    list.iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect()
}

/// A field that nobody knows.
pub(super) fn extra_field(dice: &mut Dice<'_>) -> Map<String, Value> {
    match dice.below(6) {
        0 => fields(&[("note", json!("\u{2028}"))]),
        1 => fields(&[("ts", json!(1_700_000_000.5))]),
        2 => fields(&[(
            "meta",
            json!({ "type": "exit", "exit_code": 0, "deep": [[[1]]] }),
        )]),
        3 => fields(&[("exit_code", json!(0))]),
        4 => fields(&[("Seq", json!(999))]),
        _ => fields(&[("pid", json!(4711)), ("host", json!("a\\b\"c/é"))]),
    }
}

/// A true line in other bytes that mean the same: CR LF, blanks around.
pub(super) fn spaced(script: &mut Script<'_, '_>, frame: FrameRef) -> Step {
    let mut line = script.line(frame);
    line.pop();
    let (before, after): (&[u8], &[u8]) = match script.dice.below(4) {
        0 => (b"", b"\r\n"),
        1 => (b"  ", b"\t\n"),
        2 => (b"\n\r\n", b"\n"),
        _ => (b"\t", b" \r\n\n"),
    };
    Step::Raw {
        bytes: [before, &line, after].concat().into(),
        is: Some(frame),
    }
}

/// A true data frame with its fields in another order.
fn shuffled(script: &Script<'_, '_>, seq: u64) -> Step {
    let frame = FrameRef::Seq(seq);
    let line: Option<Map<String, Value>> = serde_json::from_slice(&script.line(frame)).ok();
    match line {
        Some(line) => Step::Frame {
            fields: line.into_iter().rev().collect(),
            is: Some(frame),
        },
        None => Step::SendOne(frame),
    }
}
