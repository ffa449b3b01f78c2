//! The report for people: header, a table by area, a story a failure, and one last line that says it all.

use super::{
    story::{heading, standing_words, story},
    text::{Page, columns, count, cut, harmless, pad, paint, seconds, span_ms, thousands, wrap},
};
use crate::{
    exit::Exit,
    judge::CheckStatus,
    standing::Standing,
    summary::{Judged, RunInfo, Stopped, Summary, Tally},
};
use anstyle::Style;
use std::collections::{BTreeMap, BTreeSet};

/// Stories told in full; of the failures beyond, only the first lines.
const STORIES: usize = 20;

/// The whole report.
#[must_use]
pub fn report(
    judged: &[Judged],
    summary: &Summary,
    info: &RunInfo,
    page: &Page,
    verbose: bool,
) -> String {
    let mut out = header(info, page);
    out.push('\n');
    out.push_str(&table(summary, page));
    out.push('\n');
    if verbose {
        out.push_str(&roll(judged, page));
        out.push('\n');
    }
    out.push_str(&stories(judged, info, page, verbose));
    out.push_str(&known(judged, page));
    out.push_str(&not_applicable(judged, page));
    out.push_str(&remarks(judged, info, page));
    out.push_str(&ending(summary, page));
    out
}

/// Who judges whom.
#[must_use]
pub fn header(info: &RunInfo, page: &Page) -> String {
    let palette = page.palette;
    let client = &info.client;
    let mut who = client.name.clone();
    if let Some(version) = &client.version {
        who.push_str(&format!(" {version}"));
    }
    if let Some(language) = &client.language {
        who.push_str(&format!(" ({language})"));
    }
    let strict = if info.strict { ", strict" } else { "" };
    let mut out = format!(
        "{}\n",
        paint(
            palette.bold,
            &format!("CreateOS conformance {}", info.suite)
        )
    );
    let rows = [
        ("client", harmless(&who)),
        (
            "run",
            format!(
                "{} over {}, seed {}{strict}",
                count(info.cases, "case", "cases"),
                info.transport,
                info.seed
            ),
        ),
    ];
    for (label, text) in rows {
        for (at, line) in wrap(&text, page.width - 8).iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            out.push_str(&format!("{}{line}\n", paint(palette.dim, &pad(label, 8))));
        }
    }
    out
}

/// Checks by area; columns in which nothing stands are left out, the four main ones never.
#[must_use]
pub fn table(summary: &Summary, page: &Page) -> String {
    struct Column {
        title: &'static str,
        of: fn(&Tally) -> usize,
        style: Style,
        always: bool,
    }
    let palette = page.palette;
    let columns = [
        Column {
            title: "pass",
            of: |t| t.pass,
            style: palette.good,
            always: true,
        },
        Column {
            title: "fail",
            of: |t| t.fail,
            style: palette.bad,
            always: true,
        },
        Column {
            title: "known",
            of: |t| t.known,
            style: palette.warn,
            always: false,
        },
        Column {
            title: "remark",
            of: |t| t.remarks,
            style: palette.warn,
            always: false,
        },
        Column {
            title: "n/a",
            of: |t| t.not_applicable,
            style: palette.dim,
            always: true,
        },
        Column {
            title: "not exercised",
            of: |t| t.not_exercised,
            style: palette.warn,
            always: true,
        },
        Column {
            title: "error",
            of: |t| t.errors,
            style: palette.bad,
            always: false,
        },
    ];
    let shown: Vec<&Column> = columns
        .iter()
        .filter(|column| column.always || (column.of)(&summary.checks) > 0)
        .collect();
    let row = |name: &str, tally: &Tally, style: Style| {
        let mut line = paint(style, &pad(name, 12));
        for column in &shown {
            let number = (column.of)(tally);
            let width = column.title.len().max(6) + 2;
            let (text, style) = match number {
                // A dot keeps the eye on what is there.
                0 => ("·".to_owned(), palette.dim),
                number => (thousands(number as u64), column.style),
            };
            let fill = " ".repeat(width.saturating_sub(super::text::columns(&text)));
            line.push_str(&format!("{fill}{}", paint(style, &text)));
        }
        format!("{line}\n")
    };
    let mut head = pad("area", 12);
    for column in &shown {
        let width = column.title.len().max(6) + 2;
        head.push_str(&format!("{:>width$}", column.title));
    }
    let rule = "─".repeat(super::text::columns(&head));
    let mut out = format!(
        "{}\n{}\n",
        paint(palette.dim, &head),
        paint(palette.dim, &rule)
    );
    for (area, tally) in &summary.areas {
        out.push_str(&row(area, tally, Style::new()));
    }
    out.push_str(&format!("{}\n", paint(palette.dim, &rule)));
    out.push_str(&row("checks", &summary.checks, palette.bold));
    out
}

/// Every case in a line (`--verbose`).
fn roll(judged: &[Judged], page: &Page) -> String {
    let palette = page.palette;
    let mut out = String::new();
    for one in judged {
        let (word, style) = standing_words(&one.standing, page);
        let took = span_ms(one.took_ms);
        let room = page.width - 22 - 10;
        out.push_str(&format!(
            "{}{}{}\n",
            paint(style, &pad(&word.to_lowercase(), 22)),
            pad(&cut(one.case.id(), room), room),
            paint(palette.dim, &format!("{took:>10}"))
        ));
        for note in &one.case.verdict.notes {
            for line in wrap(&harmless(note), page.width - 24) {
                out.push_str(&format!("{}{}\n", pad("", 24), paint(palette.dim, &line)));
            }
        }
    }
    out
}

fn stories(judged: &[Judged], info: &RunInfo, page: &Page, verbose: bool) -> String {
    let worth_telling = |standing: &Standing| {
        matches!(
            standing,
            Standing::Failed
                | Standing::NotExercised
                | Standing::AdapterError
                | Standing::HarnessError
        )
    };
    let mut out = String::new();
    let mut groups: Vec<(&Judged, Vec<&str>)> = Vec::new();
    for one in judged {
        if let Standing::Fixed { keys } = &one.standing {
            out.push_str(&fixed(one, keys, page));
        } else if worth_telling(&one.standing) {
            match groups
                .iter_mut()
                .find(|(first, _)| !verbose && is_same(first, one))
            {
                Some((_, same)) => same.push(one.case.id()),
                None => groups.push((one, Vec::new())),
            }
        }
    }
    let mut untold = Vec::new();
    for (told, (first, same)) in groups.into_iter().enumerate() {
        if told < STORIES || verbose {
            out.push_str(&story(first, &same, info, page, verbose));
        } else {
            untold.push((first, same.len()));
        }
    }
    if !untold.is_empty() {
        let cases: usize = untold.iter().map(|(_, more)| 1 + more).sum();
        let words = format!(
            "{} more; --verbose tells their stories:",
            count(cases, "case", "cases")
        );
        out.push_str(&format!("{}\n", paint(page.palette.bold, &words)));
        for (one, more) in untold {
            let (word, _) = standing_words(&one.standing, page);
            let first = one.case.verdict.violations.first();
            let why = first.map_or("", |violation| violation.requirement.as_str());
            let more = match more {
                0 => String::new(),
                more => format!(" and {more} more like it"),
            };
            let line = format!("  {}  {}{more}  {why}", word.to_lowercase(), one.case.id());
            out.push_str(&format!("{}\n", cut(line.trim_end(), page.width)));
        }
        out.push('\n');
    }
    out
}

/// Two instances of one scenario in which the same went wrong.
fn is_same(one: &Judged, other: &Judged) -> bool {
    let broken = |judged: &Judged| -> BTreeSet<String> {
        let checks = judged.case.verdict.checks.iter();
        checks
            .filter(|check| !matches!(check.status, CheckStatus::Pass | CheckStatus::NotApplicable))
            .map(|check| check.requirement.clone())
            .collect()
    };
    one.case.scenario() == other.case.scenario()
        && one.standing == other.standing
        && broken(one) == broken(other)
}

/// A known failure that passes.
fn fixed(one: &Judged, keys: &[String], page: &Page) -> String {
    let mut out = heading(one, page);
    for key in keys {
        let words = format!("the manifest admits `{key}`, but it holds now: remove the entry");
        for line in wrap(&harmless(&words), page.width - 2) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out.push('\n');
    out
}

/// Known failures, cases under their reason.
fn known(judged: &[Judged], page: &Page) -> String {
    let mut by_reason: Vec<(String, Vec<&str>)> = Vec::new();
    for one in judged {
        if let Standing::KnownFailure { reasons } = &one.standing {
            let reason = reasons.join("; ");
            match by_reason.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, ids)) => ids.push(one.case.id()),
                None => by_reason.push((reason, vec![one.case.id()])),
            }
        }
    }
    if by_reason.is_empty() {
        return String::new();
    }
    let palette = page.palette;
    let mut out = format!("{}\n", paint(palette.warn, "known failures"));
    for (reason, ids) in by_reason {
        for (at, line) in wrap(&harmless(&reason), page.width - 4).iter().enumerate() {
            let mark = if at == 0 { "  ∙ " } else { "    " };
            out.push_str(&format!("{mark}{line}\n"));
        }
        for line in wrap(&ids.join(" "), page.width - 4) {
            out.push_str(&format!("    {}\n", paint(palette.dim, &line)));
        }
    }
    out.push('\n');
    out
}

/// Why cases did not apply, each reason once.
fn not_applicable(judged: &[Judged], page: &Page) -> String {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for one in judged {
        if one.standing == Standing::NotApplicable {
            let reason = one
                .case
                .verdict
                .checks
                .iter()
                .find(|check| check.status == CheckStatus::NotApplicable)
                .map_or("", |check| check.reason.as_str());
            *reasons.entry(harmless(reason)).or_default() += 1;
        }
    }
    if reasons.is_empty() {
        return String::new();
    }
    let mut out = format!("{}\n", paint(page.palette.dim, "not applicable"));
    for (reason, cases) in reasons {
        for (at, line) in wrap(&reason, page.width - 8).iter().enumerate() {
            let number = if at == 0 {
                cases.to_string()
            } else {
                String::new()
            };
            out.push_str(&paint(page.palette.dim, &format!("{number:>6}  {line}")));
            out.push('\n');
        }
    }
    out.push('\n');
    out
}

/// Broken shoulds that do not count, a line each.
fn remarks(judged: &[Judged], info: &RunInfo, page: &Page) -> String {
    let mut lines = Vec::new();
    for one in judged {
        if matches!(one.standing, Standing::KnownFailure { .. }) {
            continue;
        }
        for violation in &one.case.verdict.violations {
            if !crate::case::counts(violation.level, info.strict) {
                lines.push((one.case.id(), violation));
            }
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let palette = page.palette;
    let mut out = format!(
        "{}{}\n",
        paint(palette.warn, "remarks"),
        paint(
            palette.dim,
            " (recommendations; --strict makes shoulds count)"
        )
    );
    for (id, violation) in lines {
        let head = format!("  {id}  {}", violation.requirement);
        out.push_str(&format!("{}\n", cut(&head, page.width)));
        let seen = format!("expected {}; seen {}", violation.expected, violation.seen);
        for line in wrap(&harmless(&seen), page.width - 4) {
            out.push_str(&format!("    {}\n", paint(palette.dim, &line)));
        }
    }
    out.push('\n');
    out
}

/// The last lines: cases, time, and what the exit code says.
#[must_use]
pub fn ending(summary: &Summary, page: &Page) -> String {
    let palette = page.palette;
    let cases = &summary.cases;
    let mut parts = Vec::new();
    for (number, words, style) in [
        (cases.passed, ["passed"; 2], palette.good),
        (cases.failed, ["failed"; 2], palette.bad),
        (
            cases.known_failures,
            ["known failure", "known failures"],
            palette.warn,
        ),
        (
            cases.fixed,
            ["known failure passes", "known failures pass"],
            palette.bad,
        ),
        (cases.not_applicable, ["not applicable"; 2], palette.dim),
        (cases.not_exercised, ["not exercised"; 2], palette.warn),
        (
            cases.adapter_errors,
            ["adapter error", "adapter errors"],
            palette.warn,
        ),
        (
            cases.harness_errors,
            ["harness error", "harness errors"],
            palette.bad,
        ),
        (cases.not_run, ["not run"; 2], palette.warn),
    ] {
        if number > 0 {
            parts.push((count(number, words[0], words[1]), style));
        }
    }
    let mut out = String::new();
    let mut used = 0;
    for (at, (text, style)) in parts.iter().enumerate() {
        let comma = if at + 1 < parts.len() { "," } else { "" };
        if used > 0 && used + columns(text) + 2 > page.width {
            out.push('\n');
            used = 0;
        }
        if used > 0 {
            out.push(' ');
        }
        used += columns(text) + 2;
        out.push_str(&format!("{}{comma}", paint(*style, text)));
    }
    if parts.is_empty() {
        out.push_str("no case was judged");
    }
    out.push_str(&paint(
        palette.dim,
        &format!("  in {}", seconds(summary.took_ms)),
    ));
    out.push('\n');
    let exit = summary.exit();
    let style = match exit {
        Exit::AsExpected => palette.good,
        Exit::Incomplete => palette.warn,
        _ => palette.bad,
    };
    if summary.stopped == Some(Stopped::FailFast) {
        out.push_str(&paint(
            palette.dim,
            "stopped at the first failure (--fail-fast)",
        ));
        out.push('\n');
    }
    for line in wrap(
        &format!("exit {}: {}", exit.code(), reason(summary)),
        page.width,
    ) {
        out.push_str(&format!("{}\n", paint(style, &line)));
    }
    out
}

/// Why the run ends with the code it ends with.
fn reason(summary: &Summary) -> String {
    let cases = &summary.cases;
    let told = match summary.exit() {
        Exit::Failed => [
            (cases.failed, "the client broke the contract"),
            (
                cases.fixed,
                "a known failure passes: take it out of the manifest",
            ),
        ],
        Exit::Incomplete => [
            (cases.not_exercised, "a fault did not reach the client"),
            (
                cases.adapter_errors,
                "the adapter broke its protocol or died",
            ),
        ],
        Exit::AsExpected => [
            (cases.known_failures, "as expected, known failures included"),
            (0, ""),
        ],
        _ => [(0, ""); 2],
    };
    let told: Vec<&str> = told
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(_, words)| words)
        .collect();
    if !told.is_empty() {
        return told.join("; ");
    }
    if summary.exit() == Exit::Incomplete {
        return if cases.not_run > 0 {
            "not every case was judged".to_owned()
        } else {
            "no case applied to this client, so nothing is proven".to_owned()
        };
    }
    summary.exit().meaning().to_owned()
}
