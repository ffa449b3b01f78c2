//! What was handed over.

use super::{
    DROPPED, Trial, stream,
    trial::{breaks, right},
};
use crate::{observed::JobResult, profile::OutputForm};
use fake_server::wire::Blob;
use serde_json::json;

const ALL: &str = "one\ntwo\nthree\n";

fn exited(stdout: &[u8]) -> JobResult {
    JobResult {
        outcome: "exited".to_owned(),
        exit_code: Some(json!(0)),
        stdout: Some(Blob::from(stdout)),
        stderr: Some(Blob::default()),
        ..JobResult::default()
    }
}

#[test]
fn success_means_the_whole_output() {
    for wrong in [
        "",
        "one\n",
        "one\ntwo\n",
        "one\ntwo\nthree",
        "one\ntwo\nthree\n\n",
        "one\ntwo\nthreE\n",
    ] {
        breaks(
            &Trial::of(DROPPED).connect(0).connect(2).exited(0, wrong),
            "data/exact",
        );
    }
}

#[test]
fn repeated_frames_are_handed_over_once() {
    let text = format!(
        "{DROPPED}\n[[fault]]\non = \"connect\"\nattempt = 2\nstream = [{{ send = \"1..3\" }}, {{ send = \"rest\" }}, {{ end = \"chunk\" }}]\n"
    );
    right(&Trial::of(&text).connect(0).connect(2).exited(0, ALL));
    let doubled = "one\ntwo\none\ntwo\nthree\n";
    breaks(
        &Trial::of(&text).connect(0).connect(2).exited(0, doubled),
        "sequence/duplicate",
    );
}

#[test]
fn live_output_is_whole_and_no_more() {
    let live = |texts: &[&str]| {
        let trial = Trial::of(DROPPED)
            .connect(0)
            .live("stdout", "one\ntwo\n")
            .connect(2);
        texts
            .iter()
            .fold(trial, |trial, text| trial.live("stdout", text))
            .exited(0, ALL)
    };
    right(&live(&["three\n"]));
    breaks(&live(&[]), "data/exact");
    assert!(!live(&["two\n", "three\n"]).violations.is_empty());
}

#[test]
fn a_failure_hands_over_no_more_than_was_accepted() {
    let text = stream("{ send = 1 }, { send = 3 }, { send = \"rest\" }, { end = \"chunk\" }");
    let with = |stdout: &str| {
        Trial::of(&text).connect(0).answers(JobResult {
            outcome: "error".to_owned(),
            stdout: Some(Blob::from(stdout)),
            error: Some(crate::observed::ErrorReport {
                kind: "sequence-gap".to_owned(),
                ..Default::default()
            }),
            ..JobResult::default()
        })
    };
    for right_so in ["", "on", "one\n"] {
        right(&with(right_so));
    }
    for wrong in ["one\nthree\n", "two\n"] {
        assert!(!with(wrong).violations.is_empty(), "{wrong}");
    }
}

const BYTES: &str = r#"
title = "t"
op = "follow"
[process]
output = [{ stdout-base64 = "4oI=" }, { stderr = "e" }, { stdout-base64 = "rP8K" }]
exit = { code = 0 }
"#;

#[test]
fn bytes_arrive_as_they_are() {
    let exact = JobResult {
        stderr: Some(Blob::from("e")),
        ..exited(b"\xe2\x82\xac\xff\n")
    };
    right(&Trial::of(BYTES).connect(0).answers(exact.clone()));
    let text = JobResult {
        stdout: Some(Blob::from("€\u{fffd}\n")),
        ..exact
    };
    breaks(&Trial::of(BYTES).connect(0).answers(text), "data/exact");
}

#[test]
fn text_is_decoded_per_stream_by_promise() {
    let trial =
        || Trial::of(BYTES).promising(|promises| promises.profile.output = OutputForm::Text);
    let with = |stdout: &str| JobResult {
        stderr: Some(Blob::from("e")),
        ..exited(stdout.as_bytes())
    };
    right(&trial().connect(0).answers(with("€\u{fffd}\n")));
    let per_frame = trial()
        .connect(0)
        .answers(with("\u{fffd}\u{fffd}\u{fffd}\n"));
    assert!(!per_frame.violations.is_empty());
}

#[test]
fn a_capture_limit_keeps_the_tail_if_all_was_live() {
    let trial =
        || Trial::of(DROPPED).promising(|promises| promises.profile.max_capture_chars = Some(6));
    let live = trial()
        .connect(0)
        .live("stdout", "one\ntwo\n")
        .connect(2)
        .live("stdout", "three\n");
    right(&live.exited(0, "three\n"));
    assert!(
        !trial()
            .connect(0)
            .connect(2)
            .exited(0, "three\n")
            .violations
            .is_empty()
    );
}

#[test]
fn streams_stay_apart() {
    let mixed = JobResult {
        stderr: Some(Blob::default()),
        ..exited(b"\xe2\x82e\xac\xff\n")
    };
    let verdict = Trial::of(BYTES)
        .about(&["data/streams"])
        .connect(0)
        .answers(mixed);
    breaks(&verdict, "data/streams");
}
