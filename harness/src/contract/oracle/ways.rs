//! What right clients meet and how they end, put together piece by piece.

use crate::judge::answer::{Answer, Ending};
use fake_server::{wire::Call, wirelog::Exchange};
use std::collections::{BTreeMap, BTreeSet};

/// What right clients meet and how they end.
#[derive(Clone, Debug, Default)]
pub(super) struct Ways {
    /// Faults (with the attempt) met on every way.
    pub(super) always: BTreeSet<(usize, u32)>,
    /// Faults met on some way.
    pub(super) ever: BTreeSet<(usize, u32)>,
    /// How they end.
    pub(super) outcomes: BTreeSet<String>,
    /// How often each call is made at least.
    pub(super) calls: BTreeMap<Call, u32>,
    /// What the most usual way looks like.
    pub(super) path: Vec<Moment>,
}

/// A moment of the most usual way, for the story.
#[derive(Clone, Debug)]
pub(super) enum Moment {
    /// A call and its answer; the cursor it asked for and the one it brought.
    Call {
        call: Call,
        after: u64,
        status: Option<u16>,
        ending: Ending,
        cursor: u64,
    },
    /// A connection that was refused or cut before its request.
    Unseen(Call),
    /// The end.
    Outcome(String),
}

impl Ways {
    /// This, and then what follows.
    pub(super) fn then(mut self, mut next: Self) -> Self {
        self.always.extend(next.always);
        self.ever.extend(next.ever);
        self.outcomes.extend(next.outcomes);
        for (call, count) in next.calls {
            *self.calls.entry(call).or_default() += count;
        }
        self.path.append(&mut next.path);
        self
    }
}

/// One of these ways; the first is the most usual.
pub(super) fn either(ways: Vec<Ways>) -> Ways {
    let mut ways = ways.into_iter();
    let Some(mut all) = ways.next() else {
        return Ways::default();
    };
    for way in ways {
        all.always = all.always.intersection(&way.always).copied().collect();
        all.ever.extend(way.ever);
        all.outcomes.extend(way.outcomes);
        all.calls = all
            .calls
            .into_iter()
            .filter_map(|(call, count)| Some((call, count.min(*way.calls.get(&call)?))))
            .collect();
    }
    all
}

pub(super) fn end(outcome: &str) -> Ways {
    Ways {
        outcomes: BTreeSet::from([outcome.to_owned()]),
        path: vec![Moment::Outcome(outcome.to_owned())],
        ..Ways::default()
    }
}

pub(super) fn seen(exchange: &Exchange, answer: &Answer, after: u64, cursor: u64) -> Ways {
    let mut ways = Ways::default();
    if let Some(fault) = exchange.fault {
        ways.always.insert((fault, exchange.attempt));
        ways.ever.insert((fault, exchange.attempt));
    }
    if let Some(call) = exchange.call {
        ways.calls.insert(call, 1);
        ways.path.push(Moment::Call {
            call,
            after,
            status: answer.status,
            ending: answer.ending,
            cursor,
        });
    }
    ways
}

pub(super) fn met(fault: Option<usize>, attempt: u32, call: Call) -> Ways {
    let met: BTreeSet<(usize, u32)> = fault.map(|fault| (fault, attempt)).into_iter().collect();
    Ways {
        always: met.clone(),
        ever: met,
        path: vec![Moment::Unseen(call)],
        ..Ways::default()
    }
}
