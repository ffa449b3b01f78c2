//! Raw streams: events against lines.

use super::{
    Trial, stream,
    trial::{breaks, breaks_at, right},
};
use crate::{
    contract::Level,
    judge::Verdict,
    observed::{ErrorReport, JobResult},
};
use serde_json::json;

fn raw(steps: &str) -> String {
    stream(steps).replace("\"follow\"", "\"connect\"")
}

const WHOLE: &str = "{ send = \"rest\" }, { end = \"chunk\" }";

fn data(trial: Trial, seq: u64) -> Trial {
    let text = ["", "b25lCg==", "dHdvCg==", "dGhyZWUK"][usize::try_from(seq).unwrap()];
    trial.event(
        json!({ "kind": "data", "seq": seq.to_string(), "stream": "stdout", "data_base64": text }),
    )
}

fn exit(trial: Trial) -> Trial {
    trial.event(json!({ "kind": "exit", "exit_code": 0, "signal": null }))
}

fn ended(trial: Trial) -> Verdict {
    trial.answers(JobResult {
        outcome: "ended".to_owned(),
        ..JobResult::default()
    })
}

fn errored(trial: Trial, status: Option<u16>) -> Verdict {
    trial.fails(ErrorReport {
        kind: "http-error".to_owned(),
        http_status: status,
        ..ErrorReport::default()
    })
}

fn all(trial: Trial) -> Trial {
    exit((1..=3).fold(trial, data))
}

#[test]
fn every_event_is_handed_over_once_and_in_order() {
    right(&ended(all(Trial::of(&raw(WHOLE)).connect(0))));
    let without_two = exit(data(data(Trial::of(&raw(WHOLE)).connect(0), 1), 3));
    breaks(&ended(without_two), "raw/faithful");
    let twice = exit((1..=3).fold(data(Trial::of(&raw(WHOLE)).connect(0), 1), data));
    breaks(&ended(twice), "raw/faithful");
    let early = (1..=3).fold(Trial::of(&raw(WHOLE)).connect(0), data);
    breaks(&ended(early), "raw/exit-visible");
}

#[test]
fn the_cursor_asked_for_is_sent() {
    let trial = Trial::of(&raw(WHOLE))
        .connect(0)
        .but(|exchange| exchange.request.query.clear());
    breaks(&ended(all(trial)), "raw/after-param");
}

#[test]
fn a_broken_transport_is_an_error() {
    let text = raw("{ send = \"..2\" }, { end = \"reset\" }");
    let trial = || data(Trial::of(&text).connect(0), 1);
    right(&errored(trial(), None));
    right(&errored(data(trial(), 2), None));
    breaks(&ended(data(trial(), 2)), "raw/truncation-visible");
}

#[test]
fn a_broken_stream_is_not_started_again() {
    let text = raw("{ send = \"..2\" }, { end = \"reset\" }");
    let again = data(data(Trial::of(&text).connect(0), 1), 2).connect(0);
    assert!(super::trial::broken(&ended(all(again))).contains(&"raw/no-hidden-retry"));
}

#[test]
fn a_clean_end_without_an_exit_shows_no_exit() {
    let text = raw("{ send = \"..2\" }, { end = \"chunk\" }");
    let trial = || data(data(Trial::of(&text).connect(0), 1), 2);
    right(&ended(trial()));
    breaks(&ended(exit(trial())), "raw/faithful");
}

#[test]
fn what_is_no_object_is_an_error() {
    let text =
        raw("{ send = 1 }, { line = \"nonsense\" }, { send = \"rest\" }, { end = \"chunk\" }");
    right(&errored(data(Trial::of(&text).connect(0), 1), None));
    breaks(
        &ended(all(Trial::of(&text).connect(0))),
        "raw/invalid-visible",
    );
    breaks(
        &ended(data(Trial::of(&text).connect(0), 1)),
        "raw/invalid-visible",
    );
}

#[test]
fn bad_base64_never_becomes_other_bytes() {
    let text =
        raw("{ send = 1 }, { send = 2, with = { data_base64 = \"dHdvCg\" } }, { end = \"chunk\" }");
    right(&errored(data(Trial::of(&text).connect(0), 1), None));
    let lenient = data(data(Trial::of(&text).connect(0), 1), 2);
    breaks(&ended(lenient), "raw/base64-visible");
}

#[test]
fn an_error_frame_is_visible() {
    let text = raw("{ send = 1 }, { error = \"boom\" }, { end = \"chunk\" }");
    right(&errored(data(Trial::of(&text).connect(0), 1), None));
    let event =
        data(Trial::of(&text).connect(0), 1).event(json!({ "kind": "error", "error": "boom" }));
    right(&ended(event));
    breaks(
        &ended(data(Trial::of(&text).connect(0), 1)),
        "raw/error-frame-visible",
    );
}

#[test]
fn an_unknown_event_is_not_dropped() {
    let text = raw("{ frame = { type = \"log\" } }, { send = \"rest\" }, { end = \"chunk\" }");
    let other = Trial::of(&text)
        .connect(0)
        .event(json!({ "kind": "other" }));
    right(&ended(all(other)));
    breaks_at(
        &ended(all(Trial::of(&text).connect(0))),
        "raw/unknown-visible",
        Level::Should,
    );
}

#[test]
fn a_status_is_told() {
    let text = raw(WHOLE).replace(&format!("stream = [{WHOLE}]"), "status = 404");
    right(&errored(Trial::of(&text).connect(0), Some(404)));
    breaks(
        &errored(Trial::of(&text).connect(0), Some(500)),
        "raw/status-visible",
    );
    breaks(
        &errored(Trial::of(&text).connect(0), None),
        "raw/status-visible",
    );
    breaks(&ended(Trial::of(&text).connect(0)), "raw/status-visible");
}

#[test]
fn numbers_keep_their_digits() {
    let text = raw("{ send = 1, with = { seq = 9007199254740991 } }, { end = \"chunk\" }");
    let event = |seq: &str| {
        Trial::of(&text).connect(0).event(json!({
            "kind": "data", "seq": seq, "stream": "stdout", "data_base64": "b25lCg=="
        }))
    };
    right(&ended(event("9007199254740991")));
    breaks(&ended(event("9007199254740992")), "raw/faithful");
}
