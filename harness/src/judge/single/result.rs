//! What the client made of it.

use super::{
    Last,
    command::{self, Run},
    files::{contents, told},
    reading::{Fails, Reading, Right},
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
use fake_server::{
    wire::{Blob, Op},
    wirelog::Micros,
};

/// How early a timer may fire.
const TIMER_US: Micros = 10_000;
/// How long before an interruption a client may not yet have acted on what it got last.
const LATE_US: Micros = 500_000;

/// Judges how the client said it ended.
pub(super) fn judge(
    walk: &Walk<'_>,
    last: Option<&Last<'_>>,
    expected: &Expected,
    findings: &mut Findings<'_>,
) {
    // Nothing arrived: a closed port, or a client that never asked.
    let unseen = Reading::unseen();
    let said = Said {
        walk,
        last,
        reading: last.map_or(&unseen, |last| &last.reading),
    };
    match &walk.observed.reply {
        Reply::Result(result) => said.judge(result, findings),
        Reply::Silent => said.silent(expected, findings),
        // No conformance failures: the checks say what happened.
        Reply::AdapterFault(_) | Reply::AdapterDied(_) | Reply::HarnessError(_) => {}
    }
}

/// Requirements that an op stands for, the best first.
const fn rules(op: Op) -> &'static [&'static str] {
    match op {
        Op::Exec | Op::ExecStream => &["exec/frames", "exec/once"],
        _ => &["files/exact"],
    }
}

struct Said<'a, 'w> {
    walk: &'w Walk<'a>,
    /// The last call, if any arrived.
    last: Option<&'w Last<'w>>,
    reading: &'w Reading,
}

impl Said<'_, '_> {
    fn judge(&self, result: &JobResult, findings: &mut Findings<'_>) {
        match result.outcome.as_str() {
            "ok" => self.done(result, findings),
            "exited" => self.exited(result, findings),
            "error" => self.failed(result, findings),
            "timed-out" => self.timed_out(findings),
            "cancelled" => self.cancelled(findings),
            other => self.wrong(findings, format!("outcome `{}`", words::short(other))),
        }
        match self.walk.plan.op {
            Op::Download => self.left_over(result, findings),
            Op::ExecStream if result.outcome != "exited" => self.partial(result, findings),
            _ => {}
        }
    }

    fn wrong(&self, findings: &mut Findings<'_>, seen: String) {
        let rules = self.rules();
        findings.add(Wrong::new(&rules, Place::Result, self.right(), seen));
    }

    /// Requirements that a wrong outcome counts under, the best first.
    fn rules(&self) -> Vec<&'static str> {
        let mut rules = rules(self.walk.plan.op).to_vec();
        // A wrong result says nothing of how often a command ran, where the scenario asks for more than that.
        let asked = |id: &str| self.walk.plan.requirements.iter().any(|asked| asked == id);
        if asked("exec/frames") {
            rules.retain(|id| *id != "exec/once");
        }
        let is_redirect = |right: &Right| matches!(right, Right::Fails(fails) if fails.status.is_some_and(|status| status / 100 == 3));
        if self.reading.rights.iter().any(is_redirect) {
            rules.push("secrets/no-redirect");
        }
        rules
    }

    fn done(&self, result: &JobResult, findings: &mut Findings<'_>) {
        if self.walk.plan.op == Op::Upload {
            if !self.reading.rights.contains(&Right::Stored) || self.last.is_none() {
                self.wrong(findings, "outcome ok".to_owned());
            }
            return;
        }
        if self.walk.plan.op != Op::Download {
            return self.wrong(findings, "outcome ok".to_owned());
        }
        let data = result.data.as_ref().map_or(&[][..], |data| &**data);
        let fits = |right: &Right| matches!(right, Right::File(bytes) if bytes == data);
        if !self.reading.rights.iter().any(fits) {
            self.wrong(findings, format!("outcome ok with {}", told(data)));
        }
    }

    fn exited(&self, result: &JobResult, findings: &mut Findings<'_>) {
        if self.last.is_some()
            && self
                .reading
                .rights
                .iter()
                .any(|right| self.fits(right, result))
        {
            return;
        }
        let [stdout, stderr] = self.output(result);
        let code = result.exit_code.as_ref();
        let seen = format!(
            "exited with code {}, stdout {}, stderr {}",
            code.map_or_else(|| "missing".to_owned(), ToString::to_string),
            told(&stdout),
            told(&stderr)
        );
        self.wrong_or_half(result, findings, seen);
    }

    /// What is wrong, or is right for a client that looks at fewer keys of a frame than stand in it.
    fn wrong_or_half(&self, result: &JobResult, findings: &mut Findings<'_>, seen: String) {
        let plan = self.walk.plan;
        let half = self.last.is_some_and(|last| {
            command::is_streamed(plan, last.exchange)
                && command::halves(plan, last.exchange, &last.answer)
                    .iter()
                    .any(|right| self.fits(right, result))
        });
        if half {
            let rules = ["exec/frames-combined"];
            findings.add(Wrong::new(&rules, Place::Result, self.right(), seen));
        } else {
            self.wrong(findings, seen);
        }
    }

    /// Whether a result tells of what a right client may have seen.
    fn fits(&self, right: &Right, result: &JobResult) -> bool {
        match right {
            Right::Ran(run) => result.outcome == "exited" && self.tells(run, result),
            Right::Fails(fails) => {
                let kind = result.error.as_ref().map(|error| error.kind.as_str());
                result.outcome == "error" && kind.is_some_and(|kind| fails.kinds.contains(&kind))
            }
            _ => false,
        }
    }

    fn tells(&self, run: &Run, result: &JobResult) -> bool {
        let code = result
            .exit_code
            .as_ref()
            .and_then(serde_json::Value::as_i64);
        let no_signal = result.signal.as_ref().is_none_or(|signal| signal.is_null());
        let [stdout, stderr] = self.output(result);
        // A client that keeps the tail alone has handed over the rest live.
        let tail = self.walk.promises.profile.max_capture_chars.is_some();
        let same = |seen: &[u8], text: &str| {
            seen == text.as_bytes() || (tail && text.as_bytes().ends_with(seen))
        };
        code == Some(run.code)
            && no_signal
            && same(&stdout, &run.stdout)
            && same(&stderr, &run.stderr)
            && self.live().is_none_or(|[stdout, stderr]| {
                stdout == run.stdout.as_bytes() && stderr == run.stderr.as_bytes()
            })
    }

    /// Standard output and standard error as the caller has them: in the result, else as they were handed over live.
    fn output(&self, result: &JobResult) -> [Vec<u8>; 2] {
        let [stdout, stderr] = self.live().unwrap_or_default();
        let field = |blob: &Option<Blob>, live| blob.as_ref().map_or(live, |blob| blob.to_vec());
        [field(&result.stdout, stdout), field(&result.stderr, stderr)]
    }

    /// What was handed over live, if anything was.
    fn live(&self) -> Option<[Vec<u8>; 2]> {
        let outputs = &self.walk.observed.outputs;
        let of = |name: &str| {
            let of_it = outputs.iter().filter(|output| output.stream == name);
            of_it.flat_map(|output| output.data.to_vec()).collect()
        };
        (!outputs.is_empty()).then(|| [of("stdout"), of("stderr")])
    }

    /// What a failed command put out is the beginning of what came.
    fn partial(&self, result: &JobResult, findings: &mut Findings<'_>) {
        let came = self.last.map(|last| {
            if command::is_streamed(self.walk.plan, last.exchange) {
                command::came(last.exchange)
            } else {
                command::Came::default()
            }
        });
        let came = came.unwrap_or_default();
        let handed = [self.output(result), self.live().unwrap_or_default()];
        for [stdout, stderr] in &handed {
            for (name, seen, came) in [
                ("stdout", stdout, &came.stdout),
                ("stderr", stderr, &came.stderr),
            ] {
                if !came.as_bytes().starts_with(seen) {
                    findings.add(Wrong::new(
                        &["exec/frames"],
                        Place::Result,
                        format!(
                            "{name} is a beginning of what came, {}",
                            told(came.as_bytes())
                        ),
                        format!("{name} {}", told(seen)),
                    ));
                }
            }
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
            self.wrong_or_half(result, findings, seen);
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

    fn fails(&self) -> impl Iterator<Item = &Fails> {
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
        if !(self.waits() || recent || self.last.is_none()) {
            self.wrong(findings, said.to_owned());
        }
    }

    /// A download that failed leaves nothing that looks like the file.
    fn left_over(&self, result: &JobResult, findings: &mut Findings<'_>) {
        let Some(data) = result.data.as_ref().filter(|data| !data.is_empty()) else {
            return;
        };
        if result.outcome != "ok" {
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
        if self.last.is_none() {
            return "a request first".to_owned();
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
                Right::Ran(run) => format!(
                    "exited with code {}, stdout {}, stderr {}",
                    run.code,
                    told(run.stdout.as_bytes()),
                    told(run.stderr.as_bytes())
                ),
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
