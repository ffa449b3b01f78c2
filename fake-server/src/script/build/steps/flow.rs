//! Steps about time, repetition and waiting.

use super::{Level, Reader};
use crate::{
    script::{
        build::positive,
        model::{FrameRef, Step, Until},
        raw::RawStep,
        read::At,
        words::Wait,
    },
    wire::{Op, call::Capability},
};

impl Reader<'_, '_> {
    /// The step that `trickle` and `every` hold.
    pub(super) fn inner(&mut self, at: &At<RawStep>, kind: &str, level: Level) -> Option<Step> {
        match &at.value.step {
            Some(step) => {
                let step = At {
                    key: step.key.clone(),
                    span: step.span.clone(),
                    clean: step.clean,
                    value: step.value.as_ref().clone(),
                };
                self.step(&step, level)
            }
            None => {
                self.gather
                    .at(&at.span, format!("`{kind}` needs a step"))
                    .help(match level {
                        Level::Trickle => "{ trickle = 1, every = \"10ms\", step = { send = 3 } }",
                        _ => "{ every = \"1s\", step = { heartbeat = 1 } }",
                    });
                None
            }
        }
    }

    pub(super) fn trickle(&mut self, at: &At<RawStep>) -> Option<Step> {
        let raw = &at.value;
        let bytes = raw.trickle.as_ref()?;
        let bytes = positive(Some((bytes.value, &bytes.span)), self.gather);
        let every = raw.every.as_ref();
        if every.is_none() {
            self.gather
                .at(&at.span, "how much time lies between two writes?")
                .help("{ trickle = 1, every = \"10ms\", step = { send = 3 } }");
        }
        let every_ms = positive(every.map(|every| (every.value.0, &every.span)), self.gather);
        let step = self.inner(at, "trickle", Level::Trickle)?;
        Some(Step::Trickle {
            bytes: usize::try_from(bytes?).ok()?,
            every_ms: every_ms?,
            step: Box::new(step),
        })
    }

    pub(super) fn repeat(&mut self, at: &At<RawStep>) -> Option<Step> {
        let count = at.value.repeat.as_ref()?;
        let count = positive(Some((count.value, &count.span)), self.gather);
        let steps = at
            .value
            .steps
            .as_ref()
            .map_or(&[][..], |steps| &steps.value);
        if steps.is_empty() {
            self.gather
                .at(&at.span, "`loop` needs steps")
                .help("{ loop = 5, steps = [{ heartbeat = 1 }, { pause = \"1s\" }] }");
        }
        let steps: Vec<_> = steps
            .iter()
            .filter_map(|step| self.step(step, Level::Loop))
            .collect();
        Some(Step::Loop {
            count: count?,
            steps,
        })
    }

    pub(super) fn until(&mut self, at: &At<RawStep>) -> Option<Step> {
        let raw = &at.value;
        let until = raw.until.as_ref()?.value.0;
        if until != Wait::Delivered
            && let Some(seq) = &raw.seq
        {
            self.gather
                .at(&seq.key, "`seq` belongs to until = \"delivered\"")
                .help("{ until = \"delivered\", seq = 3 }");
            return None;
        }
        match until {
            Wait::Acked => Some(Step::Until(Until::Acked)),
            Wait::Closed => {
                self.ended = Some(("the client has closed".to_owned(), at.span.clone()));
                Some(Step::Until(Until::Closed))
            }
            Wait::Delivered => {
                if self.facts.op != Op::Connect {
                    self.needs.insert(Capability::LiveOutput);
                }
                let Some(seq) = &raw.seq else {
                    self.gather
                        .at(&at.span, "which frame must have been delivered?")
                        .help("{ until = \"delivered\", seq = 3 }");
                    return None;
                };
                if !self.known(FrameRef::Seq(seq.value), &seq.span) {
                    return None;
                }
                if self.first_answer && seq.value > self.newest {
                    self.gather
                        .at(
                            &seq.span,
                            format!(
                                "this waits for ever: frame {} was not sent before",
                                seq.value
                            ),
                        )
                        .help(
                            "send it first: { send = \"..3\" }, { until = \"delivered\", seq = 3 }",
                        );
                    return None;
                }
                Some(Step::Until(Until::Delivered(seq.value)))
            }
        }
    }

    pub(super) fn journal(&mut self, raw: &RawStep) -> Option<Step> {
        let window = raw.journal.as_ref()?;
        let (oldest, newest) = (window.value.oldest.as_ref()?, window.value.newest.as_ref()?);
        if oldest.value > newest.value {
            self.gather
                .at(&window.span, "this journal ends before it begins")
                .help("`oldest` is at most `newest`; both are kept");
            return None;
        }
        let known = self.known(FrameRef::Seq(oldest.value), &oldest.span)
            && self.known(FrameRef::Seq(newest.value), &newest.span);
        known.then_some(Step::Journal {
            oldest: oldest.value,
            newest: newest.value,
        })
    }
}
