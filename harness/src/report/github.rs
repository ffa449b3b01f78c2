//! Annotations of GitHub Actions: lines on standard output that a job shows beside its log, and in the pull request.
//!
//! Ten errors a step are shown and no more, so there is one for each requirement that is broken, not for each case.

use super::{
    junit::first_words,
    record::{Record, Told},
};
use crate::{
    contract::{self, Level},
    standing::Standing,
};
use std::fmt::Write as _;

/// The lines of these runs.
#[must_use]
pub fn report(records: &[Record]) -> String {
    let mut out = String::new();
    for record in records {
        annotations(record, &mut out);
    }
    out
}

/// A requirement that is broken: which, how binding, in how many cases, the first of them.
struct Broken<'a> {
    requirement: &'a str,
    level: Level,
    cases: usize,
    first: String,
}

fn annotations(record: &Record, out: &mut String) {
    let client = record.client();
    // The manifest is the file of the client's own repository that a run is about.
    let mut words = record.run.replay_arguments.iter();
    let manifest = words
        .find(|word| *word == "--client")
        .and_then(|_| words.next());
    let mut broken: Vec<Broken<'_>> = Vec::new();
    let mut open: Vec<(&str, usize, String)> = Vec::new();
    for case in &record.cases {
        if let Standing::Fixed { keys } = &case.standing {
            let message = format!(
                "{} is listed as a known failure and passes: remove {} from the manifest",
                case.id,
                keys.join(", ")
            );
            line(
                "error",
                manifest,
                &format!("{client}: known failure passes"),
                &message,
                out,
            );
        }
        for check in &case.checks {
            match record.told(case, check) {
                Told::Failed => {
                    match broken
                        .iter_mut()
                        .find(|one| one.requirement == check.requirement)
                    {
                        Some(one) => one.cases += 1,
                        None => broken.push(Broken {
                            requirement: &check.requirement,
                            level: check.level,
                            cases: 1,
                            first: format!(
                                "{}: {}\nreplay: {}",
                                case.id,
                                first_words(case, check),
                                case.replay
                            ),
                        }),
                    }
                }
                Told::NotJudged(why) => match open.iter_mut().find(|(known, ..)| *known == why) {
                    Some((_, number, _)) => *number += 1,
                    None => open.push((why, 1, format!("{}: {}", case.id, check.reason))),
                },
                Told::Passed
                | Told::Known(_)
                | Told::Remark
                | Told::Behind(_)
                | Told::NotApplicable => {}
            }
        }
    }
    for one in broken {
        let sentence =
            contract::requirement(one.requirement).map_or("", |requirement| requirement.sentence);
        let more = match one.cases {
            1 => String::new(),
            many => format!("\nand {} more cases", many - 1),
        };
        let title = format!("{client}: {} ({})", one.requirement, one.level.name());
        let message = format!("{sentence}\n{}{more}", one.first);
        line("error", manifest, &title, &message, out);
    }
    for (why, number, first) in open {
        let title = format!("{client}: {number} checks: {why}");
        line("warning", manifest, &title, &first, out);
    }
    let level = match &record.summary {
        Some(summary) if summary.exit.code == 0 => "notice",
        _ => "error",
    };
    let message = format!("{client} {}", record.verdict());
    line(
        level,
        manifest,
        "CreateOS client conformance",
        &message,
        out,
    );
}

fn line(level: &str, file: Option<&String>, title: &str, message: &str, out: &mut String) {
    let file = file.map_or_else(String::new, |file| format!("file={},", property(file)));
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "::{level} {file}title={}::{}",
        property(title),
        data(message)
    );
}

/// A message, as the runner's own toolkit escapes it; other control characters are left out.
fn data(text: &str) -> String {
    text.chars()
        .filter(|one| !one.is_control() || matches!(one, '\n' | '\r' | '\t'))
        .collect::<String>()
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property's value: colons and commas end one.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
