//! Whether a failed call cleaned up, and said so.

use super::{Ending, words};
use crate::{
    judge::{
        Place,
        acceptor::{Made, Phase, Proof, State},
        findings::{Findings, Wrong},
    },
    observed::ErrorReport,
};

impl Ending<'_, '_> {
    /// The best proof that the deletes gave; `None` if there was none to see.
    fn best_proof(&self) -> Option<Proof> {
        let proofs = || self.walk.deletes.iter().map(|(_, proof)| *proof);
        if proofs().any(|proof| proof == Proof::Yes) {
            return Some(Proof::Yes);
        }
        if proofs().any(|proof| proof == Proof::Maybe) {
            return Some(Proof::Maybe);
        }
        (self.walk.unseen_delete || !self.walk.deletes.is_empty()).then_some(Proof::No)
    }

    /// A failure that does not say `cleanup-unconfirmed` has cleaned up for sure.
    pub(super) fn cleaned_up(&self, states: &[State], findings: &mut Findings<'_>) {
        if states.is_empty() || !states.iter().all(|state| state.made == Made::Yes) {
            return;
        }
        match self.best_proof() {
            Some(Proof::Yes | Proof::Maybe) => {}
            Some(Proof::No) => findings.add(Wrong::new(
                &["cleanup/confirmed", "cleanup/own-deadline"],
                Place::Result,
                "error cleanup-unconfirmed, since no delete was confirmed",
                self.said(),
            )),
            None => {
                let interrupted = matches!(self.result.outcome.as_str(), "timed-out" | "cancelled");
                let candidates: &[&str] = if interrupted {
                    &["cleanup/on-every-failure", "cleanup/own-deadline"]
                } else {
                    &["cleanup/on-every-failure"]
                };
                findings.add(Wrong::new(
                    candidates,
                    Place::End,
                    "a delete-process, since the call failed",
                    format!("no delete-process, and {}", self.said()),
                ));
            }
        }
    }

    /// The states that `cleanup-unconfirmed` fits.
    pub(super) fn unconfirmed_cleanup(
        &self,
        error: &ErrorReport,
        findings: &mut Findings<'_>,
    ) -> Vec<State> {
        let walk = self.walk;
        let seen = format!(
            "error cleanup-unconfirmed: {}",
            words::short(&error.message)
        );
        let interrupted = walk.observed.cancelled_us.is_some() || self.deadline_is_over();
        let fitting: Vec<State> = walk
            .states
            .iter()
            .filter(|state| state.made == Made::Yes)
            .filter(|state| {
                !self.kinds(state).is_empty() || (interrupted && state.phase == Phase::Idle)
            })
            .copied()
            .collect();
        if fitting.is_empty() {
            let mut candidates = self.blame(&walk.states);
            candidates.push("cleanup/confirmed");
            findings.add(Wrong::new(
                &candidates,
                Place::Result,
                self.right_outcomes(&walk.states),
                seen,
            ));
            return walk.states.clone();
        }
        if !interrupted {
            self.left_the_last(&fitting, findings);
        }
        match self.best_proof() {
            Some(Proof::No | Proof::Maybe) => self.cause(error, &fitting, interrupted, findings),
            Some(Proof::Yes) => findings.add(Wrong::new(
                &["cleanup/confirmed"],
                Place::Result,
                format!(
                    "{}, since the delete was confirmed",
                    self.right_outcomes(&fitting)
                ),
                seen,
            )),
            None => findings.add(Wrong::new(
                &["cleanup/on-every-failure", "cleanup/own-deadline"],
                Place::End,
                "a delete-process, since the call failed",
                format!("no delete-process, and {seen}"),
            )),
        }
        fitting
    }

    /// The first cause stands beside it.
    fn cause(
        &self,
        error: &ErrorReport,
        fitting: &[State],
        interrupted: bool,
        findings: &mut Findings<'_>,
    ) {
        let mut kinds: Vec<&'static str> = Vec::new();
        for state in fitting {
            for kind in self.kinds(state) {
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
        }
        let right = match &error.cause {
            None => false,
            Some(cause) => {
                interrupted || cause.kind == "other" || kinds.contains(&cause.kind.as_str())
            }
        };
        if !right {
            findings.add(Wrong::new(
                &["cleanup/cause-kept"],
                Place::Result,
                if kinds.is_empty() {
                    "a cause beside cleanup-unconfirmed".to_owned()
                } else {
                    format!("cause {} beside cleanup-unconfirmed", words::or(&kinds))
                },
                error.cause.as_ref().map_or_else(
                    || "no cause".to_owned(),
                    |cause| format!("cause {}", words::short(&cause.kind)),
                ),
            ));
        }
    }

    /// What the client said, in a few words.
    fn said(&self) -> String {
        match &self.result.error {
            Some(error) => format!("error {}", words::short(&error.kind)),
            None => format!("outcome {}", words::short(&self.result.outcome)),
        }
    }
}
