//! Uploads and downloads: what was asked, and what the client made of the answer.

use super::{
    Trial,
    trial::{breaks, breaks_at, right, status},
};
use crate::{
    contract::Level,
    judge::CheckStatus,
    observed::{ErrorReport, JobResult, Reply},
};
use fake_server::wire::Blob;

const EXACT: &str = "files/exact";

fn upload(fault: &str) -> Trial {
    Trial::of(&format!(
        r#"
title = "t"
op = "upload"
[job]
path = "/a b"
data = "one, two"
{fault}
"#
    ))
    .about(&[EXACT])
}

fn download(fault: &str) -> Trial {
    Trial::of(&format!(
        r#"
title = "t"
op = "download"
[job]
path = "/a b"
[[file]]
path = "/a b"
text = "one, two"
{fault}
"#
    ))
    .about(&[EXACT])
}

/// A fault of every download.
fn every(rest: &str) -> Trial {
    download(&format!(
        "[[fault]]\non = \"get-file\"\nattempt = \"every\"\n{rest}"
    ))
}

#[test]
fn a_file_goes_up_and_comes_down_as_it_is() {
    right(&upload("").put("one, two").ok(None));
    right(&download("").get().ok(Some("one, two")));
    breaks(&download("").get().ok(Some("one, tw")), EXACT);
    breaks(&download("").get().ok(None), EXACT);
    breaks(&download("").get().error("transport"), EXACT);
    breaks(&upload("").put("one, two").error("http-error"), EXACT);
}

#[test]
fn other_bytes_on_the_wire_are_seen_whatever_the_client_says() {
    breaks(&upload("").put("one, tw").ok(None), EXACT);
    breaks(&upload("").put("").error("transport"), EXACT);
    let elsewhere = upload("").put("one, two").but(|exchange| {
        exchange.request.query = vec![("path".to_owned(), "/a+b".to_owned())];
    });
    breaks(&elsewhere.ok(None), EXACT);
}

#[test]
fn what_was_never_asked_is_not_done() {
    breaks(&upload("").ok(None), EXACT);
    breaks(&download("").ok(Some("one, two")), EXACT);
}

#[test]
fn a_body_that_broke_off_is_a_failure_that_leaves_nothing() {
    let cut = || every("stream = [{ text = \"one, \" }, { end = \"fin\" }]").get();
    right(&cut().error("transport"));
    right(&cut().error("invalid-response"));
    breaks(&cut().ok(Some("one, ")), EXACT);
    breaks(&cut().error("http-error"), EXACT);
    let partial = cut().answers(JobResult {
        outcome: "error".to_owned(),
        error: Some(ErrorReport {
            kind: "transport".to_owned(),
            ..ErrorReport::default()
        }),
        data: Some(Blob::from("one, ")),
        ..JobResult::default()
    });
    breaks(&partial, EXACT);
}

#[test]
fn a_length_that_lies_is_noticed_where_it_can_be() {
    let short = || every("content-length = \"+4\"").get();
    right(&short().error("transport"));
    breaks(&short().ok(Some("one, two")), EXACT);
    // Bytes beyond the length belong to nothing; not every library tells of them.
    let long = || every("content-length = \"-3\"").get();
    right(&long().error("transport"));
    right(&long().ok(Some("one, ")));
    breaks(&long().ok(Some("one, two")), EXACT);
}

#[test]
fn a_coded_file_is_decoded_exactly_or_refused() {
    let coded = || every("encoding = { coding = \"gzip\" }").get();
    right(&coded().ok(Some("one, two")));
    right(&coded().error("transport"));
    breaks(&coded().ok(Some("\u{1f}coded")), EXACT);
    let cut = || every("encoding = { coding = \"gzip\", cut = 4 }").get();
    right(&cut().error("invalid-response"));
    breaks(&cut().ok(Some("one, two")), EXACT);
}

#[test]
fn a_page_is_no_file_and_plain_json_may_be_one() {
    let page = || every("status = 200\nbody = { text = \"<html>\" }").get();
    right(&page().error("invalid-response"));
    right(&page().error("http-error"));
    breaks(&page().ok(Some("<html>")), EXACT);
    let json = || every("body = { json = { a = 1 } }").get();
    right(&json().ok(Some("{\"a\":1}")));
    right(&json().error("invalid-response"));
    let refusal = || every("body = { json = { status = \"fail\" } }").get();
    right(&refusal().error("invalid-response"));
    breaks(&refusal().ok(Some("{\"status\":\"fail\"}")), EXACT);
}

#[test]
fn a_refusal_is_told_with_its_status() {
    let told = |status| ErrorReport {
        kind: "http-error".to_owned(),
        http_status: Some(status),
        ..ErrorReport::default()
    };
    let gone = || every("status = 404").get();
    right(&gone().fails(told(404)));
    breaks(&gone().fails(told(500)), EXACT);
    breaks(&gone().ok(Some("")), EXACT);
}

#[test]
fn only_an_envelope_of_that_size_proves_an_upload() {
    let answered = |rest: &str| {
        upload(&format!(
            "[[fault]]\non = \"put-file\"\nattempt = \"every\"\n{rest}"
        ))
        .put("one, two")
    };
    for unproven in [
        "data = { bytes = 7 }",
        "body = { text = \"<html>\" }",
        "body = { json = { status = \"fail\" } }",
        "status = 200\nstream = [{ text = '{\"status\"' }, { end = \"reset\" }]",
    ] {
        right(&answered(unproven).error("invalid-response"));
        breaks(&answered(unproven).ok(None), EXACT);
    }
    // No body at all neither proves nor denies it; other fields are free.
    for open in [
        "status = 204",
        "data = { bytes = \"many\" }",
        "body = { text = '{\"status\":\"success\",\"data\":null}' }",
        "body = { json = { status = \"success\" } }",
    ] {
        right(&answered(open).error("invalid-response"));
        right(&answered(open).ok(None));
    }
    let silent = "without = [\"bytes\", \"path\"]";
    right(&answered(silent).ok(None));
}

#[test]
fn an_upload_may_be_repeated_with_the_same_bytes_alone() {
    let once = || {
        upload("[[fault]]\non = \"put-file\"\nattempt = 1\nstatus = 503\n")
            .about(&[EXACT, "files/put-again"])
            .put("one, two")
    };
    right(&once().put("one, two").ok(None));
    let empty = once().put("").ok(None);
    assert_eq!(status(&empty, "files/put-again"), CheckStatus::Fail);
    assert_eq!(empty.violations[0].level, Level::Must);
    // Who does not repeat it has shown nothing of that, and has nothing to show.
    let gave_up = once().error("http-error");
    assert_eq!(status(&gave_up, EXACT), CheckStatus::Pass);
    assert_eq!(
        status(&gave_up, "files/put-again"),
        CheckStatus::NotApplicable
    );
}

#[test]
fn a_transfer_that_stands_still_is_ended_by_the_deadline_alone() {
    let still = |timeout: &str| {
        let mut trial = every("stream = [{ text = \"one, \" }, { end = \"hold\" }]");
        trial.plan.job.timeout_ms = timeout.parse().ok();
        trial
    };
    let timed_out = |trial: Trial| trial.outcome("timed-out", "");
    right(&timed_out(still("500").get()));
    breaks(&timed_out(still("").get()), EXACT);
    breaks_at(&still("500").get().error("transport"), EXACT, Level::Must);
    // Nothing ends it: whoever waits is right.
    right(
        &still("")
            .get()
            .but(|exchange| {
                exchange.client_closed_us = None;
                exchange.open = true;
            })
            .replies(Reply::Silent),
    );
}

#[test]
fn a_deadline_that_is_over_before_its_time_is_none() {
    let mut trial = download("");
    trial.plan.job.timeout_ms = Some(5_000);
    let verdict = trial.get().outcome("timed-out", "");
    assert!(
        verdict
            .violations
            .iter()
            .any(|one| one.requirement == "time/deadline"),
        "{verdict:#?}"
    );
}
