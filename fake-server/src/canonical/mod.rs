//! The canonical text of a wire log: what crossed the wire, readable, and the same for the same plan
//! and the same client on every run, machine and transport.
//!
//! Left out: times, acknowledgements, ids and the names that a client makes up for sandboxes (placeholders stand for them), request headers that differ
//! from client to client, when the client closed, and everything after the last byte that a right
//! client needed: whether that was still sent depends on who was faster.

mod answer;
mod tail;

use crate::{
    script::model::{Cut, CutPoint, Plan},
    wire::{Blob, Call},
    wirelog::{Exchange, LedgerEntry, Request, WireLog},
};
use std::fmt::Write as _;

/// Request headers that are shown; others are the client's own business.
const SHOWN: [&str; 4] = ["x-api-key", "content-type", "accept-encoding", "expect"];

/// The canonical text of a log.
#[must_use]
pub fn canonical(log: &WireLog, plan: &Plan) -> String {
    let names = Placeholders::new(log);
    let mut text = format!("scenario {}\n", plan.id);
    let mut number = 0;
    let (ordered, loose) = log.exchanges.split_at(cancelled_behind(log, plan));
    for connection in &log.connections {
        let mut exchanges: Vec<&Exchange> = ordered
            .iter()
            .filter(|exchange| exchange.connection == connection.number)
            .collect();
        exchanges.sort_by_key(|exchange| exchange.number);
        // A connection on which nothing was asked may or may not have been opened.
        if exchanges.is_empty() && connection.cut.is_none() {
            continue;
        }
        number += 1;
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(text, "\nconnection {number}");
        if let Some((fault, cut)) = connection.cut {
            let _ = writeln!(text, "  {}, by fault {fault}", cut_words(cut));
        }
        for exchange in exchanges {
            show(exchange, &names, &mut text);
        }
    }
    if !loose.is_empty() {
        text.push_str("\nwhile it was cancelled, on any connection\n");
    }
    for exchange in loose {
        show(exchange, &names, &mut text);
    }
    // For how long a port was closed at once is the clock's doing where refusals cannot be counted.
    let mut refused: Vec<usize> = log.refusals.iter().map(|refusal| refusal.fault).collect();
    refused.dedup();
    for fault in refused {
        let _ = writeln!(text, "\nthe port refused, by fault {fault}");
    }
    for trapped in &log.trap {
        text.push_str("\nat the trap");
        text.push_str(if trapped.key {
            ", with the key\n"
        } else {
            "\n"
        });
        request(&trapped.request, &names, &mut text);
    }
    let told: Vec<String> = log
        .ledger
        .iter()
        .filter_map(|entry| ledger(entry, log, &names))
        .collect();
    if !told.is_empty() {
        text.push_str("\nledger\n");
        for line in told {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// How many exchanges a cancel can't have touched: all, where the plan has none. A client that is cancelled while it
/// reads drops that connection, and one that had just read the end keeps it: what it asks next goes here or there.
fn cancelled_behind(log: &WireLog, plan: &Plan) -> usize {
    let met = plan.job.cancel.as_ref().and_then(|cancel| {
        let is_met = |exchange: &Exchange| {
            exchange.call == Some(cancel.on) && exchange.attempt == cancel.attempt
        };
        log.exchanges.iter().position(is_met)
    });
    met.map_or(log.exchanges.len(), |place| place + 1)
}

fn show(exchange: &Exchange, names: &Placeholders, text: &mut String) {
    if let Some(call) = exchange.call {
        let _ = write!(text, "  {call} {}", exchange.attempt);
    } else {
        text.push_str("  no call");
    }
    match exchange.fault {
        Some(fault) => {
            let _ = writeln!(text, ", fault {fault}");
        }
        None => text.push('\n'),
    }
    request(&exchange.request, names, text);
    for line in answer::lines(exchange, |text| names.hide(text)) {
        let _ = writeln!(text, "    < {}", names.hide(&line));
    }
}

fn request(request: &Request, names: &Placeholders, text: &mut String) {
    let target = names.hide(&request.target);
    let _ = writeln!(text, "    > {} {target}", request.method);
    for name in SHOWN {
        for value in request.header_values(name) {
            let value = if name == "x-api-key" && value != names.api_key {
                "WRONG".to_owned()
            } else {
                names.hide(value)
            };
            let _ = writeln!(text, "    > {name}: {value}");
        }
    }
    if !request.body.is_empty() {
        let body = names.hide(&answer::quoted(&request.body));
        let _ = writeln!(text, "    > {body}");
    }
    if !request.body_complete {
        text.push_str("    > (the body was not read to its end)\n");
    }
}

const fn cut_words(cut: Cut) -> &'static str {
    match (cut.at, cut.reset) {
        (CutPoint::Accept, true) => "reset when it was accepted",
        (CutPoint::Accept, false) => "closed when it was accepted",
        (CutPoint::HeadRead, true) => "reset when the head was read",
        (CutPoint::HeadRead, false) => "closed when the head was read",
        (CutPoint::BodyRead, true) => "reset when the request was read",
        (CutPoint::BodyRead, false) => "closed when the request was read",
    }
}

/// What was made or deleted; what only stood there is no news.
fn ledger(entry: &LedgerEntry, log: &WireLog, names: &Placeholders) -> Option<String> {
    if entry.made_by.is_none() && entry.deleted_by.is_none() {
        return None;
    }
    let mut line = format!("{} {}", entry.kind, names.hide(&entry.id));
    for (did, by) in [("made", entry.made_by), ("deleted", entry.deleted_by)] {
        if let Some(exchange) = by.and_then(|place| log.exchanges.get(place)) {
            let call = exchange.call.map_or("no call", |call| call.name());
            let _ = write!(line, ", {did} by {call} {}", exchange.attempt);
        }
    }
    Some(line)
}

/// Bytes of a sandbox's name from which on it stands for nothing else.
const TELLING: usize = 6;

/// Names of sandboxes that the client asked for, each once: it draws them anew in each trial.
fn asked_names(log: &WireLog) -> Vec<String> {
    let mut asked: Vec<String> = Vec::new();
    for exchange in &log.exchanges {
        if exchange.call != Some(Call::CreateSandbox) {
            continue;
        }
        let body: Option<serde_json::Value> = serde_json::from_slice(&exchange.request.body).ok();
        let name = body.as_ref().and_then(|body| body.get("name")?.as_str());
        if let Some(name) = name.filter(|name| name.len() >= TELLING)
            && !asked.iter().any(|known| known == name)
        {
            asked.push(name.to_owned());
        }
    }
    asked
}

/// What stands for what differs from trial to trial.
struct Placeholders {
    api_key: String,
    /// Longest first, so that no name hides a part of another.
    names: Vec<(String, String)>,
}

impl Placeholders {
    fn new(log: &WireLog) -> Self {
        let given = &log.names;
        let mut names = vec![
            (given.api_key.clone(), "{api-key}".to_owned()),
            (given.canary.clone(), "{canary}".to_owned()),
            (given.base_url.clone(), "{base-url}".to_owned()),
            (given.trap_url.clone(), "{trap-url}".to_owned()),
            (given.sandbox_id.clone(), "{sandbox}".to_owned()),
            (given.process_id.clone(), "{process}".to_owned()),
        ];
        for kind in ["sandbox", "process"] {
            let others = log
                .ledger
                .iter()
                .filter(|entry| entry.kind == kind)
                .filter(|entry| entry.id != given.sandbox_id && entry.id != given.process_id);
            for (entry, number) in others.zip(2..) {
                names.push((entry.id.clone(), format!("{{{kind}-{number}}}")));
            }
        }
        for (name, number) in asked_names(log).into_iter().zip(1..) {
            names.push((name, format!("{{name-{number}}}")));
        }
        names.retain(|(name, _)| !name.is_empty());
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self {
            api_key: given.api_key.clone(),
            names,
        }
    }

    /// The text without names and times.
    fn hide(&self, text: &str) -> String {
        let mut hidden = text.to_owned();
        for (name, placeholder) in &self.names {
            if hidden.contains(name.as_str()) {
                hidden = hidden.replace(name.as_str(), placeholder);
            }
        }
        hide_times(&hidden)
    }
}

/// Replaces RFC 3339 times in UTC by `{time}`.
fn hide_times(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = time_length(rest.as_bytes());
        if length > 0 {
            out.push_str("{time}");
            rest = &rest[length..];
        } else {
            let digits = rest
                .find(|letter: char| !letter.is_ascii_digit())
                .unwrap_or(rest.len());
            out.push_str(&rest[..digits]);
            rest = &rest[digits..];
        }
    }
    out + rest
}

/// The length of the time that the text begins with, 0 if it begins with none.
fn time_length(text: &[u8]) -> usize {
    const SHAPE: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let fits = text.len() > SHAPE.len()
        && SHAPE.iter().zip(text).all(|(shape, letter)| match shape {
            b'd' => letter.is_ascii_digit(),
            other => letter == other,
        });
    if !fits {
        return 0;
    }
    let fraction = text[SHAPE.len()..]
        .iter()
        .take_while(|letter| letter.is_ascii_digit() || **letter == b'.')
        .count();
    match text.get(SHAPE.len() + fraction) {
        Some(b'Z') => SHAPE.len() + fraction + 1,
        _ => 0,
    }
}

/// Bytes for one line of text.
fn escaped(bytes: &Blob) -> String {
    String::from_utf8(bytes.to_vec()).map_or_else(
        |_| format!("b\"{}\"", bytes.escape_ascii()),
        |text| {
            text.chars()
                .flat_map(|letter| {
                    let plain = letter == '"' || letter == '\'' || !letter.is_control();
                    let kept = plain.then_some(letter);
                    let changed = (!plain).then(|| letter.escape_default());
                    kept.into_iter().chain(changed.into_iter().flatten())
                })
                .collect()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_hidden_and_other_numbers_are_not() {
        assert_eq!(
            hide_times("at 2026-01-01T00:00:00.012Z, 12 of 2026-01-01T00:00:00Z and 2026-01-01"),
            "at {time}, 12 of {time} and 2026-01-01"
        );
    }
}
