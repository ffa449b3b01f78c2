//! What the client said at the end.

use super::{
    calls::Requests,
    diagnostic,
    facts::{End, Facts, Failed},
};
use crate::{
    contract::{Level, oracle::Expected},
    judge::{
        Place,
        findings::{Findings, Wrong},
        walk::Walk,
        words,
    },
    observed::{ERROR_KINDS, ErrorReport, JobResult, Reply},
};
use fake_server::{wire::Op, wirelog::Micros};

/// How early a timer may fire.
const TIMER_US: Micros = 10_000;

/// Judges how the client said it ended.
pub(super) fn judge(
    walk: &Walk<'_>,
    requests: &Requests<'_, '_>,
    expected: &Expected,
    findings: &mut Findings<'_>,
) {
    let said = Said {
        walk,
        requests,
        ends: ends(walk, requests),
    };
    match &walk.observed.reply {
        Reply::Result(result) => {
            said.judge(result, findings);
            if walk.plan.op == Op::Acquire {
                diagnostic::provider(walk, result, findings);
            }
        }
        Reply::Silent => said.silent(expected, findings),
        // No conformance failures: the checks say what happened.
        Reply::AdapterFault(_) | Reply::AdapterDied(_) | Reply::HarnessError(_) => {}
    }
}

/// Whether something outside ended the call: its deadline has passed, or it was cancelled.
fn stopped(walk: &Walk<'_>) -> bool {
    let timeout = walk.plan.job.timeout_ms;
    let deadline_us = timeout.map(|timeout| timeout.saturating_mul(1000));
    walk.observed.cancelled_us.is_some()
        || deadline_us.is_some_and(|at| walk.observed.ended_us + TIMER_US >= at)
}

/// Every end that is right, the usual one first.
fn ends(walk: &Walk<'_>, requests: &Requests<'_, '_>) -> Vec<End> {
    let stopped = stopped(walk);
    let mut ends: Vec<End> = Vec::new();
    for facts in &requests.states {
        ends.extend(facts.choices(false).ends);
        if stopped {
            ends.extend(facts.choices(true).ends);
        }
        if !requests.last_asks {
            continue;
        }
        match facts {
            // What ends the call may have come between the answer and its reading; and a client may have a limit of its
            // own for an answer.
            Facts::Acquire(_) if stopped || waits(facts) => ends.push(unconfirmed()),
            _ if stopped => ends.push(End::Stopped),
            _ => {}
        }
    }
    ends
}

fn waits(facts: &Facts) -> bool {
    matches!(facts, Facts::Acquire(facts) if facts.is_unknown())
}

fn unconfirmed() -> End {
    End::Failed(Failed::new(super::facts::Cause::new(&[
        "creation-unconfirmed",
    ])))
}

struct Said<'a, 'w> {
    walk: &'w Walk<'a>,
    requests: &'w Requests<'a, 'w>,
    ends: Vec<End>,
}

impl Said<'_, '_> {
    fn judge(&self, result: &JobResult, findings: &mut Findings<'_>) {
        match result.outcome.as_str() {
            "ok" => self.done(result, findings),
            "error" => self.failed(result, findings),
            "timed-out" => self.timed_out(findings),
            "cancelled" => self.cancelled(findings),
            other => {
                let seen = format!("outcome `{}`", words::short(other));
                self.wrong(other, findings, seen);
            }
        }
    }

    fn wrong(&self, outcome: &str, findings: &mut Findings<'_>, seen: String) {
        let rules = self.rules(outcome);
        findings.add(Wrong::new(&rules, Place::Result, self.right(), seen));
    }

    /// Requirements that a wrong end counts under, the best first.
    fn rules(&self, outcome: &str) -> Vec<&'static str> {
        let states = &self.requests.states;
        states
            .first()
            .map_or_else(|| vec!["lease/no-leak"], |facts| facts.blame(outcome))
    }

    fn done(&self, result: &JobResult, findings: &mut Findings<'_>) {
        let done: Vec<&Option<String>> = self
            .ends
            .iter()
            .filter_map(|end| match end {
                End::Done(sandbox) => Some(sandbox),
                _ => None,
            })
            .collect();
        if done.is_empty() {
            // A sandbox that an unclear create made, and that the client found by its name.
            let adopted = self.walk.plan.op == Op::Acquire
                && result.sandbox_id.as_deref().is_some_and(|id| self.runs(id));
            if !adopted {
                self.wrong("ok", findings, "outcome ok".to_owned());
            }
            return;
        }
        if self.walk.plan.op != Op::Acquire || done.contains(&&result.sandbox_id) {
            return;
        }
        let seen = result.sandbox_id.as_ref().map_or_else(
            || "ok without a sandbox_id".to_owned(),
            |id| format!("ok with sandbox {}", words::short(id)),
        );
        let rules = ["lease/no-leak", "lease/identity"];
        findings.add(Wrong::new(&rules, Place::Result, self.right(), seen));
    }

    /// Whether a sandbox of this trial runs.
    fn runs(&self, sandbox: &str) -> bool {
        let mut ledger = self.walk.log.ledger.iter();
        ledger.any(|entry| {
            entry.id == sandbox
                && entry.state == "running"
                && entry
                    .made_by
                    .is_some_and(|by| self.requests.unknown.contains(&by))
        })
    }

    fn failed(&self, result: &JobResult, findings: &mut Findings<'_>) {
        let nothing = ErrorReport::default();
        let error = result.error.as_ref().unwrap_or(&nothing);
        if !ERROR_KINDS.contains(&error.kind.as_str()) {
            findings.note(format!(
                "the error kind `{}` is not one of the adapter protocol",
                words::short(&error.kind)
            ));
        }
        let fails: Vec<&Failed> = self
            .ends
            .iter()
            .filter_map(|end| match end {
                End::Failed(failed) => Some(failed),
                _ => None,
            })
            .collect();
        let other = error.kind == "other";
        let fits: Vec<&Failed> = fails
            .into_iter()
            .filter(|failed| other || failed.cause.kinds.contains(&error.kind.as_str()))
            .collect();
        if fits.is_empty() {
            let seen = format!("error {}: {}", error.kind, words::short(&error.message));
            return self.wrong("error", findings, seen);
        }
        if other {
            findings.note(format!(
                "the error could not be classified (kind `other`): {}",
                words::short(&error.message)
            ));
        }
        self.names_it(result, &fits, findings);
        if self.walk.plan.op == Op::Acquire {
            diagnostic::judge(self.walk, error, &fits, findings);
            self.early(&fits, findings);
        } else {
            self.status(error, &fits, findings);
        }
    }

    /// What may be left is named.
    fn names_it(&self, result: &JobResult, fits: &[&Failed], findings: &mut Findings<'_>) {
        let named =
            |failed: &&Failed| failed.sandbox.is_none() || failed.sandbox == result.sandbox_id;
        if fits.iter().any(named) {
            return;
        }
        findings.add(Wrong::new(
            &["lease/cleanup", "lease/no-leak"],
            Place::Result,
            "the sandbox that may be left, in `sandbox_id`",
            result.sandbox_id.as_ref().map_or_else(
                || "no sandbox_id".to_owned(),
                |id| format!("sandbox_id {}", words::short(id)),
            ),
        ));
    }

    /// Giving up although the policy has tries left, for a failure that another may mend.
    fn early(&self, fits: &[&Failed], findings: &mut Findings<'_>) {
        if !fits.iter().all(|failed| failed.early) {
            return;
        }
        findings.add(
            Wrong::new(
                &["lease/transient"],
                Place::Result,
                "another acquisition: the failure is transient, and the policy has one left",
                "it gave up",
            )
            .at_level(Level::Should),
        );
    }

    /// The status that is told is that of an answer which failed it.
    fn status(&self, error: &ErrorReport, fits: &[&Failed], findings: &mut Findings<'_>) {
        let Some(told) = error.http_status else {
            return;
        };
        let statuses: Vec<u16> = fits.iter().filter_map(|one| one.cause.status).collect();
        if statuses.is_empty() || statuses.contains(&told) {
            return;
        }
        let rules = self.rules("error");
        let statuses: Vec<String> = statuses.iter().map(u16::to_string).collect();
        findings.add(Wrong::new(
            &rules,
            Place::Result,
            format!("http_status {}", words::or(&statuses)),
            format!("http_status {told}"),
        ));
    }

    fn timed_out(&self, findings: &mut Findings<'_>) {
        let walk = self.walk;
        let Some(timeout) = walk.plan.job.timeout_ms else {
            let seen = "timed-out, although the job set no deadline".to_owned();
            return self.wrong("timed-out", findings, seen);
        };
        let deadline_us = timeout.saturating_mul(1000);
        if walk.observed.ended_us + TIMER_US < deadline_us {
            findings.add(Wrong::new(
                &["time/deadline"],
                Place::Result,
                format!("no timed-out before {}", words::ms(deadline_us)),
                format!("timed-out after {}", words::ms(walk.observed.ended_us)),
            ));
        }
        self.interrupted("timed-out", findings);
    }

    fn cancelled(&self, findings: &mut Findings<'_>) {
        if self.walk.observed.cancelled_us.is_some() {
            self.interrupted("cancelled", findings);
        } else {
            let seen = "cancelled, although nobody cancelled it".to_owned();
            self.wrong("cancelled", findings, seen);
        }
    }

    fn interrupted(&self, said: &str, findings: &mut Findings<'_>) {
        if !self.ends.contains(&End::Stopped) {
            self.wrong(said, findings, said.to_owned());
        }
    }

    /// No answer by the deadline. Where nothing ends the call, that is right.
    fn silent(&self, expected: &Expected, findings: &mut Findings<'_>) {
        let walk = self.walk;
        let stopped = walk.observed.stopped.as_ref();
        let nothing_ends_it = expected.outcomes.iter().any(|outcome| outcome == "none");
        if stopped.is_none() && nothing_ends_it && self.ends.is_empty() {
            findings.note("nothing ends this call, and the client rightly waited");
            return;
        }
        let seen = stopped.map_or_else(
            || "no answer by the deadline".to_owned(),
            |why| format!("no answer until it was stopped, because {why}"),
        );
        let mut rules = self.rules("none");
        if walk.observed.cancelled_us.is_some() {
            rules.insert(0, "time/cancel");
        } else if walk.plan.job.timeout_ms.is_some() {
            rules.insert(0, "time/deadline");
        }
        let answer = words::answer_in_time(expected);
        findings.add(Wrong::new(&rules, Place::End, answer, seen).at_level(Level::Must));
    }

    /// What would have been right, in words.
    fn right(&self) -> String {
        let mut rights: Vec<String> = Vec::new();
        for end in &self.ends {
            let words = match end {
                End::Done(Some(_)) => "ok with the sandbox that runs".to_owned(),
                End::Done(None) => "ok".to_owned(),
                End::Failed(failed) => {
                    let named = if failed.sandbox.is_some() {
                        " with its sandbox_id"
                    } else {
                        ""
                    };
                    format!("error {}{named}", words::or(&failed.cause.kinds))
                }
                End::Stopped => "timed-out or cancelled".to_owned(),
            };
            if !rights.contains(&words) {
                rights.push(words);
            }
        }
        if !rights.is_empty() {
            return words::or(&rights);
        }
        let next = self
            .requests
            .states
            .first()
            .map(|facts| facts.choices(stopped(self.walk)));
        match next.and_then(|next| next.calls.first().copied()) {
            Some(call) => format!("{call} first"),
            None => "to wait for the answer".to_owned(),
        }
    }
}
