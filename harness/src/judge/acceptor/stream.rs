//! Walking over the lines of one stream.

use super::{Acceptor, Fail, Failure, Phase, State, each_once, state::Bytes};
use crate::{
    contract::line::{Alternative, Data, Meaning, Problem, Streams},
    judge::answer::{Answer, Ending, Line},
};
use fake_server::{
    script::{expand::true_line, model::FrameRef},
    wire::StreamName,
};
use std::collections::BTreeMap;

/// Payloads below this many bytes make lines that no promise of a line limit is short of.
const PLAIN_PAYLOAD: usize = 32 << 10;
/// How far beyond the promised line limit a line without LF may run before the client must be gone.
const ENDLESS_FACTOR: u64 = 8;
/// How early a timer may fire.
const TIMER_US: u64 = 10_000;

/// What a line's meaning needs: the meaning, and the true frame whose bytes it has, if it is one.
struct Step {
    alternatives: Vec<Alternative>,
    true_index: Option<usize>,
}

impl Acceptor<'_> {
    /// The states after a stream that these states began to read.
    pub(super) fn stream(&mut self, answer: &Answer, entering: &[State]) -> Vec<State> {
        let lowest = self.lowest_prefix(answer);
        let mut current = entering.to_vec();
        let mut seen: Vec<State> = Vec::new();
        for (index, line) in answer.lines.iter().enumerate() {
            if lowest.is_some_and(|lowest| index >= lowest) {
                seen.extend(current.iter().filter(|state| state.phase == Phase::Idle));
            }
            if current.iter().all(|state| state.phase != Phase::Idle) {
                self.after_the_end(&current, answer);
                break;
            }
            let step = self.meaning(line, index == 0);
            current = self.step(&current, &step);
            if current.iter().all(|state| state.phase != Phase::Idle) {
                self.decided.all = Some(index + 1);
            }
            if current
                .iter()
                .any(|state| matches!(state.phase, Phase::Failed(_)))
            {
                self.decided.some_failed.get_or_insert(index + 1);
            }
        }
        if current
            .iter()
            .any(|state| matches!(state.phase, Phase::Ended(_)))
            && !(answer.ending == Ending::Clean && answer.tail.is_empty())
        {
            self.touch("stream/exit-ends-it");
        }
        if lowest.is_some() {
            seen.extend(current.iter().filter(|state| state.phase == Phase::Idle));
        }
        current = self.tail(answer, current);
        current.extend(seen);
        let mut after = Vec::with_capacity(current.len());
        for state in each_once(current) {
            match (state.phase, answer.ending) {
                (Phase::Idle, Ending::Open) => after.push(state),
                (Phase::Idle, ending) => {
                    let state = State {
                        hung_up: ending == Ending::Left && !self.may_leave(answer),
                        ..state
                    };
                    after.extend(self.over(state, Failure::Drop));
                }
                _ => after.push(state),
            }
        }
        each_once(after)
    }

    /// From which line on a client may have stopped without an own reason; none where all must have been read.
    fn lowest_prefix(&self, answer: &Answer) -> Option<usize> {
        match answer.ending {
            // What cannot be read, or need not be, may be taken for a drop at any point.
            _ if answer.doubtful || answer.coded() => Some(0),
            Ending::Clean => None,
            Ending::Left | Ending::Open if !answer.coded() => {
                Some(answer.surely.min(answer.lines.len()))
            }
            _ => Some(0),
        }
    }

    /// Whether a right client that has neither ended nor failed may leave a stream that goes on: after the silence that
    /// it promises to bear, or where it may take the answer as such for a drop.
    fn may_leave(&self, answer: &Answer) -> bool {
        self.silence_is_over(answer)
            || answer.coded()
            || answer.doubtful
            || answer.status != Some(200)
    }

    /// Whether the silence that the client promises to bear was over when it left.
    pub(super) fn silence_is_over(&self, answer: &Answer) -> bool {
        let limit_ms = self.promises.profile.silence_limit_ms;
        limit_ms.is_some_and(|ms| answer.quiet_us + TIMER_US >= ms.saturating_mul(1000))
    }

    /// All have ended or failed, and more came.
    fn after_the_end(&mut self, states: &[State], answer: &Answer) {
        if states
            .iter()
            .any(|state| matches!(state.phase, Phase::Ended(_)))
        {
            self.touch("exit/first-counts");
            self.touch("stream/exit-ends-it");
        }
        if answer.ending != Ending::Clean {
            self.touch("frames/error-frame");
        }
    }

    fn meaning(&mut self, line: &Line, first: bool) -> Step {
        match line {
            Line::True(frame) => self.true_meaning(*frame, first),
            Line::Bytes(bytes) => self.read(bytes, first),
        }
    }

    fn read(&mut self, bytes: &[u8], first: bool) -> Step {
        let reading = self.reader.read(bytes, first);
        for requirement in reading.touches {
            self.touch(requirement);
        }
        Step {
            alternatives: reading.alternatives,
            true_index: None,
        }
    }

    /// A true frame needs no decoding, unless its length or its stream makes it a question.
    fn true_meaning(&mut self, frame: FrameRef, first: bool) -> Step {
        let truth = &self.plan.truth;
        if let FrameRef::Seq(seq) = frame
            && let Some(offset) = truth
                .frames
                .first()
                .and_then(|first| seq.checked_sub(first.seq))
            && let Ok(index) = usize::try_from(offset)
            && let Some(data) = truth.frames.get(index)
            && data.data.len() < PLAIN_PAYLOAD
            && self.is_plain(data.stream)
            && seq <= fake_server::wire::limits::SEQ_MAX
        {
            if data.data.is_empty() {
                self.touch("data/base64");
            }
            return Step {
                alternatives: vec![Alternative {
                    meaning: Meaning::Data(Data {
                        seq: Some(seq),
                        stream: data.stream,
                        bytes: Vec::new(),
                        problems: Vec::new(),
                    }),
                    blemish: None,
                }],
                true_index: Some(index),
            };
        }
        let mut line = true_line(truth, frame).unwrap_or_default();
        line.pop();
        self.read(&line, first)
    }

    const fn is_plain(&self, stream: StreamName) -> bool {
        matches!(
            (self.reader.streams, stream),
            (Streams::Pipe, StreamName::Stdout | StreamName::Stderr)
                | (Streams::Terminal, StreamName::Pty)
        )
    }

    /// Every state through every meaning of one line.
    fn step(&mut self, states: &[State], step: &Step) -> Vec<State> {
        let mut next = Vec::with_capacity(states.len());
        // One accepted frame a parent and meaning, so that equal states stay equal.
        let mut accepted: BTreeMap<(Option<usize>, usize), usize> = BTreeMap::new();
        for state in states {
            if state.phase != Phase::Idle {
                next.push(*state);
                continue;
            }
            for (number, alternative) in step.alternatives.iter().enumerate() {
                let state = State {
                    blemish: state.blemish.or(alternative.blemish),
                    ..*state
                };
                match &alternative.meaning {
                    Meaning::Nothing | Meaning::Heartbeat => next.push(state),
                    Meaning::Broken(problems) => {
                        next.push(self.failed(state, Fail::from(problems.as_slice())));
                    }
                    Meaning::Exit(exit) => next.push(State {
                        phase: Phase::Ended(self.arena.exit(exit.clone())),
                        ..state
                    }),
                    Meaning::Data(data) => {
                        let key = (state.tip, number);
                        let known = accepted.get(&key).copied();
                        let (states, tip) = self.data(state, data, step.true_index, known);
                        next.extend(states);
                        if let Some(tip) = tip {
                            accepted.insert(key, tip);
                        }
                    }
                }
            }
        }
        if next.len() > 1 {
            each_once(next)
        } else {
            next
        }
    }

    /// A state through a data frame, and the tip that it made or used.
    fn data(
        &mut self,
        state: State,
        data: &Data,
        true_index: Option<usize>,
        known: Option<usize>,
    ) -> (Vec<State>, Option<usize>) {
        let mut problems = data.problems.clone();
        let Some(seq) = data.seq else {
            return (
                vec![self.failed(state, Fail::from(problems.as_slice()))],
                None,
            );
        };
        if seq <= state.cursor {
            self.touch("sequence/duplicate");
            let mut states = vec![state];
            if !problems.is_empty() {
                states.push(self.failed(state, Fail::from(problems.as_slice())));
            }
            return (states, None);
        }
        if seq > state.cursor + 1 {
            self.touch("sequence/gap");
            problems.insert(
                0,
                Problem {
                    kind: "sequence-gap",
                    requirement: "sequence/gap",
                },
            );
        }
        if !problems.is_empty() {
            return (
                vec![self.failed(state, Fail::from(problems.as_slice()))],
                None,
            );
        }
        let tip = known.unwrap_or_else(|| {
            let bytes = true_index.map_or_else(|| Bytes::Own(data.bytes.clone()), Bytes::True);
            self.arena.accept(state.tip, seq, data.stream, bytes)
        });
        let state = State {
            cursor: seq,
            tip: Some(tip),
            fresh: true,
            ..state
        };
        (vec![state], Some(tip))
    }

    /// What stands after the last LF: a whole object is used or fetched again, a partial one dropped.
    fn tail(&mut self, answer: &Answer, states: Vec<State>) -> Vec<State> {
        if answer.tail.is_empty() || states.iter().all(|state| state.phase != Phase::Idle) {
            return states;
        }
        self.touch("frames/last-line");
        let length = u64::try_from(answer.tail.len()).unwrap_or(u64::MAX);
        if matches!(answer.ending, Ending::Left | Ending::Open) && length <= self.reader.max_line {
            // It may still have become a line.
            return states;
        }
        let step = self.read(&answer.tail, answer.lines.is_empty());
        let partial = !step.alternatives.is_empty()
            && step.alternatives.iter().all(|alternative| {
                matches!(&alternative.meaning, Meaning::Broken(problems)
                    if problems.iter().all(|problem| problem.kind == "frame-invalid"))
            });
        let endless = u64::try_from(answer.tail_acked).unwrap_or(u64::MAX)
            >= self.reader.max_line.saturating_mul(ENDLESS_FACTOR);
        let clean = matches!(answer.ending, Ending::Clean | Ending::CloseDelimited);
        let too_long = length > self.reader.max_line.saturating_mul(3)
            || (length > self.reader.max_line && answer.tail.is_ascii());
        let mut next = Vec::new();
        if partial {
            next.clone_from(&states);
            if clean {
                for state in &states {
                    if state.phase == Phase::Idle {
                        next.push(
                            self.failed(*state, Fail::new(&["frame-invalid"], "frames/last-line")),
                        );
                    }
                }
            }
        } else {
            next.extend(self.step(&states, &step));
            if !(endless || (too_long && clean)) {
                next.extend(states);
            }
        }
        each_once(next)
    }
}
