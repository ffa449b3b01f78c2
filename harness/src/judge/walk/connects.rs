//! Connects: may there be one, with which cursor, and what it brought.

use super::{
    Walk,
    events::{BUSY_US, IN_FLIGHT_US},
};
use crate::{
    contract::Level,
    judge::{
        Place,
        acceptor::{Made, Phase, State, each_once},
        answer::{Answer, Ending},
        findings::{Findings, Wrong},
        words,
    },
};
use fake_server::{
    wire::Call,
    wirelog::{Exchange, Micros},
};

impl Walk<'_> {
    pub(super) fn connect(
        &mut self,
        index: usize,
        exchange: &Exchange,
        findings: &mut Findings<'_>,
    ) {
        let place = Place::Exchange(index);
        self.connect_in_time(exchange, place, findings);
        let eligible = self.may_connect(place, findings);
        let matching = self.with_cursor(eligible, exchange, place, findings);
        self.why_again(&matching, place, findings);
        let entering: Vec<State> = matching
            .into_iter()
            .map(crate::judge::acceptor::Acceptor::connecting)
            .collect();
        let answer = Answer::of(exchange, &self.plan.truth, self.observed.ended_us);
        if let Some(failure) = self.last_failure.take() {
            self.retried.insert(failure);
            self.acceptor.touch("stream/resume-cursor");
        }
        let before = entering.iter().map(|state| state.cursor).min();
        self.states = self.acceptor.connected(&answer, &each_once(entering));
        self.progress |= self.states.iter().map(|state| state.cursor).max() > before;
        self.last_failure = Some(failure_word(&answer));
        self.connects.push(index);
        self.decided.push(self.acceptor.decided);
    }

    /// A delete was answered before this came: whoever made it knew of the cancel.
    fn is_behind_a_delete(&self, exchange: &Exchange) -> bool {
        let mut deletes = self.log.exchanges.iter();
        deletes.any(|one| {
            one.call == Some(Call::DeleteProcess)
                && one
                    .last_sent_us
                    .is_some_and(|at| at.saturating_add(IN_FLIGHT_US) < exchange.head_us)
        })
    }

    /// No connect after a cancel or after the result.
    fn connect_in_time(&mut self, exchange: &Exchange, place: Place, findings: &mut Findings<'_>) {
        let cancelled = self
            .observed
            .cancelled_us
            .is_some_and(|at| exchange.head_us > at.saturating_add(IN_FLIGHT_US));
        if cancelled && self.observed.late_us >= BUSY_US && !self.is_behind_a_delete(exchange) {
            self.untold_connect = true;
        } else if cancelled {
            findings.add(Wrong::new(
                &["time/cancel"],
                place,
                "no connect after the cancel",
                format!("another connect, with {}", words::after(exchange)),
            ));
        } else if self.is_after_the_result(exchange) {
            let candidates: &[&str] = match &self.observed.reply {
                crate::observed::Reply::Result(result) if result.outcome == "exited" => {
                    &["stream/exit-ends-it", "stream/one-reader"]
                }
                crate::observed::Reply::Result(result) if result.outcome == "timed-out" => {
                    &["time/deadline"]
                }
                _ => &["stream/retry-budget"],
            };
            findings.add(
                Wrong::new(
                    candidates,
                    place,
                    "nothing but cleanup after the result",
                    format!("another connect, with {}", words::after(exchange)),
                )
                .at_level(Level::Must)
                .always(),
            );
        }
    }

    /// The states from which a client may connect; if there is none, why not, and all as if they might.
    fn may_connect(&self, place: Place, findings: &mut Findings<'_>) -> Vec<State> {
        let eligible: Vec<State> = self
            .states
            .iter()
            .filter(|state| self.acceptor.may_connect(state) && self.deletes.is_empty())
            .copied()
            .collect();
        if !eligible.is_empty() {
            return eligible;
        }
        let (candidates, expected) = self.why_no_connect();
        let seen = format!("another connect, number {}", self.connects.len() + 1);
        findings.add(Wrong::new(&candidates, place, expected, seen).at_level(Level::Must));
        let last = self.acceptor.budget().saturating_sub(1);
        let adopted = self.states.iter().map(|state| State {
            phase: Phase::Idle,
            used: state.used.min(last),
            made: match state.made {
                Made::Given => Made::Given,
                _ => Made::Yes,
            },
            ..*state
        });
        each_once(adopted.collect())
    }

    fn why_no_connect(&self) -> (Vec<&'static str>, String) {
        if !self.deletes.is_empty() {
            return (
                vec!["cleanup/on-every-failure", "cleanup/not-on-success"],
                "no connect once the process was deleted".to_owned(),
            );
        }
        let failed = self.states.iter().find_map(|state| match state.phase {
            Phase::Failed(at) => Some(self.acceptor.arena.fail_at(at)),
            _ => None,
        });
        if let Some(fail) = failed {
            return (
                fail.requirements.clone(),
                format!(
                    "no further connect: the call has failed ({})",
                    words::or(&fail.kinds)
                ),
            );
        }
        if self
            .states
            .iter()
            .any(|state| matches!(state.phase, Phase::Ended(_)))
        {
            return (
                vec!["stream/exit-ends-it", "exit/first-counts"],
                "no further connect: the exit frame ended the call".to_owned(),
            );
        }
        if self.states.iter().any(|state| state.made == Made::No) {
            return (
                vec!["create/once"],
                "a process is created before anything connects to it".to_owned(),
            );
        }
        let mut candidates = vec!["stream/retry-budget"];
        if self.progress {
            candidates.push("stream/progress-renews");
        }
        candidates.extend(
            ["frames/heartbeat", "sequence/duplicate"]
                .into_iter()
                .filter(|id| self.acceptor.touched.contains(id)),
        );
        (candidates, words::budget(self.promises))
    }

    /// The states whose cursor was asked for; if there is none, all, with their own cursor or that one.
    fn with_cursor(
        &mut self,
        eligible: Vec<State>,
        exchange: &Exchange,
        place: Place,
        findings: &mut Findings<'_>,
    ) -> Vec<State> {
        let candidates: &[&str] = if self.connects.is_empty() {
            &["stream/first-cursor"]
        } else {
            &[
                "stream/resume-cursor",
                "sequence/only-data",
                "frames/last-line",
                "journal/expired-frame",
                "sequence/valid",
            ]
        };
        let asked = words::cursor(exchange);
        let handed = self.handed_over_before(exchange.head_us);
        let matching: Vec<State> = eligible
            .iter()
            .filter(|state| Some(state.cursor) == asked)
            .filter(|state| self.covers(state, handed))
            .copied()
            .collect();
        if !matching.is_empty() {
            if !words::is_plain_cursor(exchange) {
                self.odd_cursor(candidates, exchange, place, findings);
            }
            return matching;
        }
        if asked.is_none() {
            self.odd_cursor(candidates, exchange, place, findings);
        } else {
            // Below what was handed over nothing is right.
            let mut cursors: Vec<u64> = eligible
                .iter()
                .filter(|state| self.covers(state, handed))
                .map(|state| state.cursor)
                .collect();
            if cursors.is_empty() {
                cursors = eligible.iter().map(|state| state.cursor).collect();
            }
            let found = self.cursor_candidates(candidates, asked);
            findings.add(Wrong::new(
                &found,
                place,
                words::expected_cursor(&cursors, self.connects.is_empty()),
                words::after(exchange),
            ));
        }
        let adopted = asked.unwrap_or(0);
        let mut states = eligible.clone();
        states.extend(eligible.into_iter().map(|state| State {
            cursor: adopted,
            tip: self.acceptor.arena.back_to(state.tip, adopted),
            ..state
        }));
        each_once(states)
    }

    /// Whether a state has at least the output that was handed over.
    fn covers(&self, state: &State, handed: [u64; 3]) -> bool {
        let had = self.acceptor.arena.lengths(state.tip);
        had.iter().zip(handed).all(|(had, handed)| *had >= handed)
    }

    /// Of the rules about cursors those that this trial put to the test.
    fn cursor_candidates(&self, all: &[&'static str], asked: Option<u64>) -> Vec<&'static str> {
        let high = asked.is_some_and(|asked| self.states.iter().all(|state| asked > state.cursor));
        all.iter()
            .copied()
            .filter(|id| match *id {
                "sequence/only-data" => high,
                "frames/last-line" | "sequence/valid" => self.acceptor.touched.contains(id),
                "journal/expired-frame" => self.acceptor.touched.contains(id) && high,
                _ => true,
            })
            .collect()
    }

    fn odd_cursor(
        &self,
        candidates: &[&'static str],
        exchange: &Exchange,
        place: Place,
        findings: &mut Findings<'_>,
    ) {
        let cursors: Vec<u64> = self.states.iter().map(|state| state.cursor).collect();
        findings.add(Wrong::new(
            &candidates[..1],
            place,
            format!(
                "{}, as a plain integer, once",
                words::expected_cursor(&cursors, self.connects.is_empty())
            ),
            words::after(exchange),
        ));
    }

    /// A client that hangs up on a stream that goes on has no reason to connect again.
    fn why_again(&self, matching: &[State], place: Place, findings: &mut Findings<'_>) {
        let seen = "it was closed, and another connect made";
        self.hung_up(matching, place, seen, findings);
    }

    /// Nobody right hangs up on a stream that goes on, unless it is mute for longer than the client promises to wait.
    pub(in crate::judge) fn hung_up(
        &self,
        states: &[State],
        place: Place,
        seen: &str,
        findings: &mut Findings<'_>,
    ) {
        if states.is_empty() || !states.iter().all(|state| state.hung_up) {
            return;
        }
        let expected = self.promises.profile.silence_limit_ms.map_or_else(
            || "the stream is read until the server ends it (no silence limit is promised)".to_owned(),
            |ms| format!("the stream is read until the server ends it or is mute for {ms} ms (the client's promise)"),
        );
        findings.add(Wrong::new(&["stream/silence"], place, expected, seen).always());
    }

    /// Bytes of stdout, stderr and pty that were handed over live before some moment.
    fn handed_over_before(&self, at_us: Micros) -> [u64; 3] {
        let mut handed = [0; 3];
        if self.promises.profile.output == crate::profile::OutputForm::Text {
            return handed;
        }
        for output in self
            .observed
            .outputs
            .iter()
            .take_while(|output| (1..at_us).contains(&output.at_us))
        {
            if let Some(stream) = fake_server::wire::StreamName::from_name(&output.stream) {
                handed[crate::judge::acceptor::place(stream)] += output.data.len() as u64;
            }
        }
        handed
    }
}

/// A failure in words that are equal for failures that a client treats alike.
fn failure_word(answer: &Answer) -> String {
    match (answer.status, answer.ending) {
        (None, _) => "no answer".to_owned(),
        (Some(200), Ending::Clean) => "a stream that ended cleanly".to_owned(),
        (Some(200), Ending::CloseDelimited) => "a stream that ended by close".to_owned(),
        (Some(200), _) => "a stream that broke".to_owned(),
        (Some(status), _) => format!("status {status}"),
    }
}
