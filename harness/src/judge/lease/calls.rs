//! Every request, against what a right client may do.

use super::{
    acquire::{self, is_proof},
    answer, each_once,
    facts::Facts,
    said::{Id, Said, target},
};
use crate::judge::{
    Place,
    acceptor::is_identifier,
    findings::{Findings, Wrong},
    walk::{
        Walk,
        events::{Event, in_order},
    },
    wire::is_health_probe,
    words,
};
use fake_server::{
    wire::{Call, Op},
    wirelog::{Exchange, Micros},
};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How early a timer may fire.
const TIMER_US: Micros = 10_000;
/// How long a request that was sent before the result may take to be seen after it.
const IN_FLIGHT_US: Micros = 100_000;

/// The walk over the requests, and what is known after it.
pub(super) struct Requests<'a, 'w> {
    walk: &'w Walk<'a>,
    /// What a right client may know now.
    pub(super) states: Vec<Facts>,
    /// Sandboxes of which the server said that they are gone, or go.
    pub(super) told_gone: BTreeSet<String>,
    /// Creates after which nobody knows whether a sandbox was made, by their number in the log.
    pub(super) unknown: BTreeSet<usize>,
    /// The last create or change is the last request: its answer may not have been read.
    pub(super) last_asks: bool,
    /// Names of the sandboxes that were asked for, with the number of the acquisition.
    names: BTreeMap<String, usize>,
    /// When the last acquisition's last answer had come.
    over_us: Option<Micros>,
    creates: usize,
    /// An answer to a create without an id that may stand in a URL.
    bad_id: Option<String>,
    no_id: bool,
}

impl<'a, 'w> Requests<'a, 'w> {
    pub(super) fn new(walk: &'w Walk<'a>, facts: Facts) -> Self {
        Self {
            walk,
            states: vec![facts],
            told_gone: BTreeSet::new(),
            unknown: BTreeSet::new(),
            last_asks: false,
            names: BTreeMap::new(),
            over_us: None,
            creates: 0,
            bad_id: None,
            no_id: false,
        }
    }

    pub(super) fn run(&mut self, findings: &mut Findings<'_>) {
        for event in in_order(self.walk.plan, self.walk.log) {
            match event {
                Event::Request(index) => self.request(index, findings),
                Event::Unseen(unseen) => {
                    let Some(call) = unseen.call else { continue };
                    // How many there were is known in memory only.
                    for _ in 0..unseen.count.unwrap_or(1).min(8) {
                        let met = self
                            .states
                            .iter()
                            .flat_map(|state| state.after_unseen(call));
                        let met: Vec<Facts> = met.collect();
                        self.states = if unseen.count.is_some() {
                            each_once(met)
                        } else {
                            each_once([met, self.states.clone()].concat())
                        };
                    }
                }
            }
        }
    }

    fn request(&mut self, index: usize, findings: &mut Findings<'_>) {
        let exchange = &self.walk.log.exchanges[index];
        self.identifiers(index, exchange, findings);
        let Some(call) = exchange.call else { return };
        match call {
            Call::CreateSandbox => self.create(index, exchange, findings),
            Call::DeleteSandbox => self.delete(index, exchange, findings),
            Call::Pause | Call::Resume => self.change(index, exchange, call, findings),
            _ => {}
        }
        let answer = answer(self.walk, exchange);
        let said = Said::of(exchange, &answer);
        if call == Call::CreateSandbox {
            self.created(index, &said);
        }
        if matches!(call, Call::DeleteSandbox | Call::GetSandbox)
            && let Some(sandbox) = target(exchange)
            && said.iter().any(|said| is_proof(sandbox, said))
        {
            self.told_gone.insert(sandbox.to_owned());
        }
        let after = self
            .states
            .iter()
            .flat_map(|state| said.iter().flat_map(|said| state.after(exchange, said)));
        self.states = each_once(after.collect());
        self.last_asks = matches!(call, Call::CreateSandbox | Call::Pause | Call::Resume);
        if self.walk.plan.op == Op::Acquire {
            let over_us = exchange.last_sent_us.unwrap_or(exchange.head_us);
            self.over_us = Some(exchange.client_closed_us.map_or(over_us, |closed| {
                if answer.status.is_none() {
                    closed
                } else {
                    over_us
                }
            }));
        }
    }

    /// What an answer to a create leaves to be known.
    fn created(&mut self, index: usize, said: &[Said]) {
        let known = |said: &Said| matches!(said, Said::Sandbox { id: Id::Is(_), .. });
        let refused = |said: &Said| matches!(said, Said::Refused(status) if *status < 500);
        if !said.iter().all(known) && !said.iter().all(refused) {
            self.unknown.insert(index);
        }
        let no_id =
            |said: &Said| matches!(said, Said::Sandbox { id, .. } if !matches!(id, Id::Is(_)));
        if said.iter().any(no_id) {
            self.no_id = true;
            let exchange = &self.walk.log.exchanges[index];
            let data = crate::judge::acceptor::success(&crate::judge::answer::body(exchange));
            self.bad_id = data
                .as_ref()
                .and_then(|data| data.get("id"))
                .and_then(Value::as_str)
                .filter(|id| id.len() > 2)
                .map(str::to_owned);
        }
    }

    fn acquires(&self) -> impl Iterator<Item = &acquire::Acquire> {
        self.states.iter().filter_map(|state| match state {
            Facts::Acquire(facts) => Some(facts),
            _ => None,
        })
    }

    fn create(&mut self, index: usize, exchange: &Exchange, findings: &mut Findings<'_>) {
        const ONCE: &[&str] = &["lease/create-once"];
        let place = Place::Exchange(index);
        let wrong = |expected: &str, seen: &str| Wrong::new(ONCE, place, expected, seen).always();
        if self.walk.plan.op != Op::Acquire {
            findings.add(wrong(
                "no sandbox is made in the place of one that exists",
                "a sandbox was created",
            ));
            return;
        }
        if exchange.head_us > self.walk.observed.ended_us.saturating_add(IN_FLIGHT_US) {
            findings.add(wrong(
                "nothing but cleanup after the result",
                "a sandbox was created after it",
            ));
        }
        let may = |state: &Facts| state.choices(false).calls.contains(&Call::CreateSandbox);
        if !self.states.iter().any(may) {
            let expected = if self.acquires().any(acquire::Acquire::has_one) {
                "no further create: the sandbox runs"
            } else if self.acquires().any(acquire::Acquire::is_last) {
                if self.acquires().any(acquire::Acquire::is_unknown) {
                    "no second create: nobody knows what the first one came to"
                } else {
                    "no further create: that was the last acquisition"
                }
            } else {
                "no create before the acquisition that came first is over"
            };
            findings.add(wrong(expected, "another create-sandbox"));
        }
        let repeats = self.acquires().any(acquire::Acquire::repeats);
        if self.creates > 0 && !repeats {
            self.spacing(index, exchange, findings);
        }
        self.creates += usize::from(!repeats || self.creates == 0);
        self.name(index, exchange, findings);
    }

    /// Two acquisitions are as far apart as the policy says.
    fn spacing(&self, index: usize, exchange: &Exchange, findings: &mut Findings<'_>) {
        let least_ms = acquire::min_delay_ms(self.walk.plan);
        let Some(over_us) = self.over_us else { return };
        let waited_us = exchange.head_us.saturating_sub(over_us);
        if waited_us + TIMER_US < least_ms.saturating_mul(1000) {
            findings.add(
                Wrong::new(
                    &["lease/create-once"],
                    Place::Exchange(index),
                    format!(
                        "the next acquisition at least {} after the one before",
                        words::ms(least_ms.saturating_mul(1000))
                    ),
                    format!("it came {} after it", words::ms(waited_us)),
                )
                .always(),
            );
        }
    }

    /// Each acquisition has a name of its own, which begins as the job says.
    fn name(&mut self, index: usize, exchange: &Exchange, findings: &mut Findings<'_>) {
        let body: Option<Map<String, Value>> = serde_json::from_slice(&exchange.request.body).ok();
        let name = body.as_ref().and_then(|body| body.get("name"));
        let Some(name) = name.and_then(Value::as_str) else {
            return;
        };
        if let Some(earlier) = self.names.insert(name.to_owned(), self.creates)
            && earlier != self.creates
        {
            findings.add(
                Wrong::new(
                    &["lease/create-once"],
                    Place::Exchange(index),
                    "a name that was not asked for before: never two creates for one name",
                    format!("the name {} again", words::short(name)),
                )
                .always(),
            );
        }
    }

    fn delete(&self, index: usize, exchange: &Exchange, findings: &mut Findings<'_>) {
        let plan = self.walk.plan;
        let place = Place::Exchange(index);
        let sandbox = target(exchange).unwrap_or_default();
        if matches!(plan.op, Op::Pause | Op::Resume) {
            findings.add(
                Wrong::new(
                    &["lease/async-state"],
                    place,
                    format!("a sandbox is not destroyed by a {}", plan.op),
                    "it was destroyed",
                )
                .always(),
            );
            return;
        }
        let own = match plan.op {
            Op::Release => sandbox == self.walk.log.names.sandbox_id,
            _ => self.made_here(sandbox),
        };
        if !own {
            findings.add(
                Wrong::new(
                    &["lease/identity"],
                    place,
                    "nothing is destroyed but the job's own sandbox",
                    format!("DELETE of {}", words::short(sandbox)),
                )
                .always(),
            );
        }
    }

    /// Whether a create of this trial made it, or said so.
    fn made_here(&self, sandbox: &str) -> bool {
        let said = || {
            self.states
                .iter()
                .any(|state| state.sandbox() == Some(sandbox))
        };
        let mut ledger = self.walk.log.ledger.iter();
        said()
            || ledger.any(|entry| entry.id == sandbox && entry.made_by.is_some())
            || self.told_gone.contains(sandbox)
    }

    fn change(&self, index: usize, exchange: &Exchange, call: Call, findings: &mut Findings<'_>) {
        let place = Place::Exchange(index);
        let sandbox = target(exchange).unwrap_or_default();
        let changes = self.states.iter().filter_map(|state| match state {
            Facts::Change(facts) => Some((facts, state)),
            _ => None,
        });
        let changes: Vec<_> = changes.collect();
        let Some((first, _)) = changes.first() else {
            return;
        };
        if sandbox != first.sandbox() {
            findings.add(
                Wrong::new(
                    &["lease/identity"],
                    place,
                    "nothing is changed but the job's own sandbox",
                    format!("{call} of {}", words::short(sandbox)),
                )
                .always(),
            );
        }
        let wrong = |expected: String| {
            Wrong::new(
                &["lease/async-state"],
                place,
                expected,
                format!("another {call}"),
            )
            .always()
        };
        if call != first.submit() {
            findings.add(wrong(format!(
                "no {call}: the job is a {}",
                self.walk.plan.op
            )));
            return;
        }
        // One that is there already may be asked for all the same: it is answered so.
        let may = |(_, state): &(_, &Facts)| {
            let choices = state.choices(false);
            choices.calls.contains(&call)
                || choices
                    .ends
                    .iter()
                    .any(|end| matches!(end, super::End::Done(_)))
        };
        if !changes.iter().any(may) {
            findings.add(wrong(first.why_not_again().to_owned()));
        }
    }

    /// What is no id never reaches a URL.
    fn identifiers(&self, index: usize, exchange: &Exchange, findings: &mut Findings<'_>) {
        if !self.no_id {
            return;
        }
        let path = &exchange.request.path;
        let about_one = path.len() > 1 && path[0] == "sandboxes";
        let names_none = about_one && !is_identifier(&path[1]);
        let holds_it = self
            .bad_id
            .as_ref()
            .is_some_and(|id| exchange.request.target.contains(id));
        let unknown = exchange.call.is_none() && !is_health_probe(exchange);
        if names_none || holds_it || unknown {
            findings.add(
                Wrong::new(
                    &["lease/identity", "create/identifier"],
                    Place::Exchange(index),
                    "a sandbox id that is none is refused and never put into a URL",
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
