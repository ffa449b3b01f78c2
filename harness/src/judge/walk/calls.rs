//! The calls around the stream: create, stdin-close, delete, wait.

use super::Walk;
use crate::{
    contract::Level,
    judge::{
        Place,
        acceptor::{Made, Phase, Proof, each_once, proof},
        answer::Answer,
        findings::{Findings, Wrong},
        words,
    },
};
use fake_server::{wire::Op, wirelog::Exchange};

impl Walk<'_> {
    pub(super) fn create(
        &mut self,
        index: usize,
        exchange: &Exchange,
        findings: &mut Findings<'_>,
    ) {
        let place = Place::Exchange(index);
        let waiting = self
            .states
            .iter()
            .any(|state| state.made == Made::No && state.phase == Phase::Idle);
        if !waiting {
            let (candidates, expected): (&[&str], _) = if self.creates_anything() {
                (
                    &["create/once", "create/refused", "create/identifier"],
                    "one create-process",
                )
            } else {
                (&["create/once"], "no process is created: one exists")
            };
            findings
                .add(Wrong::new(candidates, place, expected, "another create-process").always());
        }
        if self.is_after_the_result(exchange) {
            findings.add(
                Wrong::new(
                    &["create/once"],
                    place,
                    "nothing but cleanup after the result",
                    "a process was created after it",
                )
                .always(),
            );
        }
        let answer = Answer::of(exchange, &self.plan.truth, self.observed.ended_us);
        let mut after = self.acceptor.created(exchange, &answer, &self.states);
        // The deadline or a cancel may have struck between the answer and its reading.
        let interrupted =
            self.plan.job.timeout_ms.is_some() || self.observed.cancelled_us.is_some();
        if interrupted && index + 1 == self.log.exchanges.len() {
            for state in self.states.clone() {
                if state.made == Made::No && state.phase == Phase::Idle {
                    after.push(self.acceptor.unconfirmed_creation(state, "create/once"));
                }
            }
        }
        self.states = each_once(after);
        self.creates.push(index);
    }

    pub(super) fn input(&mut self, exchange: &Exchange) {
        let answer = Answer::of(exchange, &self.plan.truth, self.observed.ended_us);
        self.states = self.acceptor.input(Some((exchange, &answer)), &self.states);
    }

    pub(super) fn stdin_close(
        &mut self,
        index: usize,
        exchange: &Exchange,
        findings: &mut Findings<'_>,
    ) {
        let place = Place::Exchange(index);
        if !self.creates_anything() {
            findings.add(
                Wrong::new(
                    &["stdin/closed-already"],
                    place,
                    "the stdin of a process that was there before is left alone",
                    "it was closed",
                )
                .at_level(Level::Should)
                .always(),
            );
            self.stdin_closes.push(index);
            return;
        }
        if self.plan.op == Op::Execute && !self.states.iter().any(|s| s.made == Made::Yes) {
            let (candidates, expected) = self.why_no_process();
            findings.add(Wrong::new(candidates, place, expected, "a stdin-close"));
        } else if self.plan.op == Op::Execute && !self.stdin_closes.is_empty() {
            findings.add(Wrong::new(
                &["stdin/closed-already"],
                place,
                "one stdin-close",
                "another stdin-close",
            ));
        }
        let answer = Answer::of(exchange, &self.plan.truth, self.observed.ended_us);
        self.states = self
            .acceptor
            .stdin_closed(Some((exchange, &answer)), &self.states);
        self.stdin_closes.push(index);
    }

    pub(super) fn delete(
        &mut self,
        index: usize,
        exchange: &Exchange,
        findings: &mut Findings<'_>,
    ) {
        let place = Place::Exchange(index);
        let answer = Answer::of(exchange, &self.plan.truth, self.observed.ended_us);
        let proven = proof(exchange, &answer);
        if self.creates_anything() {
            if !self.states.iter().any(|state| state.made == Made::Yes) {
                let (candidates, expected) = self.why_no_process();
                findings.add(Wrong::new(
                    candidates,
                    place,
                    expected,
                    "a process was deleted",
                ));
            }
            let grace: Vec<&str> = exchange.request.query_values("grace_ms").collect();
            let plain = matches!(grace.as_slice(), [one] if one.parse::<u64>().is_ok());
            if !plain {
                findings.add(Wrong::new(
                    &["cleanup/on-every-failure"],
                    place,
                    "a delete with `grace_ms`, in milliseconds, once",
                    match grace.as_slice() {
                        [] => "a delete without `grace_ms`".to_owned(),
                        values => format!("grace_ms={}", words::short(&values.join(","))),
                    },
                ));
            }
            if self
                .deletes
                .iter()
                .any(|(_, earlier)| *earlier == Proof::Yes)
            {
                findings.add(
                    Wrong::new(
                        &["cleanup/not-on-success"],
                        place,
                        "no second delete: the first was confirmed",
                        "another delete-process",
                    )
                    .always(),
                );
            }
        } else {
            findings.add(
                Wrong::new(
                    &["cleanup/not-on-success"],
                    place,
                    "a process that was there before is left alone",
                    "it was deleted",
                )
                .always(),
            );
        }
        self.deletes.push((index, proven));
    }

    pub(super) fn wait(&mut self, exchange: &Exchange) {
        let answer = Answer::of(exchange, &self.plan.truth, self.observed.ended_us);
        self.acceptor.waited(exchange, &answer, &mut self.states);
        self.states = each_once(std::mem::take(&mut self.states));
    }

    /// Whether the op makes a process of its own.
    pub(in crate::judge) const fn creates_anything(&self) -> bool {
        matches!(self.plan.op, Op::Execute | Op::Terminal)
    }

    fn why_no_process(&self) -> (&'static [&'static str], &'static str) {
        if self.states.iter().any(|state| state.made == Made::Refused) {
            (
                &["create/refused"],
                "no further call: the create was refused",
            )
        } else if self.states.iter().any(|state| state.made == Made::Unknown) {
            (
                &["create/once", "create/identifier"],
                "no call for a process that is not known to exist",
            )
        } else {
            (&["create/once"], "a process is created first")
        }
    }
}
