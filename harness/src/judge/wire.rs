//! What the server saw, apart from cursors and counts: the key, gaps in time, readers side by side,
//! answers left open, requests at the trap.

use super::{
    Place,
    answer::{Answer, Ending},
    findings::{Findings, Wrong},
    result::waits_for_delivery,
    walk::Walk,
    words,
};
use crate::{contract::Level, observed::Reply};
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
        delays(walk, findings);
        one_reader(walk, findings);
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
                    format!("`X-Api-Key` with the job's key on {call}"),
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

/// A try to connect: from when to when.
struct Try {
    begun_us: Micros,
    over_us: Micros,
    index: Option<usize>,
    /// Tries that it stands for at least.
    count: u64,
}

fn tries(walk: &Walk<'_>) -> Vec<Try> {
    let log = walk.log;
    let mut tries: Vec<Try> = walk
        .connects
        .iter()
        .map(|index| {
            let exchange = &log.exchanges[*index];
            Try {
                begun_us: exchange.head_us,
                over_us: over_us(exchange),
                index: Some(*index),
                count: 1,
            }
        })
        .collect();
    let is_connect = |number: usize| {
        walk.plan
            .faults
            .iter()
            .any(|fault| fault.number == number && matches!(fault.on, Some(Call::Connect)))
    };
    for connection in &log.connections {
        if let Some((fault, _)) = connection.cut
            && is_connect(fault)
        {
            tries.push(Try {
                begun_us: connection.accepted_us,
                over_us: connection.closed_us.unwrap_or(connection.accepted_us),
                index: None,
                count: 1,
            });
        }
    }
    for refusal in log
        .refusals
        .iter()
        .filter(|refusal| is_connect(refusal.fault))
    {
        if refusal.refused > 0 {
            // When each was refused is not known; that they were is.
            tries.push(Try {
                begun_us: Micros::MAX,
                over_us: refusal.from_us,
                index: None,
                count: u64::from(refusal.refused),
            });
        }
    }
    tries.sort_by_key(|one| {
        if one.begun_us == Micros::MAX {
            one.over_us
        } else {
            one.begun_us
        }
    });
    tries
}

/// When the server's last byte, FIN or RST of an answer left.
fn over_us(exchange: &Exchange) -> Micros {
    exchange
        .last_sent_us
        .or(exchange.client_closed_us)
        .unwrap_or(exchange.head_us)
}

/// Two connects are far enough apart.
fn delays(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    let delay_us = walk
        .promises
        .profile
        .reconnect_delay_ms
        .saturating_mul(1000);
    let mut from_us: Option<Micros> = None;
    let mut waits = 1;
    for one in tries(walk) {
        let refused = one.begun_us == Micros::MAX;
        if refused {
            // Counted from a connect before them, the refused ones add a wait each; else from the first of them.
            waits = if from_us.is_some() {
                waits + one.count
            } else {
                one.count
            };
            from_us.get_or_insert(one.over_us);
            continue;
        }
        if let Some(from) = from_us {
            let least = delay_us.saturating_mul(waits);
            let gap = one.begun_us.saturating_sub(from);
            if gap + TIMER_US < least {
                findings.add(
                    Wrong::new(
                        &["stream/retry-delay", "stream/retry-after"],
                        one.index.map_or(Place::End, Place::Exchange),
                        format!("at least {} between two connects", words::ms(least)),
                        words::ms(gap),
                    )
                    .at_level(Level::Must)
                    .always(),
                );
            }
        }
        from_us = Some(one.over_us);
        waits = 1;
    }
}

/// The old stream is closed before the next begins.
fn one_reader(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    for pair in walk.connects.windows(2) {
        let [before, next] = [pair[0], pair[1]].map(|index| &walk.log.exchanges[index]);
        let ended = before.answer.iter().any(|sent| {
            matches!(sent, Sent::End { how, .. }
                if !matches!(how, AnswerEnd::TrialOver | AnswerEnd::Scripted(fake_server::script::model::End::Hold)))
        });
        let over = if ended {
            over_us(before)
        } else {
            before.client_closed_us.unwrap_or(Micros::MAX)
        };
        if over > next.head_us.saturating_add(CLOSE_SEEN_US) {
            findings.add(
                Wrong::new(
                    &["stream/one-reader"],
                    Place::Exchange(pair[1]),
                    "the old stream is closed before the next connect",
                    "a second connect while the first was open",
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
                    format!("the client is gone before {limit} bytes of one line"),
                    format!("it took {} bytes", answer.tail_acked),
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
                    "the body of an error answer is not read for ever",
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
                    format!("the answer to {call} is closed or read to its end"),
                    "it was still open at the end",
                )
                .always(),
            );
        } else if answer.ending == Ending::Left
            && let Some(closed) = exchange.client_closed_us
            && closed > walk.observed.ended_us.saturating_add(LATE_CLOSE_US)
        {
            findings.note(format!(
                "the answer to {call} was closed {} after the result",
                words::ms(closed - walk.observed.ended_us)
            ));
        }
    }
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
        if needs_id || holds_id || exchange.call.is_none() {
            findings.add(
                Wrong::new(
                    &["create/identifier"],
                    Place::Exchange(index),
                    "the id of the answer is refused and never put into a URL",
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
