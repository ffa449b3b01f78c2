//! What the client made of it.

use super::{
    files::{contents, told},
    reading::{Reading, Right},
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
/// How long before an interruption a client may not yet have acted on what it got last.
const LATE_US: Micros = 500_000;

/// Judges how the client said it ended.
pub(super) fn judge(
    walk: &Walk<'_>,
    last: Option<&Reading>,
    expected: &Expected,
    findings: &mut Findings<'_>,
) {
    // Nothing arrived: a closed port, or a client that never asked.
    let unseen = Reading::unseen();
    let said = Said {
        walk,
        rule: rule(walk.plan.op),
        reading: last.unwrap_or(&unseen),
        asked: last.is_some(),
    };
    match &walk.observed.reply {
        Reply::Result(result) => said.judge(result, findings),
        Reply::Silent => said.silent(expected, findings),
        // No conformance failures: the checks say what happened.
        Reply::AdapterFault(_) | Reply::AdapterDied(_) | Reply::HarnessError(_) => {}
    }
}

/// The requirement that an op stands for.
const fn rule(_op: Op) -> &'static str {
    "files/exact"
}

struct Said<'a, 'w> {
    walk: &'w Walk<'a>,
    rule: &'static str,
    reading: &'w Reading,
    asked: bool,
}

impl Said<'_, '_> {
    fn judge(&self, result: &JobResult, findings: &mut Findings<'_>) {
        match result.outcome.as_str() {
            "ok" => self.done(result, findings),
            "error" => self.failed(result, findings),
            "timed-out" => self.timed_out(findings),
            "cancelled" => self.cancelled(findings),
            other => self.wrong(findings, format!("outcome `{}`", words::short(other))),
        }
        self.left_over(result, findings);
    }

    fn wrong(&self, findings: &mut Findings<'_>, seen: String) {
        let rules = self.rules();
        findings.add(Wrong::new(&rules, Place::Result, self.right(), seen));
    }

    /// Requirements that a wrong outcome counts under, the best first.
    fn rules(&self) -> Vec<&'static str> {
        let mut rules = vec![self.rule];
        let is_redirect = |right: &Right| matches!(right, Right::Fails(fails) if fails.status.is_some_and(|status| status / 100 == 3));
        if self.reading.rights.iter().any(is_redirect) {
            rules.push("secrets/no-redirect");
        }
        rules
    }

    fn done(&self, result: &JobResult, findings: &mut Findings<'_>) {
        if self.walk.plan.op == Op::Upload {
            if !self.reading.rights.contains(&Right::Stored) || !self.asked {
                self.wrong(findings, "outcome ok".to_owned());
            }
            return;
        }
        let data = result.data.as_ref().map_or(&[][..], |data| &**data);
        let fits = |right: &Right| matches!(right, Right::File(bytes) if bytes == data);
        if !self.reading.rights.iter().any(fits) {
            self.wrong(findings, format!("outcome ok with {}", told(data)));
        }
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
        let mut fails = self.fails().peekable();
        if fails.peek().is_none() {
            let seen = format!("error {}: {}", error.kind, words::short(&error.message));
            self.wrong(findings, seen);
            return;
        }
        if error.kind == "other" {
            findings.note(format!(
                "the error could not be classified (kind `other`): {}",
                words::short(&error.message)
            ));
            return;
        }
        let of_kind: Vec<_> = fails
            .filter(|fails| fails.kinds.contains(&error.kind.as_str()))
            .collect();
        if of_kind.is_empty() {
            let seen = format!("error {}: {}", error.kind, words::short(&error.message));
            self.wrong(findings, seen);
            return;
        }
        if let Some(said) = error.http_status
            && let Some(status) = of_kind[0].status
            && of_kind.iter().all(|fails| fails.status != Some(said))
        {
            let rules = self.rules();
            findings.add(Wrong::new(
                &rules,
                Place::Result,
                format!("http_status {status}"),
                format!("http_status {said}"),
            ));
        }
    }

    fn fails(&self) -> impl Iterator<Item = &super::reading::Fails> {
        self.reading.rights.iter().filter_map(|right| match right {
            Right::Fails(fails) => Some(fails),
            _ => None,
        })
    }

    fn waits(&self) -> bool {
        self.reading.rights.contains(&Right::Waits)
    }

    fn timed_out(&self, findings: &mut Findings<'_>) {
        let walk = self.walk;
        let Some(timeout) = walk.plan.job.timeout_ms else {
            let seen = "timed-out, although the job set no deadline".to_owned();
            return self.wrong(findings, seen);
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
        self.interrupted(deadline_us, "timed-out", findings);
    }

    fn cancelled(&self, findings: &mut Findings<'_>) {
        match self.walk.observed.cancelled_us {
            Some(cancelled_us) => self.interrupted(cancelled_us, "cancelled", findings),
            None => {
                let seen = "cancelled, although nobody cancelled it".to_owned();
                self.wrong(findings, seen);
            }
        }
    }

    /// An interruption is right where the client waited, or had only just got what it did not wait for.
    fn interrupted(&self, at_us: Micros, said: &str, findings: &mut Findings<'_>) {
        let walk = self.walk;
        let last_us = walk
            .singles
            .iter()
            .filter_map(|index| walk.log.exchanges[*index].last_sent_us)
            .max()
            .unwrap_or(0);
        let recent = at_us.saturating_sub(last_us) < LATE_US;
        if !(self.waits() || recent || !self.asked) {
            self.wrong(findings, said.to_owned());
        }
    }

    /// A download that failed leaves nothing that looks like the file.
    fn left_over(&self, result: &JobResult, findings: &mut Findings<'_>) {
        let Some(data) = result.data.as_ref().filter(|data| !data.is_empty()) else {
            return;
        };
        if self.walk.plan.op == Op::Download && result.outcome != "ok" {
            findings.add(
                Wrong::new(
                    &["files/exact"],
                    Place::Result,
                    "no partial file is left in place",
                    format!("{} of it were left", told(data)),
                )
                .at_level(Level::Must),
            );
        }
    }

    /// No answer by the deadline. Where nothing ends the call, that is right.
    fn silent(&self, expected: &Expected, findings: &mut Findings<'_>) {
        let walk = self.walk;
        let stopped = walk.observed.stopped.as_ref();
        let nothing_ends_it = expected.outcomes.iter().any(|outcome| outcome == "none");
        if stopped.is_none() && nothing_ends_it && self.waits() {
            findings.note("nothing ends this call, and the client rightly waited");
            return;
        }
        let seen = stopped.map_or_else(
            || "no answer by the deadline".to_owned(),
            |why| format!("no answer until it was stopped, because {why}"),
        );
        let rules = if walk.observed.cancelled_us.is_some() {
            vec!["time/cancel"]
        } else if walk.plan.job.timeout_ms.is_some() {
            vec!["time/deadline"]
        } else {
            self.rules()
        };
        let answer = words::answer_in_time(expected);
        findings.add(Wrong::new(&rules, Place::End, answer, seen).at_level(Level::Must));
    }

    /// What would have been right, in words.
    fn right(&self) -> String {
        if !self.asked {
            return "a request for the file first".to_owned();
        }
        let rights: Vec<String> = self
            .reading
            .rights
            .iter()
            .map(|right| match right {
                Right::Stored => {
                    let sent = contents(&self.walk.plan.job).len() as u64;
                    format!("ok, {} stored", words::size(sent))
                }
                Right::File(data) => format!("ok with {}", told(data)),
                Right::Fails(fails) => {
                    format!("error {} ({})", words::or(&fails.kinds), fails.why)
                }
                Right::Waits if self.walk.plan.job.timeout_ms.is_some() => {
                    "timed-out, or another try".to_owned()
                }
                Right::Waits => "to wait for the rest of the answer".to_owned(),
            })
            .collect();
        words::or(&rights)
    }
}
