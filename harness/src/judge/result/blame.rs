//! Under which requirement a wrong outcome counts.

use super::{Ending, Walk};
use crate::{
    contract::{Level, oracle::Expected},
    judge::{
        Place,
        acceptor::{Failure, Made, Phase, State},
        findings::{Findings, Wrong},
        words,
    },
};
use fake_server::{
    script::model::{Behaviour, Content, End, Step, Until},
    wire::Op,
    wirelog::{AnswerEnd, Sent},
};

impl Ending<'_, '_> {
    /// Requirements under which these states stand, the nearest first.
    pub(super) fn blame(&self, states: &[State]) -> Vec<&'static str> {
        blame(self.walk, states)
    }

    /// Requirements under which a failure of this kind is wrong where none is right.
    pub(super) fn blame_failure(&self, kind: &str) -> Vec<&'static str> {
        let usual: &[&'static str] = match kind {
            "frame-invalid" => &[
                "frames/lines",
                "frames/any-segmentation",
                "frames/last-line",
                "frames/extra-fields",
                "stream/exit-ends-it",
                "exit/first-counts",
                "frames/invalid",
            ],
            "frame-too-large" => &["frames/long-line", "frames/any-segmentation"],
            "unknown-event" => &[
                "frames/unknown-type",
                "frames/heartbeat",
                "frames/extra-fields",
                "exit/first-counts",
            ],
            "sequence-gap" => &["sequence/gap", "journal/boundary", "sequence/duplicate"],
            "sequence-invalid" => &["sequence/valid", "sequence/duplicate", "frames/heartbeat"],
            "output-invalid" => &["data/base64", "data/streams"],
            "exit-status-missing" => &["exit/code", "exit/signal"],
            "output-evicted" => &["journal/boundary", "journal/410", "journal/expired-frame"],
            "stream-error" => &["frames/error-frame", "exit/first-counts"],
            "http-error" => &[
                "stream/permanent-status",
                "stream/retry-transient",
                "stream/content-type",
                "stdin/closed-already",
                "create/refused",
            ],
            "connection-failed" | "transport" => &[
                "stream/exit-ends-it",
                "stream/retry-transient",
                "stream/drop-is-not-the-end",
                "stream/framing",
                "stream/content-coding",
            ],
            "stream-ended" => &[
                "stream/exit-ends-it",
                "stream/drop-is-not-the-end",
                "frames/last-line",
                "frames/lines",
            ],
            "invalid-response" => &["stream/content-type", "create/once", "stdin/closed-already"],
            "creation-unconfirmed" => &["create/once", "create/identifier"],
            _ => &["stream/exit-ends-it"],
        };
        let touched = &self.walk.acceptor.touched;
        let mut candidates: Vec<&'static str> = Vec::new();
        let mut push = |id: &'static str| {
            if !candidates.contains(&id) {
                candidates.push(id);
            }
        };
        usual
            .iter()
            .copied()
            .filter(|id| touched.contains(id))
            .for_each(&mut push);
        usual.iter().copied().for_each(&mut push);
        touched.iter().rev().copied().for_each(&mut push);
        candidates
    }
}

/// Requirements under which these states stand, the nearest first.
pub(super) fn blame(walk: &Walk<'_>, states: &[State]) -> Vec<&'static str> {
    let mut candidates: Vec<&'static str> = Vec::new();
    let mut push = |id: &'static str| {
        if !candidates.contains(&id) {
            candidates.push(id);
        }
    };
    for state in states {
        if let Phase::Failed(at) = state.phase {
            let fail = walk.acceptor.arena.fail_at(at);
            fail.requirements.iter().copied().for_each(&mut push);
        }
    }
    if states
        .iter()
        .any(|state| matches!(state.phase, Phase::Ended(_)))
    {
        push("stream/exit-ends-it");
    }
    for state in states.iter().filter(|state| state.phase == Phase::Idle) {
        match (state.made, state.failure) {
            (Made::No, _) => push("create/once"),
            (_, Some(Failure::Connect)) => push("stream/retry-transient"),
            _ => push("stream/drop-is-not-the-end"),
        }
    }
    // What else was put to the test may be what the scenario is about.
    walk.acceptor
        .touched
        .iter()
        .rev()
        .copied()
        .for_each(&mut push);
    push("stream/drop-is-not-the-end");
    candidates
}

/// No answer by the deadline. Where nothing ends the call, that is right.
pub(super) fn silent(walk: &Walk<'_>, expected: &Expected, findings: &mut Findings<'_>) {
    let stopped = walk.observed.stopped.as_ref();
    if stopped.is_none() && nothing_ends_it(walk, expected) {
        findings.note("nothing ends this call, and the client rightly waited");
        return;
    }
    let seen = stopped.map_or_else(
        || "no answer by the deadline".to_owned(),
        |why| format!("no answer until it was stopped, because {why}"),
    );
    let answer = words::answer_in_time(expected);
    if waits_for_delivery(walk) {
        findings.add(Wrong::new(
            &["data/live"],
            Place::End,
            "each frame is handed over as it arrives; the server waits for it",
            "the frame was not handed over, and no answer by the deadline",
        ));
        return;
    }
    let candidates = if !walk.deletes.is_empty() {
        vec!["cleanup/own-deadline"]
    } else if walk.observed.cancelled_us.is_some() {
        vec!["time/cancel"]
    } else if walk.plan.job.timeout_ms.is_some() {
        vec!["time/deadline"]
    } else {
        blame(walk, &walk.states)
    };
    // To keep the caller waiting breaks a rule also where the rule as such only allows something.
    findings.add(Wrong::new(&candidates, Place::End, answer, seen).at_level(Level::Must));
}

/// Whether a right client waits for ever, and this one stands where it may.
pub(in crate::judge) fn nothing_ends_it(walk: &Walk<'_>, expected: &Expected) -> bool {
    let answered = walk.connects.last().or_else(|| walk.singles.last());
    let waits = answered.is_some_and(|index| {
        let exchange = &walk.log.exchanges[*index];
        !exchange
            .answer
            .iter()
            .any(|sent| matches!(sent, Sent::End { how, .. } if is_an_end(*how)))
    });
    expected.outcomes.iter().any(|outcome| outcome == "none")
        && walk.deletes.is_empty()
        && waits
        && (walk.plan.op == Op::Connect
            || !walk.singles.is_empty()
            || walk.states.iter().any(|state| state.phase == Phase::Idle))
}

const fn is_an_end(how: AnswerEnd) -> bool {
    !matches!(how, AnswerEnd::TrialOver | AnswerEnd::Scripted(End::Hold))
}

/// Whether the last stream stands at a wait for the client's hand-over.
pub(in crate::judge) fn waits_for_delivery(walk: &Walk<'_>) -> bool {
    let Some(exchange) = walk
        .connects
        .last()
        .map(|index| &walk.log.exchanges[*index])
    else {
        return false;
    };
    let Some(fault) = exchange
        .fault
        .and_then(|number| walk.plan.faults.iter().find(|fault| fault.number == number))
    else {
        return false;
    };
    let Behaviour {
        content: Content::Stream(steps),
        ..
    } = &fault.behaviour
    else {
        return false;
    };
    let wanted = count_deliveries(steps);
    let over = exchange
        .answer
        .iter()
        .filter(|sent| matches!(sent, Sent::Waited(Until::Delivered(_))))
        .count();
    over < wanted
        && !exchange
            .answer
            .iter()
            .any(|sent| matches!(sent, Sent::End { .. }))
}

fn count_deliveries(steps: &[Step]) -> usize {
    steps
        .iter()
        .map(|step| match step {
            Step::Until(Until::Delivered(_)) => 1,
            Step::Loop { count, steps } => {
                usize::try_from(*count).unwrap_or(usize::MAX) * count_deliveries(steps)
            }
            _ => 0,
        })
        .sum()
}
