//! Where judging collects what it finds, and how a broken rule gets its requirement.

use super::{Place, Violation};
use crate::contract::{Level, requirement};

/// Everything found so far.
#[derive(Debug)]
pub(super) struct Findings<'a> {
    /// Requirements the scenario is about, in its order.
    about: &'a [String],
    /// What was wrong, in the order it was found.
    pub(super) violations: Vec<Violation>,
    /// Remarks that fail nothing.
    pub(super) notes: Vec<String>,
}

/// One thing that is wrong, before it has a requirement.
#[derive(Clone, Debug)]
pub(super) struct Wrong<'r> {
    /// Requirements that it may be counted under, the best first.
    pub(super) candidates: &'r [&'static str],
    /// Its level, where the requirement's own does not fit.
    pub(super) level: Option<Level>,
    /// What would have been right.
    pub(super) expected: String,
    /// What was seen.
    pub(super) seen: String,
    /// Where.
    pub(super) place: Place,
    /// Found by a rule that is always on.
    pub(super) invariant: bool,
}

impl<'a> Findings<'a> {
    pub(super) const fn new(about: &'a [String]) -> Self {
        Self {
            about,
            violations: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The candidate that the scenario is about, the most binding first, then in the scenario's order; else the
    /// best one.
    pub(super) fn pick(&self, candidates: &[&'static str], given: Option<Level>) -> &'static str {
        let level = |id| given.unwrap_or_else(|| level(id));
        self.about
            .iter()
            .filter_map(|about| candidates.iter().find(|id| *id == about))
            // The first of the greatest.
            .reduce(|best, id| if level(id) > level(best) { id } else { best })
            .or_else(|| candidates.first())
            .copied()
            // A rule without a candidate would be a slip in this crate; the widest one tells it.
            .unwrap_or("data/exact")
    }

    pub(super) fn is_about(&self, id: &str) -> bool {
        self.about.iter().any(|about| about == id)
    }

    pub(super) fn add(&mut self, wrong: Wrong<'_>) {
        let id = self.pick(wrong.candidates, wrong.level);
        let level = wrong.level.unwrap_or_else(|| level(id));
        let violation = Violation {
            requirement: id.to_owned(),
            level,
            expected: wrong.expected,
            seen: wrong.seen,
            place: wrong.place,
            // Where the scenario asks for it by name, it is the scenario's own check.
            invariant: wrong.invariant && !self.is_about(id),
        };
        if !self.violations.contains(&violation) {
            self.violations.push(violation);
        }
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

fn level(id: &str) -> Level {
    requirement(id).map_or(Level::Must, |known| known.level)
}

impl<'r> Wrong<'r> {
    pub(super) fn new(
        candidates: &'r [&'static str],
        place: Place,
        expected: impl Into<String>,
        seen: impl Into<String>,
    ) -> Self {
        Self {
            candidates,
            level: None,
            expected: expected.into(),
            seen: seen.into(),
            place,
            invariant: false,
        }
    }

    pub(super) const fn at_level(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    pub(super) const fn always(mut self) -> Self {
        self.invariant = true;
        self
    }
}
