//! `run --verify-stability`: a client or a suite that is not the same each time is found, one that is, is told so.

mod support;

use harness::{
    client::reference::{Bug, Reference},
    exit::Exit,
    report::{stability::report, text::Page},
    stability::{Aspect, Stability},
};
use serde_json::Value;
use std::{path::Path, process::Command};
use support::{judged, plans};

/// A few cases of every kind: with reconnects, deadlines, a cleanup, raw events.
const SAMPLE: [&str; 5] = [
    "stream/drop-and-resume",
    "stream/healthy-follow",
    "cleanup/*",
    "time/*",
    "raw/*",
];

/// Exit code and standard output.
fn ran(words: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_createos-conformance"))
        .args(words)
        .output()
        .expect("the binary under test starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    (output.status.code(), text)
}

/// A manifest of `doctored/flaky.py`.
fn flaky(folder: &Path, how: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = folder.join("client.toml");
    let text = format!(
        "name = \"{how}\"\nmode = \"adapter\"\ncommand = [\"python3\", {:?}, \"{how}\", {:?}]\n",
        root.join("tests/doctored/flaky.py"),
        root.join("../clients/python-follow/adapter.py"),
    );
    #[expect(
        clippy::disallowed_methods,
        reason = "a test writes the manifest it needs"
    )]
    std::fs::write(&manifest, text).expect("written");
    manifest.display().to_string()
}

#[test]
fn a_client_that_is_wrong_every_second_time_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = flaky(folder.path(), "wrong-status");
    let case = "stream/healthy-follow";
    let (code, text) = ran(&[
        "run",
        "--client",
        &manifest,
        "--verify-stability",
        "3",
        case,
    ]);
    assert_eq!(code, Some(1), "{text}");
    for words in [
        "1 passed",
        "UNSTABLE verdict of stream/healthy-follow",
        "2 of 4 trials as the first, 2 as in repeat 1",
        "3 repeats each: UNSTABLE, 1 verdict changed",
        "\nexit 1: ",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn a_wire_that_changes_is_found_where_no_verdict_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = flaky(folder.path(), "looks-first");
    let case = "stream/healthy-follow";
    let mut words = vec![
        "run",
        "--client",
        &manifest,
        "--verify-stability",
        "2",
        "--json",
        "--strict",
        case,
    ];
    let (code, text) = ran(&words);
    assert_eq!(code, Some(1), "{text}");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let kinds: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["type"].as_str())
        .collect();
    assert_eq!(kinds, ["run", "case", "summary", "stability"]);
    let told = &lines[3];
    assert_eq!(told["exit"]["code"], 1, "{told}");
    let unstable = told["stability"]["unstable"].as_array().expect("a list");
    assert_eq!(unstable.len(), 1, "{told}");
    assert_eq!(unstable[0]["aspect"], "wire-log");
    let times: Vec<_> = unstable[0]["variants"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|variant| variant["times"].as_u64())
        .collect();
    assert_eq!(times, [Some(2), Some(1)], "{told}");
    let difference = unstable[0]["difference"].as_str().expect("text");
    assert!(difference.contains("+  get-process 1"), "{difference}");

    // What a client may do is told, and is no failure.
    words.retain(|word| !["--json", "--strict"].contains(word));
    let (code, text) = ran(&words);
    assert_eq!(code, Some(0), "{text}");
    for words in [
        "changed wire log of stream/healthy-follow",
        "no verdict changed; 1 wire log did",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn the_reference_client_is_the_same_each_time() {
    for transport in [None, Some("--in-memory")] {
        let mut words = vec!["run", "--verify-stability", "2"];
        words.extend(transport);
        words.extend(SAMPLE);
        let (code, text) = ran(&words);
        assert_eq!(code, Some(0), "{text}");
        assert!(
            text.replace('\n', " ")
                .contains("2 repeats each: no verdict and no wire log changed"),
            "{text}"
        );
    }
}

#[test]
fn what_changed_is_told_once_and_how_often_each_variant_came() {
    let plans: Vec<_> = plans()
        .into_iter()
        .filter(|plan| {
            plan.id == "stream/drop-and-resume[how=chunk]"
                || plan.id.starts_with("stream/healthy-follow")
        })
        .collect();
    let mut stability = Stability::default();
    for bug in [
        None,
        None,
        Some(Bug::EndIsSuccess),
        None,
        Some(Bug::EndIsSuccess),
    ] {
        let client = bug.map_or_else(Reference::conformant, Reference::wrong);
        stability.add(&judged(&plans, client, true).0);
    }
    stability.add_tried_again("stream/drop-and-resume");
    let repeats = stability.repeats(4, true);
    assert!(
        [Aspect::Verdict, Aspect::WireLog]
            .iter()
            .all(|aspect| repeats.unstable.iter().any(|one| one.aspect == *aspect)),
        "{repeats:?}"
    );
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/report");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        insta::assert_snapshot!(
            "unstable",
            report(&repeats, Exit::Failed, &Page::new(80, false))
        )
    });
}
