//! docs/sdks.md: its figures and its yes and no are what the manifests of the public SDKs and the suite say. That the
//! manifests are right, the runs of the SDKs show.

#![expect(
    clippy::disallowed_methods,
    reason = "tests read a page, and write its table when they are asked to"
)]

use fake_server::script::model::Plan;
use harness::{
    client::manifest::{Manifest, ProfileKeys},
    contract::{AREAS, applicable, area_of, registry},
    profile::Promises,
    select::Pattern,
    standing::KnownFailures,
    suite::{Suite, embedded},
};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// The SDKs in the order of the page's columns: how it calls them, their folder, and the file and the words that pin their version.
const SDKS: [(&str, &str, &str, &str); 3] = [
    (
        "Python",
        "python-sdk",
        "requirements.txt",
        "createos-sandbox==",
    ),
    (
        "TypeScript",
        "ts-sdk",
        "package.json",
        "\"@nodeops-createos/sandbox\": \"",
    ),
    ("Rust", "rust-sdk", "Cargo.toml", "createos = "),
];
const BEGIN: &str = "<!-- results: written by `INSTA_UPDATE=always cargo test -p createos-conformance --test sdks` -->\n";
const END: &str = "<!-- end of results -->\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/sdks.md")).expect("docs/sdks.md")
}

/// An SDK as its manifest tells of it.
struct Sdk {
    promises: Promises,
    known: KnownFailures,
}

impl Sdk {
    fn of(folder: &str, plans: &[Plan]) -> Self {
        let manifest = Manifest::read(&root().join("clients").join(folder))
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(
            manifest.capabilities.is_some(),
            "{folder}: without its hello only the manifest says what it can"
        );
        let ids: Vec<&str> = plans.iter().map(|plan| plan.id.as_str()).collect();
        let requirements: Vec<&str> = registry().iter().map(|known| known.id).collect();
        Self {
            known: KnownFailures::find(&manifest.known_failures, &ids, &requirements)
                .unwrap_or_else(|error| panic!("{folder}: {error}")),
            promises: manifest.promises(None, ProfileKeys::default()),
        }
    }

    fn is_asked(&self, plan: &Plan) -> bool {
        applicable(plan, &self.promises).is_ok()
    }

    fn admits(&self, plan: &Plan) -> bool {
        self.is_asked(plan) && !self.known.entries_of(&plan.id).is_empty()
    }

    /// The word of the page for the cases of a pattern.
    fn word(&self, cases: &[&Plan]) -> &'static str {
        if cases.iter().any(|plan| self.admits(plan)) {
            "yes"
        } else if cases.iter().any(|plan| self.is_asked(plan)) {
            "no"
        } else {
            "-"
        }
    }
}

/// Every case of the embedded suite.
fn plans() -> Vec<Plan> {
    let suite = Suite::load(&[embedded()]).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    suite.plans(1).collect()
}

fn sdks(plans: &[Plan]) -> Vec<Sdk> {
    SDKS.iter()
        .map(|(_, folder, ..)| Sdk::of(folder, plans))
        .collect()
}

/// Per area and SDK: what passes, of what is asked.
fn results(plans: &[Plan], sdks: &[Sdk]) -> String {
    let mut areas: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    for plan in plans {
        let row = areas
            .entry(area_of(&plan.id))
            .or_insert_with(|| vec![(0, 0); sdks.len()]);
        for (cell, sdk) in row.iter_mut().zip(sdks) {
            cell.0 += usize::from(sdk.is_asked(plan) && !sdk.admits(plan));
            cell.1 += usize::from(sdk.is_asked(plan));
        }
    }
    let mut table = String::from("| area |");
    for (name, ..) in SDKS {
        write!(table, " {name} |").unwrap();
    }
    table.push_str("\n|---|---|---|---|\n");
    let mut total = vec![(0, 0); sdks.len()];
    let mut line = |name: &str, row: &[(usize, usize)]| {
        write!(table, "| {name} |").unwrap();
        for (passed, asked) in row {
            match asked {
                0 => table.push_str(" - |"),
                asked => write!(table, " {passed} of {asked} |").unwrap(),
            }
        }
        table.push('\n');
    };
    for area in AREAS {
        let Some(row) = areas.get(area.name) else {
            continue;
        };
        for (sum, cell) in total.iter_mut().zip(row) {
            sum.0 += cell.0;
            sum.1 += cell.1;
        }
        if row.iter().any(|(_, asked)| *asked > 0) {
            line(area.name, row);
        }
    }
    line("all", &total);
    table
}

/// A line about something that SDKs do, with what the manifests say of each in its place; and the words themselves.
fn told(line: &str, plans: &[Plan], sdks: &[Sdk]) -> Option<(String, Vec<&'static str>)> {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [what, seen, words @ .., sure] = cells.as_slice() else {
        return None;
    };
    let pattern = Pattern::new(seen.strip_prefix('`')?.strip_suffix('`')?);
    let cases: Vec<&Plan> = plans
        .iter()
        .filter(|plan| pattern.matches(&plan.id))
        .collect();
    assert!(!cases.is_empty(), "{what}: {seen} is no case");
    assert_eq!(words.len(), sdks.len(), "{what}: a word for each SDK");
    assert!(
        ["sure", "by choice", "open"].contains(sure),
        "{what}: {sure}"
    );
    let words: Vec<&str> = sdks.iter().map(|sdk| sdk.word(&cases)).collect();
    let line = format!("| {what} | {seen} | {} | {sure} |", words.join(" | "));
    Some((line, words))
}

#[test]
fn the_page_says_what_the_manifests_say() {
    let plans = plans();
    let sdks = sdks(&plans);
    let page = page();
    let (before, rest) = page.split_once(BEGIN).expect("where the table begins");
    let (_, after) = rest.split_once(END).expect("where the table ends");
    let table = results(&plans, &sdks);
    let mut right = format!("{before}{BEGIN}{table}{END}");
    let mut lines = 0;
    for line in after.lines() {
        if let Some((line, words)) = told(line, &plans, &sdks) {
            assert!(words.contains(&"yes"), "nobody does it any more: {line}");
            right.push_str(&line);
            lines += 1;
        } else {
            right.push_str(line);
        }
        right.push('\n');
    }
    assert!(lines >= 10, "only {lines} lines were read");
    if std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always") {
        std::fs::write(root().join("docs/sdks.md"), right).expect("docs/sdks.md is written");
    } else {
        assert_eq!(
            page, right,
            "docs/sdks.md: `INSTA_UPDATE=always cargo test -p createos-conformance --test sdks` writes it"
        );
    }
}

#[test]
fn the_versions_are_those_that_are_pinned() {
    let page = page();
    for (name, folder, file, pin) in SDKS {
        let text = std::fs::read_to_string(root().join("clients").join(folder).join(file))
            .unwrap_or_else(|error| panic!("{folder}/{file}: {error}"));
        let (_, rest) = text
            .split_once(pin)
            .unwrap_or_else(|| panic!("{folder}/{file} pins it"));
        let version: String = rest
            .trim_start_matches(|c: char| !c.is_ascii_digit())
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '.')
            .collect();
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| {name}, ")))
            .unwrap_or_else(|| panic!("{name} stands in the page"));
        assert!(
            row.contains(&format!("| {version} |")),
            "{name} is pinned at {version}: {row}"
        );
    }
}
