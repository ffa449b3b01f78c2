//! What happened, in order: requests that were seen, and connections that met a closed port or were
//! cut before their request.

use fake_server::{
    script::model::Plan,
    wire::Call,
    wirelog::{Exchange, Micros, WireLog},
};

/// How long a request that was sent before an event may take to be seen after it.
pub(in crate::judge) const IN_FLIGHT_US: Micros = 100_000;
/// Lateness of the machine from which on that is no bound any more: two neighbours that keep both cores busy cost some
/// 10 ms, and a cancel goes through four queues (ours, the pipe, the client's, the socket) before its effect is seen.
pub(in crate::judge) const BUSY_US: Micros = 25_000;

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::judge) enum Event {
    /// A request, by index.
    Request(usize),
    /// A connection that brought no request.
    Unseen(Unseen),
}

/// A connection that failed before its request was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::judge) struct Unseen {
    /// The call it was for, as far as the scenario knows.
    pub(in crate::judge) call: Option<Call>,
    /// How many, if that is known.
    pub(in crate::judge) count: Option<u32>,
}

/// Everything in order of time.
pub(in crate::judge) fn in_order(plan: &Plan, log: &WireLog) -> Vec<Event> {
    let call_of = |number: usize| {
        plan.faults
            .iter()
            .find(|fault| fault.number == number)
            .and_then(|fault| fault.on)
    };
    // In memory the clock stands still between two waits: at the same time, what came first is told by counting.
    let mut events: Vec<(Micros, usize, Event)> = Vec::new();
    for (index, exchange) in log.exchanges.iter().enumerate() {
        events.push((exchange.head_us, 2 * index + 1, Event::Request(index)));
    }
    for refusal in &log.refusals {
        let unseen = Unseen {
            call: call_of(refusal.fault),
            count: (refusal.refused > 0).then_some(refusal.refused),
        };
        let place = 2 * refusal.after_requests;
        events.push((refusal.from_us, place, Event::Unseen(unseen)));
    }
    for connection in &log.connections {
        if let Some((fault, _)) = connection.cut {
            let unseen = Unseen {
                call: call_of(fault),
                count: Some(1),
            };
            let before = |exchange: &&Exchange| exchange.connection < connection.number;
            let place = 2 * log.exchanges.iter().take_while(before).count();
            events.push((connection.accepted_us, place, Event::Unseen(unseen)));
        }
    }
    events.sort_by_key(|(at, order, _)| (*at, *order));
    // Requests stay in the order of their arrival, whatever the clock says.
    let mut requests = (0..log.exchanges.len()).map(Event::Request);
    events
        .into_iter()
        .filter_map(|(_, _, event)| match event {
            Event::Request(_) => requests.next(),
            unseen @ Event::Unseen(_) => Some(unseen),
        })
        .collect()
}
