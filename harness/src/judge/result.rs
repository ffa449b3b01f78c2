//! The client's result, against the states in which a right client may be at the end.

mod blame;
mod cleanup;
mod failure;
mod interrupted;
mod success;

pub(super) use blame::{nothing_ends_it, waits_for_delivery};

use super::{
    Place,
    acceptor::{Failure, Made, Phase, State},
    findings::{Findings, Wrong},
    output::{Extent, Handed},
    walk::Walk,
    words,
};
use crate::{
    contract::oracle::Expected,
    observed::{JobResult, Reply},
};
use fake_server::wirelog::Micros;

/// How early a timer may fire.
const TIMER_US: Micros = 10_000;
/// How long before its end a client may not yet have acted on what it got last.
const LATE_US: Micros = 500_000;

/// A result being judged.
pub(super) struct Ending<'a, 'w> {
    walk: &'w Walk<'a>,
    expected: &'w Expected,
    result: &'w JobResult,
    handed: Handed,
}

/// Judges how the client said it ended.
pub(super) fn judge(walk: &Walk<'_>, expected: &Expected, findings: &mut Findings<'_>) {
    match &walk.observed.reply {
        Reply::Result(result) => {
            let ending = Ending {
                walk,
                expected,
                result,
                handed: Handed::new(walk.observed, result, &walk.promises.profile),
            };
            ending.judge(findings);
        }
        Reply::Silent => blame::silent(walk, expected, findings),
        // No conformance failures: the checks say what happened.
        Reply::AdapterFault(_) | Reply::AdapterDied(_) | Reply::HarnessError(_) => {}
    }
}

/// Judges an op for which nothing is derived: only that it answered.
pub(super) fn judge_other(walk: &Walk<'_>, expected: &Expected, findings: &mut Findings<'_>) {
    if walk.observed.reply == Reply::Silent {
        blame::silent(walk, expected, findings);
    }
}

impl Ending<'_, '_> {
    fn judge(&self, findings: &mut Findings<'_>) {
        let fitting = match self.result.outcome.as_str() {
            "exited" => self.exited(findings),
            "error" => self.failed(findings),
            "timed-out" => self.timed_out(findings),
            "cancelled" => self.cancelled(findings),
            other => {
                let candidates = self.blame(&self.walk.states);
                findings.add(Wrong::new(
                    &candidates,
                    Place::Result,
                    "one of the outcomes exited, error, timed-out and cancelled",
                    format!("outcome `{}`", words::short(other)),
                ));
                Vec::new()
            }
        };
        let extent = if self.result.outcome == "exited" && !fitting.is_empty() {
            Extent::Whole
        } else {
            Extent::Beginning
        };
        let states = if fitting.is_empty() {
            &self.walk.states
        } else {
            &fitting
        };
        let survivors = self.output(states, extent, findings);
        self.blemishes(&survivors, findings);
    }

    /// The states whose output was handed over; if there is none, what differs from the best one.
    fn output(&self, states: &[State], extent: Extent, findings: &mut Findings<'_>) -> Vec<State> {
        let acceptor = &self.walk.acceptor;
        let mut fitting = Vec::new();
        let mut first_mismatch = None;
        // The most output first: what does not begin that begins nothing.
        let mut ordered: Vec<&State> = states.iter().collect();
        ordered.sort_by_key(|state| std::cmp::Reverse(acceptor.arena.lengths(state.tip)));
        let mut last: Option<(Option<usize>, bool)> = None;
        for state in ordered {
            if let Some((tip, fits)) = last
                && tip == state.tip
            {
                if fits {
                    fitting.push(*state);
                }
                continue;
            }
            if extent == Extent::Whole
                && first_mismatch.is_some()
                && !self.handed.may_be_whole(acceptor, state)
            {
                continue;
            }
            let found = self.handed.fits(acceptor, state, extent);
            last = Some((state.tip, found.is_ok()));
            match found {
                Ok(()) => {
                    fitting.push(*state);
                    if extent == Extent::Beginning && fitting.len() > 1 {
                        break;
                    }
                }
                Err(mismatch) => {
                    first_mismatch.get_or_insert(mismatch);
                }
            }
        }
        if fitting.is_empty()
            && let Some(mismatch) = first_mismatch
        {
            findings.add(
                Wrong::new(
                    &mismatch.candidates(&acceptor.touched),
                    Place::Result,
                    mismatch.expected(extent),
                    mismatch.seen(),
                )
                .always(),
            );
        }
        fitting
    }

    fn blemishes(&self, survivors: &[State], findings: &mut Findings<'_>) {
        if survivors.is_empty() || survivors.iter().any(|state| state.blemish.is_none()) {
            return;
        }
        if let Some(requirement) = survivors.iter().find_map(|state| state.blemish) {
            findings.add(Wrong::new(
                &[requirement],
                Place::Result,
                "of two equal keys the last one counts, or the frame is refused",
                "the result follows the first one",
            ));
        }
    }

    /// Error kinds that are right for a state that fails; empty for one that need not fail.
    fn kinds(&self, state: &State) -> Vec<&'static str> {
        match state.phase {
            Phase::Failed(at) => self.walk.acceptor.arena.fail_at(at).kinds.clone(),
            Phase::Ended(_) => Vec::new(),
            Phase::Idle if !self.is_exhausted(state) => Vec::new(),
            Phase::Idle => match state.failure {
                Some(Failure::Drop) => vec!["stream-ended"],
                // Without a budget nothing tells a failed connect from what made it fail.
                Some(Failure::Connect) if self.walk.acceptor.budget() == 1 => {
                    vec!["connection-failed", "http-error", "transport"]
                }
                Some(Failure::Connect) => vec!["connection-failed"],
                None => Vec::new(),
            },
        }
    }

    fn is_exhausted(&self, state: &State) -> bool {
        state.phase == Phase::Idle
            && state.used >= self.walk.promises.connect_budget()
            && matches!(state.made, Made::Given | Made::Yes)
    }

    /// What a right client would have said, in words.
    fn right_outcomes(&self, states: &[State]) -> String {
        let mut outcomes: Vec<String> = Vec::new();
        let mut kinds: Vec<&str> = Vec::new();
        for state in states {
            let outcome = match state.phase {
                Phase::Ended(at) => success::exit_words(self.walk.acceptor.arena.exit_at(at)),
                Phase::Idle if self.kinds(state).is_empty() => match state.made {
                    Made::No => "a process created and followed".to_owned(),
                    _ => "another connect".to_owned(),
                },
                _ => {
                    for kind in self.kinds(state) {
                        if !kinds.contains(&kind) {
                            kinds.push(kind);
                        }
                    }
                    continue;
                }
            };
            if !outcomes.contains(&outcome) {
                outcomes.push(outcome);
            }
        }
        outcomes.truncate(4);
        let others = words::or(&outcomes);
        match (outcomes.is_empty(), kinds.is_empty()) {
            (_, true) => others,
            (true, false) => format!("error {}", words::or(&kinds)),
            (false, false) => format!("{others}, or error {}", words::or(&kinds)),
        }
    }
}
