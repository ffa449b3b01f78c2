//! The report for people: header, a table by area, a story a failure, and one last line that says it all.

mod asides;
mod ending;
mod stories;
mod table;

use self::{
    asides::{known, not_applicable, remarks},
    stories::stories,
};
use super::{
    story::standing_words,
    text::{Page, count, cut, harmless, pad, paint, span_ms, wrap},
};
use crate::summary::{Judged, RunInfo, Summary};

pub use self::{ending::ending, table::table};

/// The whole report.
#[must_use]
pub fn report(
    judged: &[Judged],
    summary: &Summary,
    info: &RunInfo,
    page: &Page,
    verbose: bool,
) -> String {
    let mut out = header(info, page);
    out.push('\n');
    out.push_str(&table(summary, page));
    out.push('\n');
    if verbose {
        out.push_str(&roll(judged, page));
        out.push('\n');
    }
    out.push_str(&stories(judged, info, page, verbose));
    out.push_str(&known(judged, page));
    out.push_str(&not_applicable(judged, page));
    out.push_str(&remarks(judged, info, page));
    out.push_str(&ending(summary, page));
    out
}

/// Who judges whom.
#[must_use]
pub fn header(info: &RunInfo, page: &Page) -> String {
    let palette = page.palette;
    let client = &info.client;
    let mut who = client.name.clone();
    if let Some(version) = &client.version {
        who.push_str(&format!(" {version}"));
    }
    if let Some(language) = &client.language {
        who.push_str(&format!(" ({language})"));
    }
    let strict = if info.strict { ", strict" } else { "" };
    let shard = info.shard.as_ref().map_or_else(String::new, |part| {
        format!(" of {} (shard {}/{})", part.cases, part.number, part.of)
    });
    let mut out = format!(
        "{}\n",
        paint(
            palette.bold,
            &format!("CreateOS conformance {}", info.suite)
        )
    );
    let rows = [
        ("client", harmless(&who)),
        (
            "run",
            format!(
                "{}{shard} over {}, seed {}{strict}",
                count(info.cases, "case", "cases"),
                info.transport,
                info.seed
            ),
        ),
    ];
    for (label, text) in rows {
        for (at, line) in wrap(&text, page.width - 8).iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            out.push_str(&format!("{}{line}\n", paint(palette.dim, &pad(label, 8))));
        }
    }
    out
}

/// Every case in a line (`--verbose`).
fn roll(judged: &[Judged], page: &Page) -> String {
    let palette = page.palette;
    let mut out = String::new();
    for one in judged {
        let (word, style) = standing_words(&one.standing, page);
        let took = span_ms(one.took_ms);
        let room = page.width - 22 - 10;
        out.push_str(&format!(
            "{}{}{}\n",
            paint(style, &pad(&word.to_lowercase(), 22)),
            pad(&cut(one.case.id(), room), room),
            paint(palette.dim, &format!("{took:>10}"))
        ));
        for note in &one.case.verdict.notes {
            for line in wrap(&harmless(note), page.width - 24) {
                out.push_str(&format!("{}{}\n", pad("", 24), paint(palette.dim, &line)));
            }
        }
    }
    out
}
