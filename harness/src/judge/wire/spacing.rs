//! Connects side by side and one after the other: waits between them, and readers at once.

use super::{CLOSE_SEEN_US, Findings, Place, TIMER_US, Walk, Wrong, words};
use crate::contract::Level;
use fake_server::{
    wire::Call,
    wirelog::{AnswerEnd, Exchange, Micros, Sent},
};

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
    let last_connect = walk.connects.last().copied();
    for connection in &log.connections {
        // After the last connect it may have been for the delete.
        let may_be_cleanup = walk.unseen_delete
            && last_connect.is_none_or(|index| log.exchanges[index].connection < connection.number);
        if let Some((fault, _)) = connection.cut
            && is_connect(fault)
            && !may_be_cleanup
        {
            tries.push(Try {
                begun_us: connection.accepted_us,
                // The FIN or RST leaves at once; that our side is gone is noted when the client has closed too.
                over_us: connection.accepted_us,
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

/// How many tries to connect are known with their time, so that the wait between them was judged. (Over sockets a
/// connect that met a closed port leaves no trace.)
pub(in crate::judge) fn known_tries(walk: &Walk<'_>) -> u64 {
    tries(walk).iter().map(|one| one.count).sum()
}

/// When the server's last byte, FIN or RST of an answer left.
fn over_us(exchange: &Exchange) -> Micros {
    exchange
        .last_sent_us
        .or(exchange.client_closed_us)
        .unwrap_or(exchange.head_us)
}

/// Two connects are far enough apart.
pub(super) fn delays(walk: &Walk<'_>, findings: &mut Findings<'_>) {
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
pub(super) fn one_reader(walk: &Walk<'_>, findings: &mut Findings<'_>) {
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
