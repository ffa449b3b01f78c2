//! A long timeline made short: what is wrong again and again is told once, and of the rest only what leads to the
//! first wrong thing and what follows from it.

use crate::{
    judge::Violation,
    report::timeline::{Act, Entry},
};
use std::collections::BTreeMap;

/// Rows of a timeline that is told whole: a screen.
const MOST: usize = 36;
/// Rows kept at the beginning.
const HEAD: usize = 8;
/// Rows kept before what is wrong first.
const BEFORE: usize = 10;
/// Rows kept after it: what follows is fallout.
const AFTER: usize = 6;
/// Rows kept at the end.
const TAIL: usize = 3;
/// Different wrong things that are told.
const WRONGS: usize = 6;
/// Rows that are not worth a line about them.
const FEW: usize = 2;

/// A row of the story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row<'a> {
    /// As the timeline has it; never something wrong.
    Told(&'a Entry),
    /// Something wrong.
    Wrong {
        /// Index into the verdict's violations.
        violation: usize,
        /// The first of them in time.
        first: bool,
        /// How often it happened in all.
        times: usize,
    },
    /// So many rows are not told.
    LeftOut(usize),
    /// So many further different wrong things are not told.
    MoreWrong(usize),
}

/// Every row, as the timeline has it.
pub(super) fn all(entries: &[Entry]) -> Vec<Row<'_>> {
    entries
        .iter()
        .map(|entry| match entry.act {
            Act::Wrong { first, violation } => Row::Wrong {
                violation,
                first,
                times: 1,
            },
            _ => Row::Told(entry),
        })
        .collect()
}

/// The rows worth telling.
pub(super) fn shorten<'a>(entries: &'a [Entry], violations: &[Violation]) -> Vec<Row<'a>> {
    let rows = told_once(all(entries), violations);
    if rows.len() <= MOST {
        return rows;
    }
    let parting = rows
        .iter()
        .position(|row| matches!(row, Row::Wrong { .. }))
        .unwrap_or(rows.len());
    let near = parting.saturating_sub(BEFORE)..=parting + AFTER;
    let end = rows.len() - TAIL;
    let mut short = Vec::new();
    let mut left_out: Vec<Row<'_>> = Vec::new();
    for (at, row) in rows.into_iter().enumerate() {
        let keep = at < HEAD
            || near.contains(&at)
            || at >= end
            || matches!(row, Row::Wrong { .. } | Row::MoreWrong(_));
        if keep {
            close_gap(&mut short, &mut left_out);
            short.push(row);
        } else {
            left_out.push(row);
        }
    }
    close_gap(&mut short, &mut left_out);
    short
}

fn close_gap<'a>(short: &mut Vec<Row<'a>>, left_out: &mut Vec<Row<'a>>) {
    let rows = std::mem::take(left_out);
    if rows.len() <= FEW {
        short.extend(rows);
    } else {
        short.push(Row::LeftOut(rows.len()));
    }
}

/// The same expectation of the same requirement, not met again and again, is one wrong thing.
fn told_once<'a>(rows: Vec<Row<'a>>, violations: &[Violation]) -> Vec<Row<'a>> {
    let mut known: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut told: Vec<Row<'a>> = Vec::new();
    let mut more = 0;
    for row in rows {
        if let Row::Wrong { violation, .. } = row
            && let Some(broken) = violations.get(violation)
        {
            let key = (broken.requirement.as_str(), broken.expected.as_str());
            if let Some(place) = known.get(&key) {
                if let Some(Row::Wrong { times, .. }) = told.get_mut(*place) {
                    *times += 1;
                }
                continue;
            }
            if known.len() >= WRONGS {
                more += 1;
                continue;
            }
            known.insert(key, told.len());
        }
        told.push(row);
    }
    if more > 0 {
        told.push(Row::MoreWrong(more));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::timeline::What;
    use crate::{contract::Level, judge::Place};

    fn did(what: usize) -> Entry {
        Entry {
            at_us: Some(what as u64),
            act: Act::Client(what.to_string()),
            what: What::Request,
            exchange: None,
        }
    }

    fn wrong(violation: usize) -> Entry {
        Entry {
            at_us: None,
            act: Act::Wrong {
                first: violation == 0,
                violation,
            },
            what: What::Wrong,
            exchange: None,
        }
    }

    fn violations(expected: &[&str]) -> Vec<Violation> {
        expected
            .iter()
            .map(|expected| Violation {
                requirement: "stream/retry-budget".to_owned(),
                level: Level::Must,
                expected: (*expected).to_owned(),
                seen: "another connect".to_owned(),
                place: Place::End,
                invariant: false,
            })
            .collect()
    }

    #[test]
    fn a_loop_is_told_once_with_how_often() {
        let entries: Vec<Entry> = (0..900).flat_map(|at| [did(at), wrong(at)]).collect();
        let rows = shorten(&entries, &violations(&["at most 4 connects"; 900]));
        assert!(
            rows.len() <= HEAD + 1 + BEFORE + AFTER + TAIL + 2,
            "{rows:?}"
        );
        let wrongs: Vec<_> = rows
            .iter()
            .filter(|row| matches!(row, Row::Wrong { .. }))
            .collect();
        assert!(
            matches!(
                wrongs[..],
                [Row::Wrong {
                    violation: 0,
                    first: true,
                    times: 900
                }]
            ),
            "{wrongs:?}"
        );
        assert!(matches!(rows.last(), Some(Row::Told(_))));
    }

    #[test]
    fn every_row_is_told_or_counted() {
        let mut entries: Vec<Entry> = (0..200).map(did).collect();
        entries.insert(100, wrong(0));
        let rows = shorten(&entries, &violations(&["one"]));
        let counted: usize = rows
            .iter()
            .map(|row| match row {
                Row::LeftOut(rows) => *rows,
                _ => 1,
            })
            .sum();
        assert_eq!(counted, entries.len());
        let gaps = rows.iter().filter(|row| matches!(row, Row::LeftOut(_)));
        assert_eq!(gaps.count(), 2, "one before and one behind the parting");
    }

    #[test]
    fn many_different_wrong_things_are_counted() {
        let words: Vec<String> = (0..10).map(|at| format!("thing {at}")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let entries: Vec<Entry> = (0..10).map(wrong).collect();
        let rows = shorten(&entries, &violations(&words));
        assert_eq!(rows.len(), WRONGS + 1);
        assert_eq!(rows.last(), Some(&Row::MoreWrong(10 - WRONGS)));
    }

    #[test]
    fn a_short_one_stays_as_it_is() {
        let entries: Vec<Entry> = (0..MOST).map(did).collect();
        assert_eq!(shorten(&entries, &[]), all(&entries));
    }
}
