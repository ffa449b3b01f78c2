//! Writes the wire log while a trial runs. What left is kept with the place on its connection where
//! it ended, so that one number a connection (how many bytes the peer has acknowledged) says for
//! every entry whether it arrived. The log as others see it is made from that when it is asked for.

mod entry;

use super::{
    heard::{self, Heard},
    lines::Lines,
};
use crate::{
    script::model::{Break, Cut, Until},
    session::{Arrival, Meant},
    wire::{Blob, Call},
    wirelog::{
        AnswerEnd, Connection, Exchange, LedgerEntry, Micros, Names, Payload, Refusal, Request,
        Segmented, TrapRequest, WireLog,
    },
};
use bytes::Bytes;
use entry::{Entry, Gone, NOWHERE, Ordinary, is_hold};
use std::sync::Arc;

/// The log of one trial in the making.
#[derive(Debug)]
pub(super) struct Recorder {
    names: Names,
    lines: Vec<Line>,
    exchanges: Vec<Told>,
    trap: Vec<TrapRequest>,
    refusals: Vec<Refusal>,
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

    /// Whether no exchange of the connection is under way.
    pub(super) fn is_idle(&self, connection: u32) -> bool {
        self.lines[connection as usize - 1].current.is_none()
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

    /// Requests that came, or connections where there are more of them.
    pub(super) fn arrivals(&self) -> usize {
        self.exchanges.len().max(self.lines.len())
    }

    /// Exchanges that the connection has seen, this one included.
    pub(super) fn exchanges_on(&self, connection: u32) -> u32 {
        self.lines[connection as usize - 1].exchanges
    }

    /// The beginning of a request's body that did not come whole.
    pub(super) fn broken_body(&mut self, exchange: usize, body: &[u8]) {
        self.body(exchange, body);
    }

    /// The request is whole, with this body, of which is kept what there is room for.
    pub(super) fn whole(&mut self, exchange: usize, body: &[u8]) {
        self.body(exchange, body);
        self.exchanges[exchange].request.is_whole = true;
    }

    fn body(&mut self, exchange: usize, body: &[u8]) {
        let kept = self.keep(body.len());
        let bytes = self.exchanges[exchange].request.lines.bytes();
        let has_room = self.keep_headers(bytes);
        let request = &mut self.exchanges[exchange].request;
        request.body = body[..kept].into();
        if !has_room {
            request.lines = Arc::default();
        }
    }

    /// Whether there is room for so many bytes of headers: it is taken for all of them, or for none.
    const fn keep_headers(&mut self, bytes: u64) -> bool {
        if let Some(left) = self.head_room.checked_sub(bytes) {
            self.head_room = left;
            true
        } else {
            self.dropped += bytes;
            false
        }
    }

    /// How many of so many bytes there is room for.
    fn keep(&mut self, wanted: usize) -> usize {
        let kept = wanted.min(usize::try_from(self.room).unwrap_or(usize::MAX));
        // usize is at most 64 bits wide.
        self.room -= kept as u64;
        self.dropped += (wanted - kept) as u64;
        kept
    }

    /// The head of the answer.
    pub(super) fn head(
        &mut self,
        exchange: usize,
        http10: bool,
        status: u16,
        reason: String,
        mut headers: Vec<(String, String)>,
    ) {
        let bytes = headers
            .iter()
            // usize is at most 64 bits wide.
            .map(|(name, value)| (name.len() + value.len()) as u64)
            .sum();
        if !self.keep_headers(bytes) {
            headers = Vec::new();
        }
        self.exchanges[exchange].gone.entries().push(Entry::Head {
            http10,
            status,
            reason,
            headers,
        });
    }

    /// An ordinary answer, which is about to leave. [`Self::placed`] says later that it has.
    pub(super) fn ordinary(
        &mut self,
        exchange: usize,
        status: u16,
        reason: &'static str,
        headers: Lines,
        body: Bytes,
        now: Micros,
    ) {
        let has_room = self.keep_headers(headers.bytes());
        let kept = self.keep(body.len());
        let told = &mut self.exchanges[exchange];
        let has_body = !body.is_empty();
        if has_body {
            told.last_sent_us = Some(now);
        }
        told.gone.ordinary = Some(Ordinary {
            status,
            reason,
            headers: if has_room { headers } else { Lines::default() },
            has_body,
            // Whole bodies are shared with whoever made them.
            body: if kept == body.len() {
                body
            } else {
                Bytes::copy_from_slice(&body[..kept])
            },
            place: None,
        });
    }

    /// Payload has left, up to this place on its connection.
    pub(super) fn sent(&mut self, exchange: usize, note: Note, place: u64, now: Micros) {
        match note {
            Note::Frames { from, to } => {
                let told = &mut self.exchanges[exchange];
                told.last_sent_us = Some(now);
                let entries = told.gone.entries();
                match entries.last_mut() {
                    Some(Entry::Frames { marks, .. })
                        if marks.last().is_some_and(|(last, _)| last + 1 == from) =>
                    {
                        marks.push((to, place));
                    }
                    _ => entries.push(Entry::Frames {
                        from,
                        marks: vec![(to, place)],
                    }),
                }
            }
            Note::Bytes {
                what,
                mut bytes,
                framed,
                continues,
            } => {
                bytes.truncate(self.keep(bytes.len()));
                let told = &mut self.exchanges[exchange];
                told.last_sent_us = Some(now);
                let entries = told.gone.entries();
                match entries.last_mut() {
                    Some(Entry::Bytes {
                        what: last,
                        framed: last_framed,
                        bytes: kept,
                        marks,
                    }) if continues && *last == what && *last_framed == framed => {
                        kept.extend_from_slice(&bytes);
                        marks.push((kept.len(), place));
                    }
                    _ => {
                        let marks = vec![(bytes.len(), place)];
                        entries.push(Entry::Bytes {
                            what,
                            bytes,
                            framed,
                            marks,
                        });
                    }
                }
            }
        }
    }

    /// The ordinary answer of this exchange has left whole, up to this place.
    pub(super) fn placed(&mut self, exchange: usize, at: u64, now: Micros) {
        let told = &mut self.exchanges[exchange];
        if let Some(answer) = &mut told.gone.ordinary {
            answer.place = Some(at);
        }
        told.last_sent_us = Some(now);
        self.over(exchange);
    }

    /// A wait of the script is over.
    pub(super) fn waited(&mut self, exchange: usize, until: Until) {
        let entries = self.exchanges[exchange].gone.entries();
        entries.push(Entry::Waited(until));
    }

    /// The writes of a segmented answer.
    pub(super) fn segmented(&mut self, exchange: usize, writes: u64, alone: u64) {
        let all = self.exchanges[exchange]
            .segmented
            .get_or_insert_with(Segmented::default);
        all.writes += writes;
        all.alone += alone;
    }

    /// The body broke off there.
    pub(super) fn broke_off(&mut self, exchange: usize, broken: Break) {
        self.exchanges[exchange].broke_off = Some(broken);
    }

    /// The answer ended.
    pub(super) fn ended(
        &mut self,
        exchange: usize,
        how: AnswerEnd,
        place: u64,
        acked: Option<bool>,
        now: Micros,
    ) {
        let told = &mut self.exchanges[exchange];
        told.gone.entries().push(Entry::End { how, place, acked });
        if !is_hold(how) {
            told.last_sent_us = Some(now);
            self.over(exchange);
        }
    }

    /// Nothing more comes in this exchange.
    pub(super) fn over(&mut self, exchange: usize) {
        let connection = self.exchanges[exchange].connection;
        let line = self.line(connection);
        if line.current == Some(exchange) {
            line.current = None;
        }
    }

    /// The trial is over: what is still under way ends so.
    pub(super) fn trial_over(&mut self, now: Micros) {
        for number in 1..=u32::try_from(self.lines.len()).unwrap_or(u32::MAX) {
            let line = self.line(number);
            if line.seen.client_closed_us.is_none()
                && let Some(current) = line.current
                && self.exchanges[current].gone.ends().next().is_none()
            {
                self.exchanges[current].gone.entries().push(Entry::End {
                    how: AnswerEnd::TrialOver,
                    place: NOWHERE,
                    acked: Some(false),
                });
            }
            self.closed(number, now);
        }
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

    /// Whether the nth such call's request has arrived whole.
    pub(super) fn is_sent(&self, call: Call, attempt: u32) -> bool {
        self.find(call, attempt)
            .is_some_and(|told| told.request.is_whole)
    }

    /// Whether its answer has left whole, however it ended.
    pub(super) fn is_answered(&self, call: Call, attempt: u32) -> bool {
        self.find(call, attempt)
            .is_some_and(|told| told.gone.ends().any(|how| !is_hold(how)))
    }

    /// How many data frames of its answer the peer has acknowledged.
    pub(super) fn frames_acked(&self, call: Call, attempt: u32) -> u64 {
        let Some(told) = self.find(call, attempt) else {
            return 0;
        };
        let acked = self.lines[told.connection as usize - 1].acked;
        told.gone.frames_acked(acked)
    }

    fn find(&self, call: Call, attempt: u32) -> Option<&Told> {
        self.exchanges
            .iter()
            .find(|told| told.call == Some(call) && told.attempt == attempt)
    }

    /// The log so far.
    pub(super) fn log(&self, ledger: Vec<LedgerEntry>) -> WireLog {
        WireLog {
            names: self.names.clone(),
            connections: self.lines.iter().map(|line| line.seen.clone()).collect(),
            exchanges: self.exchanges.iter().map(|told| self.told(told)).collect(),
            trap: self.trap.clone(),
            refusals: self.refusals.clone(),
            ledger,
            dropped_bytes: self.dropped,
        }
    }

    fn told(&self, told: &Told) -> Exchange {
        let acked = self.lines[told.connection as usize - 1].acked;
        // A hold and the end of the trial leave it open.
        let has_ended = told
            .gone
            .ends()
            .any(|how| !is_hold(how) && how != AnswerEnd::TrialOver);
        Exchange {
            connection: told.connection,
            number: told.number,
            call: told.call,
            attempt: told.attempt,
            request: told.request.shown(),
            fault: told.fault,
            answer: told.gone.show(acked),
            head_us: told.head_us,
            last_sent_us: told.last_sent_us,
            client_closed_us: told.client_closed_us,
            open: told.client_closed_us.is_none() && !has_ended,
            segmented: told.segmented,
            broke_off: told.broke_off,
        }
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
