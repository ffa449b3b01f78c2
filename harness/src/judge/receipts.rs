//! Whether each fault that the outcome depends on has reached the client, provably.

use super::{
    answer::{Answer, Line},
    lease::is_lease,
    raw,
    result::nothing_ends_it,
    walk::Walk,
};
use crate::{
    contract::oracle::{Expected, FaultReach, Reach},
    observed::Reply,
};
use fake_server::{
    script::{
        describe,
        model::{Break, ConnectionUse, Fault, FrameRef},
    },
    wire::{Call, Op},
    wirelog::{AnswerEnd, Exchange, Sent},
};

/// What the receipts say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Exercised {
    /// Every fault that matters was met.
    Yes,
    /// One was not; why.
    No(String),
    /// The client gave no answer, and it should have.
    Unanswered,
    /// A legal choice of the client rules it out; which.
    RuledOut(String),
}

/// How many of a hundred segmented writes must have been acknowledged alone.
const ALONE_PERCENT: u64 = 90;

/// Looks for the receipt of every fault that a right client meets.
pub(super) fn exercised(walk: &Walk<'_>, expected: &Expected) -> Exercised {
    if let Some(missing) = missing_call(walk, expected) {
        return Exercised::No(missing);
    }
    let mut met = false;
    let mut wanted = false;
    for fault in &expected.faults {
        match fault.reach {
            Reach::Bait | Reach::Never => {}
            Reach::Always => {
                if let Some(missing) = missing(walk, fault) {
                    return ruled_out(walk, fault.number)
                        .map_or(Exercised::No(missing), Exercised::RuledOut);
                }
                met = true;
            }
            Reach::Sometimes => {
                wanted = true;
                met |= was_met(walk, fault.number);
            }
        }
    }
    if wanted && !met {
        return not_met_at_all(walk, expected);
    }
    if walk.observed.reply == Reply::Silent && !nothing_ends_it(walk, expected) {
        return Exercised::Unanswered;
    }
    Exercised::Yes
}

/// A call that every right client makes, and this one did not.
fn missing_call(walk: &Walk<'_>, expected: &Expected) -> Option<String> {
    let count = |call: Call| {
        walk.log
            .exchanges
            .iter()
            .filter(|exchange| exchange.call == Some(call))
            .count()
    };
    // Cleanup is judged, not a receipt; stdin need not be written.
    let call = expected.calls.iter().map(|(call, _)| *call).find(|call| {
        matches!(
            call,
            Call::CreateProcess
                | Call::Connect
                | Call::PutFile
                | Call::GetFile
                | Call::Exec
                | Call::CreateSandbox
                | Call::Pause
                | Call::Resume
        ) && count(*call) == 0
    })?;
    Some(format!("the client never made a {call} request"))
}

/// A choice of the client, or of its words, that leaves a fault without a receipt.
fn ruled_out(walk: &Walk<'_>, number: usize) -> Option<String> {
    let mut faults = walk.plan.faults.iter();
    let fault = faults.find(|fault| fault.number == number)?;
    let wrote = || {
        let mut exchanges = walk.log.exchanges.iter();
        exchanges.any(|exchange| exchange.call == Some(Call::Input))
    };
    if fault.on == Some(Call::Input) && !walk.creates.is_empty() && !wrote() {
        return Some("the client does not write a command's standard input".to_owned());
    }
    // Whoever connects once and tells no errno meets a port that is closed from then on with its cleanup alone.
    let refused = || {
        let mut refusals = walk.log.refusals.iter();
        refusals.any(|refusal| refusal.fault == number)
    };
    // A refused connection leaves no trace but what its client says of it.
    if is_lease(walk.plan.op) && walk.log.exchanges.is_empty() && refused() {
        return Some(
            "the client tells no errno, and so nothing shows that it met a closed port".to_owned(),
        );
    }
    (walk.unseen_delete
        && walk.deletes.is_empty()
        && walk.promises.connect_budget() == 1
        && refused())
    .then(|| {
        "the client tells no errno, and so nothing shows that its cleanup met a closed port"
            .to_owned()
    })
}

fn not_met_at_all(walk: &Walk<'_>, expected: &Expected) -> Exercised {
    let only = |is_it: &dyn Fn(&Fault) -> bool| {
        expected.faults.iter().all(|reach| {
            reach.reach != Reach::Sometimes
                || walk
                    .plan
                    .faults
                    .iter()
                    .any(|fault| fault.number == reach.number && is_it(fault))
        })
    };
    if only(&|fault| fault.on_connection == Some(ConnectionUse::Reused)) {
        return Exercised::RuledOut("the client does not use a connection twice".to_owned());
    }
    let deleted = walk.unseen_delete || !walk.deletes.is_empty();
    if outcome(walk) == Some("exited")
        && !deleted
        && only(&|fault| fault.on == Some(Call::DeleteProcess))
    {
        return Exercised::RuledOut(
            "the client did not fail: nothing was to be deleted".to_owned(),
        );
    }
    // When it looks at a sandbox, and how it finds out that there is nothing to do, is a client's own affair.
    if is_lease(walk.plan.op) && matches!(walk.observed.reply, Reply::Result(_)) {
        return Exercised::RuledOut(
            "the calls that the client chose to make meet none of the faults".to_owned(),
        );
    }
    Exercised::No("no fault of the scenario reached the client".to_owned())
}

fn was_met(walk: &Walk<'_>, number: usize) -> bool {
    walk.log
        .exchanges
        .iter()
        .any(|exchange| exchange.fault == Some(number))
        || met_before_a_request(walk, number)
}

fn met_before_a_request(walk: &Walk<'_>, number: usize) -> bool {
    let cut = walk
        .log
        .connections
        .iter()
        .any(|connection| connection.cut.is_some_and(|(fault, _)| fault == number));
    let refused_errno = || match &walk.observed.reply {
        Reply::Result(result) => result.error.as_ref().is_some_and(|error| {
            let refused = |errno: &Option<String>| errno.as_deref() == Some("ECONNREFUSED");
            refused(&error.errno)
                || error
                    .cause
                    .as_ref()
                    .is_some_and(|cause| refused(&cause.errno))
        }),
        _ => false,
    };
    let refused = walk.log.refusals.iter().any(|refusal| {
        refusal.fault == number
            && (refusal.refused > 0
                || refused_errno()
                || walk
                    .log
                    .connections
                    .iter()
                    .any(|connection| connection.accepted_us >= refusal.from_us))
    });
    cut || refused
}

/// What is missing of a fault that every right client meets.
fn missing(walk: &Walk<'_>, fault: &FaultReach) -> Option<String> {
    let number = fault.number;
    let named = walk
        .plan
        .faults
        .iter()
        .find(|known| known.number == number)
        .map_or_else(
            || format!("fault {number}"),
            |known| format!("fault {number} ({})", describe::selector(known)),
        );
    let of_delete = |known: &Fault| known.number == number && known.on == Some(Call::DeleteProcess);
    // The delete met what was meant for a connect.
    if walk.unseen_delete && walk.plan.faults.iter().any(of_delete) {
        return None;
    }
    if met_before_a_request(walk, number) {
        return None;
    }
    for attempt in &fault.attempts {
        let found =
            walk.log.exchanges.iter().enumerate().find(|(_, exchange)| {
                exchange.fault == Some(number) && exchange.attempt == *attempt
            });
        let Some((index, exchange)) = found else {
            return Some(format!("{named} was not met"));
        };
        if let Some(why) = without_receipt(walk, index, exchange) {
            return Some(format!("{named}: {why}"));
        }
    }
    None
}

/// Why an answer cannot be proven to have reached the client.
fn without_receipt(walk: &Walk<'_>, index: usize, exchange: &Exchange) -> Option<String> {
    if let Some(writes) = exchange.segmented
        && writes.writes > 0
        && writes.alone * 100 < writes.writes * ALONE_PERCENT
    {
        return Some(format!(
            "only {} of {} writes arrived alone",
            writes.alone, writes.writes
        ));
    }
    let decided = walk
        .connects
        .iter()
        .position(|connect| *connect == index)
        .and_then(|at| walk.decided[at].by(outcome(walk)));
    let is_raw = walk.plan.op == Op::Connect;
    let raw_done = is_raw && raw::shown::is_done(walk);
    // After the line that decides, or a raw stream's exit or error, nothing depends on where the rest breaks off: a
    // client may have left by then.
    if decided.is_none()
        && !raw_done
        && !(is_raw && said_exit(walk, exchange))
        && let Some(wanted) = break_of(walk, exchange)
        && exchange.broke_off != Some(wanted)
    {
        return Some(format!(
            "it wanted an answer that {}, and that did not happen",
            describe::break_off(wanted)
        ));
    }
    // A later request of the client is a receipt of everything before it.
    if index + 1 < walk.log.exchanges.len() {
        return None;
    }
    let answer = Answer::of(exchange, &walk.plan.truth, walk.observed.ended_us);
    let end = exchange.answer.iter().find_map(|sent| match sent {
        Sent::End { how, acked } => Some((*how, *acked)),
        _ => None,
    });
    let raced = matches!(
        end,
        Some((
            AnswerEnd::Scripted(fake_server::script::model::End::ResetNow),
            false
        ))
    );
    let told_status = match &walk.observed.reply {
        Reply::Result(result) => result
            .error
            .as_ref()
            .is_some_and(|error| error.http_status.is_some() && error.http_status == answer.status),
        _ => false,
    };
    // Refused for its status, a stream need not be read.
    if told_status && answer.status != Some(200) {
        return None;
    }
    if let Some(lines) = decided {
        return (answer.acked < lines && !raced)
            .then(|| "the lines that decide were not acknowledged".to_owned());
    }
    if raw_done {
        return None;
    }
    match end {
        _ if told_status => None,
        Some((AnswerEnd::Cut(_) | AnswerEnd::Held, _)) => None,
        Some((_, true)) => None,
        // A racing reset has no receipt but what the client does next.
        Some(_) if raced => None,
        Some(_) => (!everything_acked(exchange) && exchange.client_closed_us.is_none())
            .then(|| "its end was not acknowledged".to_owned()),
        // Still open: it stands still, or the client has left. What was sent must have arrived.
        None if exchange.answer.is_empty() => None,
        None => (!everything_acked(exchange) && exchange.client_closed_us.is_none())
            .then(|| "what it sent was not acknowledged".to_owned()),
    }
}

fn outcome<'a>(walk: &Walk<'a>) -> Option<&'a str> {
    match &walk.observed.reply {
        Reply::Result(result) => Some(&result.outcome),
        _ => None,
    }
}

/// Whether the whole line of the exit has arrived.
fn said_exit(walk: &Walk<'_>, exchange: &Exchange) -> bool {
    let answer = Answer::of(exchange, &walk.plan.truth, walk.observed.ended_us);
    let arrived = answer.lines.iter().take(answer.acked);
    arrived
        .into_iter()
        .any(|line| *line == Line::True(FrameRef::Exit))
}

/// Where the scenario wants this answer to break off.
fn break_of(walk: &Walk<'_>, exchange: &Exchange) -> Option<Break> {
    let number = exchange.fault?;
    let fault = walk
        .plan
        .faults
        .iter()
        .find(|fault| fault.number == number)?;
    fault.behaviour.break_at
}

fn everything_acked(exchange: &Exchange) -> bool {
    exchange.answer.iter().all(|sent| {
        !matches!(
            sent,
            Sent::Body {
                acked: false,
                framed: true,
                ..
            } | Sent::Frames { acked: false, .. }
        )
    })
}
