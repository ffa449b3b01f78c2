//! The plan's server without sockets or clocks: what a request would be answered, as an exchange of a
//! wire log in which everything was acknowledged.

use crate::judge::single::path;
use fake_server::{
    script::{
        expand::{Piece, may_hold_placeholders, substitute},
        framing::{Framing, broken},
        model::{ConnectionUse, Cut, End, Plan},
    },
    session::{Act, Answer, RawAnswer, RawBody, Session},
    wire::{Blob, Call},
    wirelog::{AnswerEnd, Exchange, Names, Payload, Request, Sent},
};
use std::sync::Arc;

/// A server, and what time it is there.
#[derive(Clone)]
pub(crate) struct Simulation {
    // On the heap: the oracle goes a call deeper with each connect, and copies are made at every level.
    session: Box<Session>,
    names: Names,
    /// The job's path, escaped.
    path: String,
    /// The sandbox that calls are about.
    sandbox: String,
    /// Milliseconds since the job began.
    pub(crate) now_ms: u64,
    /// The last answer of our own writer is kept, for whoever wants to see its pieces.
    keeps: bool,
    kept: Option<RawAnswer>,
}

/// What came of a request.
pub(crate) enum Came {
    /// The connection was refused or cut before the request was read, by this fault.
    Unseen(usize),
    /// An exchange.
    Exchange(Box<Exchange>),
}

/// A path as it stands in a query: all but letters, digits and slashes as %XX.
fn escaped(path: &str) -> String {
    let mut escaped = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'/' {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// Milliseconds after which what stands still is looked at: nothing more comes.
const LOOK_US: u64 = 1_000_000_000;

impl Simulation {
    pub(crate) fn new(plan: &Plan) -> Self {
        let names = Names {
            api_key: "skp_oracle".to_owned(),
            canary: "canary-oracle".to_owned(),
            base_url: "http://127.0.0.1:1".to_owned(),
            trap_url: "http://127.0.0.1:2".to_owned(),
            sandbox_id: "sb-oracle".to_owned(),
            process_id: "proc_oracle".to_owned(),
        };
        Self {
            session: Box::new(Session::new(Arc::new(plan.clone()), names.clone())),
            path: escaped(path(&plan.job)),
            sandbox: names.sandbox_id.clone(),
            names,
            now_ms: 0,
            keeps: false,
            kept: None,
        }
    }

    /// From here on [`Self::take_kept`] has the last answer.
    pub(super) const fn keep_answers(&mut self) {
        self.keeps = true;
    }

    /// The last answer with a stream or an odd framing.
    pub(super) const fn take_kept(&mut self) -> Option<RawAnswer> {
        self.kept.take()
    }

    /// What exists by now, or existed.
    #[cfg(test)]
    pub(crate) fn ledger(&self) -> Vec<fake_server::wirelog::LedgerEntry> {
        self.session.ledger(self.now_ms)
    }

    /// The names of the trial.
    #[cfg(test)]
    pub(crate) const fn names(&self) -> &Names {
        &self.names
    }

    /// From here on calls are about this sandbox.
    pub(crate) fn turn_to(&mut self, sandbox: &str) {
        sandbox.clone_into(&mut self.sandbox);
    }

    /// The sandbox that calls are about.
    pub(crate) fn sandbox(&self) -> &str {
        &self.sandbox
    }

    /// Where an open exchange is looked at, for what has surely arrived.
    pub(crate) const fn look_us(&self) -> u64 {
        self.now_ms.saturating_mul(1000).saturating_add(LOOK_US)
    }

    /// Makes a call.
    pub(crate) fn call(&mut self, call: Call, after: u64, body: impl AsRef<[u8]>) -> Came {
        if let Some(refusal) = self.session.pending_refusal() {
            self.session.refused(refusal.fault);
            return Came::Unseen(refusal.fault);
        }
        if let Some((fault, _)) = self.session.on_accept() {
            return Came::Unseen(fault);
        }
        let request = self.request(call, after, body.as_ref());
        let head_us = self.now_ms.saturating_mul(1000);
        let arrival = self
            .session
            .arrive(&request, ConnectionUse::Fresh, self.now_ms);
        self.now_ms = self.now_ms.saturating_add(arrival.delay_ms);
        let mut exchange = Exchange {
            connection: 1,
            number: 1,
            call: arrival.call,
            attempt: arrival.attempt,
            request: request.clone(),
            fault: arrival.fault,
            answer: Vec::new(),
            head_us,
            last_sent_us: None,
            client_closed_us: None,
            open: false,
            segmented: None,
            broke_off: None,
        };
        if let Some(cut) = arrival.cut {
            exchange.answer.push(ended(AnswerEnd::Cut(cut)));
        } else {
            let mut act = self
                .session
                .answer(&arrival, &request.body, self.now_ms)
                .act;
            while let Act::Wait(waiting) = act {
                self.now_ms = self.now_ms.max(waiting.until_ms);
                act = self.session.resume(waiting, self.now_ms);
            }
            self.play(act, &mut exchange);
        }
        self.session.ended(&arrival);
        exchange.last_sent_us = Some(self.now_ms.saturating_mul(1000));
        Came::Exchange(Box::new(exchange))
    }

    fn request(&self, call: Call, after: u64, body: &[u8]) -> Request {
        let sandbox = format!("/v1/sandboxes/{}", self.sandbox);
        let process = format!("{sandbox}/processes/{}", self.names.process_id);
        let (method, target) = match call {
            Call::CreateProcess => ("POST", format!("{sandbox}/processes")),
            Call::StdinClose => ("POST", format!("{process}/stdin/close")),
            Call::Input => ("POST", format!("{process}/input")),
            Call::ResizeProcess => ("POST", format!("{process}/resize")),
            Call::Exec => ("POST", format!("{sandbox}/exec")),
            Call::PutFile => ("PUT", format!("{sandbox}/files?path={}", self.path)),
            Call::GetFile => ("GET", format!("{sandbox}/files?path={}", self.path)),
            Call::CreateSandbox => ("POST", "/v1/sandboxes".to_owned()),
            Call::ListSandboxes => ("GET", "/v1/sandboxes?limit=500".to_owned()),
            Call::GetSandbox => ("GET", sandbox),
            Call::DeleteSandbox => ("DELETE", sandbox),
            Call::Pause => ("POST", format!("{sandbox}/pause")),
            Call::Resume => ("POST", format!("{sandbox}/resume")),
            Call::DeleteProcess => ("DELETE", format!("{process}?grace_ms=0")),
            _ => ("GET", format!("{process}/connect?after={after}")),
        };
        let parts = fake_server::session::target(&target);
        Request {
            method: method.to_owned(),
            target,
            headers: vec![
                ("x-api-key".to_owned(), self.names.api_key.clone()),
                ("content-type".to_owned(), "application/json".to_owned()),
            ],
            body: Blob::from(body),
            body_complete: true,
            path: parts.path,
            query: parts.query,
        }
    }

    fn play(&mut self, act: Act, exchange: &mut Exchange) {
        match act {
            Act::Answer(answer) => plain(answer, exchange),
            Act::Raw(answer) => self.raw(answer, exchange),
            Act::Cut(cut) => exchange.answer.push(ended(AnswerEnd::Cut(Cut { ..cut }))),
            Act::Hold { ms } => {
                self.now_ms = self.now_ms.saturating_add(ms);
                exchange.answer.push(ended(AnswerEnd::Held));
            }
            // `call` waits until there is something else.
            Act::Wait(_) => {}
        }
    }

    fn raw(&mut self, answer: RawAnswer, exchange: &mut Exchange) {
        if self.keeps {
            self.kept = Some(answer.clone());
        }
        let mut headers = answer.headers.clone();
        let chunked = matches!(answer.body, RawBody::Pieces(_) | RawBody::Faithful(_))
            && answer.content_length.is_none();
        if let Some(coding) = &answer.encoding {
            let name = format!("{:?}", coding.coding).to_lowercase();
            headers.push(("content-encoding".to_owned(), name));
        }
        if answer.content_length.is_some() {
            headers.push(("content-length".to_owned(), "announced".to_owned()));
        }
        if answer.transfer_encoding_also || (chunked && !answer.http10) {
            headers.push(("transfer-encoding".to_owned(), "chunked".to_owned()));
        }
        exchange.answer.push(Sent::Head {
            http10: answer.http10,
            status: answer.status,
            reason: String::new(),
            headers,
        });
        let body_at = exchange.answer.len();
        let end = match answer.body {
            RawBody::Bytes(bytes) => {
                exchange.answer.push(body(Payload::Plain, bytes.into()));
                Some(if answer.http10 {
                    AnswerEnd::CloseDelimited
                } else {
                    AnswerEnd::Complete
                })
            }
            RawBody::Endless(byte) => {
                exchange.answer.push(body(Payload::Plain, vec![byte; 64]));
                None
            }
            stream @ (RawBody::Pieces(_) | RawBody::Faithful(_)) => {
                let mut pieces: Vec<Piece> = stream
                    .into_pieces()
                    .map(|piece| self.named(piece))
                    .collect();
                if let Some(at) = answer.break_at {
                    let framing = if answer.http10 {
                        Framing::Plain
                    } else {
                        Framing::Chunked(answer.chunks)
                    };
                    if let Some(left) = broken(&pieces, &framing, answer.heartbeat_ms, at) {
                        exchange.broke_off = Some(at);
                        pieces = left;
                    }
                }
                self.pieces(pieces, exchange)
            }
        };
        let end = match (end, answer.content_length) {
            (Some(_), Some(more)) if more > 0 => Some(AnswerEnd::Short),
            (Some(end), Some(less)) if less < 0 => {
                cut_framing(&mut exchange.answer[body_at..], less.unsigned_abs());
                Some(match end {
                    AnswerEnd::Scripted(End::Chunk) => AnswerEnd::Complete,
                    other => other,
                })
            }
            (Some(AnswerEnd::Scripted(End::Chunk | End::Fin)), _) if answer.http10 => {
                Some(AnswerEnd::CloseDelimited)
            }
            (Some(AnswerEnd::Scripted(End::Chunk)), _)
                if answer
                    .encoding
                    .is_some_and(|coding| coding.cut.is_some() || coding.extra > 0) =>
            {
                Some(AnswerEnd::Scripted(End::Fin))
            }
            (end, _) => end,
        };
        match end {
            Some(end) => exchange.answer.push(ended(end)),
            None => exchange.open = true,
        }
    }

    /// A piece with the names of the trial in the place of placeholders.
    fn named(&self, mut piece: Piece) -> Piece {
        match &mut piece {
            Piece::Bytes { what, bytes, .. } | Piece::Trickle { what, bytes, .. }
                if may_hold_placeholders(*what) =>
            {
                *bytes = substitute(bytes, &self.names);
            }
            Piece::Every { pieces, .. } => {
                *pieces = std::mem::take(pieces)
                    .into_iter()
                    .map(|piece| self.named(piece))
                    .collect();
            }
            _ => {}
        }
        piece
    }

    /// Plays pieces; how the answer ended, or nothing where it stands still.
    fn pieces(&mut self, pieces: Vec<Piece>, exchange: &mut Exchange) -> Option<AnswerEnd> {
        for piece in pieces {
            match piece {
                Piece::Bytes { what, bytes, .. } => exchange.answer.push(body(what, bytes)),
                Piece::Trickle {
                    what,
                    bytes,
                    portion,
                    every_ms,
                    ..
                } => {
                    let portions = bytes.len().div_ceil(portion.max(1)) as u64;
                    self.now_ms = self
                        .now_ms
                        .saturating_add(portions.saturating_sub(1).saturating_mul(every_ms));
                    exchange.answer.push(body(what, bytes));
                }
                Piece::Pause { ms, .. } => self.now_ms = self.now_ms.saturating_add(ms),
                Piece::Until(fake_server::script::model::Until::Closed) => return None,
                Piece::Until(until) => exchange.answer.push(Sent::Waited(until)),
                Piece::Every { pieces, .. } => {
                    self.pieces(pieces, exchange);
                    return None;
                }
                Piece::End(End::Hold) => return None,
                Piece::End(end) => return Some(AnswerEnd::Scripted(end)),
            }
        }
        None
    }
}

fn plain(answer: Answer, exchange: &mut Exchange) {
    exchange.answer.push(Sent::Head {
        http10: false,
        status: answer.status,
        reason: answer.reason.to_owned(),
        headers: answer
            .headers
            .into_iter()
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect(),
    });
    exchange
        .answer
        .push(body(Payload::Plain, answer.body.into()));
    exchange.answer.push(ended(AnswerEnd::Complete));
}

fn body(what: Payload, bytes: Vec<u8>) -> Sent {
    Sent::Body {
        what,
        bytes: Blob(bytes),
        framed: true,
        acked: true,
    }
}

const fn ended(how: AnswerEnd) -> Sent {
    Sent::End { how, acked: true }
}

/// The last bytes of a body lie beyond its announced length.
fn cut_framing(sent: &mut [Sent], mut beyond: u64) {
    for entry in sent.iter_mut().rev() {
        let Sent::Body { bytes, framed, .. } = entry else {
            continue;
        };
        let length = bytes.len() as u64;
        if length <= beyond {
            *framed = false;
            beyond -= length;
        } else {
            // Only the beginning counts; the rest is beyond, and what is beyond is never read.
            bytes
                .0
                .truncate(usize::try_from(length - beyond).unwrap_or(0));
            return;
        }
    }
}
