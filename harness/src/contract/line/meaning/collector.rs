//! Gathers the meanings of a line.

use super::{Alternative, Meaning, Reading};

#[derive(Default)]
pub(super) struct Collector {
    alternatives: Vec<Alternative>,
    touches: Vec<&'static str>,
}

impl Collector {
    pub(super) fn touch(&mut self, requirement: &'static str) {
        if !self.touches.contains(&requirement) {
            self.touches.push(requirement);
        }
    }

    pub(super) fn add(&mut self, meaning: Meaning) {
        self.add_as(meaning, None);
    }

    pub(super) fn add_as(&mut self, meaning: Meaning, blemish: Option<&'static str>) {
        if !self
            .alternatives
            .iter()
            .any(|known| known.meaning == meaning)
        {
            self.alternatives.push(Alternative { meaning, blemish });
        }
    }

    pub(super) fn done(self) -> Reading {
        Reading {
            alternatives: self.alternatives,
            touches: self.touches,
        }
    }
}
