//! Writes the wire log while a trial runs. What left is kept with the place on its connection where
//! it ended, so that one number a connection (how many bytes the peer has acknowledged) says for
//! every entry whether it arrived. The log as others see it is made from that when it is asked for.

mod entry;
mod leaving;
mod room;
mod told;

use super::{
    heard::{self, Heard},
    lines::Lines,
    server::Held,
};
use crate::{
    script::model::{Break, Cut},
    session::{Arrival, Meant},
    wire::{Blob, Call},
    wirelog::{Connection, Micros, Names, Payload, Refusal, Request, Segmented, TrapRequest},
    world,
};
use entry::Gone;
use std::sync::Arc;

/// The log of one trial in the making.
#[derive(Debug)]
pub(super) struct Recorder {
    names: Names,
    lines: Vec<Line>,
    exchanges: Vec<Told>,
    trap: Vec<TrapRequest>,
    refusals: Vec<Refusal>,
    /// What it keeps of bodies, and of headers, bytes.
    limit: u64,
    /// What is left for bodies, bytes.
    room: u64,
    /// What is left for headers, bytes. Apart, so that a trial's large bodies cost no headers.
    head_room: u64,
    dropped: u64,
}

/// A connection.
#[derive(Debug)]
struct Line {
    seen: Connection,
    /// Bytes sent on it that the peer has acknowledged.
    acked: u64,
    exchanges: u32,
    /// Its unfinished exchange.
    current: Option<usize>,
    /// An answer on it broke off, so that it can't be used again: it is the client's to close.
    broken: bool,
}

/// An exchange.
#[derive(Debug)]
struct Told {
    connection: u32,
    number: u32,
    call: Option<Call>,
    attempt: u32,
    request: Asked,
    fault: Option<usize>,
    gone: Gone,
    head_us: Micros,
    last_sent_us: Option<Micros>,
    client_closed_us: Option<Micros>,
    segmented: Option<Segmented>,
    broke_off: Option<Break>,
}

/// A request.
#[derive(Debug)]
struct Asked {
    meant: Arc<Meant>,
    /// None where there was no room for them.
    lines: Arc<Lines>,
    body: Box<[u8]>,
    is_whole: bool,
}

impl Asked {
    fn shown(&self) -> Request {
        Request {
            body: Blob::from(&*self.body),
            body_complete: self.is_whole,
            ..heard::shown(&self.meant, &self.lines)
        }
    }
}

/// What is told of bytes that have left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Note {
    /// Whole true frames, consecutive.
    Frames {
        /// First seq.
        from: u64,
        /// Last seq.
        to: u64,
    },
    /// Other payload.
    Bytes {
        /// What it is.
        what: Payload,
        /// The payload.
        bytes: Vec<u8>,
        /// Inside what the framing announces.
        framed: bool,
        /// It goes on with the entry before.
        continues: bool,
    },
}

impl Recorder {
    pub(super) const fn new(names: Names, limit_bytes: u64) -> Self {
        Self {
            names,
            lines: Vec::new(),
            exchanges: Vec::new(),
            trap: Vec::new(),
            refusals: Vec::new(),
            limit: limit_bytes,
            room: limit_bytes,
            head_room: limit_bytes,
            dropped: 0,
        }
    }

    /// A connection was accepted; its number.
    pub(super) fn accepted(&mut self, now: Micros) -> u32 {
        let number = u32::try_from(self.lines.len() + 1).unwrap_or(u32::MAX);
        self.lines.push(Line {
            seen: Connection {
                number,
                accepted_us: now,
                ..Connection::default()
            },
            acked: 0,
            exchanges: 0,
            current: None,
            broken: false,
        });
        number
    }

    fn line(&mut self, connection: u32) -> &mut Line {
        // Numbers come from `accepted` only and are never taken back.
        &mut self.lines[connection as usize - 1]
    }

    /// A fault ended a connection that was just accepted.
    pub(super) fn cut_at_accept(&mut self, connection: u32, fault: usize, cut: Cut) {
        self.line(connection).seen.cut = Some((fault, cut));
    }

    /// The peer has acknowledged so many of the bytes sent on this connection. Says whether that is news.
    pub(super) fn acked(&mut self, connection: u32, bytes: u64) -> bool {
        let line = self.line(connection);
        let news = bytes > line.acked;
        line.acked = line.acked.max(bytes);
        news
    }

    /// The client's FIN or RST arrived.
    pub(super) fn client_closed(&mut self, connection: u32, now: Micros) {
        let line = self.line(connection);
        if line.seen.client_closed_us.is_some() {
            return;
        }
        line.seen.client_closed_us = Some(now);
        if let Some(current) = line.current {
            self.exchanges[current].client_closed_us = Some(now);
        }
    }

    /// Our side of the connection is gone.
    pub(super) fn closed(&mut self, connection: u32, now: Micros) {
        self.line(connection).seen.closed_us.get_or_insert(now);
    }

    /// Whether no exchange of the connection is under way, and the client need not close it either.
    pub(super) fn is_idle(&self, connection: u32) -> bool {
        self.lines[connection as usize - 1].current.is_none() && !self.awaits_close(connection)
    }

    /// Whether an answer on the connection broke off, and the client has not closed it yet.
    pub(super) fn awaits_close(&self, connection: u32) -> bool {
        let line = &self.lines[connection as usize - 1];
        line.broken && line.seen.client_closed_us.is_none()
    }

    /// A request's head is there; the exchange's place in the log.
    pub(super) fn arrived(
        &mut self,
        connection: u32,
        request: &Heard,
        arrival: &Arrival,
        now: Micros,
    ) -> usize {
        let place = self.exchanges.len();
        let line = self.line(connection);
        line.exchanges += 1;
        line.current = Some(place);
        let number = line.exchanges;
        self.exchanges.push(Told {
            connection,
            number,
            call: arrival.call,
            attempt: arrival.attempt,
            request: Asked {
                meant: Arc::clone(&request.meant),
                lines: Arc::clone(&request.lines),
                body: Box::default(),
                is_whole: false,
            },
            fault: arrival.fault,
            gone: Gone::default(),
            head_us: now,
            last_sent_us: None,
            client_closed_us: None,
            segmented: None,
            broke_off: None,
        });
        place
    }

    /// What is held, with what the log holds.
    pub(super) fn held(&self, world: world::Held, connections: usize) -> Held {
        let limits = self.limit.saturating_mul(2);
        Held {
            world,
            connections,
            answers: self
                .lines
                .iter()
                .filter(|line| line.current.is_some())
                .count(),
            exchanges: self.exchanges.len(),
            log_bytes: limits - self.room - self.head_room,
        }
    }

    /// Requests that came, or connections where there are more of them, and times that the port refused.
    pub(super) fn arrivals(&self) -> usize {
        self.exchanges.len().max(self.lines.len()) + self.refusals.len()
    }

    /// Exchanges that the connection has seen, this one included.
    pub(super) fn exchanges_on(&self, connection: u32) -> u32 {
        self.lines[connection as usize - 1].exchanges
    }

    pub(super) fn trapped(&mut self, request: TrapRequest) {
        self.trap.push(request);
    }

    /// The port has stopped listening.
    pub(super) fn refusing(&mut self, fault: usize, now: Micros) -> usize {
        self.refusals.push(Refusal {
            fault,
            from_us: now,
            until_us: None,
            refused: 0,
            after_requests: self.exchanges.len(),
        });
        self.refusals.len() - 1
    }

    /// The port listens again.
    pub(super) fn listening(&mut self, refusal: usize, refused: u32, now: Micros) {
        let refusal = &mut self.refusals[refusal];
        refusal.until_us = Some(now);
        refusal.refused = refused;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        script::model::ConnectionUse,
        session::Session,
        wire::Op,
        world::{
            healthy,
            tests::{names, plan},
        },
    };

    #[test]
    fn bodies_and_headers_are_kept_up_to_the_limit_each_and_counted_beyond() {
        let mut recorder = Recorder::new(Names::default(), 10);
        let connection = recorder.accepted(0);
        let heard = Heard {
            meant: Arc::new(Meant::of("GET", "/")),
            lines: Arc::new(Lines::of([("name", "text")].into_iter())),
            authorised: false,
        };
        let mut session = Session::new(Arc::new(plan(Op::Execute, healthy(false))), names());
        let fresh = ConnectionUse::Fresh;
        let arrival = session.arrive_as(&heard.meant, false, fresh, 0);
        for (body, kept) in [("12345678", "12345678"), ("12345678", "12")] {
            let exchange = recorder.arrived(connection, &heard, &arrival, 0);
            recorder.whole(exchange, body.as_bytes());
            let request = recorder.exchanges[exchange].request.shown();
            assert_eq!(request.body, Blob::from(kept));
            assert_eq!(request.headers.len(), usize::from(exchange == 0));
        }
        assert_eq!(recorder.log(Vec::new()).dropped_bytes, 6 + 8);
    }
}
