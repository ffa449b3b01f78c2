//! The streams that a right client is served, before anything more is done to them.

use super::{
    explore::{can_follow, create_body, ways},
    simulate::{Came, Simulation},
    ways::Moment,
};
use crate::{judge::typed::requests, profile::Promises};
use fake_server::{script::model::Plan, session::RawAnswer, wire::Call};

/// What one connect is answered by the server's own writer.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// The nth connect.
    pub attempt: u32,
    /// The fault that meets it, by number in the file.
    pub fault: Option<usize>,
    /// The request's cursor.
    pub after: u64,
    /// The answer, placeholders not yet replaced.
    pub answer: RawAnswer,
}

/// The streams on the most usual right way, in order. Answers that have nothing to do with a stream are left out.
#[must_use]
pub fn streams(plan: &Plan, promises: &Promises) -> Vec<Stream> {
    if !can_follow(plan.op) {
        return Vec::new();
    }
    let mut server = Simulation::new(plan);
    server.keep_answers();
    let mut sent = requests(plan).into_iter();
    let mut streams = Vec::new();
    for moment in ways(plan, promises).path {
        let (call, after) = match moment {
            Moment::Call { call, after, .. } => (call, after),
            Moment::Unseen(call) => (call, 0),
            Moment::Outcome(_) => continue,
        };
        let body = match call {
            Call::CreateProcess => create_body(plan),
            Call::Input | Call::ResizeProcess => {
                sent.next().map(|(_, body)| body).unwrap_or_default()
            }
            _ => String::new(),
        };
        let came = server.call(call, after, &body);
        let kept = server.take_kept();
        if let (Call::Connect, Came::Exchange(exchange), Some(answer)) = (call, came, kept) {
            streams.push(Stream {
                attempt: exchange.attempt,
                fault: exchange.fault,
                after,
                answer,
            });
        }
        server.now_ms += promises.profile.reconnect_delay_ms;
    }
    streams
}
