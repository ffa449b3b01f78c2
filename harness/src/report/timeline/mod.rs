//! What the server did and what the client did, in the order of time, as words. The story of a case is told from it.
//!
//! This file puts things in their order; `exchange` tells a request with its answer. `sent` has the
//! words for what the server sent, `frames` those for frames (and `order` whether they come in it), `asked` those for requests and `said` those for what the
//! client handed over and reported.

mod asked;
mod exchange;
mod frames;
mod order;
mod said;
mod sent;

use self::{
    said::{event_words, output_words, reply_words},
    sent::cut_words,
};
use crate::{
    case::{Case, Trial},
    judge::{Place, Violation},
};
use fake_server::{script::model::Plan, wirelog::Micros};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::said::last_words;

/// Characters of a frame's bytes that are shown.
const SHOWN: usize = 40;

/// One line of what happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When; absent: at the end of the trial.
    pub at_us: Option<Micros>,
    /// What.
    pub act: Act,
    /// Where a diagram draws it.
    pub what: What,
    /// The request that it belongs to, as an index into the wire log's exchanges.
    pub exchange: Option<usize>,
}

/// What kind of thing an entry tells, for diagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// The client asks.
    Request,
    /// The server answers, wholly or in part.
    Answer,
    /// The client closes an answer, or never does.
    Close,
    /// The client hands something over.
    Delivered,
    /// The client reports how it ended.
    Result,
    /// Something happens that crosses no wire.
    Note,
    /// Something was wrong here.
    Wrong,
}

/// Who did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// The server, as a faithful one would.
    Faithful(String),
    /// The server, deviating from the truth.
    Deviates(String),
    /// The client.
    Client(String),
    /// Something was wrong here.
    Wrong {
        /// The first of them in time: here the two part.
        first: bool,
        /// Index into the verdict's violations.
        violation: usize,
    },
}

/// The timeline of a case, violations in their places. Empty if the case was not run.
#[must_use]
pub fn timeline(case: &Case) -> Vec<Entry> {
    let Some(trial) = &case.trial else {
        return Vec::new();
    };
    let mut told = Told {
        plan: &case.plan,
        violations: &case.verdict.violations,
        entries: Vec::new(),
        current: None,
    };
    told.wire(trial);
    told.client(trial);
    let mut entries = told.entries;
    // Stable: what happened in the same microsecond stays in the order in which it was told.
    entries.sort_by_key(|entry| entry.at_us.unwrap_or(Micros::MAX));
    let mut seen = false;
    for entry in &mut entries {
        if let Act::Wrong { first, .. } = &mut entry.act {
            *first = !std::mem::replace(&mut seen, true);
        }
    }
    entries
}

struct Told<'a> {
    plan: &'a Plan,
    violations: &'a [Violation],
    entries: Vec<Entry>,
    /// The exchange that is being told.
    current: Option<usize>,
}

impl Told<'_> {
    fn push(&mut self, at_us: Option<Micros>, act: Act) {
        let what = match &act {
            Act::Faithful(_) | Act::Deviates(_) => What::Answer,
            Act::Client(_) => What::Request,
            Act::Wrong { .. } => What::Wrong,
        };
        self.push_as(what, at_us, act);
    }

    fn push_as(&mut self, what: What, at_us: Option<Micros>, act: Act) {
        self.entries.push(Entry {
            at_us,
            act,
            what,
            exchange: self.current,
        });
    }

    fn wrong(&mut self, at_us: Option<Micros>, is_here: impl Fn(Place) -> bool) {
        self.wrong_where(at_us, |broken| is_here(broken.place));
    }

    fn wrong_where(&mut self, at_us: Option<Micros>, is_here: impl Fn(&Violation) -> bool) {
        for (violation, broken) in self.violations.iter().enumerate() {
            if is_here(broken) {
                self.push(
                    at_us,
                    Act::Wrong {
                        first: false,
                        violation,
                    },
                );
            }
        }
    }

    fn wire(&mut self, trial: &Trial) {
        let log = &trial.log;
        for refusal in &log.refusals {
            self.push_as(
                What::Note,
                Some(refusal.from_us),
                Act::Deviates("stops listening: connections are refused".to_owned()),
            );
            if let Some(until_us) = refusal.until_us {
                self.push_as(
                    What::Note,
                    Some(until_us),
                    Act::Faithful("listens again".to_owned()),
                );
            }
        }
        for connection in &log.connections {
            if let Some((_, cut)) = connection.cut {
                self.push(
                    Some(connection.accepted_us),
                    Act::Client("connects".to_owned()),
                );
                self.push(Some(connection.accepted_us), Act::Deviates(cut_words(cut)));
            }
        }
        for (index, exchange) in log.exchanges.iter().enumerate() {
            self.current = Some(index);
            self.exchange(index, exchange);
            self.current = None;
        }
        for (index, request) in log.trap.iter().enumerate() {
            let key = if request.key { ", with the key" } else { "" };
            self.push(
                Some(request.at_us),
                Act::Client(format!("{} at another origin{key}", request.request.method)),
            );
            self.wrong(Some(request.at_us), |place| place == Place::Trap(index));
        }
        let lost = |place| match place {
            Place::Exchange(at) => at >= log.exchanges.len(),
            Place::Trap(at) => at >= log.trap.len(),
            _ => false,
        };
        self.wrong(None, lost);
    }

    fn client(&mut self, trial: &Trial) {
        let observed = &trial.observed;
        for (index, output) in observed.outputs.iter().enumerate() {
            self.push_as(
                What::Delivered,
                Some(output.at_us),
                Act::Client(output_words(output)),
            );
            self.wrong(Some(output.at_us), |place| place == Place::Output(index));
        }
        for (index, event) in observed.events.iter().enumerate() {
            self.push_as(
                What::Delivered,
                Some(event.at_us),
                Act::Client(event_words(event)),
            );
            self.wrong(Some(event.at_us), |place| place == Place::Event(index));
        }
        let lost = |place| match place {
            Place::Output(at) => at >= observed.outputs.len(),
            Place::Event(at) => at >= observed.events.len(),
            _ => false,
        };
        if let Some(cancelled_us) = observed.cancelled_us {
            self.push_as(
                What::Note,
                Some(cancelled_us),
                Act::Faithful("(harness) asks the client to cancel".to_owned()),
            );
        }
        let ended = Some(observed.ended_us);
        let what = match &observed.stopped {
            None => What::Result,
            Some(_) => What::Note,
        };
        self.push_as(
            what,
            ended,
            match &observed.stopped {
                None => Act::Client(reply_words(&observed.reply)),
                Some(why) => Act::Faithful(format!("(harness) stops the client: {why}")),
            },
        );
        self.wrong(ended, |place| place == Place::Result || lost(place));
        self.wrong(None, |place| place == Place::End);
    }
}
