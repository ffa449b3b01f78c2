//! An audit as a table by requirement.

use super::text::{Page, columns, count, cut, pad, paint, wrap};
use crate::audit::{Audit, Fate, Wrong};
use std::fmt::Write as _;

/// Columns of a fate.
const FATE: usize = 14;
/// Columns of a bug's name and its number.
const BUG: usize = 36;
/// Scenarios that are named.
const SHOWN: usize = 3;

/// The table, what is wrong with the suite, and the score.
#[must_use]
pub fn table(audit: &Audit, page: &Page) -> String {
    let mut out = String::new();
    let mut last = "";
    for one in &audit.clients {
        if one.requirement != last {
            let _ = writeln!(out, "{}", paint(page.palette.bold, &one.requirement));
            last = &one.requirement;
        }
        row(&mut out, one, page);
    }
    let holes: Vec<&str> = audit.holes().map(|must| must.id.as_str()).collect();
    for id in &holes {
        let hole = format!("{id}: no wrong client fails it in a scenario that names it");
        let _ = writeln!(out, "{}", paint(page.palette.bad, &hole));
    }
    for case in &audit.broken {
        let broken = format!("the harness broke while it played {case}");
        let _ = writeln!(out, "{}", paint(page.palette.bad, &broken));
    }
    out.push('\n');
    let proven = audit.musts.len() - holes.len();
    // Asked about bugs alone, nothing is said of musts.
    if !audit.musts.is_empty() {
        let all = count(audit.musts.len(), "must", "musts");
        let _ = writeln!(out, "{proven} of {all} can fail");
    }
    sockets(&mut out, audit, page);
    let style = if audit.is_sound() {
        page.palette.good
    } else {
        page.palette.bad
    };
    let told = format!(
        "score {} %: {} killed, {} survived; {} equivalent, {} outside the contract",
        audit.score(),
        audit.count(Fate::Killed),
        audit.count(Fate::Survived),
        audit.count(Fate::Equivalent),
        audit.count(Fate::Outside),
    );
    let _ = writeln!(out, "{}", paint(style, &told));
    out
}

/// How those fared that were played over sockets too.
fn sockets(out: &mut String, audit: &Audit, page: &Page) {
    let (mut clients, mut killed, mut cases) = (0, 0, 0);
    for (one, sockets) in audit.over_sockets() {
        clients += 1;
        killed += usize::from(sockets.survived.is_empty());
        cases += sockets.killed.len() + sockets.survived.len();
        for (case, instead) in &sockets.survived {
            let told = format!(
                "over sockets {} does not fail {} in {case}, as it does in memory: {instead}",
                one.bug, one.requirement
            );
            for line in wrap(&told, page.width) {
                let _ = writeln!(out, "{}", paint(page.palette.bad, &line));
            }
        }
    }
    if clients > 0 {
        let all = count(clients, "wrong client", "wrong clients");
        let cases = count(cases, "case", "cases");
        let _ = writeln!(
            out,
            "over sockets {killed} of {all} killed by the same requirement again, in {cases} (at most two each)"
        );
    }
}

fn row(out: &mut String, one: &Wrong, page: &Page) {
    let (fate, style) = match one.fate {
        Fate::Killed => ("killed", page.palette.good),
        Fate::Survived => ("SURVIVED", page.palette.bad),
        Fate::Equivalent => ("equivalent", page.palette.dim),
        Fate::Outside => ("outside", page.palette.dim),
        Fate::Contradicted => ("CONTRADICTED", page.palette.bad),
    };
    let lead = format!(
        "  {}{}",
        paint(style, &pad(fate, FATE)),
        pad(&format!("{} {}", one.bug, one.mutant), BUG)
    );
    let indent = 2 + FATE;
    let room = page.width.saturating_sub(indent + BUG);
    let by = match one.fate {
        Fate::Killed => some(&one.scenarios, room),
        _ => String::new(),
    };
    let _ = writeln!(
        out,
        "{}",
        format!("{lead}{}", paint(page.palette.dim, &by)).trim_end()
    );
    let mut more = Vec::new();
    if one.fate != Fate::Killed {
        more.push(one.does.clone());
        more.extend(one.why.clone());
        more.extend(
            one.also
                .iter()
                .map(|(id, scenario)| format!("it fails {id} in {scenario}")),
        );
    }
    for line in more
        .iter()
        .flat_map(|text| wrap(text, page.width.saturating_sub(indent)))
    {
        let _ = writeln!(out, "{}{line}", " ".repeat(indent));
    }
}

/// The first few that fit, and whether there are more. No number: it would change with every new scenario.
fn some(scenarios: &[String], room: usize) -> String {
    let told = |shown: usize| match scenarios.len() - shown {
        0 => scenarios.join(", "),
        _ => format!("{}, …", scenarios[..shown].join(", ")),
    };
    (1..=scenarios.len().min(SHOWN))
        .rev()
        .map(told)
        .find(|text| columns(text) <= room)
        .unwrap_or_else(|| cut(&told(scenarios.len().min(1)), room))
}
