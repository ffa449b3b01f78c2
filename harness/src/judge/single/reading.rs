//! What an answer leaves to a right client.

use super::{
    command::{self, Run, may_repeat},
    files,
};
use crate::judge::{
    acceptor::success,
    answer::{Answer, Ending, body},
};
use fake_server::{
    script::model::{Behaviour, Plan},
    wire::Op,
    wirelog::Exchange,
};
use serde_json::{Map, Value};

/// What an answer leaves to a right client: one of these, the usual one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) rights: Vec<Right>,
}

/// One way in which a right client may go on from an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    /// The file is stored.
    Stored,
    /// These are the file's bytes.
    File(Vec<u8>),
    /// The command ran, and this is what it said.
    Ran(Run),
    /// It fails, with one of these kinds.
    Fails(Fails),
    /// It waits for the rest, for as long as its deadline lets it.
    Waits,
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fails {
    /// Kinds that are right, the usual one first.
    pub(crate) kinds: Vec<&'static str>,
    /// The status that it may tell.
    pub(crate) status: Option<u16>,
    /// What is wrong with the answer, in words.
    pub(crate) why: &'static str,
}

/// An answer that broke, or whose bytes cannot be what was asked for.
const DAMAGED: &[&str] = &["transport", "invalid-response"];
/// A stream whose bytes are not the lines that were asked for.
const CODED: &[&str] = &["transport", "invalid-response", "frame-invalid"];
/// An answer that is of another kind than what was asked for.
const FOREIGN: &[&str] = &["invalid-response", "http-error", "transport"];
/// No answer.
const UNANSWERED: &[&str] = &["transport", "connection-failed"];

impl Reading {
    /// Reads the answer to an op's own call.
    pub(crate) fn of(plan: &Plan, exchange: &Exchange, answer: &Answer) -> Self {
        let rights = match answer.status {
            None if matches!(answer.ending, Ending::Open | Ending::Left) => vec![Right::Waits],
            None => vec![fails(UNANSWERED, None, "no answer came")],
            Some(status @ 200..=299) => Self::success(plan, exchange, answer, status),
            Some(status @ 300..=399) => vec![fails(
                &["http-error", "transport"],
                Some(status),
                "the answer is a redirect",
            )],
            Some(status) => vec![fails(
                &["http-error"],
                Some(status),
                "the answer is a refusal",
            )],
        };
        let mut reading = Self { rights };
        if matches!(plan.op, Op::Exec | Op::ExecStream) && !may_repeat(answer.status) {
            reading.may_have_run();
        }
        reading
    }

    /// Of a command that may have run, a failure may say so instead of what was wrong with the answer.
    fn may_have_run(&mut self) {
        for right in &mut self.rights {
            if let Right::Fails(fails) = right {
                fails.kinds.push("creation-unconfirmed");
            }
        }
    }

    /// No connection could be made, or it was cut before the request was read.
    pub(crate) fn unseen() -> Self {
        Self {
            rights: vec![fails(UNANSWERED, None, "no answer came")],
        }
    }

    fn success(plan: &Plan, exchange: &Exchange, answer: &Answer, status: u16) -> Vec<Right> {
        let whole = match plan.op {
            Op::Upload => files::stored(plan, exchange, status),
            Op::Download => files::file(exchange, answer, status),
            _ if command::is_streamed(plan, exchange) => {
                let mut rights = command::streamed(plan, exchange, answer);
                if status != 200 || !answer.is_ndjson() {
                    rights.push(foreign(status, "its head is not that of a stream"));
                }
                // How it ended is in them already.
                return coded(plan, exchange, answer, rights);
            }
            _ => command::buffered(exchange, status),
        };
        // What its head alone gives away may be refused without a look at the rest.
        let refused: Vec<Right> = whole
            .iter()
            .filter(|right| matches!(right, Right::Fails(_)))
            .cloned()
            .collect();
        match answer.ending {
            Ending::Clean | Ending::CloseDelimited => coded(plan, exchange, answer, whole),
            Ending::Open | Ending::Left if answer.coded() || !refused.is_empty() => {
                let kinds = refused_coding(plan, exchange);
                [refused, vec![fails(kinds, Some(status), "it is coded")]].concat()
            }
            Ending::Open | Ending::Left => vec![Right::Waits],
            Ending::Unclean => {
                let mut kinds = vec![fails(DAMAGED, Some(status), "the body broke off")];
                kinds.extend(refused);
                kinds
            }
        }
    }
}

/// A coded body that nobody asked for is decoded exactly or refused; one that was cut is never whole. Bytes beyond the
/// framing are never used, and whether they are noticed is up to the library below.
fn coded(plan: &Plan, exchange: &Exchange, answer: &Answer, whole: Vec<Right>) -> Vec<Right> {
    let behaviour = behaviour(plan, exchange);
    let overlong = behaviour.is_some_and(|one| one.content_length.is_some_and(|more| more < 0));
    if answer.coded() {
        let kinds = refused_coding(plan, exchange);
        let refused = fails(kinds, answer.status, "it is coded, which was not asked for");
        let encoding = behaviour.and_then(|one| one.encoding);
        if encoding.is_some_and(|encoding| encoding.cut.is_some()) {
            return vec![fails(kinds, answer.status, "its coding was cut")];
        }
        return [vec![refused], whole].concat();
    }
    if answer.doubtful || overlong {
        let doubt = fails(DAMAGED, answer.status, "its framing contradicts itself");
        return [whole, vec![doubt]].concat();
    }
    whole
}

/// How a client fails that does not take a coded body.
fn refused_coding(plan: &Plan, exchange: &Exchange) -> &'static [&'static str] {
    // Who does not look at the coding reads its bytes as lines, and finds that they are no frames.
    if command::is_streamed(plan, exchange) {
        CODED
    } else {
        DAMAGED
    }
}

/// What a fault made of an answer.
fn behaviour<'a>(plan: &'a Plan, exchange: &Exchange) -> Option<&'a Behaviour> {
    let number = exchange.fault?;
    let fault = plan.faults.iter().find(|fault| fault.number == number)?;
    Some(&fault.behaviour)
}

pub(super) fn fails(kinds: &[&'static str], status: Option<u16>, why: &'static str) -> Right {
    Right::Fails(Fails {
        kinds: kinds.to_vec(),
        status,
        why,
    })
}

/// An answer of another kind than what was asked for.
pub(super) fn foreign(status: u16, why: &'static str) -> Right {
    fails(FOREIGN, Some(status), why)
}

/// A body that is an envelope: its data if it says success, else nothing.
pub(super) enum Envelope {
    Success(Map<String, Value>),
    Refusal,
    None,
}

pub(super) fn envelope(exchange: &Exchange) -> Envelope {
    let body = body(exchange);
    if let Some(data) = success(&body) {
        return Envelope::Success(data);
    }
    let Ok(Value::Object(fields)) = serde_json::from_slice::<Value>(&body) else {
        return Envelope::None;
    };
    match fields.get("status").and_then(Value::as_str) {
        Some("fail" | "error") => Envelope::Refusal,
        _ => Envelope::None,
    }
}
