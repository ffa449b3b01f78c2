//! The report of a sweep: what was cut, a table by kind, each thing that went wrong at its byte, one last line.

use super::{
    console::header,
    redact::redact,
    story::{replay_command, story},
    text::{Page, columns, count, harmless, pad, paint, quoted, seconds, thousands, wrap},
};
use crate::{
    exit::Exit,
    generate::sweep::{By, Cut, Group, Outcome, Picture, Shape, Sweep, Tally, picture, words},
    summary::{RunInfo, Stopped},
};
use anstyle::Style;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Things that went wrong that are told in full; of those beyond, only the bytes.
const STORIES: usize = 6;
/// Runs of bytes that are listed.
const RANGES: usize = 12;
/// Columns of a number in the table.
const NUMBER: usize = 10;

/// The whole report.
#[must_use]
pub fn report(
    sweep: &Sweep,
    outcome: &Outcome,
    info: &RunInfo,
    page: &Page,
    verbose: bool,
) -> String {
    let mut out = header(info, page);
    out.push('\n');
    out.push_str(&streams(sweep, page));
    out.push('\n');
    out.push_str(&table(outcome, page));
    out.push('\n');
    for (place, group) in outcome.groups.iter().enumerate() {
        if place < STORIES || verbose {
            out.push_str(&told(sweep, group, info, page, verbose));
        } else {
            let head = format!(
                "{} {}",
                group.cuts[0].by.name(),
                group.requirements.join(", ")
            );
            let _ = writeln!(out, "{}", paint(page.palette.bad, &head));
            lines(&mut out, &ranges(&group.cuts), 2, page, page.palette.dim);
            if place + 1 == outcome.groups.len() {
                out.push('\n');
            }
        }
    }
    for (why, cuts) in &outcome.not_applicable {
        let words = format!(
            "{} not applicable: {}",
            count(*cuts, "cut", "cuts"),
            harmless(why)
        );
        lines(&mut out, &words, 0, page, page.palette.dim);
    }
    out.push_str(&ending(outcome, page));
    out
}

/// The streams that were swept, and what of them was left out.
fn streams(sweep: &Sweep, page: &Page) -> String {
    let mut out = String::new();
    for stream in &sweep.streams {
        let words = format!(
            "connect {}: {} on the wire, {} of them lines",
            stream.attempt,
            count(stream.layout.bytes.len(), "byte", "bytes"),
            thousands(stream.payload as u64)
        );
        lines(&mut out, &words, 0, page, Style::new());
    }
    for why in &sweep.left_out {
        lines(&mut out, why, 0, page, page.palette.warn);
    }
    out
}

/// Cuts by kind.
#[must_use]
pub fn table(outcome: &Outcome, page: &Page) -> String {
    /// A column: its title, what it counts, its style.
    type Column = (&'static str, fn(&Tally) -> usize, Style);
    let palette = page.palette;
    let all: [Column; 7] = [
        ("cuts", |tally| tally.cuts, palette.bold),
        ("passed", |tally| tally.passed, palette.good),
        ("the same", |tally| tally.same, palette.good),
        ("failed", |tally| tally.failed, palette.bad),
        ("n/a", |tally| tally.not_applicable, palette.dim),
        ("unmet", |tally| tally.not_exercised, palette.warn),
        ("error", |tally| tally.errors, palette.bad),
    ];
    let total = outcome.total();
    let shown: Vec<&Column> = all
        .iter()
        .filter(|(title, of, _)| !matches!(*title, "unmet" | "error") || of(&total) > 0)
        .collect();
    let name = By::ALL.iter().map(|by| by.name().len()).max().unwrap_or(0) + 2;
    let row = |label: &str, tally: &Tally, style: Style| {
        let mut line = paint(style, &pad(label, name));
        for (_, of, style) in &shown {
            let (text, style) = match of(tally) {
                0 => ("·".to_owned(), palette.dim),
                number => (thousands(number as u64), *style),
            };
            let fill = " ".repeat(NUMBER.saturating_sub(columns(&text)));
            line.push_str(&format!("{fill}{}", paint(style, &text)));
        }
        format!("{line}\n")
    };
    let mut head = pad("cut by", name);
    for (title, ..) in &shown {
        let _ = write!(head, "{title:>NUMBER$}");
    }
    let rule = paint(palette.dim, &"─".repeat(columns(&head)));
    let mut out = format!("{}\n{rule}\n", paint(palette.dim, &head));
    for (by, tally) in &outcome.kinds {
        out.push_str(&row(by.name(), tally, Style::new()));
    }
    let _ = writeln!(out, "{rule}");
    out.push_str(&row("all", &total, palette.bold));
    out
}

/// What went wrong: the byte, the frame around it, where else, and the story of the first.
fn told(sweep: &Sweep, group: &Group, info: &RunInfo, page: &Page, verbose: bool) -> String {
    let palette = page.palette;
    let cut = &group.cuts[0];
    let mut out = String::new();
    let head = format!("connect {} {}", cut.attempt, words(cut));
    lines(&mut out, &head, 0, page, palette.bad);
    if let Some(stream) = sweep.stream(cut)
        && cut.by != By::Whole
    {
        let picture = picture(stream, cut);
        lines(&mut out, &picture.place, 2, page, Style::new());
        out.push_str(&shown(&picture, page));
    }
    if group.cuts.len() > 1 {
        let words = format!(
            "the same at {} in all: {}",
            count(group.cuts.len(), "cut", "cuts"),
            ranges(&group.cuts)
        );
        lines(&mut out, &words, 2, page, Style::new());
    }
    if let Some(differs) = &group.differs {
        lines(&mut out, differs, 2, page, palette.bad);
    }
    out.push('\n');
    out.push_str(&story(&group.first, &[], info, page, verbose));
    out
}

/// Two lines: the bytes, and a mark under the place at which they part.
fn shown(picture: &Picture, page: &Page) -> String {
    let plain = |bytes: &[u8]| {
        let quoted = quoted(bytes, usize::MAX);
        let mut inside = quoted.chars();
        // Without its quotes.
        inside.next();
        inside.next_back();
        inside.as_str().to_owned()
    };
    let before = format!(
        "{}{}",
        if picture.is_begun { "…" } else { "" },
        plain(&picture.before)
    );
    let after = format!(
        "{}{}",
        plain(&picture.after),
        if picture.goes_on { "…" } else { "" }
    );
    let mark = " ".repeat(columns(&before));
    format!(
        "    {before}{}\n    {mark}{}\n",
        paint(page.palette.dim, &after),
        paint(page.palette.bad, "▲ cut here")
    )
}

/// `90 to 117, 130; in the shape bytes 3`, by stream and shape.
fn ranges(cuts: &[Cut]) -> String {
    /// First and last byte.
    type Run = (u64, u64);
    let mut parts: Vec<((u32, Shape), Vec<Run>)> = Vec::new();
    for cut in cuts {
        let key = (cut.attempt, cut.shape);
        let place = parts.iter().position(|(known, _)| *known == key);
        let place = place.unwrap_or_else(|| {
            parts.push((key, Vec::new()));
            parts.len() - 1
        });
        match parts[place].1.last_mut() {
            Some((_, to)) if *to + 1 == cut.at => *to = cut.at,
            _ => parts[place].1.push((cut.at, cut.at)),
        }
    }
    let several = parts
        .iter()
        .any(|((attempt, _), _)| *attempt != cuts[0].attempt);
    let mut texts = Vec::new();
    for ((attempt, shape), runs) in parts {
        let mut text = String::new();
        if several {
            let _ = write!(text, "connect {attempt} ");
        }
        if shape != Shape::Own {
            let _ = write!(text, "`{}` ", shape.name());
        }
        if cuts[0].by != By::Whole {
            let listed: Vec<String> = runs
                .iter()
                .take(RANGES)
                .map(|(from, to)| {
                    if from == to {
                        from.to_string()
                    } else {
                        format!("{from} to {to}")
                    }
                })
                .collect();
            text.push_str(&listed.join(", "));
            if runs.len() > RANGES {
                text.push_str(", ..");
            }
        }
        texts.push(text.trim_end().to_owned());
    }
    texts.join("; ")
}

/// The last lines.
fn ending(outcome: &Outcome, page: &Page) -> String {
    let palette = page.palette;
    let total = outcome.total();
    let mut text = format!(
        "{}: {} passed, {} failed",
        count(total.cuts, "cut", "cuts"),
        thousands(total.passed as u64),
        thousands(total.failed as u64)
    );
    for (number, words) in [
        (total.not_applicable, "not applicable"),
        (total.not_exercised, "not exercised"),
        (total.errors, "in error"),
        (outcome.not_played, "not played"),
    ] {
        if number > 0 {
            let _ = write!(text, ", {} {words}", thousands(number as u64));
        }
    }
    let _ = write!(text, "  in {}", seconds(outcome.took_ms));
    let mut out = String::new();
    lines(&mut out, &text, 0, page, Style::new());
    if outcome.stopped == Some(Stopped::FailFast) {
        lines(
            &mut out,
            "stopped at the first failure (--fail-fast)",
            0,
            page,
            palette.dim,
        );
    }
    let exit = outcome.exit();
    let style = match exit {
        Exit::AsExpected => palette.good,
        Exit::Incomplete => palette.warn,
        _ => palette.bad,
    };
    lines(&mut out, &format!("exit {exit}"), 0, page, style);
    out
}

fn lines(out: &mut String, text: &str, indent: usize, page: &Page, style: Style) {
    for line in wrap(text, page.width - indent) {
        let _ = writeln!(out, "{}{}", " ".repeat(indent), paint(style, &line));
    }
}

/// The report as one JSON object.
#[must_use]
pub fn object(sweep: &Sweep, outcome: &Outcome, info: &RunInfo) -> Value {
    let streams: Vec<Value> = sweep
        .streams
        .iter()
        .map(|stream| {
            json!({
                "connect": stream.attempt,
                "bytes": stream.layout.bytes.len(),
                "payload": stream.payload,
            })
        })
        .collect();
    let kinds: serde_json::Map<String, Value> = outcome
        .kinds
        .iter()
        .map(|(by, tally)| (by.name().to_owned(), json!(tally)))
        .collect();
    let groups: Vec<Value> = outcome
        .groups
        .iter()
        .map(|group| group_object(sweep, group, info))
        .collect();
    let exit = outcome.exit();
    json!({
        "run": info,
        "case": sweep.base().id,
        "streams": streams,
        "left_out": sweep.left_out,
        "kinds": kinds,
        "all": outcome.total(),
        "wrong": groups,
        "not_applicable": outcome.not_applicable,
        "not_played": outcome.not_played,
        "stopped": outcome.stopped,
        "took_ms": outcome.took_ms,
        "exit": { "code": exit.code(), "meaning": exit.meaning() },
    })
}

fn group_object(sweep: &Sweep, group: &Group, info: &RunInfo) -> Value {
    let cut = &group.cuts[0];
    let names = group
        .first
        .case
        .trial
        .as_ref()
        .map(|trial| &trial.log.names);
    let violation = group.violation(info.strict).map(|violation| {
        let hide = |text: &str| names.map_or_else(|| text.to_owned(), |names| redact(text, names));
        json!({
            "requirement": violation.requirement,
            "expected": hide(&violation.expected),
            "seen": hide(&violation.seen),
        })
    });
    json!({
        "by": cut.by.name(),
        "cuts": group.cuts,
        "requirements": group.requirements,
        "standing": group.first.standing,
        "place": sweep.stream(cut).map(|stream| picture(stream, cut).place),
        "violation": violation,
        "differs": group.differs,
        "replay": replay_command(&group.first.case, info),
    })
}
