//! `timed-out` and `cancelled`: the deadline or the caller ended it.

use super::{Ending, LATE_US, TIMER_US, words};
use crate::judge::{
    Place,
    acceptor::{Made, Phase, State},
    answer::{Answer, Ending as Ended},
    findings::{Findings, Wrong},
};
use fake_server::{wire::Call, wirelog::Micros};

impl Ending<'_, '_> {
    /// Whether the job's own deadline had passed when the client answered.
    pub(super) fn deadline_is_over(&self) -> bool {
        self.walk.plan.job.timeout_ms.is_some_and(|timeout| {
            self.walk.observed.ended_us + TIMER_US >= timeout.saturating_mul(1000)
        })
    }

    pub(super) fn timed_out(&self, findings: &mut Findings<'_>) -> Vec<State> {
        let walk = self.walk;
        let Some(timeout) = walk.plan.job.timeout_ms else {
            let candidates = self.blame(&walk.states);
            findings.add(Wrong::new(
                &candidates,
                Place::Result,
                self.right_outcomes(&walk.states),
                "timed-out, although the job set no deadline",
            ));
            return Vec::new();
        };
        if !self.deadline_is_over() {
            findings.add(Wrong::new(
                &["time/deadline"],
                Place::Result,
                format!(
                    "no timed-out before {}",
                    words::ms(timeout.saturating_mul(1000))
                ),
                format!("timed-out after {}", words::ms(walk.observed.ended_us)),
            ));
        }
        let fitting = self.interruptible("timed-out", findings);
        self.kept_output(&fitting, findings);
        fitting
    }

    pub(super) fn cancelled(&self, findings: &mut Findings<'_>) -> Vec<State> {
        if self.walk.observed.cancelled_us.is_none() {
            let candidates = self.blame(&self.walk.states);
            findings.add(Wrong::new(
                &candidates,
                Place::Result,
                self.right_outcomes(&self.walk.states),
                "cancelled, although nobody cancelled it",
            ));
            return Vec::new();
        }
        self.interruptible("cancelled", findings)
    }

    /// The states that an interruption may have met: those that had not come to an end.
    fn interruptible(&self, said: &str, findings: &mut Findings<'_>) -> Vec<State> {
        let walk = self.walk;
        // Cleanup comes after the interruption and says nothing about what it met.
        let last_us = walk
            .log
            .exchanges
            .iter()
            .filter(|exchange| exchange.call != Some(Call::DeleteProcess))
            .filter_map(|exchange| exchange.last_sent_us)
            .max()
            .unwrap_or(0);
        let deadline_us = walk.plan.job.timeout_ms.map(|ms| ms.saturating_mul(1000));
        let interrupted_us = walk
            .observed
            .cancelled_us
            .or(deadline_us)
            .unwrap_or(walk.observed.ended_us);
        // A client that left an answer which still stood open left it for the interruption, also where it was the
        // last one of its budget.
        let stood_open = walk.connects.last().is_some_and(|index| {
            let answer = Answer::of(
                &walk.log.exchanges[*index],
                &walk.plan.truth,
                walk.observed.ended_us,
            );
            matches!(answer.ending, Ended::Left | Ended::Open)
        });
        let recent = interrupted_us.saturating_sub(last_us) < LATE_US;
        let fitting: Vec<State> = walk
            .states
            .iter()
            .filter(|state| {
                let over = state.phase != Phase::Idle || (self.is_exhausted(state) && !stood_open);
                let unknown = state.made == Made::Unknown;
                !over || (recent && !unknown)
            })
            .copied()
            .collect();
        if fitting.is_empty() {
            let candidates = self.blame(&walk.states);
            findings.add(Wrong::new(
                &candidates,
                Place::Result,
                self.right_outcomes(&walk.states),
                said.to_owned(),
            ));
            self.cleaned_up(&walk.states, findings);
            return Vec::new();
        }
        self.cleaned_up(&fitting, findings);
        self.left_before(interrupted_us, &fitting, findings);
        fitting
    }

    /// A client that had hung up before the interruption did not meet it on the stream, where it was to be met. (A right
    /// one closes after it; and the deadline counts from when the client got the job, later than the trial's clock.)
    fn left_before(&self, interrupted_us: Micros, fitting: &[State], findings: &mut Findings<'_>) {
        let walk = self.walk;
        let last = walk
            .connects
            .last()
            .map(|index| &walk.log.exchanges[*index]);
        let left_us = last.and_then(|exchange| exchange.client_closed_us);
        if left_us.is_some_and(|left_us| left_us + TIMER_US < interrupted_us) {
            let idle = fitting.iter().filter(|state| state.phase == Phase::Idle);
            let idle: Vec<State> = idle.copied().collect();
            let seen = "it was closed before the deadline or the cancel";
            walk.hung_up(&idle, Place::Result, seen, findings);
        }
    }

    /// A call that timed out keeps the output that it surely had.
    fn kept_output(&self, fitting: &[State], findings: &mut Findings<'_>) {
        let least = fitting
            .iter()
            .map(|state| self.walk.acceptor.arena.lengths(state.tip))
            .reduce(|one, other| [0, 1, 2].map(|at| one[at].min(other[at])));
        let Some(least) = least else {
            return;
        };
        let handed = self.handed.lengths();
        let limited = self.walk.promises.profile.max_capture_chars.is_some()
            || self.walk.promises.profile.output == crate::profile::OutputForm::Text;
        let lost = (0..3).any(|at| {
            if limited {
                least[at] > 0 && handed[at] == 0
            } else {
                handed[at] < least[at]
            }
        });
        if lost {
            findings.add(Wrong::new(
                &["time/deadline"],
                Place::Result,
                format!(
                    "the output so far is kept: at least {}",
                    words::size(least.iter().sum())
                ),
                match handed.iter().sum() {
                    0 => "none of it was reported".to_owned(),
                    bytes => format!("{} reported", words::size(bytes)),
                },
            ));
        }
    }
}
