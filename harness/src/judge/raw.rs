//! Op `connect`: the events that the client handed over against the lines that were sent. Integrity is
//! its caller's; the client must only be faithful, and show what went wrong.

mod events;
mod lines;
pub(in crate::judge) mod shown;
mod spec;
mod status;

use super::{
    Place,
    answer::{Answer, Ending},
    findings::{Findings, Wrong},
    result::{nothing_ends_it, waits_for_delivery},
    walk::Walk,
    words,
};
use crate::{
    contract::oracle::Expected,
    observed::{JobResult, Reply},
};
use fake_server::wirelog::Exchange;

/// How early a timer may fire.
const TIMER_US: u64 = 10_000;

/// Judges a raw stream.
pub(super) fn judge(walk: &Walk<'_>, expected: &Expected, findings: &mut Findings<'_>) {
    let exchanges: Vec<&Exchange> = walk
        .connects
        .iter()
        .map(|index| &walk.log.exchanges[*index])
        .collect();
    for (at, exchange) in exchanges.iter().enumerate() {
        cursor(walk, walk.connects[at], exchange, findings);
    }
    retries(walk, &exchanges, findings);
    match &walk.observed.reply {
        Reply::Result(result) => match exchanges.last() {
            Some(exchange) => ending(walk, exchange, result, findings),
            None => unconnected(result, findings),
        },
        Reply::Silent => silent(walk, expected, findings),
        Reply::AdapterFault(_) | Reply::AdapterDied(_) | Reply::HarnessError(_) => {}
    }
}

/// The cursor asked for, once, as a plain integer.
fn cursor(walk: &Walk<'_>, index: usize, exchange: &Exchange, findings: &mut Findings<'_>) {
    let asked = walk.plan.job.after;
    if words::cursor(exchange) != Some(asked) || !words::is_plain_cursor(exchange) {
        findings.add(Wrong::new(
            &["raw/after-param"],
            Place::Exchange(index),
            format!("after={asked}, once, as a plain integer"),
            words::after(exchange),
        ));
    }
}

/// Only a refused connect may be repeated, and only as often as promised.
fn retries(walk: &Walk<'_>, exchanges: &[&Exchange], findings: &mut Findings<'_>) {
    let most = (walk.promises.profile.max_reconnects as usize).saturating_add(1);
    for (at, pair) in exchanges.windows(2).enumerate() {
        let answer = Answer::of(pair[0], &walk.plan.truth, walk.observed.ended_us);
        let place = Place::Exchange(walk.connects[at + 1]);
        let what = match answer.status {
            None => None,
            Some(status) if walk.acceptor.retries(status) => None,
            Some(status @ 200..=299) => Some(format!("the stream had begun (status {status})")),
            Some(status) => Some(format!("status {status} is not one that is tried again")),
        };
        if let Some(what) = what {
            findings.add(Wrong::new(
                &["raw/no-hidden-retry", "raw/status-visible"],
                place,
                format!("no second connect: {what}"),
                format!("another connect, with {}", words::after(pair[1])),
            ));
        } else if at + 2 > most {
            findings.add(Wrong::new(
                &["raw/no-hidden-retry"],
                place,
                words::budget(walk.promises),
                format!("connect number {}", at + 2),
            ));
        }
    }
}

/// How the events and the result end, by the answer that the client got last.
fn ending(walk: &Walk<'_>, exchange: &Exchange, result: &JobResult, findings: &mut Findings<'_>) {
    if result.outcome == "cancelled" && walk.observed.cancelled_us.is_none() {
        findings.add(Wrong::new(
            &["raw/truncation-visible"],
            Place::Result,
            "ended or error",
            "cancelled, although nobody cancelled it",
        ));
    }
    let answer = Answer::of(exchange, &walk.plan.truth, walk.observed.ended_us);
    match answer.status {
        None => status::no_answer(walk, result, findings),
        Some(status @ 200..=299) => {
            events::compare(walk, exchange, &answer, status, result, findings)
        }
        Some(status) => status::refused(walk, &answer, status, result, findings),
    }
}

/// A client that never came to connect can only fail.
fn unconnected(result: &JobResult, findings: &mut Findings<'_>) {
    if result.outcome == "ended" {
        findings.add(Wrong::new(
            &["raw/truncation-visible"],
            Place::Result,
            "an error, since there was no stream",
            "ended",
        ));
    }
}

/// Whether an interruption that was asked for explains an outcome.
fn is_interrupted(walk: &Walk<'_>, result: &JobResult) -> bool {
    match result.outcome.as_str() {
        "cancelled" => walk.observed.cancelled_us.is_some(),
        "timed-out" => walk.plan.job.timeout_ms.is_some_and(|timeout| {
            walk.observed.ended_us + TIMER_US >= timeout.saturating_mul(1000)
        }),
        _ => false,
    }
}

fn silent(walk: &Walk<'_>, expected: &Expected, findings: &mut Findings<'_>) {
    if nothing_ends_it(walk, expected) {
        findings.note("nothing ends this call, and the client rightly waited");
        return;
    }
    let last = walk.connects.last().map(|index| {
        Answer::of(
            &walk.log.exchanges[*index],
            &walk.plan.truth,
            walk.observed.ended_us,
        )
    });
    let candidates: &[&str] = if waits_for_delivery(walk) {
        &[
            "raw/long-stream",
            "raw/segmentation",
            "raw/combined",
            "raw/faithful",
        ]
    } else if walk.observed.cancelled_us.is_some() {
        &["time/cancel", "raw/closed-on-drop"]
    } else if walk.plan.job.timeout_ms.is_some() {
        &["time/deadline"]
    } else {
        match last.map(|answer| (answer.status, answer.ending)) {
            Some((Some(200..=299), Ending::Clean | Ending::CloseDelimited | Ending::Unclean)) => {
                &["raw/truncation-visible", "raw/lines", "raw/faithful"]
            }
            Some((Some(200..=299), _)) => &[
                "raw/error-frame-visible",
                "raw/invalid-visible",
                "raw/exit-visible",
            ],
            Some((Some(_), _)) => &["raw/status-visible"],
            _ => &["raw/truncation-visible"],
        }
    };
    findings.add(Wrong::new(
        candidates,
        Place::End,
        format!(
            "an answer within {}",
            words::ms(expected.deadline_ms.saturating_mul(1000))
        ),
        "no answer by the deadline",
    ));
}
