//! Every right client of a lease: the rules of `judge::lease` followed call by call.

use super::{
    super::{
        simulate::{Came, Simulation},
        ways::{Ways, either, end, met, seen},
    },
    Explorer, came_fault,
};
use crate::judge::lease::{End, Facts, Said, min_delay_ms};
use fake_server::{
    script::model::{CancelPoint, Plan},
    wire::Call,
};

/// Calls that a right client may make or leave out, which are followed on one way: more of them meet nothing else.
const FREE_CALLS: u32 = 4;

/// Milliseconds between two looks at a state.
const POLL_MS: u64 = 250;

/// What stopped the client.
type Stop = Option<&'static str>;

impl Explorer<'_> {
    /// From the first call on.
    pub(super) fn lease(&self, mut server: Simulation) -> Ways {
        let sandbox = server.sandbox().to_owned();
        match Facts::new(self.plan, self.promises, &sandbox) {
            Some(facts) => {
                server.turn_to(&sandbox);
                self.lease_on(server, &facts, FREE_CALLS, None, false)
            }
            None => Ways::default(),
        }
    }

    /// What follows what is known.
    fn lease_on(
        &self,
        server: Simulation,
        facts: &Facts,
        free: u32,
        cancelled: Stop,
        looked: bool,
    ) -> Ways {
        let stop = cancelled.or_else(|| self.is_late(&server).then_some("timed-out"));
        let choices = facts.choices(stop.is_some());
        let mut ways: Vec<Ways> = Vec::new();
        for one in &choices.ends {
            match one {
                End::Done(_) => ways.push(end("ok")),
                End::Failed(failed) => {
                    let kinds = failed.cause.kinds.iter();
                    ways.extend(kinds.map(|kind| end(&format!("error:{kind}"))));
                }
                End::Stopped => ways.push(end(stop.unwrap_or("cancelled"))),
            }
        }
        let mut calls = choices.calls;
        // Where something has to be done, one way of doing it is followed for as long as it takes.
        let must = ways.is_empty();
        if free == 0 {
            if !must {
                calls.clear();
            } else if calls.len() > 1 {
                calls.retain(|call| !is_look(*call));
            }
        }
        if must && calls.iter().all(|call| is_look(*call)) && !self.is_in_time(server.now_ms) {
            calls.clear();
        }
        let is_free = !must || calls.len() > 1;
        for call in calls {
            let mut later = server.clone();
            let wait_ms = match call {
                Call::CreateSandbox if looked => min_delay_ms(self.plan),
                call if is_look(call) && looked => POLL_MS,
                _ => 0,
            };
            later.now_ms = later.now_ms.saturating_add(wait_ms);
            if stop.is_none() && self.is_late(&later) && !must {
                // The deadline comes before the next call.
                continue;
            }
            let left = if is_free {
                free.saturating_sub(1)
            } else {
                free
            };
            ways.push(self.lease_call(later, facts, call, left, cancelled));
        }
        if ways.is_empty() {
            return end(if stop.is_none() && self.has_timeout() {
                "timed-out"
            } else {
                "none"
            });
        }
        either(ways)
    }

    fn lease_call(
        &self,
        mut server: Simulation,
        facts: &Facts,
        call: Call,
        free: u32,
        cancelled: Stop,
    ) -> Ways {
        if let Some(sandbox) = facts.sandbox() {
            server.turn_to(sandbox);
        }
        let was_late = self.is_late(&server);
        let body = if call == Call::CreateSandbox {
            create_body(self.plan)
        } else {
            String::new()
        };
        let came = server.call(call, 0, body);
        let on = |server: Simulation, next: Vec<Facts>, cancelled: Stop| {
            let ways = next
                .iter()
                .map(|facts| self.lease_on(server.clone(), facts, free, cancelled, true));
            either(ways.collect())
        };
        match &came {
            Came::Unseen(_) => {
                let next = facts.after_unseen(call);
                met(came_fault(&came), 1, call).then(on(server, next, cancelled))
            }
            Came::Exchange(exchange) => {
                let answer = self.answer(exchange, &server);
                let is_cancelled = self.is_cancelled(exchange, &server);
                let unread = is_cancelled && self.cancels_at(CancelPoint::Sent);
                let too_late = !was_late && self.is_late(&server);
                let said = if unread || too_late {
                    vec![Said::Open]
                } else {
                    Said::of(exchange, &answer)
                };
                let next = said
                    .iter()
                    .flat_map(|said| facts.after(exchange, said))
                    .collect();
                let cancelled = if is_cancelled {
                    Some("cancelled")
                } else {
                    cancelled
                };
                seen(exchange, &answer, 0, 0).then(on(server, next, cancelled))
            }
        }
    }

    fn cancels_at(&self, point: CancelPoint) -> bool {
        let cancel = self.plan.job.cancel.as_ref();
        cancel.is_some_and(|cancel| cancel.at == point)
    }
}

/// A call that changes nothing.
const fn is_look(call: Call) -> bool {
    matches!(call, Call::GetSandbox | Call::ListSandboxes)
}

/// The body of a create.
fn create_body(plan: &Plan) -> String {
    serde_json::json!({ "shape": plan.job.extra.get("shape") }).to_string()
}
