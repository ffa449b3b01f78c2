//! What is not the same in two runs: of a client before and after, or of two clients. Case by case, the verdict, and where
//! the two exchanges part, side by side.

use super::{
    line::CaseLine,
    record::Record,
    text::{count, pad, wrap},
};
use crate::judge::CheckStatus;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

/// Two runs, compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff<'a> {
    /// Cases with another verdict, in the order of the second run.
    pub changed: Vec<(&'a CaseLine, &'a CaseLine)>,
    /// Cases of the first run only.
    pub gone: Vec<&'a CaseLine>,
    /// Cases of the second run only.
    pub new: Vec<&'a CaseLine>,
    /// Cases with the same verdict.
    pub same: usize,
}

/// Compares two runs.
#[must_use]
pub fn diff<'a>(before: &'a Record, after: &'a Record) -> Diff<'a> {
    let mut left: BTreeMap<&str, &CaseLine> = (before.cases.iter())
        .map(|case| (case.id.as_str(), case))
        .collect();
    let mut diff = Diff {
        changed: Vec::new(),
        gone: Vec::new(),
        new: Vec::new(),
        same: 0,
    };
    for case in &after.cases {
        match left.remove(case.id.as_str()) {
            None => diff.new.push(case),
            Some(was) if verdict(was) == verdict(case) => diff.same += 1,
            Some(was) => diff.changed.push((was, case)),
        }
    }
    let gone = |case: &&CaseLine| left.contains_key(case.id.as_str());
    diff.gone = before.cases.iter().filter(gone).collect();
    diff
}

impl Diff<'_> {
    /// Whether every case of each run has the same verdict in the other.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.gone.is_empty() && self.new.is_empty()
    }
}

/// Where a case stands, and what of it: without the words, in which times and ids may stand.
fn verdict(case: &CaseLine) -> (&'static str, BTreeSet<(&str, &'static str)>) {
    let checks = case.checks.iter();
    let checks = checks.map(|check| (check.requirement.as_str(), status(check.status)));
    (case.standing.words(), checks.collect())
}

const fn status(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Pass => "pass",
        CheckStatus::Fail => "fail",
        CheckStatus::NotApplicable => "not applicable",
        CheckStatus::NotExercised => "not exercised",
        CheckStatus::AdapterError => "adapter error",
        CheckStatus::HarnessError => "harness error",
    }
}

/// The comparison for people, in lines of at most `width` columns.
#[must_use]
pub fn report(before: &Record, after: &Record, diff: &Diff<'_>, width: usize) -> String {
    let mut out = String::new();
    let (left, right) = (before.client(), after.client());
    // Writing to a String cannot fail.
    let _ = writeln!(out, "A  {left}: {}", before.verdict());
    let _ = writeln!(out, "B  {right}: {}", after.verdict());
    for (what, a, b) in [
        ("suite", &before.run.suite, &after.run.suite),
        ("digest", &before.run.digest, &after.run.digest),
        (
            "seed",
            &before.run.seed.to_string(),
            &after.run.seed.to_string(),
        ),
        ("transport", &before.run.transport, &after.run.transport),
    ] {
        if a != b {
            let _ = writeln!(out, "note: another {what}: {a} in A, {b} in B");
        }
    }
    out.push('\n');
    for (was, is) in &diff.changed {
        let (was_so, is_so) = (was.standing.words(), is.standing.words());
        let _ = writeln!(out, "{}: {was_so} -> {is_so}", is.id);
        for line in checks(was, is) {
            let _ = writeln!(out, "    {line}");
        }
        out.push_str(&side_by_side(was, is, width));
        out.push('\n');
    }
    for (only, cases) in [("A", &diff.gone), ("B", &diff.new)] {
        for case in cases {
            let _ = writeln!(
                out,
                "{}: only in {only}, {}",
                case.id,
                case.standing.words()
            );
        }
    }
    let _ = writeln!(
        out,
        "{} with another verdict, {} only in A, {} only in B, {} the same",
        count(diff.changed.len(), "case", "cases"),
        diff.gone.len(),
        diff.new.len(),
        diff.same
    );
    out
}

/// Checks with another status, a line each.
fn checks(was: &CaseLine, is: &CaseLine) -> Vec<String> {
    let of = |case: &CaseLine| -> BTreeMap<String, &'static str> {
        let checks = case.checks.iter();
        checks
            .map(|check| (check.requirement.clone(), status(check.status)))
            .collect()
    };
    let (left, right) = (of(was), of(is));
    let ids: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let told = |side: &BTreeMap<String, &'static str>, id: &String| {
        side.get(id).copied().unwrap_or("not judged")
    };
    ids.into_iter()
        .filter(|id| left.get(*id) != right.get(*id))
        .map(|id| format!("{id}: {} -> {}", told(&left, id), told(&right, id)))
        .collect()
}

/// Where two exchanges part: what came right before it, and a few moments of both from there on.
fn side_by_side(was: &CaseLine, is: &CaseLine, width: usize) -> String {
    /// Moments before the first difference, and from it on.
    const BEFORE: usize = 2;
    const FROM: usize = 4;
    let words = |case: &CaseLine| -> Vec<String> {
        let said = case.timeline.iter().filter(|one| !one.words.is_empty());
        said.map(|one| one.words.clone()).collect()
    };
    let (left, right) = (words(was), words(is));
    let at = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    if at == left.len() && at == right.len() {
        return "    both exchanges are the same\n".to_owned();
    }
    // Four columns of margin, three between the two.
    let column = (width.saturating_sub(7) / 2).max(20);
    let mut out = format!("    {} | B\n", pad("A", column));
    for place in at.saturating_sub(BEFORE)..at + FROM {
        let cell = |side: &[String]| {
            side.get(place)
                .map_or_else(Vec::new, |words| wrap(words, column))
        };
        let (a, b) = (cell(&left), cell(&right));
        let mark = if place == at { ">" } else { " " };
        for line in 0..a.len().max(b.len()) {
            let part = |cell: &[String]| cell.get(line).cloned().unwrap_or_default();
            let mark = if line == 0 { mark } else { " " };
            let text = format!("  {mark} {} | {}", pad(&part(&a), column), part(&b));
            out.push_str(text.trim_end());
            out.push('\n');
        }
    }
    out
}
