//! A case told as a short story: what the contract asks, what both sides did, where they part, how to see it again.
//!
//! This file says who is told about what; `columns` sets the two sides next to each other, `shorten`
//! keeps that to a screen, `ledger` says what is left over, `replay` writes the command.

mod columns;
mod ledger;
mod replay;
mod shorten;
use super::{
    redact::redact,
    text::{Page, columns as width_of, count, harmless, one_line, pad, paint, wrap},
    timeline::last_words,
};
use crate::{
    case::{Case, counts},
    contract,
    judge::{Check, CheckStatus},
    observed::Reply,
    standing::Standing,
    summary::{Judged, RunInfo},
};
use anstyle::Style;
use fake_server::wirelog::Names;

#[cfg(feature = "run")]
pub(crate) use self::replay::shell_word;

pub use self::replay::replay_command;

/// Columns of the labels on the left.
const LABEL: usize = 16;
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
    writer.ledger(&judged.case);
    if !same.is_empty() {
        writer.labelled("the same in", &same.join("\n"), Style::new());
    }
    writer.replay(&judged.case, info);
    writer.out.push('\n');
    writer.out
}

/// A rule across the page with the standing and the id in it.
#[must_use]
pub fn heading(judged: &Judged, page: &Page) -> String {
    let (word, style) = standing_words(&judged.standing, page);
    let id = judged.case.id();
    let used = 3 + width_of(word) + 2 + width_of(id) + 1;
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
        let steps = &run_lengths(&case.verdict.expected);
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

    /// The client's own words, and the last lines of its stderr where they may tell why.
    fn said(&mut self, case: &Case) {
        let Some(trial) = &case.trial else {
            return;
        };
        let observed = &trial.observed;
        self.out.push('\n');
        for (label, text) in last_words(observed) {
            self.labelled(label, &text, Style::new());
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

/// Steps, the same one after the other told once.
fn run_lengths(steps: &[String]) -> Vec<String> {
    steps
        .chunk_by(|one, next| one == next)
        .map(|same| match same {
            [one] => one.clone(),
            [one, ..] => format!("{one} ({} times)", same.len()),
            [] => String::new(),
        })
        .collect()
}
