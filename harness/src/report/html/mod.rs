//! One HTML file that holds everything: runs of one or several clients as a matrix, failures as stories, each case as a
//! sequence diagram. It opens without a network.
//!
//! Whatever a client or a scenario says goes into the page as data, in a block that nothing can end early, and from there
//! by `textContent` only: there is no way from hostile bytes to markup. What is written here directly is escaped.

use super::record::{Record, Told};
use crate::{
    contract::{self, AREAS},
    report::line::{CaseLine, Moment},
    standing::Standing,
};
use serde::Serialize;
use serde_json::{Value, json};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What a row of a case needs.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    title: &'a str,
    why: &'a str,
    #[serde(flatten)]
    standing: &'a Standing,
    took_ms: u64,
    seed: u64,
    checks: Vec<Value>,
    violations: &'a [crate::judge::Violation],
    notes: &'a [String],
    expected: &'a [String],
    replay: &'a str,
    timeline: &'a [Moment],
}

/// The page of these runs.
#[must_use]
pub fn report(records: &[Record]) -> String {
    let headline: Vec<String> = records
        .iter()
        .map(|record| format!("{} {}.", record.client(), record.verdict()))
        .collect();
    let title = match records {
        [one] => format!("{}: CreateOS client conformance", one.client()),
        several => format!("{} clients: CreateOS client conformance", several.len()),
    };
    let lines: String = headline
        .iter()
        .map(|line| format!("<p>{}</p>", escaped(line)))
        .collect();
    // One pass over the template's marks, so that nothing that is filled in is searched for marks again.
    let mut page = String::new();
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let Some((mark, after)) = after.split_once("}}") else {
            break;
        };
        match mark {
            "title" => page.push_str(&escaped(&title)),
            "verdict" => page.push_str(&lines),
            "style" => page.push_str(STYLE),
            "script" => page.push_str(SCRIPT),
            "data" => page.push_str(&data(records)),
            _ => {}
        }
        rest = after;
    }
    page.push_str(rest);
    page
}

/// JSON that may stand in a script element: `<` begins neither an end tag nor a comment in it.
fn data(records: &[Record]) -> String {
    let mut named: Vec<&str> = records
        .iter()
        .flat_map(|record| &record.cases)
        .flat_map(|case| &case.checks)
        .map(|check| check.requirement.as_str())
        .collect();
    named.sort_unstable();
    named.dedup();
    let known = contract::registry()
        .iter()
        .filter(|one| named.binary_search(&one.id).is_ok())
        .map(|one| json!({ "id": one.id, "level": one.level, "sentence": one.sentence }));
    let foreign = named
        .iter()
        .filter(|id| contract::requirement(id).is_none())
        .map(|id| json!({ "id": id, "level": "must", "sentence": "" }));
    let requirements: Vec<Value> = known.chain(foreign).collect();
    let areas: Vec<Value> = AREAS
        .iter()
        .map(|area| json!({ "name": area.name, "title": area.title }))
        .collect();
    let runs: Vec<Value> = records.iter().map(run).collect();
    json!({ "requirements": requirements, "areas": areas, "runs": runs })
        .to_string()
        .replace('<', "\\u003c")
}

fn run(record: &Record) -> Value {
    let rows: Vec<Row<'_>> = record.cases.iter().map(|case| row(record, case)).collect();
    json!({
        "client": record.client(),
        "language": record.run.client.language,
        "suite": record.run.suite,
        "digest": record.run.digest,
        "seed": record.run.seed,
        "strict": record.run.strict,
        "transport": record.run.transport,
        "selected": record.run.cases,
        "took_ms": record.summary.as_ref().map(|one| one.summary.took_ms),
        "exit": record.summary.as_ref().map(|one| &one.exit),
        "cases": rows,
    })
}

fn row<'a>(record: &Record, case: &'a CaseLine) -> Row<'a> {
    let checks = case
        .checks
        .iter()
        .map(|check| {
            let told = match record.told(case, check) {
                Told::Passed => "passed",
                Told::Failed => "failed",
                Told::Known(_) => "known",
                Told::Remark => "remark",
                Told::NotApplicable => "not-applicable",
                Told::NotJudged(_) | Told::Behind(_) => "not-judged",
            };
            json!([check.requirement, told, check.reason])
        })
        .collect();
    Row {
        id: &case.id,
        title: &case.title,
        why: &case.why,
        standing: &case.standing,
        took_ms: case.took_ms,
        seed: case.seed,
        checks,
        violations: &case.violations,
        notes: &case.notes,
        expected: &case.expected,
        replay: &case.replay,
        timeline: &case.timeline,
    }
}

/// Text as HTML shows it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
