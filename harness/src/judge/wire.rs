//! What the server saw, apart from cursors and counts: the key, gaps in time, readers side by side,
//! answers left open, requests at the trap.

mod spacing;

pub(super) use spacing::known_tries;

use super::{
    Place,
    answer::{Answer, Ending},
    findings::{Findings, Wrong},
    result::waits_for_delivery,
    walk::Walk,
    words,
};
use crate::observed::Reply;
use fake_server::{
    wire::{Call, Op},
    wirelog::{AnswerEnd, Exchange, Micros, Sent},
};

/// How early a timer may fire.
const TIMER_US: Micros = 10_000;
/// How much later than the next request's head an old connection's close may be seen.
const CLOSE_SEEN_US: Micros = 100_000;
/// Closing later than this after the result is worth a remark.
const LATE_CLOSE_US: Micros = 1_000_000;
/// How far beyond the promised line limit a line without LF may run before the client must be gone.
const ENDLESS_FACTOR: u64 = 8;

/// Judges the wire.
pub(super) fn judge(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    authenticated(walk, findings);
    if walk.plan.op != Op::Connect {
        spacing::delays(walk, findings);
        spacing::one_reader(walk, findings);
    }
    endless(walk, findings);
    closed(walk, findings);
    trap(walk, findings);
    identifiers(walk, findings);
    delivered(walk, findings);
}

/// Every request carries the key, once.
fn authenticated(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    let key = &walk.log.names.api_key;
    if key.is_empty() {
        return;
    }
    for (index, exchange) in walk.log.exchanges.iter().enumerate() {
        let Some(call) = exchange.call else { continue };
        let keys: Vec<&str> = exchange.request.header_values("x-api-key").collect();
        if keys.as_slice() != [key.as_str()] {
            findings.add(
                Wrong::new(
                    &["stream/authenticated"],
                    Place::Exchange(index),
                    format!("the job's key in `X-Api-Key` on {call}"),
                    match keys.as_slice() {
                        [] => "no `X-Api-Key`".to_owned(),
                        [_] => "`X-Api-Key` with another value".to_owned(),
                        _ => "`X-Api-Key` more than once".to_owned(),
                    },
                )
                .always(),
            );
        }
    }
}

/// A line without end is left in time.
fn endless(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    let limit = walk
        .promises
        .profile
        .max_line_bytes
        .saturating_mul(ENDLESS_FACTOR);
    for (index, exchange) in walk.log.exchanges.iter().enumerate() {
        let answer = Answer::of(exchange, &walk.plan.truth, walk.observed.ended_us);
        let is_stream = exchange.call == Some(Call::Connect) && answer.status == Some(200);
        if is_stream && answer.tail_acked as u64 >= limit && walk.plan.op != Op::Connect {
            findings.add(
                Wrong::new(
                    &["frames/long-line"],
                    Place::Exchange(index),
                    format!("it gives up a line without end before {} ({ENDLESS_FACTOR} times its limit)", words::size(limit)),
                    format!("it read {} of one line", words::size(answer.tail_acked as u64)),
                )
                .always(),
            );
        }
        let refused = answer
            .status
            .is_some_and(|status| !(200..300).contains(&status));
        if refused && left_open(exchange) {
            findings.add(
                Wrong::new(
                    &["secrets/responses-unread"],
                    Place::Exchange(index),
                    "the body of an error response is not read for ever",
                    "it was still being read at the end",
                )
                .always(),
            );
        }
    }
}

/// Every answer is closed or read to its end.
fn closed(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    if !matches!(walk.observed.reply, Reply::Result(_)) {
        return;
    }
    let candidates: &[&str] = if walk.plan.op == Op::Connect {
        &["raw/closed-on-drop", "stream/closed-after"]
    } else {
        &["stream/closed-after"]
    };
    for (index, exchange) in walk.log.exchanges.iter().enumerate() {
        let Some(call) = exchange.call else { continue };
        let answer = Answer::of(exchange, &walk.plan.truth, walk.observed.ended_us);
        if left_open(exchange) {
            findings.add(
                Wrong::new(
                    candidates,
                    Place::Exchange(index),
                    format!("the response to {call} is closed or read to its end"),
                    "it was still open at the end",
                )
                .always(),
            );
        } else if answer.ending == Ending::Unclean && stays_open(walk, exchange) {
            findings.add(
                Wrong::new(
                    candidates,
                    Place::Exchange(index),
                    format!("the connection of the response to {call} is closed, since it broke off and can't be used again"),
                    "it was still open at the end",
                )
                .always(),
            );
        } else if answer.ending == Ending::Left
            && let Some(closed) = exchange.client_closed_us
            && closed > walk.observed.ended_us.saturating_add(LATE_CLOSE_US)
        {
            findings.note(format!(
                "the response to {call} was closed {} after the result",
                words::ms(closed - walk.observed.ended_us)
            ));
        }
    }
}

/// Whether the answer broke off, and the client never closed its connection.
fn stays_open(walk: &Walk<'_>, exchange: &Exchange) -> bool {
    let broke_off = exchange
        .answer
        .iter()
        .any(|sent| matches!(sent, Sent::End { how, .. } if how.breaks_off()));
    let mut connections = walk.log.connections.iter();
    broke_off
        && exchange.client_closed_us.is_none()
        && connections.any(|connection| {
            connection.number == exchange.connection && connection.client_closed_us.is_none()
        })
}

fn left_open(exchange: &Exchange) -> bool {
    exchange.open
        || exchange.answer.iter().any(|sent| {
            matches!(
                sent,
                Sent::End {
                    how: AnswerEnd::TrialOver,
                    ..
                }
            )
        })
}

/// Nothing reaches another origin.
fn trap(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    let allowed = walk.plan.expect.trap.unwrap_or(0);
    for (index, request) in walk.log.trap.iter().enumerate() {
        if u32::try_from(index).is_ok_and(|index| index < allowed) && !request.key {
            continue;
        }
        findings.add(
            Wrong::new(
                &["secrets/no-redirect", "stream/authenticated"],
                Place::Trap(index),
                "no request to another origin",
                format!(
                    "{} {} {}",
                    words::short(&request.request.method),
                    words::short(&request.request.target),
                    if request.key {
                        "with the API key"
                    } else {
                        "without the key"
                    }
                ),
            )
            .always(),
        );
    }
}

/// A look at the server's health without the key. Some clients open their first connection with one, beside the call that
/// they were asked for: it may come at any place, and says nothing of what they do.
pub(super) fn is_health_probe(exchange: &Exchange) -> bool {
    let request = &exchange.request;
    request.method == "GET"
        && matches!(request.target.as_str(), "/healthz" | "/readyz")
        && request.header_values("x-api-key").next().is_none()
}

/// A process id that is none never reaches a URL.
fn identifiers(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    let bad = walk.creates.iter().find_map(|index| {
        let id = super::acceptor::created_id(&walk.log.exchanges[*index])?;
        (!super::acceptor::is_identifier(&id)).then_some((*index, id))
    });
    let Some((created, id)) = bad else { return };
    for (index, exchange) in walk.log.exchanges.iter().enumerate().skip(created + 1) {
        let needs_id = exchange.request.path.len() > 3
            && exchange
                .request
                .path
                .iter()
                .any(|segment| segment == "processes");
        let holds_id = id.len() > 2 && exchange.request.target.contains(&id);
        let unknown = exchange.call.is_none() && !is_health_probe(exchange);
        if needs_id || holds_id || unknown {
            findings.add(
                Wrong::new(
                    &["create/identifier"],
                    Place::Exchange(index),
                    "a process id that is none is refused and never put into a URL",
                    format!(
                        "{} {}",
                        words::short(&exchange.request.method),
                        words::short(&exchange.request.target)
                    ),
                )
                .always(),
            );
        }
    }
}

/// The stream stands still because a frame was not handed over.
fn delivered(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    if matches!(walk.observed.reply, Reply::Result(_)) && waits_for_delivery(walk) {
        findings.add(Wrong::new(
            &["data/live"],
            Place::End,
            "each frame is handed over as it arrives; the server waits for it",
            "the frame was not handed over",
        ));
    }
}
