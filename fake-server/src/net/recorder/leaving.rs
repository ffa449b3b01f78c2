//! Writes down what leaves, and how exchanges end.

use super::{
    Note, Recorder,
    entry::{Entry, NOWHERE, Ordinary, is_hold},
};
use crate::{
    net::lines::Lines,
    script::model::{Break, Until},
    wirelog::{AnswerEnd, Micros, Segmented},
};
use bytes::Bytes;

impl Recorder {
    /// The head of the answer.
    pub(in super::super) fn head(
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
    pub(in super::super) fn ordinary(
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
    pub(in super::super) fn sent(&mut self, exchange: usize, note: Note, place: u64, now: Micros) {
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
    pub(in super::super) fn placed(&mut self, exchange: usize, at: u64, now: Micros) {
        let told = &mut self.exchanges[exchange];
        if let Some(answer) = &mut told.gone.ordinary {
            answer.place = Some(at);
        }
        told.last_sent_us = Some(now);
        self.over(exchange);
    }

    /// A wait of the script is over.
    pub(in super::super) fn waited(&mut self, exchange: usize, until: Until) {
        let entries = self.exchanges[exchange].gone.entries();
        entries.push(Entry::Waited(until));
    }

    /// The writes of a segmented answer.
    pub(in super::super) fn segmented(&mut self, exchange: usize, writes: u64, alone: u64) {
        let all = self.exchanges[exchange]
            .segmented
            .get_or_insert_with(Segmented::default);
        all.writes += writes;
        all.alone += alone;
    }

    /// The body broke off there.
    pub(in super::super) fn broke_off(&mut self, exchange: usize, broken: Break) {
        self.exchanges[exchange].broke_off = Some(broken);
    }

    /// The answer ended.
    pub(in super::super) fn ended(
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
            let connection = told.connection;
            self.line(connection).broken |= how.breaks_off();
            self.over(exchange);
        }
    }

    /// Nothing more comes in this exchange.
    pub(in super::super) fn over(&mut self, exchange: usize) {
        let connection = self.exchanges[exchange].connection;
        let line = self.line(connection);
        if line.current == Some(exchange) {
            line.current = None;
        }
    }

    /// The trial is over: what is still under way ends so.
    pub(in super::super) fn trial_over(&mut self, now: Micros) {
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
}
