//! Taking frames out of the truth, and giving what refers to frames its new numbers.

use fake_server::{
    script::model::{CancelPoint, Content, FrameRef, Plan, Span, Step, Until},
    wire::Blob,
};
use serde_json::{Map, Value};

/// Old numbers of frames to new ones.
struct Numbers {
    /// First old number.
    first: u64,
    /// For each old frame how many are kept before it, and whether it is kept itself.
    frames: Vec<(u64, bool)>,
    kept: u64,
    /// First new number.
    new_first: u64,
}

impl Numbers {
    /// The new number of a frame that is kept; what lies outside the truth keeps its distance to it.
    fn of(&self, seq: u64) -> Option<u64> {
        let Some(index) = seq.checked_sub(self.first) else {
            return Some(self.new_first.saturating_sub(self.first - seq));
        };
        match usize::try_from(index)
            .ok()
            .and_then(|index| self.frames.get(index))
        {
            Some((before, true)) => Some(self.new_first + before),
            Some((_, false)) => None,
            None => {
                let beyond = index - self.frames.len() as u64;
                Some(
                    self.new_first
                        .saturating_add(self.kept)
                        .saturating_add(beyond),
                )
            }
        }
    }

    /// The cursor that stands after the same frames as before.
    fn cursor(&self, seq: u64) -> u64 {
        self.floor(seq).unwrap_or(self.new_first - 1)
    }

    /// The last kept frame up to this one.
    fn floor(&self, seq: u64) -> Option<u64> {
        (self.first..=seq.min(self.last()))
            .rev()
            .find_map(|seq| self.of(seq))
    }

    /// The first kept frame from this one on.
    fn ceil(&self, seq: u64) -> Option<u64> {
        (seq.max(self.first)..=self.last()).find_map(|seq| self.of(seq))
    }

    fn last(&self) -> u64 {
        (self.first + self.frames.len() as u64).saturating_sub(1)
    }

    fn reference(&self, frame: FrameRef) -> Option<FrameRef> {
        match frame {
            FrameRef::Seq(seq) => self.of(seq).map(FrameRef::Seq),
            FrameRef::Exit => Some(FrameRef::Exit),
        }
    }
}

/// The plan with only those frames of its truth that `keep` admits by index, numbered from `first` on. What sent
/// another frame is gone.
pub(super) fn keep(plan: &Plan, first: u64, keep: impl Fn(usize) -> bool) -> Plan {
    let mut plan = plan.clone();
    let mut kept = 0;
    let frames = (0..plan.truth.frames.len())
        .map(|index| {
            let before = kept;
            kept += u64::from(keep(index));
            (before, keep(index))
        })
        .collect();
    let numbers = Numbers {
        first: plan.truth.first_seq,
        frames,
        kept,
        new_first: first,
    };
    let mut index = 0;
    plan.truth.frames.retain(|_| {
        index += 1;
        keep(index - 1)
    });
    plan.truth.first_seq = first;
    for (seq, frame) in (first..).zip(&mut plan.truth.frames) {
        frame.seq = seq;
    }
    plan.job.after = if plan.job.after == 0 {
        0
    } else {
        numbers.cursor(plan.job.after)
    };
    if let Some(cancel) = &mut plan.job.cancel
        && let CancelPoint::Frame(nth) = &mut cancel.at
    {
        *nth = (*nth).clamp(1, kept.max(1));
    }
    for fault in &mut plan.faults {
        fault.when_after = fault.when_after.map(|after| numbers.cursor(after));
        if let Content::Stream(steps) = &mut fault.behaviour.content {
            *steps = self::steps(steps, &numbers);
        }
    }
    plan
}

fn steps(old: &[Step], numbers: &Numbers) -> Vec<Step> {
    old.iter().filter_map(|one| step(one, numbers)).collect()
}

/// The step under the new numbers; nothing if all it sent is gone.
fn step(old: &Step, numbers: &Numbers) -> Option<Step> {
    Some(match old {
        Step::Send(Span::UpTo(to)) => Step::Send(Span::UpTo(numbers.floor(*to)?)),
        Step::Send(Span::Range(from, to)) => {
            let (from, to) = (numbers.ceil(*from)?, numbers.floor(*to)?);
            match from.cmp(&to) {
                std::cmp::Ordering::Less => Step::Send(Span::Range(from, to)),
                std::cmp::Ordering::Equal => Step::SendOne(FrameRef::Seq(to)),
                std::cmp::Ordering::Greater => return None,
            }
        }
        Step::SendOne(frame) => Step::SendOne(numbers.reference(*frame)?),
        Step::Part { frame, bytes } => Step::Part {
            frame: numbers.reference(*frame)?,
            bytes: *bytes,
        },
        Step::Edited {
            frame,
            with,
            without,
        } => Step::Edited {
            frame: numbers.reference(*frame)?,
            with: fields(with, numbers),
            without: without.clone(),
        },
        Step::Frame { fields, is } => Step::Frame {
            fields: self::fields(fields, numbers),
            is: match is {
                Some(frame) => Some(numbers.reference(*frame)?),
                None => None,
            },
        },
        Step::Raw { bytes, is } => Step::Raw {
            bytes: raw(bytes, numbers),
            is: match is {
                Some(frame) => Some(numbers.reference(*frame)?),
                None => None,
            },
        },
        Step::Trickle {
            bytes,
            every_ms,
            step,
        } => Step::Trickle {
            bytes: *bytes,
            every_ms: *every_ms,
            step: Box::new(self::step(step, numbers)?),
        },
        Step::Every { every_ms, step } => Step::Every {
            every_ms: *every_ms,
            step: Box::new(self::step(step, numbers)?),
        },
        Step::Loop { count, steps } => {
            let steps = self::steps(steps, numbers);
            if steps.is_empty() {
                return None;
            }
            Step::Loop {
                count: *count,
                steps,
            }
        }
        Step::Until(Until::Delivered(seq)) => Step::Until(Until::Delivered(numbers.floor(*seq)?)),
        Step::Journal { oldest, newest } => Step::Journal {
            oldest: numbers.ceil(*oldest)?,
            newest: numbers.floor(*newest)?,
        },
        other => other.clone(),
    })
}

/// A forged `seq` keeps its place among the frames.
fn fields(old: &Map<String, Value>, numbers: &Numbers) -> Map<String, Value> {
    let mut fields = old.clone();
    if let Some(seq) = fields.get_mut("seq")
        && let Some(new) = seq.as_u64().and_then(|old| numbers.of(old))
    {
        *seq = Value::from(new);
    }
    fields
}

/// As [`fields`], of a line that was written by hand.
fn raw(line: &Blob, numbers: &Numbers) -> Blob {
    const KEY: &str = "\"seq\":";
    let Ok(text) = std::str::from_utf8(line) else {
        return line.clone();
    };
    let mut new = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(KEY) {
        let (before, from) = rest.split_at(at + KEY.len());
        new.push_str(before);
        let end = from
            .find(|digit: char| !digit.is_ascii_digit())
            .unwrap_or(from.len());
        let (digits, after) = from.split_at(end);
        // A fraction or an exponent is another number.
        let whole = !after.starts_with(['.', 'e', 'E']);
        match digits
            .parse()
            .ok()
            .filter(|_| whole)
            .and_then(|old| numbers.of(old))
        {
            Some(seq) => new.push_str(&seq.to_string()),
            None => new.push_str(digits),
        }
        rest = after;
    }
    new.push_str(rest);
    Blob(new.into_bytes())
}
