//! An answer of the wire log as a client could have seen it: status, lines, how it ended, and how much
//! of it has surely arrived.

use fake_server::{
    script::{
        expand::true_line,
        model::{End, FrameRef, Truth},
    },
    wirelog::{AnswerEnd, Exchange, Micros, Payload, Sent},
};

/// An answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// Status, if a head was sent.
    pub(crate) status: Option<u16>,
    /// Headers, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// Whole lines inside the framing.
    pub(crate) lines: Vec<Line>,
    /// Bytes after the last LF inside the framing.
    pub(crate) tail: Vec<u8>,
    /// How many of the tail's bytes the peer has acknowledged.
    pub(crate) tail_acked: usize,
    /// How it ended.
    pub(crate) ending: Ending,
    /// How many lines the peer has acknowledged.
    pub(crate) acked: usize,
    /// Lines that the client has surely had before it left or the log was taken.
    pub(crate) surely: usize,
    /// Two framings contradict each other, or bytes follow the framed body.
    pub(crate) doubtful: bool,
    /// Bytes were sent beyond the framing.
    pub(crate) beyond: bool,
    /// How long nothing was sent (of an answer without a beginning: since the request) until the client left or the
    /// log was taken.
    pub(crate) quiet_us: Micros,
}

/// A whole line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A true frame as it should be.
    True(FrameRef),
    /// Anything else, without its LF.
    Bytes(Vec<u8>),
}

/// How an answer ended, for a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    /// As its framing promised.
    Clean,
    /// By FIN, where that is the end.
    CloseDelimited,
    /// Otherwise: good bytes may have been thrown away with the connection.
    Unclean,
    /// The client left first.
    Left,
    /// Not yet.
    #[default]
    Open,
}

/// Quiet after which what was acknowledged has surely been read: far more than a busy machine needs,
/// far less than any scenario's deadline.
const SURELY_READ_US: Micros = 500_000;
/// Lines acknowledged last that may lie unread when the client leaves in the middle of a flow.
const MAYBE_UNREAD: usize = 2;

impl Answer {
    /// The answer of an exchange; `now_us` is when an open one was looked at last.
    pub(crate) fn of(exchange: &Exchange, truth: &Truth, now_us: Micros) -> Self {
        let mut answer = Self::default();
        let mut http10 = false;
        let mut acked_lines = 0;
        let mut all_acked = true;
        let mut last_end = None;
        for sent in &exchange.answer {
            match sent {
                Sent::Head {
                    http10: old,
                    status,
                    headers,
                    ..
                } => {
                    http10 = *old;
                    answer.status = Some(*status);
                    answer.headers.clone_from(headers);
                }
                Sent::Body { framed: false, .. } => {
                    answer.beyond = true;
                }
                Sent::Body {
                    what, bytes, acked, ..
                } => {
                    answer.bytes(*what, bytes, *acked && all_acked);
                    all_acked &= *acked;
                }
                Sent::Frames { from, to, acked } => {
                    let mut from = *from;
                    if !answer.tail.is_empty() {
                        // What stood there became the beginning of the run's first line.
                        let line = true_line(truth, FrameRef::Seq(from)).unwrap_or_default();
                        answer.bytes(Payload::Raw(None), &line, *acked);
                        from += 1;
                    }
                    answer
                        .lines
                        .extend((from..=*to).map(|seq| Line::True(FrameRef::Seq(seq))));
                    all_acked &= *acked;
                }
                Sent::Waited(_) => {}
                Sent::End { how, .. } => last_end = Some(*how),
            }
            if all_acked {
                acked_lines = answer.lines.len();
            }
        }
        answer.doubtful = answer.beyond
            || (answer.header("content-length").is_some()
                && answer.header("transfer-encoding").is_some());
        answer.ending = ending(exchange, last_end, http10);
        let left_us = exchange.client_closed_us.unwrap_or(now_us);
        let quiet = left_us.saturating_sub(exchange.last_sent_us.unwrap_or(left_us));
        answer.acked = acked_lines;
        answer.quiet_us = left_us.saturating_sub(exchange.last_sent_us.unwrap_or(exchange.head_us));
        answer.surely = if quiet >= SURELY_READ_US {
            acked_lines
        } else {
            acked_lines.saturating_sub(MAYBE_UNREAD)
        };
        answer
    }

    /// The first value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether a content coding was announced.
    pub(crate) fn coded(&self) -> bool {
        self.header("content-encoding")
            .is_some_and(|coding| !coding.eq_ignore_ascii_case("identity"))
    }

    /// Whether the media type is the one of streams.
    pub(crate) fn is_ndjson(&self) -> bool {
        self.header("content-type").is_some_and(|value| {
            let media = value.split(';').next().unwrap_or_default().trim();
            media.eq_ignore_ascii_case("application/x-ndjson")
                || media.eq_ignore_ascii_case("application/ndjson")
        })
    }

    fn bytes(&mut self, what: Payload, bytes: &[u8], acked: bool) {
        if let Payload::True(frame) = what
            && self.tail.is_empty()
            && bytes.ends_with(b"\n")
        {
            self.lines.push(Line::True(frame));
            return;
        }
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            self.tail.extend_from_slice(&rest[..at]);
            self.finish_line();
            rest = &rest[at + 1..];
        }
        self.tail.extend_from_slice(rest);
        if acked {
            self.tail_acked = self.tail.len();
        }
    }

    fn finish_line(&mut self) {
        self.tail_acked = 0;
        self.lines.push(Line::Bytes(std::mem::take(&mut self.tail)));
    }
}

fn ending(exchange: &Exchange, end: Option<AnswerEnd>, http10: bool) -> Ending {
    match end {
        Some(AnswerEnd::Complete | AnswerEnd::Scripted(End::Chunk)) => Ending::Clean,
        Some(AnswerEnd::CloseDelimited) => Ending::CloseDelimited,
        Some(AnswerEnd::Scripted(End::Fin)) if http10 => Ending::CloseDelimited,
        Some(AnswerEnd::Scripted(End::Hold) | AnswerEnd::TrialOver) | None => {
            if exchange.client_closed_us.is_some() {
                Ending::Left
            } else {
                Ending::Open
            }
        }
        Some(
            AnswerEnd::Scripted(
                End::Fin | End::Reset | End::ResetNow | End::TruncatedChunk | End::BadChunk,
            )
            | AnswerEnd::Cut(_)
            | AnswerEnd::Held
            | AnswerEnd::Short,
        ) => Ending::Unclean,
    }
}

/// The framed body of an exchange's answer.
pub(crate) fn body(exchange: &Exchange) -> Vec<u8> {
    let mut body = Vec::new();
    for sent in &exchange.answer {
        if let Sent::Body {
            bytes,
            framed: true,
            ..
        } = sent
        {
            body.extend_from_slice(bytes);
        }
    }
    body
}
