//! What is typed into a terminal, and its size: each input once, in order, byte for byte, resizes in their place.

use super::{
    Place,
    acceptor::is_sound,
    answer::Answer,
    findings::{Findings, Wrong},
    walk::Walk,
    words,
};
use crate::observed::Reply;
use fake_server::{
    script::model::Plan,
    wire::{Blob, Call, Op, limits},
    wirelog::Exchange,
};
use serde_json::{Value, json};

/// Something that a client is asked to send to a running process.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Order {
    /// Input, neighbours joined: how it is cut is the client's choice.
    Bytes(Vec<u8>),
    /// A new size of the terminal.
    Size(Size),
}

/// A terminal's size in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    cols: u64,
    rows: u64,
}

/// What the job asks to be sent, in order.
fn orders(plan: &Plan) -> Vec<Order> {
    let stdin = plan.job.stdin.as_ref().filter(|_| plan.op == Op::Execute);
    let stdin = stdin.map(|stdin| Order::Bytes(stdin.to_vec()));
    let typed = plan.job.extra.get("input").and_then(Value::as_array);
    let typed = typed.into_iter().flatten().filter_map(order);
    let mut orders: Vec<Order> = Vec::new();
    for order in stdin.into_iter().chain(typed) {
        match (orders.last_mut(), order) {
            (Some(Order::Bytes(before)), Order::Bytes(more)) => before.extend(more),
            (_, order) => orders.push(order),
        }
    }
    orders.retain(|order| !matches!(order, Order::Bytes(bytes) if bytes.is_empty()));
    orders
}

fn order(item: &Value) -> Option<Order> {
    match item.get("data_base64") {
        Some(data) => bytes(data).map(Order::Bytes),
        None => size(item).map(Order::Size),
    }
}

fn bytes(data: &Value) -> Option<Vec<u8>> {
    let data: Blob = serde_json::from_value(data.clone()).ok()?;
    Some(data.to_vec())
}

fn size(value: &Value) -> Option<Size> {
    Some(Size {
        cols: value.get("cols")?.as_u64()?,
        rows: value.get("rows")?.as_u64()?,
    })
}

/// The size that the terminal is to begin with.
fn first_size(plan: &Plan) -> Size {
    let number = |name, default| {
        let value = plan.job.extra.get(name);
        value.and_then(Value::as_u64).unwrap_or(default)
    };
    Size {
        cols: number("cols", 80),
        rows: number("rows", 24),
    }
}

/// The `pty` of a create.
pub(crate) fn pty(plan: &Plan) -> Value {
    let Size { cols, rows } = first_size(plan);
    json!({ "rows": rows, "cols": cols })
}

/// The requests that a right client sends what it is asked to in, as large as they may be.
pub(crate) fn requests(plan: &Plan) -> Vec<(Call, String)> {
    let mut requests = Vec::new();
    for order in orders(plan) {
        match order {
            Order::Bytes(bytes) => {
                for piece in bytes.chunks(limits::INPUT_BYTES) {
                    let body = json!({ "data_base64": Blob::from(piece).to_base64() });
                    requests.push((Call::Input, body.to_string()));
                }
            }
            Order::Size(Size { cols, rows }) => {
                let body = json!({ "rows": rows, "cols": cols });
                requests.push((Call::ResizeProcess, body.to_string()));
            }
        }
    }
    requests
}

const EXACT: &str = "stdin/exact";
const SIZE: &str = "stdin/terminal-size";

/// Judges what a terminal was sent.
pub(super) fn judge(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    // A request that the log did not keep cannot be judged.
    if walk.plan.op != Op::Terminal || walk.log.dropped_bytes > 0 {
        return;
    }
    created(walk, findings);
    let mut due = Due {
        orders: changing(orders(walk.plan), first_size(walk.plan)),
        at: 0,
        taken: 0,
        size: first_size(walk.plan),
    };
    let mut refused = !walk.log.refusals.is_empty();
    for (index, exchange) in walk.log.exchanges.iter().enumerate() {
        let called = matches!(exchange.call, Some(Call::Input | Call::ResizeProcess));
        if !called || !exchange.request.body_complete {
            continue;
        }
        if let Err((requirement, expected, seen)) = due.takes(exchange) {
            findings
                .add(Wrong::new(&[requirement], Place::Exchange(index), expected, seen).always());
            return;
        }
        let answer = Answer::of(exchange, &walk.plan.truth, walk.observed.ended_us);
        refused |= !is_sound(exchange, &answer);
    }
    let succeeded =
        matches!(&walk.observed.reply, Reply::Result(result) if result.outcome == "exited");
    // A process that took something no more need not be sent the rest.
    if succeeded
        && !refused
        && let Some((requirement, missing)) = due.next()
    {
        findings.add(
            Wrong::new(
                &[requirement],
                Place::End,
                "all that is to be typed is sent before the end is reported",
                format!("{missing} was not sent"),
            )
            .always(),
        );
    }
}

/// The terminal begins with the size that was asked for.
fn created(walk: &Walk<'_>, findings: &mut Findings<'_>) {
    let wanted = first_size(walk.plan);
    for index in &walk.creates {
        let request = &walk.log.exchanges[*index].request;
        if !request.body_complete {
            continue;
        }
        let body: Option<Value> = serde_json::from_slice(&request.body).ok();
        let pty = body.as_ref().and_then(|body| body.get("pty"));
        let got = pty.and_then(size);
        if got != Some(wanted) {
            findings.add(
                Wrong::new(
                    &[SIZE],
                    Place::Exchange(*index),
                    format!("a terminal of {}", wanted.words()),
                    match (pty, got) {
                        (_, Some(got)) => format!("one of {}", got.words()),
                        (Some(_), None) => "a `pty` without rows and cols".to_owned(),
                        (None, None) => "no `pty`".to_owned(),
                    },
                )
                .always(),
            );
        }
    }
}

/// Without the sizes that the terminal has already: to tell them changes nothing, nor to leave them out.
fn changing(orders: Vec<Order>, mut size: Size) -> Vec<Order> {
    let news = orders.into_iter().filter(|order| match order {
        Order::Bytes(_) => true,
        Order::Size(next) => std::mem::replace(&mut size, *next) != *next,
    });
    news.collect()
}

/// What is still to be sent.
struct Due {
    orders: Vec<Order>,
    /// The next of them.
    at: usize,
    /// Bytes of it that were sent.
    taken: usize,
    /// The terminal's size by now.
    size: Size,
}

/// A requirement, what would have been right, and what was seen.
type Off = (&'static str, String, String);

impl Due {
    /// Takes a request for the next thing, or says how it is off.
    fn takes(&mut self, exchange: &Exchange) -> Result<(), Off> {
        let body: Value = serde_json::from_slice(&exchange.request.body).unwrap_or_default();
        if exchange.call == Some(Call::ResizeProcess) {
            let Some(size) = size(&body) else {
                return Err(self.off(SIZE, "a resize without rows and cols".to_owned()));
            };
            return self.resized(size);
        }
        let Some(bytes) = body.get("data_base64").and_then(bytes) else {
            return Err(self.off(EXACT, "an input without base64 in `data_base64`".to_owned()));
        };
        if bytes.len() > limits::INPUT_BYTES {
            return Err((
                EXACT,
                format!(
                    "at most {} in a request",
                    words::size(limits::INPUT_BYTES as u64)
                ),
                format!("{} in one", words::size(bytes.len() as u64)),
            ));
        }
        self.typed(&bytes)
    }

    fn typed(&mut self, bytes: &[u8]) -> Result<(), Off> {
        if bytes.is_empty() {
            return Ok(());
        }
        let seen = || format!("input {}", shown(bytes));
        match self.orders.get(self.at) {
            Some(Order::Bytes(wanted)) => {
                let rest = &wanted[self.taken..];
                if !rest.starts_with(bytes) {
                    return Err(self.off(EXACT, seen()));
                }
                self.taken += bytes.len();
                if self.taken == wanted.len() {
                    self.at += 1;
                    self.taken = 0;
                }
                Ok(())
            }
            Some(Order::Size(_)) => Err(self.off(SIZE, seen())),
            None => Err(self.off(EXACT, seen())),
        }
    }

    fn resized(&mut self, size: Size) -> Result<(), Off> {
        let wanted = self.orders.get(self.at) == Some(&Order::Size(size));
        // To tell it the size that it has changes nothing.
        if !wanted && size != self.size {
            // In the middle of an input it is the rest of that which is missing.
            let requirement = if self.taken > 0 { EXACT } else { SIZE };
            return Err(self.off(requirement, format!("a resize to {}", size.words())));
        }
        self.at += usize::from(wanted);
        self.size = size;
        Ok(())
    }

    fn off(&self, requirement: &'static str, seen: String) -> Off {
        let expected = match self.next() {
            Some((_, next)) => format!("{next} is sent next"),
            None => "nothing more is sent: all was".to_owned(),
        };
        (requirement, expected, seen)
    }

    /// The next thing in words, and the requirement that asks for it.
    fn next(&self) -> Option<(&'static str, String)> {
        Some(match self.orders.get(self.at)? {
            Order::Bytes(wanted) => {
                let rest = &wanted[self.taken..];
                let from = match self.taken {
                    0 => String::new(),
                    taken => format!(" (from byte {taken} of that input on)"),
                };
                (EXACT, format!("input {}{from}", shown(rest)))
            }
            Order::Size(size) => (SIZE, format!("a resize to {}", size.words())),
        })
    }
}

impl Size {
    fn words(self) -> String {
        format!("{} columns and {} rows", self.cols, self.rows)
    }
}

/// The beginning of some bytes, and how many they are if that is not all.
fn shown(bytes: &[u8]) -> String {
    const SHOWN: usize = 24;
    let begin = format!("\"{}\"", bytes[..bytes.len().min(SHOWN)].escape_ascii());
    if bytes.len() > SHOWN {
        format!("{begin}... ({})", words::size(bytes.len() as u64))
    } else {
        begin
    }
}
