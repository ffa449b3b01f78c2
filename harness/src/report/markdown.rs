//! Markdown for the summary of a CI job: the verdict in words, a table by area and client, then what failed.

use super::{
    junit::first_words,
    record::{Record, Told},
    text::one_line,
};
use crate::{
    contract::{self, AREAS},
    report::line::CaseLine,
    standing::Standing,
};
use std::fmt::Write as _;

/// Failing cases of one client that are told; a summary has a limit of 1 MiB, and a reader one far below.
const MOST: usize = 50;

/// The text of these runs.
#[must_use]
pub fn report(records: &[Record]) -> String {
    let mut out = String::from("## CreateOS client conformance\n\n");
    for record in records {
        let sign = if clean(record) { "✅" } else { "❌" };
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(
            out,
            "{sign} **{}** {}.\n",
            escaped(&record.client()),
            escaped(&record.verdict())
        );
    }
    table(records, &mut out);
    for record in records {
        failures(record, &mut out);
    }
    for record in records {
        let run = &record.run;
        let digest: String = run.digest.chars().take(12).collect();
        let _ = writeln!(
            out,
            "<sub>{}: suite {}{}, seed {}, over {}{}</sub>\n",
            escaped(&record.client()),
            escaped(&run.suite),
            if digest.is_empty() {
                String::new()
            } else {
                format!(" ({})", escaped(&digest))
            },
            run.seed,
            escaped(&run.transport),
            if run.strict { ", strict" } else { "" }
        );
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn clean(record: &Record) -> bool {
    record
        .summary
        .as_ref()
        .is_some_and(|summary| summary.exit.code == 0)
}

fn table(records: &[Record], out: &mut String) {
    out.push_str("| checks |");
    for record in records {
        let _ = write!(out, " {} |", escaped(&record.client()));
    }
    out.push_str("\n|---|");
    out.push_str(&"---|".repeat(records.len()));
    out.push('\n');
    for area in AREAS {
        let cells: Vec<String> = records.iter().map(|one| cell(one, area.name)).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            let _ = writeln!(out, "| {} | {} |", area.title, cells.join(" | "));
        }
    }
    out.push('\n');
}

/// The checks of an area in numbers, what is wrong first.
fn cell(record: &Record, area: &str) -> String {
    let (mut failed, mut known, mut open, mut passed, mut not) = (0, 0, 0, 0, 0);
    for case in &record.cases {
        for check in &case.checks {
            if contract::area_of(&check.requirement) != area {
                continue;
            }
            match record.told(case, check) {
                Told::Failed => failed += 1,
                Told::Known(_) => known += 1,
                Told::NotJudged(_) | Told::Behind(_) => open += 1,
                Told::Passed | Told::Remark => passed += 1,
                Told::NotApplicable => not += 1,
            }
        }
    }
    let parts = [
        (failed, "❌", " failed"),
        (known, "", " known"),
        (open, "⚠️", " not judged"),
        (passed, if failed == 0 { "✅" } else { "" }, " passed"),
        (not, "", " not applicable"),
    ];
    let told: Vec<String> = parts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, sign, word)| format!("{sign} {number}{word}").trim_start().to_owned())
        .collect();
    told.join(", ")
}

fn failures(record: &Record, out: &mut String) {
    let is_news = |case: &&CaseLine| {
        !matches!(
            case.standing,
            Standing::Passed | Standing::NotApplicable | Standing::KnownFailure { .. }
        )
    };
    let news: Vec<&CaseLine> = record.cases.iter().filter(is_news).collect();
    if news.is_empty() {
        return;
    }
    let _ = writeln!(out, "### {}\n", escaped(&record.client()));
    for case in news.iter().take(MOST) {
        let _ = writeln!(
            out,
            "<details><summary><b>{}</b> {}</summary>\n",
            escaped(&case.id),
            escaped(&case.title)
        );
        if let Standing::Fixed { keys } = &case.standing {
            let _ = writeln!(
                out,
                "- is listed as a known failure and passes: remove {} from the manifest",
                escaped(&keys.join(", "))
            );
        }
        for check in &case.checks {
            let words = match record.told(case, check) {
                Told::Failed => first_words(case, check),
                Told::NotJudged(why) => format!("{why}: {}", check.reason),
                _ => continue,
            };
            let _ = writeln!(
                out,
                "- **{}**: {}",
                escaped(&check.requirement),
                escaped(&words)
            );
        }
        let _ = writeln!(out, "\n{}\n\n</details>\n", code(&case.replay));
    }
    if news.len() > MOST {
        let _ = writeln!(out, "… and {} more.\n", news.len() - MOST);
    }
}

/// Plain text that Markdown and HTML leave as it is, in one line.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in one_line(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // `@name` would tell somebody, `#1` and addresses would link somewhere.
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '@' | '~' | '!' | '$' | ':' => {
                let _ = write!(out, "&#{};", u32::from(character));
            }
            other => out.push(other),
        }
    }
    out
}

/// A line of code, whatever stands in it.
fn code(text: &str) -> String {
    let text = one_line(text);
    let longest = text
        .split(|one| one != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}sh\n{text}\n{fence}")
}
