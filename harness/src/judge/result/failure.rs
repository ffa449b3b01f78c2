//! `error`: the client says that it failed.

use super::{Ending, words};
use crate::{
    contract::Level,
    judge::{
        Place,
        acceptor::{Failure, Phase, State},
        findings::{Findings, Wrong},
    },
    observed::{ERROR_KINDS, ErrorReport},
    profile::BudgetRenewal,
};

impl Ending<'_, '_> {
    /// The states that this failure fits.
    pub(super) fn failed(&self, findings: &mut Findings<'_>) -> Vec<State> {
        let nothing = ErrorReport::default();
        let error = self.result.error.as_ref().unwrap_or(&nothing);
        if !ERROR_KINDS.contains(&error.kind.as_str()) {
            findings.note(format!(
                "the error kind `{}` is not one of the adapter protocol",
                words::short(&error.kind)
            ));
        }
        if error.kind == "cleanup-unconfirmed" {
            return self.unconfirmed_cleanup(error, findings);
        }
        let failing: Vec<State> = self
            .walk
            .states
            .iter()
            .filter(|state| !self.kinds(state).is_empty())
            .copied()
            .collect();
        let mut fitting: Vec<State> = failing
            .iter()
            .filter(|state| self.kinds(state).contains(&error.kind.as_str()))
            .copied()
            .collect();
        if fitting.is_empty() && error.kind == "other" && !failing.is_empty() {
            findings.note(format!(
                "the error could not be classified (kind `other`): {}",
                words::short(&error.message)
            ));
            fitting = failing.clone();
        }
        if fitting.is_empty() {
            let fitting = self.misfit(error, &failing, findings);
            self.cleaned_up(&fitting, findings);
            return fitting;
        }
        self.status_of(error, &fitting, findings);
        self.left_the_last(&fitting, findings);
        self.cleaned_up(&fitting, findings);
        fitting
    }

    /// The last stream that the budget allowed was still going on when the client gave it up: whether that would have
    /// been right at its end is not known.
    pub(super) fn left_the_last(&self, fitting: &[State], findings: &mut Findings<'_>) {
        let seen = "it was closed, and a failure reported";
        self.walk.hung_up(fitting, Place::Result, seen, findings);
    }

    /// An `http-error` tells the status that it was.
    fn status_of(&self, error: &ErrorReport, fitting: &[State], findings: &mut Findings<'_>) {
        let Some(said) = error.http_status else {
            return;
        };
        let statuses: Vec<u16> = fitting
            .iter()
            .filter_map(|state| match state.phase {
                Phase::Failed(at) => self.walk.acceptor.arena.fail_at(at).status,
                _ => None,
            })
            .collect();
        if !statuses.is_empty() && !statuses.contains(&said) {
            let candidates = self.blame(fitting);
            findings.add(Wrong::new(
                &candidates,
                Place::Result,
                format!("http_status {}", statuses[0]),
                format!("http_status {said}"),
            ));
        }
    }

    /// The kind fits no state: a wrong kind, giving up early, or a failure where none is right.
    fn misfit(
        &self,
        error: &ErrorReport,
        failing: &[State],
        findings: &mut Findings<'_>,
    ) -> Vec<State> {
        let seen = format!("error {}: {}", error.kind, words::short(&error.message));
        let walk = self.walk;
        let early: Vec<State> = walk
            .states
            .iter()
            .filter(|state| {
                state.phase == Phase::Idle && !self.is_exhausted(state) && state.failure.is_some()
            })
            .copied()
            .collect();
        if !early.is_empty() && failing.len() < walk.states.len() {
            self.gave_up(error, &early, seen, findings);
            return early;
        }
        if !failing.is_empty() {
            let candidates = self.blame(failing);
            findings.add(Wrong::new(
                &candidates,
                Place::Result,
                self.right_outcomes(failing),
                seen,
            ));
            return failing.to_vec();
        }
        let candidates = if self.may_be_interrupted() {
            vec![if walk.observed.cancelled_us.is_some() {
                "time/cancel"
            } else {
                "time/deadline"
            }]
        } else {
            self.blame_failure(&error.kind)
        };
        findings.add(Wrong::new(
            &candidates,
            Place::Result,
            if self.may_be_interrupted() {
                if walk.observed.cancelled_us.is_some() {
                    "outcome cancelled".to_owned()
                } else {
                    "outcome timed-out".to_owned()
                }
            } else {
                self.right_outcomes(&walk.states)
            },
            seen,
        ));
        walk.states.clone()
    }

    /// The deadline or a cancel may have ended it.
    fn may_be_interrupted(&self) -> bool {
        let idle = self
            .walk
            .states
            .iter()
            .any(|state| state.phase == Phase::Idle && !self.is_exhausted(state));
        idle && (self.walk.observed.cancelled_us.is_some() || self.deadline_is_over())
    }

    /// A failure with budget left.
    fn gave_up(
        &self,
        error: &ErrorReport,
        early: &[State],
        seen: String,
        findings: &mut Findings<'_>,
    ) {
        let walk = self.walk;
        if self.may_be_interrupted() {
            let cancelled = walk.observed.cancelled_us.is_some();
            let (id, right) = if cancelled {
                ("time/cancel", "cancelled")
            } else {
                ("time/deadline", "timed-out")
            };
            findings.add(Wrong::new(
                &[id],
                Place::Result,
                format!("outcome {right}"),
                seen,
            ));
            return;
        }
        let budget = walk.promises.connect_budget();
        let used = early.iter().map(|state| state.used).max().unwrap_or(0);
        let expected = format!(
            "another connect ({used} of {budget} made{})",
            match walk.promises.profile.budget_renewal {
                BudgetRenewal::Never => "",
                BudgetRenewal::Progress => " since the last new output",
            }
        );
        let drop = early
            .iter()
            .any(|state| state.failure == Some(Failure::Drop));
        let giving_up = [
            "stream-ended",
            "connection-failed",
            "transport",
            "http-error",
            "other",
        ];
        if !giving_up.contains(&error.kind.as_str()) {
            let candidates = self.blame_failure(&error.kind);
            findings.add(Wrong::new(&candidates, Place::Result, expected, seen));
            return;
        }
        // Whoever has tried again after such a failure knows how; then it is only the number that is wrong,
        // unless one more connect would have saved the call.
        let knows_how = walk
            .last_failure
            .as_ref()
            .is_some_and(|failure| walk.retried.contains(failure));
        let saved = self
            .expected
            .outcomes
            .iter()
            .all(|outcome| !outcome.starts_with("error"));
        let wrong = if knows_how && !saved {
            let renewed =
                walk.progress && walk.promises.profile.budget_renewal == BudgetRenewal::Progress;
            if renewed {
                Wrong::new(
                    &["stream/progress-renews", "stream/retry-budget"],
                    Place::Result,
                    expected,
                    seen,
                )
                .at_level(Level::Must)
            } else {
                Wrong::new(&["stream/retry-budget"], Place::Result, expected, seen)
                    .at_level(Level::Should)
            }
        } else {
            let candidates: &[&str] = if drop {
                &[
                    "stream/drop-is-not-the-end",
                    "stream/retry-transient",
                    "stream/progress-renews",
                    "stream/resume-cursor",
                    "frames/last-line",
                ]
            } else {
                &["stream/retry-transient", "stream/retry-after"]
            };
            Wrong::new(candidates, Place::Result, expected, seen).at_level(Level::Must)
        };
        findings.add(wrong);
    }
}
