//! What is printed last: what happened, which faults never fired, and what is left over.

use super::live::{BAD, BOLD, DIM};
use fake_server::{
    ledger::{Kind, Ledger, Thing},
    script::{describe, model::Plan},
    wire::Call,
    wirelog::WireLog,
};
use serde_json::json;
use std::{collections::BTreeMap, fmt::Write as _};

/// Things left over that are told one by one.
const TOLD: usize = 20;

/// For people.
pub(super) fn text(plan: &Plan, log: &WireLog) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "\n{}{} on {}{}",
        BOLD.render(),
        count(log.exchanges.len(), "request"),
        count(log.connections.len(), "connection"),
        BOLD.render_reset()
    );
    for (call, times) in calls(log) {
        let _ = writeln!(out, "  {times:>5}  {call}");
    }
    for (number, times) in fired(plan, log) {
        let says = plan
            .faults
            .iter()
            .find(|fault| fault.number == number)
            .map_or_else(String::new, describe::fault);
        if times == 0 {
            let _ = writeln!(
                out,
                "  {}fault {number} never fired{}  {says}",
                BAD.render(),
                BAD.render_reset()
            );
        } else {
            let _ = writeln!(
                out,
                "  fault {number} fired {}  {}{says}{}",
                count(times, "time"),
                DIM.render(),
                DIM.render_reset()
            );
        }
    }
    if !log.trap.is_empty() {
        let with_key = log.trap.iter().filter(|request| request.key).count();
        let _ = writeln!(
            out,
            "  {}{} at the other origin, {with_key} with the key{}",
            BAD.render(),
            count(log.trap.len(), "request"),
            BAD.render_reset()
        );
    }
    ledger(&Ledger::of(log), &mut out);
    out
}

/// What the requests made, what of it is left, and what of the server's own they ended.
fn ledger(ledger: &Ledger, out: &mut String) {
    let left: Vec<&Thing> = ledger.left().collect();
    let made: Vec<&Thing> = ledger.made().collect();
    if !made.is_empty() {
        let says = if left.is_empty() {
            "nothing is left over".to_owned()
        } else {
            format!(
                "{}left over: {}{}",
                BAD.render(),
                kinds(&left),
                BAD.render_reset()
            )
        };
        let _ = writeln!(out, "  {} made; {says}", kinds(&made));
    }
    for thing in left.iter().take(TOLD) {
        let _ = writeln!(out, "    {thing}");
    }
    if left.len() > TOLD {
        let _ = writeln!(
            out,
            "    ... and {} more (--json tells all)",
            left.len() - TOLD
        );
    }
    for thing in ledger.taken().take(TOLD) {
        let _ = writeln!(out, "    {}{thing}{}", DIM.render(), DIM.render_reset());
    }
}

/// "2 sandboxes and 1 process".
fn kinds(things: &[&Thing]) -> String {
    let of = |kind| things.iter().filter(|thing| thing.kind == kind).count();
    let told: Vec<String> = [
        (of(Kind::Sandbox), "sandbox", "sandboxes"),
        (of(Kind::Process), "process", "processes"),
    ]
    .into_iter()
    .filter(|(n, ..)| *n > 0)
    .map(|(n, one, more)| format!("{n} {}", if n == 1 { one } else { more }))
    .collect();
    told.join(" and ")
}

/// For machines: one line.
pub(super) fn json(plan: &Plan, log: &WireLog) -> String {
    let faults: Vec<_> = fired(plan, log)
        .into_iter()
        .map(|(fault, times)| json!({"fault": fault, "fired": times}))
        .collect();
    json!({
        "event": "ended",
        "requests": log.exchanges.len(),
        "connections": log.connections.len(),
        "calls": calls(log),
        "faults": faults,
        "trapped": log.trap.len(),
        "ledger": Ledger::of(log),
        "dropped_bytes": log.dropped_bytes,
    })
    .to_string()
        + "\n"
}

fn calls(log: &WireLog) -> BTreeMap<&'static str, usize> {
    let mut calls = BTreeMap::new();
    for exchange in &log.exchanges {
        *calls
            .entry(
                exchange
                    .call
                    .map_or("(no call of the protocol)", Call::name),
            )
            .or_default() += 1;
    }
    calls
}

/// How often each fault met something.
fn fired(plan: &Plan, log: &WireLog) -> Vec<(usize, usize)> {
    plan.faults
        .iter()
        .map(|fault| {
            let requests = log
                .exchanges
                .iter()
                .filter(|exchange| exchange.fault == Some(fault.number))
                .count();
            let cuts = log
                .connections
                .iter()
                .filter(|connection| {
                    connection
                        .cut
                        .is_some_and(|(number, _)| number == fault.number)
                })
                .count();
            let refusals = log
                .refusals
                .iter()
                .filter(|refusal| refusal.fault == fault.number)
                .count();
            (fault.number, requests + cuts + refusals)
        })
        .collect()
}

fn count(n: usize, what: &str) -> String {
    if n == 1 {
        format!("1 {what}")
    } else {
        format!("{n} {what}s")
    }
}
