//! Whether the same cases give the same again: verdicts, check by check, and canonical wire logs.
//!
//! [`Stability`] takes the results of one run after the other over the same plans. Of each case it keeps the texts of
//! the first trial and a fingerprint of every variant, so that fifty repeats need the memory of one.

use crate::{case::Case, judge::Verdict, summary::Judged};
use fake_server::wirelog::canonical;
use serde::Serialize;
use similar::TextDiff;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

/// Lines of a difference that are kept; the first difference is what helps, not the whole.
const MOST_LINES: usize = 24;
/// Lines around what differs.
const AROUND: usize = 2;

/// What is compared between trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// The status of each check.
    Verdict,
    /// The canonical wire log.
    WireLog,
}

impl Aspect {
    /// Its name in a report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::WireLog => "wire log",
        }
    }
}

/// Counts the variants of every case.
#[derive(Clone, Debug, Default)]
pub struct Stability {
    /// By the case's id; told in the order of the first run.
    cases: BTreeMap<String, Repeated>,
    order: Vec<String>,
    runs: usize,
    tried_again: Vec<String>,
}

#[derive(Clone, Debug)]
struct Repeated {
    applies: bool,
    verdict: Variants,
    wire: Variants,
}

/// The texts that one aspect of one case had.
#[derive(Clone, Debug)]
struct Variants {
    first: String,
    seen: Vec<Variant>,
    difference: String,
}

/// One of the texts that an aspect of a case had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Variant {
    /// Tells it from others.
    #[serde(skip)]
    fingerprint: u64,
    /// The repeat in which it came first; 0 is the first trial.
    pub first_in: usize,
    /// How often it came.
    pub times: usize,
}

/// What came of the repeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repeats {
    /// Scenarios that were played.
    pub scenarios: usize,
    /// Cases that were played.
    pub cases: usize,
    /// Cases that the client does not claim: nothing is repeated there.
    pub not_applicable: usize,
    /// Times each was repeated, besides the first.
    pub repeats: usize,
    /// Repeats that were asked for.
    pub wanted: usize,
    /// Whether a wire log that changes is a failure. The contract leaves open what a client's own calls are, and its
    /// cursor after an unclean end, so a client that is not ours may ask otherwise and be right each time.
    pub wire_counts: bool,
    /// What did not stay the same, in the order of the first run.
    pub unstable: Vec<Unstable>,
    /// Cases whose fault did not reach the client at first, and which were tried once more: once for each time.
    pub tried_again: Vec<String>,
}

/// A case that did not stay the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unstable {
    /// Its id.
    pub id: String,
    /// What differs.
    pub aspect: Aspect,
    /// How often each variant came, the first trial's first.
    pub variants: Vec<Variant>,
    /// The first difference between the first trial and the first that was another, as a unified diff.
    pub difference: String,
}

impl Repeats {
    /// Whether every case gave the same each time, in what counts.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        !self.unstable.iter().any(|one| self.counts(one))
    }

    /// Whether this change is a failure.
    #[must_use]
    pub fn counts(&self, one: &Unstable) -> bool {
        one.aspect == Aspect::Verdict || self.wire_counts
    }
}

impl Stability {
    /// Takes the results of one run. A run that was stopped brings only a part of the cases.
    pub fn add(&mut self, judged: &[Judged]) {
        for one in judged {
            let verdict = statuses(&one.case.verdict);
            let wire = wire(&one.case);
            match self.cases.get_mut(one.case.id()) {
                Some(known) => {
                    // The reasons are for people: where they hold times they differ, and mean the same.
                    known
                        .verdict
                        .add(verdict, self.runs, || one.case.verdict.told());
                    known.wire.add(wire.clone(), self.runs, || wire);
                }
                None => {
                    let known = Repeated {
                        applies: one.case.trial.is_some(),
                        verdict: Variants::new(&verdict, one.case.verdict.told()),
                        wire: Variants::new(&wire, wire.clone()),
                    };
                    self.order.push(one.case.id().to_owned());
                    self.cases.insert(one.case.id().to_owned(), known);
                }
            }
        }
        self.runs += 1;
    }

    /// Notes a case whose fault did not reach the client, and which is tried once more.
    pub fn add_tried_again(&mut self, id: &str) {
        self.tried_again.push(id.to_owned());
    }

    /// What came of it, of `wanted` repeats.
    #[must_use]
    pub fn repeats(&self, wanted: usize, wire_counts: bool) -> Repeats {
        let mut unstable = Vec::new();
        let mut scenarios = BTreeSet::new();
        let mut not_applicable = 0;
        for id in &self.order {
            let Some(case) = self.cases.get(id) else {
                continue;
            };
            if case.applies {
                scenarios.insert(id.split('[').next().unwrap_or(id));
            } else {
                not_applicable += 1;
            }
            for (aspect, variants) in [
                (Aspect::Verdict, &case.verdict),
                (Aspect::WireLog, &case.wire),
            ] {
                if variants.seen.len() > 1 {
                    unstable.push(Unstable {
                        id: id.clone(),
                        aspect,
                        variants: variants.seen.clone(),
                        difference: variants.difference.clone(),
                    });
                }
            }
        }
        Repeats {
            scenarios: scenarios.len(),
            cases: self.order.len() - not_applicable,
            not_applicable,
            repeats: self.runs.saturating_sub(1),
            wanted,
            wire_counts,
            unstable,
            tried_again: self.tried_again.clone(),
        }
    }
}

impl Variants {
    /// `compared` decides what is the same, `told` is shown.
    fn new(compared: &str, told: String) -> Self {
        let first = Variant {
            fingerprint: fingerprint(compared),
            first_in: 0,
            times: 1,
        };
        Self {
            first: told,
            seen: vec![first],
            difference: String::new(),
        }
    }

    fn add(&mut self, compared: String, run: usize, told: impl FnOnce() -> String) {
        let fingerprint = fingerprint(&compared);
        drop(compared);
        if let Some(known) = self
            .seen
            .iter_mut()
            .find(|variant| variant.fingerprint == fingerprint)
        {
            known.times += 1;
            return;
        }
        if self.difference.is_empty() {
            self.difference = first_difference(&self.first, &told());
        }
        self.seen.push(Variant {
            fingerprint,
            first_in: run,
            times: 1,
        });
    }
}

/// Of texts that are kept by the thousand only this is needed to tell them apart: 64 bits.
fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// A check a line: what must not change.
fn statuses(verdict: &Verdict) -> String {
    let mut text = String::new();
    for check in &verdict.checks {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(text, "{}  {}", check.status.word(), check.requirement);
    }
    text
}

/// The canonical wire log; empty where nothing was played.
fn wire(case: &Case) -> String {
    case.trial
        .as_ref()
        .map_or_else(String::new, |trial| canonical(&trial.log, &case.plan))
}

/// The first place at which two texts part, as a unified diff with its line numbers; empty if they are the same.
#[must_use]
pub fn first_difference(before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let mut unified = diff.unified_diff();
    let Some(hunk) = unified
        .context_radius(AROUND)
        .missing_newline_hint(false)
        .iter_hunks()
        .next()
        .map(|hunk| hunk.to_string())
    else {
        return String::new();
    };
    let lines: Vec<&str> = hunk.lines().collect();
    let mut text = lines[..lines.len().min(MOST_LINES)].join("\n");
    if lines.len() > MOST_LINES {
        let _ = write!(text, "\n... {} more lines", lines.len() - MOST_LINES);
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_told_with_its_surroundings() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n";
        let after = "a\nb\nc\nX\ne\nf\ng\nh\ni\nY\nk\n";
        assert_eq!(
            first_difference(before, after),
            "@@ -2,5 +2,5 @@\n b\n c\n-d\n+X\n e\n f\n"
        );
        assert_eq!(first_difference(before, before), "");
    }

    #[test]
    fn a_difference_does_not_fill_the_screen() {
        let after: String = (0..1_000).map(|line| format!("{line}\n")).collect();
        let told = first_difference("", &after);
        assert_eq!(told.lines().count(), MOST_LINES + 1);
        assert!(told.ends_with("more lines\n"), "{told}");
    }
}
