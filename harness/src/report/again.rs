//! The report of trials that were judged again: what came out otherwise than it was saved, and one last line.

use super::text::{Page, count, harmless, paint, wrap};
use crate::{exit::Exit, saved::Saved};
use serde::Serialize;
use serde_json::json;
use std::fmt::Write as _;

/// Changes that are told in full; of those beyond, only their names.
const SHOWN: usize = 20;

/// What came of judging again.
#[derive(Clone, Debug, Default)]
pub struct Again {
    trials: usize,
    changed: Vec<Changed>,
}

/// A trial that is judged otherwise than when it was saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// The case's id.
    pub id: String,
    /// Its file.
    pub file: String,
    /// The suite that judged it first.
    pub suite: String,
    /// The first difference, as a unified diff.
    pub difference: String,
}

impl Again {
    /// Takes a trial, and how its verdict changed, if it did.
    pub fn add(&mut self, file: &str, saved: &Saved, change: Option<String>) {
        self.trials += 1;
        if let Some(difference) = change {
            self.changed.push(Changed {
                id: saved.id.clone(),
                file: file.to_owned(),
                suite: saved.suite.clone(),
                difference,
            });
        }
    }

    /// Those that are judged otherwise now.
    pub fn changed(&self) -> impl Iterator<Item = &Changed> {
        self.changed.iter()
    }
}

/// The report for people.
#[must_use]
pub fn report(again: &Again, exit: Exit, page: &Page) -> String {
    let palette = page.palette;
    let this = env!("CARGO_PKG_VERSION");
    let mut out = String::new();
    for (place, one) in again.changed.iter().enumerate() {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(
            out,
            "{}",
            paint(palette.bad, &format!("CHANGED {}", harmless(&one.id)))
        );
        if place >= SHOWN {
            continue;
        }
        let why = if one.suite == this {
            format!("the same suite, {this}, judged it when it was saved: the file was edited")
        } else {
            format!(
                "suite {} judged it when it was saved, this is {this}",
                one.suite
            )
        };
        for line in wrap(&harmless(&format!("{}: {why}", one.file)), page.width - 2) {
            let _ = writeln!(out, "  {line}");
        }
        for line in one.difference.lines() {
            let style = match line.as_bytes().first() {
                Some(b'-') => palette.bad,
                Some(b'+') => palette.good,
                _ => palette.dim,
            };
            let _ = writeln!(out, "    {}", paint(style, &harmless(line)));
        }
        out.push('\n');
    }
    let subject = format!("{} judged again", count(again.trials, "trial", "trials"));
    let (style, ending) = match again.changed.len() {
        0 => (
            palette.good,
            format!("{subject}: every verdict is the one that was saved"),
        ),
        some => (
            palette.bad,
            format!(
                "{subject}: {} not the one that was saved",
                count(some, "verdict is", "verdicts are")
            ),
        ),
    };
    for line in wrap(&ending, page.width) {
        let _ = writeln!(out, "{}", paint(style, &line));
    }
    let _ = match exit {
        Exit::Failed if !again.changed.is_empty() => {
            writeln!(out, "exit {}: verdicts changed", exit.code())
        }
        _ => writeln!(out, "exit {exit}"),
    };
    out
}

/// The last line for machines.
#[must_use]
pub fn again_line(again: &Again, exit: Exit) -> String {
    json!({
        "type": "judged-again",
        "trials": again.trials,
        "changed": again.changed,
        "exit": { "code": exit.code(), "meaning": exit.meaning() },
    })
    .to_string()
}
