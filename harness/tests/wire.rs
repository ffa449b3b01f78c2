//! What crosses the wire between the reference client and every scenario: the same over sockets as in memory, and the
//! same as the snapshot beside it, on every machine.

mod support;

use fake_server::wirelog::canonical;
use harness::{client::reference::Reference, judge::CheckStatus, summary::Judged};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::{Path, PathBuf},
};
use support::{judged, plans};

/// Lines that a snapshot shows of one case; the rest is counted. The comparison of transports sees all of them.
const MOST_LINES: usize = 120;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots/wire")
}

/// The canonical wire log and the verdict of one case, in words.
fn told(one: &Judged) -> String {
    let mut text = one
        .case
        .trial
        .as_ref()
        .map_or_else(String::new, |trial| canonical(&trial.log, &one.case.plan));
    // The first line names the instance; without it instances with one text are seen to be the same.
    text = text
        .split_once('\n')
        .map_or_else(String::new, |(_, rest)| rest.to_owned());
    for check in &one.case.verdict.checks {
        let status = match check.status {
            CheckStatus::Pass => "pass",
            CheckStatus::Fail => "FAIL",
            CheckStatus::NotApplicable => "not applicable",
            CheckStatus::NotExercised => "NOT EXERCISED",
            CheckStatus::AdapterError => "ADAPTER ERROR",
            CheckStatus::HarnessError => "HARNESS ERROR",
        };
        let reason = if check.reason.is_empty() {
            String::new()
        } else {
            format!(": {}", check.reason)
        };
        let _ = writeln!(text, "{status}  {}{reason}", check.requirement);
    }
    text
}

fn shortened(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let Some(more) = lines.len().checked_sub(MOST_LINES).filter(|more| *more > 0) else {
        return text.to_owned();
    };
    let kept = lines[..MOST_LINES].join("\n");
    format!("{kept}\n... {more} more lines\n")
}

/// The text of every case, by scenario and instance, in order.
fn all(in_memory: bool) -> BTreeMap<String, Vec<(String, String)>> {
    let plans = plans();
    let (judged, ..) = judged(&plans, Reference::conformant(), in_memory);
    let mut scenarios: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for one in &judged {
        let id = one.case.id();
        let instance = id
            .strip_prefix(one.case.scenario())
            .unwrap_or(id)
            .to_owned();
        scenarios
            .entry(one.case.scenario().to_owned())
            .or_default()
            .push((instance, told(one)));
    }
    scenarios
}

#[test]
fn every_scenario_looks_the_same_over_sockets_and_in_memory() {
    let (sockets, memory) = (all(false), all(true));
    let mut different = String::new();
    for (scenario, cases) in &sockets {
        for ((instance, over_sockets), (_, in_memory)) in cases.iter().zip(&memory[scenario]) {
            if over_sockets != in_memory {
                let _ = writeln!(
                    different,
                    "{scenario}{instance}\n-- sockets\n{over_sockets}-- memory\n{in_memory}"
                );
            }
        }
    }
    assert_eq!(sockets.len(), memory.len());
    assert!(different.is_empty(), "{different}");
}

#[test]
fn the_wire_of_every_scenario_is_as_it_was() {
    let folder = folder();
    let mut kept = BTreeSet::new();
    for (scenario, cases) in all(true) {
        // Instances with one text are told once.
        let mut texts: Vec<(Vec<String>, String)> = Vec::new();
        for (instance, text) in cases {
            let text = shortened(&text);
            match texts.iter_mut().find(|(_, known)| *known == text) {
                Some((instances, _)) => instances.push(instance),
                None => texts.push((vec![instance], text)),
            }
        }
        let mut text = String::new();
        for (instances, one) in texts {
            if instances != [""] {
                let _ = writeln!(text, "== {}", instances.join(" "));
            }
            text.push_str(&one);
            text.push('\n');
        }
        let (area, name) = scenario.split_once('/').expect("area/name");
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(folder.join(area));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, text));
        kept.insert(folder.join(area).join(format!("{name}.snap")));
    }
    let areas = std::fs::read_dir(&folder).expect("snapshots/wire");
    let forgotten: Vec<PathBuf> = areas
        .flat_map(|area| std::fs::read_dir(area.expect("an entry").path()).expect("a folder"))
        .map(|file| file.expect("an entry").path())
        .filter(|file| !kept.contains(file))
        .collect();
    assert!(
        forgotten.is_empty(),
        "snapshots of scenarios that are gone: {forgotten:?}"
    );
}
