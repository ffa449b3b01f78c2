//! Whether what was seen is evidence for a requirement at all. A check passes only on evidence: where the client
//! parted from the contract before a rule could show itself, or needed one connect where the rule speaks of two,
//! nothing is known about it.
//!
//! `rules` has a row a requirement: what a trial must show, and which breaches may stand beside it. `sights` says how
//! each thing is seen. A pass needs, besides, the receipts of every fault (`receipts`) and no violation of its own.
//!
//! No right client loses a check to this that it should pass: one without a breach has parted from nothing, and what is
//! then not seen (no second connect, no delete) the contract let it leave out, so that the check is not applicable. The one
//! exception is told in words of its own: an error that blames a transport that was whole (`Sight::settles_itself`).

mod rules;
mod sights;

pub(super) use sights::Shown;

use super::{Place, Violation};
use crate::{
    contract::{self, Level, area_of},
    observed::Reply,
};
use rules::Beside;

/// What there is to go by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The rule had its say.
    Seen,
    /// The client parted from the contract first, or did not come so far; in words.
    Missing(String),
    /// A legal choice of the client left nothing to see; in words.
    RuledOut(String),
}

/// Rules whose breach leaves everything else to be seen: the client went its way, only too early, too openly or
/// without tidying up.
fn leaves_the_rest(violation: &Violation) -> bool {
    matches!(area_of(&violation.requirement), "secrets" | "cleanup")
        || matches!(
            violation.requirement.as_str(),
            "stream/retry-delay"
                | "stream/closed-after"
                | "stream/one-reader"
                | "stream/authenticated"
        )
}

/// Rules that are no musts, and after whose breach the client's way is its own all the same: it left a stream that went
/// on, gave up before its own budget was spent, kept output back for which the server waits, or handed over other events
/// than came. (An event of unknown type that is only dropped, `raw/unknown-visible` at the result, changes nothing else.)
fn leads_astray(violation: &Violation) -> bool {
    match violation.requirement.as_str() {
        "stream/silence" | "stream/retry-budget" | "data/live" => true,
        "raw/unknown-visible" => violation.place != Place::Result,
        other => area_of(other) == "raw",
    }
}

/// Whether after this breach the client's way is no longer that of a right one.
fn parts(violation: &Violation) -> bool {
    (violation.level == Level::Must && !leaves_the_rest(violation)) || leads_astray(violation)
}

/// The evidence for a requirement against which nothing was found.
pub(super) fn of(requirement: &str, shown: &Shown<'_>) -> Evidence {
    let ways = rules::ways(requirement);
    let siblings = rules::siblings(requirement);
    if requirement == "time/cancel" && shown.walk.untold_connect {
        return Evidence::Missing(format!(
            "another connect came after the cancel, and this machine was too busy to tell which of them was first: its \
             timers came {} late",
            super::words::ms(shown.walk.observed.late_us)
        ));
    }
    // Only as a must: what breaks a `should` of the sibling's own is not this.
    let is_sibling =
        |one: &&Violation| one.level == Level::Must && siblings.contains(&one.requirement.as_str());
    if let Some(breach) = shown.violations.iter().find(is_sibling) {
        return Evidence::Missing(format!(
            "the client broke {}, which may be this too",
            breach.requirement
        ));
    }
    let mut stopped = None;
    for way in ways {
        if !way.shows.is_there(shown) {
            continue;
        }
        match obstacle(way.beside, shown) {
            None => return Evidence::Seen,
            found => stopped = stopped.or(found),
        }
    }
    if let Some((why, level)) = stopped {
        return because_of(level, requirement, why);
    }
    let wanted = ways
        .first()
        .map_or("anything that shows it", |way| way.shows.words());
    let breach = shown.violations.iter().find(|one| parts(one)).or_else(|| {
        let musts = |one: &&Violation| one.level == Level::Must;
        shown.violations.iter().find(musts)
    });
    match breach {
        Some(breach) => {
            let broke = &breach.requirement;
            let why = format!("the client broke {broke} before it came to {wanted}");
            because_of(breach.level, requirement, why)
        }
        None if ways.iter().any(|way| way.shows.settles_itself(shown)) => Evidence::Missing(
            format!("the client ended without {wanted}: what it says of the connection is not so"),
        ),
        None => Evidence::RuledOut(format!(
            "the client came to its end without {wanted}, as it may here"
        )),
    }
}

/// A breach that fails nothing must not fail a run by what it leaves unseen, as far as that fails nothing either: a
/// `should` beside a broken `should` is no pass, and no hole in the run. A must that was not seen is one, whatever hid it.
fn because_of(breach: Level, requirement: &str, why: String) -> Evidence {
    let level = contract::requirement(requirement).map_or(Level::Must, |known| known.level);
    if breach < Level::Must && level < Level::Must {
        Evidence::RuledOut(why)
    } else {
        Evidence::Missing(why)
    }
}

/// What stands in the way of taking what was seen for evidence, and how binding the rule is that was broken there.
fn obstacle(beside: Beside, shown: &Shown<'_>) -> Option<(String, Level)> {
    let counts = |violation: &&Violation| match beside {
        Beside::Anything => false,
        Beside::RightRequests => {
            parts(violation) && matches!(violation.place, Place::Exchange(_) | Place::Trap(_))
        }
        Beside::NoBreach => parts(violation),
    };
    // The gravest one, of those the first.
    let breach = shown
        .violations
        .iter()
        .filter(counts)
        .reduce(|first, next| {
            if next.level > first.level {
                next
            } else {
                first
            }
        });
    if let Some(breach) = breach {
        let broke = &breach.requirement;
        let why = format!("the client broke {broke} before this could be seen");
        return Some((why, breach.level));
    }
    let silent = shown.walk.observed.reply == Reply::Silent
        && shown.violations.iter().any(|one| one.level == Level::Must);
    (beside == Beside::NoBreach && silent).then(|| {
        let why = "the client gave no answer by the deadline".to_owned();
        (why, Level::Must)
    })
}
