//! Every requirement of the contract, area by area. Ids are addresses: scenarios cite them, reports
//! count by them, and none is ever used again for something else.

mod create;
mod data;
mod frames;
mod lease;
mod raw;
mod stream;
mod time;

use super::Level;
use std::sync::LazyLock;

/// One requirement of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// `area/name`, never reused.
    pub id: &'static str,
    /// How binding.
    pub level: Level,
    /// What a client does.
    pub sentence: &'static str,
    /// Why it is asked: the harm, and the fault kinds that show it.
    pub source: &'static str,
    /// The suite's version that first asked it.
    pub since: &'static str,
}

/// A group of requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// The part of an id before the slash.
    pub name: &'static str,
    /// A heading.
    pub title: &'static str,
}

/// Every area, in the order of reports.
pub const AREAS: &[Area] = &[
    area("stream", "Connecting and reconnecting"),
    area("frames", "Lines and frames"),
    area("sequence", "Sequence numbers"),
    area("data", "Output bytes"),
    area("exit", "Exit status"),
    area("journal", "Evicted output"),
    area("create", "Creating the process"),
    area("stdin", "Writing and closing stdin"),
    area("cleanup", "Cleaning up"),
    area("time", "Deadlines and cancellation"),
    area("secrets", "Keeping secrets"),
    area("lease", "Getting and giving back a sandbox"),
    area("exec", "One-shot commands"),
    area("files", "Files"),
    area("raw", "Raw event streams"),
];

static ALL: LazyLock<Vec<Requirement>> = LazyLock::new(|| {
    let listed = [
        stream::REQUIREMENTS,
        frames::REQUIREMENTS,
        data::REQUIREMENTS,
        create::REQUIREMENTS,
        time::REQUIREMENTS,
        lease::REQUIREMENTS,
        raw::REQUIREMENTS,
    ]
    .concat();
    // Area order, and inside an area the order of its file.
    let mut ordered = Vec::with_capacity(listed.len());
    for area in AREAS {
        ordered.extend(
            listed
                .iter()
                .filter(|requirement| area_of(requirement.id) == area.name),
        );
    }
    ordered
});

/// Every requirement, in area order.
#[must_use]
pub fn registry() -> &'static [Requirement] {
    &ALL
}

/// The requirement with that id.
#[must_use]
pub fn requirement(id: &str) -> Option<&'static Requirement> {
    ALL.iter().find(|requirement| requirement.id == id)
}

/// The area of a requirement id.
#[must_use]
pub fn area_of(id: &str) -> &str {
    id.split_once('/').map_or(id, |(area, _)| area)
}

const fn area(name: &'static str, title: &'static str) -> Area {
    Area { name, title }
}

const fn at(
    level: Level,
    id: &'static str,
    sentence: &'static str,
    source: &'static str,
) -> Requirement {
    Requirement {
        id,
        level,
        sentence,
        source,
        since: "0.1.0",
    }
}

const fn must(id: &'static str, sentence: &'static str, source: &'static str) -> Requirement {
    at(Level::Must, id, sentence, source)
}

const fn should(id: &'static str, sentence: &'static str, source: &'static str) -> Requirement {
    at(Level::Should, id, sentence, source)
}

const fn may(id: &'static str, sentence: &'static str, source: &'static str) -> Requirement {
    at(Level::May, id, sentence, source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_their_areas_known() {
        let mut ids: Vec<_> = registry().iter().map(|r| r.id).collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count, "an id stands twice");
        for id in ids {
            assert!(AREAS.iter().any(|area| area.name == area_of(id)), "{id}");
        }
    }

    #[test]
    fn no_requirement_is_lost_by_ordering() {
        let listed = stream::REQUIREMENTS.len()
            + frames::REQUIREMENTS.len()
            + data::REQUIREMENTS.len()
            + create::REQUIREMENTS.len()
            + time::REQUIREMENTS.len()
            + lease::REQUIREMENTS.len()
            + raw::REQUIREMENTS.len();
        assert_eq!(registry().len(), listed);
    }

    #[test]
    fn every_sentence_is_one_sentence() {
        for requirement in registry() {
            let text = requirement.sentence;
            assert!(text.ends_with('.'), "{}", requirement.id);
            assert!(!text.contains(". "), "{}: {text}", requirement.id);
            assert!(!requirement.source.is_empty(), "{}", requirement.id);
        }
    }

    #[test]
    fn every_area_has_a_requirement() {
        for area in AREAS {
            assert!(
                registry().iter().any(|r| area_of(r.id) == area.name),
                "{}",
                area.name
            );
        }
    }
}
