//! What left is told to the log, and to the live view where somebody watches.

use super::{
    super::{event::WireEvent, lines::Lines, recorder::Note, request},
    State, Trial,
};
use crate::{
    session::Answer,
    wire::Blob,
    wirelog::{AnswerEnd, Micros, Payload, Request, Sent},
};
use bytes::Bytes;
use tokio::time::Instant;

impl State {
    /// Logs an ordinary answer.
    pub(super) fn ordinary(
        &mut self,
        exchange: usize,
        answer: &Answer,
        is_mute: bool,
        now: Micros,
    ) {
        let lines = answer.headers.iter();
        let lines = Lines::of(lines.map(|(name, value)| (&**name, &**value)));
        let body = if is_mute {
            Bytes::new()
        } else {
            answer.body.clone()
        };
        self.recorder
            .ordinary(exchange, answer.status, answer.reason, lines, body, now);
    }
}

impl Trial {
    /// Logs the head of an answer.
    pub(in super::super) fn head(
        &self,
        exchange: usize,
        http10: bool,
        status: u16,
        reason: String,
        headers: Vec<(String, String)>,
    ) {
        let what = self.is_observed().then(|| Sent::Head {
            http10,
            status,
            reason: reason.clone(),
            headers: headers.clone(),
        });
        let at_us = self.record(|recorder, now| {
            recorder.head(exchange, http10, status, reason, headers);
            now
        });
        if let Some(what) = what {
            self.tell(WireEvent::Sent {
                at_us,
                exchange,
                what,
            });
        }
    }

    /// Logs an ordinary answer, which hyper is about to write; [`Self::placed`] says later that it has left.
    /// `is_mute` says that its body is not sent. Nobody waits for an answer that has not left, so nobody is woken.
    pub(in super::super) fn ordinary(&self, exchange: usize, answer: &Answer, is_mute: bool) {
        let now = self.now();
        self.state().ordinary(exchange, answer, is_mute, now);
        self.show_ordinary(exchange, answer, is_mute, now);
    }

    pub(super) fn show_ordinary(
        &self,
        exchange: usize,
        answer: &Answer,
        is_mute: bool,
        at_us: Micros,
    ) {
        if !self.is_observed() {
            return;
        }
        let headers = answer.headers.iter().cloned();
        let head = Sent::Head {
            http10: false,
            status: answer.status,
            reason: answer.reason.to_owned(),
            headers: headers
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect(),
        };
        let body = (!is_mute && !answer.body.is_empty()).then(|| Sent::Body {
            what: Payload::Plain,
            bytes: Blob::from(&*answer.body),
            framed: true,
            acked: false,
        });
        for what in [Some(head), body].into_iter().flatten() {
            self.tell(WireEvent::Sent {
                at_us,
                exchange,
                what,
            });
        }
    }

    /// An ordinary answer has left whole.
    pub(in super::super) fn placed(&self, exchange: usize, place: u64, left_at: Instant) {
        let left_us = self.micros(left_at);
        self.state().recorder.placed(exchange, place, left_us);
        self.heard.notify_waiters();
        if self.is_observed() {
            self.tell(WireEvent::Sent {
                at_us: self.now(),
                exchange,
                what: Sent::End {
                    how: AnswerEnd::Complete,
                    acked: false,
                },
            });
        }
    }

    /// Logs what has left, with the place on the connection where each ended, and tells the live view.
    pub(in super::super) fn sent(&self, exchange: usize, notes: Vec<(u64, Note)>) {
        if notes.is_empty() {
            return;
        }
        let now = self.now();
        let events: Vec<WireEvent> = if self.is_observed() {
            notes
                .iter()
                .map(|(_, note)| sent_event(now, exchange, note))
                .collect()
        } else {
            Vec::new()
        };
        self.record(|recorder, now| {
            for (place, note) in notes {
                recorder.sent(exchange, note, place, now);
            }
        });
        for event in events {
            self.tell(event);
        }
    }

    /// Logs the end of an answer, which left at that moment; absent: leaves now.
    pub(in super::super) fn ended(
        &self,
        exchange: usize,
        how: AnswerEnd,
        place: u64,
        acked: Option<bool>,
        left_at: Option<Instant>,
    ) {
        let now = self.record(|recorder, now| {
            let at_us = left_at.map_or(now, |at| self.micros(at));
            recorder.ended(exchange, how, place, acked, at_us);
            now
        });
        if self.is_observed() {
            self.tell(WireEvent::Sent {
                at_us: now,
                exchange,
                what: Sent::End {
                    how,
                    acked: acked.unwrap_or(false),
                },
            });
        }
    }

    /// The client left in the middle of an answer.
    pub(in super::super) fn abandoned(&self, exchange: usize, connection: u32) {
        let now = self.record(|recorder, now| {
            recorder.client_closed(connection, now);
            recorder.over(exchange);
            now
        });
        self.tell(WireEvent::Abandoned {
            at_us: now,
            exchange,
        });
    }

    /// What came on a connection was no HTTP request.
    pub(in super::super) fn unreadable(&self, connection: u32, error: &hyper::Error) {
        self.tell(WireEvent::Unreadable {
            at_us: self.now(),
            connection,
            error: error.to_string(),
        });
    }

    /// A request reached the trap.
    pub(in super::super) fn trapped(&self, request: Request) {
        let trapped = self.record(|recorder, now| {
            let trapped = request::trapped(request, &self.names.api_key, now);
            recorder.trapped(trapped.clone());
            trapped
        });
        self.tell(WireEvent::Trapped(trapped));
    }
}

fn sent_event(at_us: Micros, exchange: usize, note: &Note) -> WireEvent {
    let what = match note {
        Note::Frames { from, to } => Sent::Frames {
            from: *from,
            to: *to,
            acked: false,
        },
        Note::Bytes {
            what,
            bytes,
            framed,
            ..
        } => Sent::Body {
            what: *what,
            bytes: Blob::from(bytes.as_slice()),
            framed: *framed,
            acked: false,
        },
    };
    WireEvent::Sent {
        at_us,
        exchange,
        what,
    }
}
