//! A case told as a short story: what the contract asks, what both sides did, where they part, how to see it again.

use super::{
    redact::redact,
    text::{Page, columns, count, harmless, pad, paint, span_ms, wrap},
    timeline::{Act, Entry, last_words, timeline},
};
use crate::{
    case::{Case, counts},
    contract,
    judge::{Check, CheckStatus, Violation},
    observed::Reply,
    standing::Standing,
    summary::{Judged, RunInfo},
};
use anstyle::Style;
use fake_server::wirelog::{Micros, Names};

/// Columns of the labels on the left.
const LABEL: usize = 16;
/// Columns of the times on the left.
const CLOCK: usize = 9;
/// Lines of stderr that are shown.
const STDERR_LINES: usize = 8;
/// Steps of a right client that are shown, unless everything is wanted.
const STEPS: usize = 6;

/// The whole story. `same` are the ids of further instances of the scenario in which the same went wrong.
#[must_use]
pub fn story(judged: &Judged, same: &[&str], info: &RunInfo, page: &Page, verbose: bool) -> String {
    let names = judged
        .case
        .trial
        .as_ref()
        .map(|trial| trial.log.names.clone())
        .unwrap_or_default();
    let mut writer = Writer {
        page,
        names,
        out: String::new(),
    };
    writer.heading(judged);
    writer.contract(&judged.case, info.strict);
    writer.right_client(&judged.case, verbose);
    writer.side_by_side(&judged.case, verbose);
    writer.said(&judged.case);
    if !same.is_empty() {
        writer.labelled("the same in", &same.join("\n"), Style::new());
    }
    writer.replay(&judged.case, info);
    writer.out.push('\n');
    writer.out
}

/// The command that plays this case again, alone.
#[must_use]
pub fn replay_command(case: &Case, info: &RunInfo) -> String {
    replay_words(case, info).join(" ")
}

fn replay_words(case: &Case, info: &RunInfo) -> Vec<String> {
    let mut words = vec!["createos-conformance".to_owned(), "run".to_owned()];
    words.extend(info.replay_arguments.iter().map(|word| shell_word(word)));
    let file = info.files.get(case.scenario());
    words.push(shell_word(file.map_or_else(|| case.id(), String::as_str)));
    words.push("--seed".to_owned());
    words.push(info.seed.to_string());
    words
}

/// A word as a shell takes it: quoted only if it must be.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A rule across the page with the standing and the id in it.
#[must_use]
pub fn heading(judged: &Judged, page: &Page) -> String {
    let (word, style) = standing_words(&judged.standing, page);
    let id = judged.case.id();
    let used = 3 + columns(word) + 2 + columns(id) + 1;
    let rule = "━".repeat(page.width.saturating_sub(used));
    format!(
        "{} {}  {} {}\n",
        paint(style, "━━"),
        paint(style, word),
        paint(page.palette.bold, id),
        paint(style, &rule)
    )
}

/// The word for a standing, and what it looks like.
#[must_use]
pub fn standing_words(standing: &Standing, page: &Page) -> (&'static str, Style) {
    let palette = page.palette;
    match standing {
        Standing::Passed => ("PASS", palette.good),
        Standing::Failed => ("FAIL", palette.bad),
        Standing::KnownFailure { .. } => ("KNOWN FAILURE", palette.warn),
        Standing::Fixed { .. } => ("KNOWN FAILURE PASSES", palette.bad),
        Standing::NotApplicable => ("NOT APPLICABLE", palette.dim),
        Standing::NotExercised => ("NOT EXERCISED", palette.warn),
        Standing::AdapterError => ("ADAPTER ERROR", palette.warn),
        Standing::HarnessError => ("HARNESS ERROR", palette.bad),
    }
}

struct Writer<'a> {
    page: &'a Page,
    names: Names,
    out: String,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// A label on the left, text wrapped on its right, in a style.
    fn labelled(&mut self, label: &str, text: &str, style: Style) {
        let text = redact(text, &self.names);
        let dim = self.page.palette.dim;
        for (at, line) in wrap(&text, self.page.width - LABEL).iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            let label = paint(dim, &pad(label, LABEL));
            self.line(&format!("{label}{}", paint(style, line)));
        }
    }

    fn heading(&mut self, judged: &Judged) {
        let palette = self.page.palette;
        self.out.push_str(&heading(judged, self.page));
        self.labelled("", &judged.case.plan.title, palette.bold);
        if !judged.case.plan.why.is_empty() {
            self.labelled("why", &one_line(&judged.case.plan.why), Style::new());
        }
    }

    /// The requirements that are broken, each with its sentence; if none is, those that could not be judged.
    fn contract(&mut self, case: &Case, strict: bool) {
        let palette = self.page.palette;
        let broken = |check: &&Check| check.status == CheckStatus::Fail;
        let open = |check: &&Check| {
            !matches!(
                check.status,
                CheckStatus::Pass | CheckStatus::Fail | CheckStatus::NotApplicable
            )
        };
        let mut checks: Vec<&Check> = case.verdict.checks.iter().filter(broken).collect();
        let is_broken = !checks.is_empty();
        if !is_broken {
            checks = case.verdict.checks.iter().filter(open).collect();
        }
        let mut label = "the contract";
        for check in checks {
            let style = if is_broken && counts(check.level, strict) {
                palette.bad
            } else {
                palette.warn
            };
            let head = format!("{} ({})", check.requirement, check.level.name());
            self.labelled(label, &head, style);
            label = "";
            if let Some(requirement) = contract::requirement(&check.requirement) {
                self.labelled("", requirement.sentence, Style::new());
            }
            if !is_broken && !check.reason.is_empty() {
                self.labelled("", &harmless(&check.reason), palette.warn);
            }
        }
        if is_broken {
            self.not_judged(case.verdict.checks.iter().filter(open));
        }
    }

    /// What else the case asks and could not judge, reason by reason.
    fn not_judged<'b>(&mut self, checks: impl Iterator<Item = &'b Check>) {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for check in checks {
            match reasons.iter_mut().find(|(known, _)| *known == check.reason) {
                Some((_, ids)) => ids.push(&check.requirement),
                None => reasons.push((&check.reason, vec![&check.requirement])),
            }
        }
        for (at, (reason, ids)) in reasons.into_iter().enumerate() {
            let label = if at == 0 { "not judged" } else { "" };
            let text = format!("{}: {}", ids.join(", "), harmless(reason));
            self.labelled(label, &text, self.page.palette.dim);
        }
    }

    fn right_client(&mut self, case: &Case, verbose: bool) {
        let steps = &case.verdict.expected;
        let shown = if verbose {
            steps.len()
        } else {
            steps.len().min(STEPS)
        };
        for (at, step) in steps[..shown].iter().enumerate() {
            let label = if at == 0 { "a right client" } else { "" };
            self.labelled(label, step, Style::new());
        }
        if shown < steps.len() {
            let more = format!(
                "... and {} (--verbose)",
                count(steps.len() - shown, "step", "steps")
            );
            self.labelled("", &more, self.page.palette.dim);
        }
    }

    fn side_by_side(&mut self, case: &Case, verbose: bool) {
        let mut entries = timeline(case);
        if entries.is_empty() {
            return;
        }
        let dim = self.page.palette.dim;
        let left = (self.page.width - CLOCK - 3) / 2;
        let right = self.page.width - CLOCK - 3 - left;
        self.out.push('\n');
        let head = format!("{}{} │ client did", pad("", CLOCK), pad("server did", left));
        self.line(&paint(dim, &head));
        let rule = format!("{}┼{}", "─".repeat(CLOCK + left + 1), "─".repeat(right + 1));
        self.line(&paint(dim, &rule));
        let omitted = if verbose { None } else { shorten(&mut entries) };
        let mut clock = None;
        for (at, entry) in entries.iter().enumerate() {
            if let Some((from, lines)) = omitted
                && from == at
            {
                let words = format!(
                    "{}... {} left out (--verbose)",
                    pad("", CLOCK),
                    count(lines, "line", "lines")
                );
                self.line(&paint(dim, &words));
            }
            self.entry(entry, &case.verdict.violations, &mut clock, left, right);
        }
        self.line(&paint(dim, &rule.replace('┼', "┴")));
    }

    fn entry(
        &mut self,
        entry: &Entry,
        violations: &[Violation],
        clock: &mut Option<String>,
        left: usize,
        right: usize,
    ) {
        let palette = self.page.palette;
        let (text, style, is_client) = match &entry.act {
            Act::Faithful(text) => (text, Style::new(), false),
            Act::Deviates(text) => (text, palette.warn, false),
            Act::Client(text) => (text, palette.client, true),
            Act::Wrong { first, violation } => {
                if let Some(violation) = violations.get(*violation) {
                    self.wrong(violation, *first);
                }
                return;
            }
        };
        // A time is said when it changes.
        let now = clock_words(entry.at_us);
        let told = if clock.as_ref() == Some(&now) {
            String::new()
        } else {
            now.clone()
        };
        *clock = Some(now);
        let text = redact(text, &self.names);
        let lines = wrap(&text, if is_client { right } else { left });
        for (at, line) in lines.iter().enumerate() {
            let told = if at == 0 { told.as_str() } else { "" };
            let time = paint(palette.dim, &format!("{told:>width$}  ", width = CLOCK - 2));
            let bar = paint(palette.dim, "│");
            let row = if is_client {
                format!("{time}{} {bar} {}", pad("", left), paint(style, line))
            } else {
                format!("{time}{} {bar}", paint(style, &pad(line, left)))
            };
            self.line(&row);
        }
    }

    /// The marker across both columns.
    fn wrong(&mut self, violation: &Violation, first: bool) {
        let palette = self.page.palette;
        let bar = paint(palette.bad, "▌");
        let title = if first {
            "here they part"
        } else {
            "also wrong"
        };
        let level = violation.level.name();
        let invariant = if violation.invariant {
            ", always checked"
        } else {
            ""
        };
        let head = format!("{title}: {} ({level}{invariant})", violation.requirement);
        self.line(&format!("{bar} {}", paint(palette.bad, &head)));
        for (label, text, style) in [
            ("expected", &violation.expected, palette.good),
            ("seen", &violation.seen, palette.bad),
        ] {
            let text = redact(&harmless(text), &self.names);
            for (at, line) in wrap(&text, self.page.width - 12).iter().enumerate() {
                let label = if at == 0 { label } else { "" };
                let label = paint(palette.dim, &pad(label, 10));
                self.line(&format!("{bar} {label}{}", paint(style, line)));
            }
        }
    }

    /// The command that plays it again; broken so that a shell still takes it when it is copied.
    fn replay(&mut self, case: &Case, info: &RunInfo) {
        let room = self.page.width - LABEL - 2;
        let mut lines = vec![String::new()];
        for word in replay_words(case, info) {
            let last = lines.len() - 1;
            let line = &mut lines[last];
            if line.is_empty() {
                *line = word;
            } else if columns(line) + 1 + columns(&word) <= room {
                line.push(' ');
                line.push_str(&word);
            } else {
                line.push_str(" \\");
                lines.push(word);
            }
        }
        for (at, line) in lines.iter().enumerate() {
            let label = if at == 0 { "replay" } else { "" };
            let label = paint(self.page.palette.dim, &pad(label, LABEL));
            self.line(&format!("{label}{}", paint(self.page.palette.bold, line)));
        }
    }

    /// The client's own words, and the last lines of its stderr where they may tell why.
    fn said(&mut self, case: &Case) {
        let Some(trial) = &case.trial else {
            return;
        };
        let observed = &trial.observed;
        self.out.push('\n');
        for (at, line) in last_words(&observed.reply).iter().enumerate() {
            let label = if at == 0 { "client said" } else { "" };
            self.labelled(label, line, Style::new());
        }
        if !matches!(observed.reply, Reply::Result(_)) && !observed.stderr.trim().is_empty() {
            let stderr = harmless(observed.stderr.trim_end());
            let lines: Vec<&str> = stderr.lines().collect();
            let from = lines.len().saturating_sub(STDERR_LINES);
            for (at, line) in lines[from..].iter().enumerate() {
                let label = if at == 0 { "last stderr" } else { "" };
                self.labelled(label, line, self.page.palette.dim);
            }
        }
        for (at, leak) in observed.leaks.iter().enumerate() {
            let label = if at == 0 { "leaked" } else { "" };
            self.labelled(label, &harmless(leak), self.page.palette.bad);
        }
        for (at, note) in case.verdict.notes.iter().enumerate() {
            let label = if at == 0 { "noted" } else { "" };
            self.labelled(label, &harmless(note), Style::new());
        }
    }
}

fn clock_words(at_us: Option<Micros>) -> String {
    at_us.map_or_else(|| "end".to_owned(), |us| span_ms(us / 1000))
}

/// Text of a file's multi-line string in one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Keeps the beginning, the neighbourhood of the first thing wrong, and the end of a long timeline. Gives the place
/// before which lines are missing, and how many.
fn shorten(entries: &mut Vec<Entry>) -> Option<(usize, usize)> {
    /// A screen or two.
    const MOST: usize = 48;
    const BEFORE: usize = 16;
    const AFTER: usize = 16;
    if entries.len() <= MOST {
        return None;
    }
    let parting = entries
        .iter()
        .position(|entry| matches!(entry.act, Act::Wrong { .. }))
        .unwrap_or(entries.len() - 1);
    let head = (MOST - BEFORE - AFTER).min(parting);
    let from = parting.saturating_sub(BEFORE).max(head);
    let missing = from - head;
    entries.drain(head..from);
    // What follows the parting is fallout; everything wrong is kept, of the rest only the beginning.
    let keep_until = (parting - missing) + AFTER;
    let mut at = 0;
    let mut cut = 0;
    let last = entries.len() - 1;
    entries.retain(|entry| {
        let keep = at <= keep_until || at == last || matches!(entry.act, Act::Wrong { .. });
        at += 1;
        cut += usize::from(!keep);
        keep
    });
    if missing > 0 {
        Some((head, missing + cut))
    } else {
        Some((keep_until.min(entries.len() - 1), cut)).filter(|(_, cut)| *cut > 0)
    }
}
