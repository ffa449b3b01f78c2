//! `list`: one scenario a line, the id first, so that scripts can cut it off.

use super::{Failure, args::ListArgs, files, output::say};
use crate::{
    coverage::{Coverage, Covered},
    exit::Exit,
    select::{Pattern, select},
};
use std::path::Path;

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let suite = files::load(args.source.scenarios.as_deref().map(Path::new), &[])?;
    if args.requirements || args.fault_kinds {
        let coverage = Coverage::of(&suite);
        say(&covered(if args.requirements {
            &coverage.requirements
        } else {
            &coverage.fault_kinds
        }));
        return Ok(Exit::AsExpected);
    }
    let ids: Vec<&str> = suite.iter().map(|entry| entry.source.id.as_str()).collect();
    let patterns: Vec<Pattern> = args
        .patterns
        .iter()
        .map(|text| Pattern::new(text))
        .collect();
    let chosen = select(&patterns, &ids)?;
    let widest = chosen.iter().map(|&at| ids[at].len()).max().unwrap_or(0);
    let mut text = String::new();
    for (at, entry) in suite.iter().enumerate() {
        if chosen.contains(&at) {
            let many = match entry.scenario.instances() {
                1 => String::new(),
                many => format!(" ({many} cases)"),
            };
            text.push_str(&format!(
                "{:widest$}  {}{many}\n",
                entry.source.id,
                entry.scenario.title()
            ));
        }
    }
    say(&text);
    Ok(Exit::AsExpected)
}

/// The id first, then its level, how many scenarios are about it, and what it says.
fn covered(list: &[Covered]) -> String {
    let widest = list.iter().map(|one| one.id.len()).max().unwrap_or(0);
    let mut text = String::new();
    for one in list {
        let level = one
            .level
            .map_or_else(String::new, |level| format!("{:6}  ", level.name()));
        text.push_str(&format!(
            "{:widest$}  {level}{:>3}  {}\n",
            one.id,
            one.scenarios.len(),
            one.says
        ));
    }
    text
}
