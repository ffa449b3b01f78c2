//! Which failures are told in full, which in a line, and which are told together.

use crate::{
    judge::CheckStatus,
    report::{
        story::{heading, standing_words, story},
        text::{Page, count, harmless, paint, wrap},
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
        out.push_str(&in_brief(&untold, page));
        out.push('\n');
    }
    out
}

/// What is not told as a story: the ids under what they break. With each, how many more are like it.
fn in_brief(untold: &[(&Judged, usize)], page: &Page) -> String {
    let cases: usize = untold.iter().map(|(_, more)| 1 + more).sum();
    let words = format!(
        "{} more; --verbose tells their stories",
        count(cases, "case", "cases")
    );
    let mut out = format!("{}\n", paint(page.palette.bold, &words));
    type Under<'a> = ((&'static str, &'a str), Vec<(&'a str, usize)>);
    let mut groups: Vec<Under<'_>> = Vec::new();
    for (one, more) in untold {
        let (word, _) = standing_words(&one.standing, page);
        let key = (word, reason(one));
        let id = (one.case.id(), *more);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, ids)) => ids.push(id),
            None => groups.push((key, vec![id])),
        }
    }
    for ((word, requirement), ids) in groups {
        let head = format!("  {}  {requirement}", word.to_lowercase());
        out.push_str(&format!("{}\n", head.trim_end()));
        for (id, more) in ids {
            let more = match more {
                0 => String::new(),
                more => format!(" and {more} more like it"),
            };
            for line in wrap(&format!("{id}{more}"), page.width - 4) {
                out.push_str(&format!("    {}\n", paint(page.palette.dim, &line)));
            }
        }
    }
    out
}

/// The requirement that a case is about: the first broken one, else the first that could not be judged.
fn reason(judged: &Judged) -> &str {
    let verdict = &judged.case.verdict;
    let broken = verdict.violations.first().map(|one| &one.requirement);
    let open = || {
        let settled = [CheckStatus::Pass, CheckStatus::NotApplicable];
        let mut checks = verdict.checks.iter();
        checks
            .find(|check| !settled.contains(&check.status))
            .map(|check| &check.requirement)
    };
    broken.or_else(open).map_or("", String::as_str)
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
