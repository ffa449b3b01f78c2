//! What is no failure but should be known: known failures, cases that do not apply, recommendations not followed.

use crate::{
    judge::CheckStatus,
    report::text::{Page, cut, harmless, paint, wrap},
    standing::Standing,
    summary::{Judged, RunInfo},
};
use std::collections::BTreeMap;

/// Known failures, cases under their reason.
pub(super) fn known(judged: &[Judged], page: &Page) -> String {
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
pub(super) fn not_applicable(judged: &[Judged], page: &Page) -> String {
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
pub(super) fn remarks(judged: &[Judged], info: &RunInfo, page: &Page) -> String {
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
