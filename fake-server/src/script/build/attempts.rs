//! Which fault meets which call: default attempts, and faults that contradict each other.

use crate::{
    script::{
        mistakes::Gather,
        model::{Attempts, ConnectionUse},
    },
    wire::Call,
};
use std::ops::Range;

/// What a fault claims.
pub(super) struct Claim {
    pub(super) on: Option<Call>,
    pub(super) attempts: Attempts,
    /// Where it says so.
    pub(super) place: Range<usize>,
    pub(super) when_after: Option<u64>,
    pub(super) on_connection: Option<ConnectionUse>,
    /// The keys that say what happens.
    pub(super) parts: Vec<(&'static str, Range<usize>)>,
    /// No answer follows once the request has arrived (`hold`, or a cut after its head).
    pub(super) silent: bool,
}

/// Keys that are about the connection only: beside them another fault may say what is answered.
const CONNECTION_ONLY: &[&str] = &[
    "delay",
    "refuse",
    "close",
    "reset",
    "hold",
    "http",
    "content-length",
    "transfer-encoding",
    "encoding",
    "segments",
    "chunks",
    "break-at",
];

impl Claim {
    fn connection_only(&self) -> bool {
        self.parts
            .iter()
            .all(|(key, _)| CONNECTION_ONLY.contains(key))
    }

    /// Whether one request can meet both.
    fn meets(&self, other: &Self) -> bool {
        let apart =
            |one: Option<u64>, two: Option<u64>| one.is_some() && two.is_some() && one != two;
        let used = |claim: &Self| claim.on_connection.map(|used| used as u64);
        self.on == other.on
            && rank(self.attempts) == rank(other.attempts)
            && overlap(self.attempts, other.attempts)
            && !apart(self.when_after, other.when_after)
            && !apart(used(self), used(other))
    }
}

/// Explicit numbers stand above ranges, ranges above `every`; only equals can contradict each other.
const fn rank(attempts: Attempts) -> u8 {
    match attempts {
        Attempts::Nth(_) => 0,
        Attempts::Range(..) | Attempts::From(_) => 1,
        Attempts::Every => 2,
    }
}

const fn last(attempts: Attempts) -> u32 {
    match attempts {
        Attempts::Nth(last) | Attempts::Range(_, last) => last,
        Attempts::From(_) | Attempts::Every => u32::MAX,
    }
}

const fn overlap(one: Attempts, two: Attempts) -> bool {
    one.first() <= last(two) && two.first() <= last(one)
}

/// The attempt of a fault that names none: the next that no earlier fault of the file takes.
pub(super) fn next(
    earlier: &[Claim],
    on: Option<Call>,
    place: &Range<usize>,
    gather: &mut Gather,
) -> Attempts {
    let taken: Vec<&Claim> = earlier.iter().filter(|claim| claim.on == on).collect();
    // The first free number is 1 or follows the end of an earlier claim.
    let free = taken
        .iter()
        .filter_map(|claim| last(claim.attempts).checked_add(1))
        .chain([1])
        .filter(|attempt| taken.iter().all(|claim| !claim.attempts.covers(*attempt)))
        .min();
    let after = taken
        .iter()
        .map(|claim| last(claim.attempts))
        .max()
        .unwrap_or(0);
    // Where earlier faults leave a hole, the first free number and the next one differ: ask.
    if let Some(free) = free
        && free - 1 == after
    {
        return Attempts::Nth(free);
    }
    let call = on.map_or("any call", Call::name);
    let help = match free {
        Some(free) if after == u32::MAX => {
            format!(
                "attempt = {free} is free; a fault with a number stands above ranges and \"every\""
            )
        }
        Some(free) => format!("attempt = {free} or attempt = {}", after.saturating_add(1)),
        None => {
            "attempt = 2, say: a fault with a number stands above ranges and \"every\"".to_owned()
        }
    };
    let note = gather
        .at(place, format!("which {call} does this fault meet?"))
        .help(help);
    if let Some(claim) = taken.last() {
        note.context(&claim.place, "earlier faults take some");
    }
    Attempts::Nth(free.unwrap_or(1))
}

/// Notes faults that claim the same request and cannot both have it.
pub(super) fn contradictions(claims: &[Claim], gather: &mut Gather) {
    for (index, later) in claims.iter().enumerate() {
        let Some(earlier) = claims[..index].iter().find(|earlier| earlier.meets(later)) else {
            continue;
        };
        let call = later.on.map_or("any call", Call::name);
        if !earlier.connection_only() && !later.connection_only() {
            gather
                .at(
                    &later.place,
                    format!("two faults for the same attempt of {call}"),
                )
                .context(&earlier.place, "the first one")
                .help("another `attempt`, or one fault that says both");
            continue;
        }
        let twice = later.parts.iter().find_map(|(key, place)| {
            let (_, first) = earlier.parts.iter().find(|(known, _)| known == key)?;
            Some((*key, place, first))
        });
        if let Some((key, place, first)) = twice {
            gather
                .at(
                    place,
                    format!("`{key}` twice for the same attempt of {call}"),
                )
                .context(first, "the first one")
                .help("another `attempt`, or one of them");
        } else if earlier.silent || later.silent {
            gather
                .at(
                    &later.place,
                    format!("an answer and none for the same attempt of {call}"),
                )
                .context(&earlier.place, "the other fault")
                .help("another `attempt`");
        }
    }
}
