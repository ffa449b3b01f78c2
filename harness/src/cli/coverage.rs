//! `coverage`: requirement by scenario and fault kind by scenario, holes first to be seen.

use super::{
    Failure,
    args::CoverageArgs,
    files,
    output::{self, say},
};
use crate::{
    coverage::{Coverage, Covered},
    exit::Exit,
    report::text::{Page, count, cut, pad, paint},
};

/// Columns between an id and what follows.
const GAP: usize = 2;
/// Columns of a level.
const LEVEL: usize = 8;

pub(super) fn coverage(args: &CoverageArgs) -> Result<Exit, Failure> {
    let suite = files::load(args.source.scenarios.as_deref(), &[])?;
    let coverage = Coverage::of(&suite);
    if args.json {
        let json = serde_json::to_string_pretty(&coverage)
            .map_err(|error| Failure::new(Exit::Harness, format!("coverage as JSON: {error}")))?;
        say(&format!("{json}\n"));
    } else {
        say(&text(&coverage, &output::page(), args.verbose));
    }
    Ok(if coverage.holes().next().is_some() {
        Exit::Failed
    } else {
        Exit::AsExpected
    })
}

fn text(coverage: &Coverage, page: &Page, verbose: bool) -> String {
    let mut out = String::new();
    section(
        &mut out,
        "requirement",
        &coverage.requirements,
        page,
        verbose,
    );
    out.push('\n');
    section(&mut out, "fault kind", &coverage.fault_kinds, page, verbose);
    out.push('\n');
    let holes = coverage.holes().count();
    let judged = if holes == 0 {
        paint(page.palette.good, "no holes")
    } else {
        paint(page.palette.bad, &count(holes, "hole", "holes"))
    };
    out.push_str(&format!(
        "{} in {}: {judged}\n",
        count(coverage.cases, "case", "cases"),
        count(coverage.scenarios, "scenario", "scenarios")
    ));
    out
}

fn section(out: &mut String, title: &str, list: &[Covered], page: &Page, verbose: bool) {
    let id = list
        .iter()
        .map(|one| one.id.len())
        .max()
        .unwrap_or(0)
        .max(title.len())
        + GAP;
    let has_levels = list.iter().any(|one| one.level.is_some());
    let level = |text| {
        if has_levels {
            pad(text, LEVEL)
        } else {
            String::new()
        }
    };
    let head = format!("{}{}scenarios  cases  by", pad(title, id), level("level"));
    out.push_str(&format!("{}\n", paint(page.palette.bold, &head)));
    for one in list {
        let numbers = format!("{:>9}  {:>5}  ", one.scenarios.len(), one.cases);
        let named = one.level.map_or("", crate::contract::Level::name);
        let lead = format!("{}{}{numbers}", pad(&one.id, id), level(named));
        let room = page.width.saturating_sub(lead.len());
        let line = match (&one.later, one.scenarios.first()) {
            (Some(why), _) => paint(page.palette.dim, &format!("{lead}{}", cut(why, room))),
            (None, None) => paint(
                page.palette.bad,
                &format!("{lead}NOTHING: {}", cut(&one.says, room.saturating_sub(9))),
            ),
            (None, Some(first)) if !verbose => {
                format!("{lead}{}", paint(page.palette.dim, &cut(first, room)))
            }
            (None, Some(_)) => {
                let indent = " ".repeat(lead.len());
                let all = one.scenarios.join(&format!("\n{indent}"));
                format!("{lead}{}", paint(page.palette.dim, &all))
            }
        };
        out.push_str(line.trim_end());
        out.push('\n');
    }
}
