//! Which failures are told in full, which in a line, and which are told together.

use crate::{
    judge::CheckStatus,
    report::{
        story::{heading, standing_words, story},
        text::{Page, count, cut, harmless, paint, wrap},
    },
    standing::Standing,
    summary::{Judged, RunInfo},
};
use std::collections::BTreeSet;

/// Stories told in full; of the failures beyond, only the first lines.
const STORIES: usize = 20;

pub(super) fn stories(judged: &[Judged], info: &RunInfo, page: &Page, verbose: bool) -> String {
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
