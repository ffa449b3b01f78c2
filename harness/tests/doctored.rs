//! Nobody is told "pass" about something that was not exercised: clients that cheat, give up or look away are judged by
//! the whole suite, and what passes is what they earned.

use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::Path,
    process::Command,
};

/// The status of every check of a run, by case and requirement, and how the run ended.
struct Judged {
    checks: BTreeMap<(String, String), String>,
    code: Option<i32>,
}

impl Judged {
    fn with_status(&self, status: &str) -> BTreeSet<&str> {
        let of_it = self.checks.iter().filter(|(_, is)| *is == status);
        of_it
            .map(|((_, requirement), _)| requirement.as_str())
            .collect()
    }
}

fn judged(how: &str) -> Judged {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/doctored/client.py");
    let manifest = folder.path().join("client.toml");
    let text = format!(
        "name = \"{how}\"\nmode = \"adapter\"\ncommand = [\"python3\", \"{}\", \"{how}\"]\n",
        program.display()
    );
    #[expect(
        clippy::disallowed_methods,
        reason = "a test writes the manifest it needs"
    )]
    std::fs::write(&manifest, text).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_createos-conformance"))
        .args(["run", "--json", "--client"])
        .arg(&manifest)
        .output()
        .expect("the program runs");
    let mut checks = BTreeMap::new();
    for line in String::from_utf8(output.stdout).expect("UTF-8").lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let (Some(id), Some(list)) = (event["id"].as_str(), event["checks"].as_array()) else {
            continue;
        };
        for check in list {
            let text = |key: &str| check[key].as_str().expect("text").to_owned();
            checks.insert((id.to_owned(), text("requirement")), text("status"));
        }
    }
    assert!(
        checks.len() > 900,
        "only {} checks: {}",
        checks.len(),
        String::from_utf8_lossy(&output.stderr)
    );
    Judged {
        checks,
        code: output.status.code(),
    }
}

/// Passes with the cases that gave them, for a message.
fn passes(judged: &Judged) -> String {
    let mut text = String::new();
    for ((case, requirement), _) in judged.checks.iter().filter(|(_, status)| *status == "pass") {
        let _ = writeln!(text, "{requirement}  {case}");
    }
    text
}

#[test]
fn a_client_that_never_connects_passes_nothing() {
    let judged = judged("never-connects");
    assert_eq!(passes(&judged), "");
    assert_eq!(judged.code, Some(1));
}

#[test]
fn a_client_that_always_fails_passes_nothing() {
    let judged = judged("always-an-error");
    assert_eq!(passes(&judged), "");
    assert_eq!(judged.code, Some(1));
}

#[test]
fn a_client_that_always_says_its_time_is_over_passes_nothing() {
    let judged = judged("always-timed-out");
    assert_eq!(passes(&judged), "");
    assert_eq!(judged.code, Some(1));
}

#[test]
fn a_client_that_looks_once_and_guesses_has_earned_its_first_cursor_only() {
    let judged = judged("peeks");
    let earned = judged.with_status("pass");
    // The last two by `raw/empty-stream` alone: that nothing came and the body ended is the truth there.
    let may = BTreeSet::from([
        "stream/first-cursor",
        "stream/authenticated",
        "raw/after-param",
        "raw/no-hidden-retry",
        "raw/truncation-visible",
    ]);
    assert!(earned.is_subset(&may), "{}", passes(&judged));
    assert_eq!(judged.code, Some(1));
}
