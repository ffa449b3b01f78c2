//! Whether what was seen is evidence for a requirement at all. A check passes only on evidence: where the client
//! parted from the contract before a rule could show itself, or needed one connect where the rule speaks of two,
//! nothing is known about it.

use super::{Violation, walk::Walk};
use crate::{
    contract::{Level, area_of},
    observed::Reply,
};
use fake_server::wire::Call;

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
fn leaves_the_rest(requirement: &str) -> bool {
    matches!(area_of(requirement), "secrets" | "cleanup")
        || matches!(
            requirement,
            "stream/retry-delay"
                | "stream/closed-after"
                | "stream/one-reader"
                | "stream/authenticated"
        )
}

/// The first breach after which the client's way is no longer that of a right one.
pub(super) fn parted(violations: &[Violation]) -> Option<&Violation> {
    violations
        .iter()
        .find(|one| one.level == Level::Must && !leaves_the_rest(&one.requirement))
}

/// The evidence for a requirement against which nothing was found.
pub(super) fn of(requirement: &str, walk: &Walk<'_>, violations: &[Violation]) -> Evidence {
    let connects = walk.connects.len();
    let made = |call: Call| {
        walk.log
            .exchanges
            .iter()
            .any(|exchange| exchange.call == Some(call))
    };
    // What these rules ask is there to be seen as soon as the requests are, whatever comes later.
    let (wanted, is_there) = match requirement {
        "stream/first-cursor" | "raw/after-param" => ("a connect", connects >= 1),
        "stream/authenticated" => ("a request", !walk.log.exchanges.is_empty()),
        "stream/resume-cursor"
        | "stream/retry-delay"
        | "stream/progress-renews"
        | "stream/retry-after" => ("a second connect", connects >= 2 || walk.unseen_connects),
        "create/once" => ("a create", made(Call::CreateProcess)),
        _ => return by_the_end(walk, violations),
    };
    match (is_there, parted(violations)) {
        (true, _) => Evidence::Seen,
        (false, Some(breach)) => Evidence::Missing(format!(
            "the client broke {} before it made {wanted}",
            breach.requirement
        )),
        (false, None) => Evidence::RuledOut(format!(
            "the client came to its end without {wanted}, as it may here"
        )),
    }
}

/// Everything else shows in the whole of what the client did and said.
fn by_the_end(walk: &Walk<'_>, violations: &[Violation]) -> Evidence {
    if let Some(breach) = parted(violations) {
        return Evidence::Missing(format!(
            "the client broke {} before this could be seen",
            breach.requirement
        ));
    }
    if walk.observed.reply == Reply::Silent && violations.iter().any(|one| one.level == Level::Must)
    {
        return Evidence::Missing("the client gave no answer by the deadline".to_owned());
    }
    Evidence::Seen
}
