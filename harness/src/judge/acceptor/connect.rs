//! What the answer to a connect means: a status that decides, or a stream.

use super::{Acceptor, Decided, Fail, Failure, Phase, State, each_once};
use crate::judge::answer::{Answer, Ending};

impl Acceptor<'_> {
    /// The states after the answer to a connect that these states made (`connecting` already applied).
    pub(crate) fn connected(&mut self, answer: &Answer, entering: &[State]) -> Vec<State> {
        self.decided = Decided::default();
        if answer.header("retry-after").is_some() {
            self.touch("stream/retry-after");
        }
        let Some(status) = answer.status else {
            self.touch("stream/retry-transient");
            // A client that does not wait for the answer knows nothing of it.
            let hung_up = answer.ending == Ending::Left && !self.silence_is_over(answer);
            let after = self.no_stream(entering).into_iter();
            return after.map(|state| State { hung_up, ..state }).collect();
        };
        let mut after = match status {
            200 => self.ok(answer, entering),
            201..=299 => self.odd_success(answer, status, entering),
            300..=399 => {
                self.touch("stream/permanent-status");
                self.touch("secrets/no-redirect");
                let fail = Fail::new(&["http-error"], "stream/permanent-status");
                let mut after = self.all_fail(entering, &fail.with_status(status));
                after.extend(self.no_stream(entering));
                after
            }
            410 => {
                self.touch("journal/410");
                let fail = Fail::new(&["output-evicted"], "journal/410");
                self.all_fail(entering, &fail.with_status(status))
            }
            _ if self.retries(status) => {
                self.touch("stream/retry-transient");
                self.no_stream(entering)
            }
            400..=599 => {
                self.touch("stream/permanent-status");
                let fail = Fail::new(&["http-error"], "stream/permanent-status");
                self.all_fail(entering, &fail.with_status(status))
            }
            _ => {
                self.touch("stream/permanent-status");
                let kinds = &["http-error", "invalid-response", "transport"];
                let mut after =
                    self.all_fail(entering, &Fail::new(kinds, "stream/permanent-status"));
                after.extend(self.no_stream(entering));
                after
            }
        };
        if status != 200 && !(answer.lines.is_empty() && answer.tail.is_empty()) {
            self.touch("stream/status-decides");
        }
        if !(200..300).contains(&status) && answer.ending == Ending::Unclean {
            // The head may have been lost with the connection.
            after.extend(self.no_stream(entering));
        }
        each_once(after)
    }

    /// Whether a connect that is answered so is tried again. A profile may leave out only 501 and
    /// 505 to 599, and add only 408 and 425.
    pub(crate) fn retries(&self, status: u16) -> bool {
        match status {
            429 | 500 | 502 | 503 | 504 => true,
            408 | 425 | 501 | 505..=599 => self.promises.profile.retries_status(status),
            _ => false,
        }
    }

    /// The states after a connect that brought no stream.
    pub(crate) fn no_stream(&self, entering: &[State]) -> Vec<State> {
        entering
            .iter()
            .flat_map(|state| self.over(*state, Failure::Connect))
            .collect()
    }

    fn ok(&mut self, answer: &Answer, entering: &[State]) -> Vec<State> {
        let mut after = self.stream(answer, entering);
        if answer.ending != Ending::Clean || !answer.tail.is_empty() || !ends(&after) {
            self.touch("stream/drop-is-not-the-end");
        }
        if answer.coded() {
            self.touch("stream/content-coding");
            let fail = Fail::new(&["frame-invalid", "transport"], "stream/content-coding");
            after.extend(self.all_fail(entering, &fail));
        }
        if answer.doubtful {
            self.touch("stream/framing");
        }
        if !answer.is_ndjson() {
            self.touch("stream/content-type");
            let fail = Fail::new(&["http-error", "invalid-response"], "stream/content-type");
            after.extend(self.all_fail(entering, &fail));
        }
        after
    }

    /// A 2xx that is not 200: a refusal, a failed connect, or read as a stream.
    fn odd_success(&mut self, answer: &Answer, status: u16, entering: &[State]) -> Vec<State> {
        self.touch("stream/permanent-status");
        let kinds = &[
            "http-error",
            "stream-ended",
            "connection-failed",
            "invalid-response",
            "other",
        ];
        let fail = Fail::new(kinds, "stream/permanent-status").with_status(status);
        let mut after = self.all_fail(entering, &fail);
        after.extend(self.ok(answer, entering));
        after.extend(self.no_stream(entering));
        after
    }

    fn all_fail(&mut self, states: &[State], fail: &Fail) -> Vec<State> {
        states
            .iter()
            .map(|state| self.failed(*state, fail.clone()))
            .collect()
    }
}

fn ends(states: &[State]) -> bool {
    states
        .iter()
        .all(|state| matches!(state.phase, Phase::Ended(_)))
}
