//! An audit by generated cases, a row at a time.

use super::text::{Page, pad, paint, wrap};
use crate::audit::generated::{ENOUGH, Fate, Generated, Wrong};
use std::fmt::Write as _;

/// Columns of a fate.
const FATE: usize = 14;
/// Columns of a bug's name and its number.
const BUG: usize = 38;

/// The rows so far: each requirement stands once above those that break it.
#[derive(Debug, Default)]
pub struct Rows {
    last: String,
}

impl Rows {
    /// The next one.
    #[must_use]
    pub fn row(&mut self, one: &Wrong, page: &Page) -> String {
        let mut out = String::new();
        if one.requirement != self.last {
            let _ = writeln!(out, "{}", paint(page.palette.bold, &one.requirement));
            self.last.clone_from(&one.requirement);
        }
        let (fate, style) = match one.fate {
            Fate::Caught => ("caught", page.palette.good),
            Fate::Survived => ("SURVIVED", page.palette.bad),
            Fate::OutOfReach => ("out of reach", page.palette.dim),
            Fate::Contradicted => ("CONTRADICTED", page.palette.bad),
        };
        let by = one.caught.as_ref().map_or_else(String::new, |caught| {
            let number = caught.case + 1;
            if caught.requirement == one.requirement {
                format!("case {number}")
            } else {
                format!("case {number}, {}", caught.requirement)
            }
        });
        let _ = writeln!(
            out,
            "{}",
            format!(
                "  {}{}{by}",
                paint(style, &pad(fate, FATE)),
                pad(&format!("{} {}", one.bug, one.mutant), BUG)
            )
            .trim_end()
        );
        if one.fate != Fate::Caught {
            let more = [Some(one.does.as_str()), one.why.as_deref()];
            let indent = 2 + FATE;
            for line in more
                .into_iter()
                .flatten()
                .flat_map(|text| wrap(text, page.width.saturating_sub(indent)))
            {
                let _ = writeln!(out, "{}{line}", " ".repeat(indent));
            }
        }
        out
    }
}

/// The score, and after how many cases they were caught.
#[must_use]
pub fn ending(all: &Generated, page: &Page) -> String {
    let mut out = String::from("\n");
    for case in &all.broken {
        let broken = format!("the harness broke while it played {case}");
        let _ = writeln!(out, "{}", paint(page.palette.bad, &broken));
    }
    let mut numbers: Vec<u64> = all
        .clients
        .iter()
        .filter(|one| one.fate == Fate::Caught)
        .filter_map(|one| one.caught.as_ref().map(|caught| caught.case + 1))
        .collect();
    numbers.sort_unstable();
    if let Some(most) = numbers.last() {
        let half = numbers[(numbers.len() - 1) / 2];
        let _ = writeln!(
            out,
            "half of them within {half} cases, all that were caught within {most}, of seed {}",
            all.seed
        );
    }
    let style = if all.is_sound() {
        page.palette.good
    } else {
        page.palette.bad
    };
    let told = format!(
        "score {} % (at least {ENOUGH}): {} caught, {} survived {} cases; {} out of reach",
        all.score(),
        all.count(Fate::Caught),
        all.count(Fate::Survived),
        all.cases,
        all.count(Fate::OutOfReach),
    );
    let _ = writeln!(out, "{}", paint(style, &told));
    out
}
