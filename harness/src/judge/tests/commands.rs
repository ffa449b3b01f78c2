//! One-shot commands: run once, and no success without an exit code.

use super::{
    Trial,
    trial::{breaks, breaks_at, right},
};
use crate::{contract::Level, observed::JobResult};
use fake_server::wire::Blob;
use serde_json::{Value, json};

const ONCE: &str = "exec/once";
const FRAMES: &str = "exec/frames";
const COMBINED: &str = "exec/frames-combined";

fn command(op: &str, fault: &str) -> Trial {
    Trial::of(&format!(
        r#"
title = "t"
op = "{op}"
[process]
output = [{{ stdout = "one\n" }}, {{ stderr = "two\n" }}]
exit = {{ code = 3 }}
{fault}
"#
    ))
    .about(&[FRAMES])
}

fn fault(op: &str, rest: &str) -> Trial {
    command(
        op,
        &format!("[[fault]]\non = \"exec\"\nattempt = \"every\"\n{rest}"),
    )
}

/// A stream of these lines, ended so.
fn stream(lines: &[&str], end: &str) -> Trial {
    let steps: Vec<String> = lines
        .iter()
        .map(|line| format!("{{ line = '{line}' }}"))
        .collect();
    let steps = steps.join(", ");
    fault(
        "exec-stream",
        &format!("stream = [{steps}, {{ end = \"{end}\" }}]"),
    )
}

fn ran(code: Value, stdout: &str, stderr: &str) -> JobResult {
    JobResult {
        outcome: "exited".to_owned(),
        exit_code: Some(code),
        signal: Some(json!(null)),
        stdout: Some(Blob::from(stdout)),
        stderr: Some(Blob::from(stderr)),
        ..JobResult::default()
    }
}

#[test]
fn a_command_is_told_as_it_was() {
    for op in ["exec", "exec-stream"] {
        let asked = || command(op, "").exec();
        right(&asked().answers(ran(json!(3), "one\n", "two\n")));
        for wrong in [
            ran(json!(0), "one\n", "two\n"),
            ran(json!(null), "one\n", "two\n"),
            ran(json!(3), "one\n", ""),
            ran(json!(3), "one\ntwo\n", ""),
            JobResult {
                signal: Some(json!("SIGKILL")),
                ..ran(json!(3), "one\n", "two\n")
            },
        ] {
            breaks(&asked().answers(wrong), FRAMES);
        }
        breaks(&asked().error("transport"), FRAMES);
        // Whoever never asked has run nothing.
        breaks(
            &command(op, "").answers(ran(json!(3), "one\n", "two\n")),
            FRAMES,
        );
    }
}

#[test]
fn a_command_that_may_have_run_is_not_sent_again() {
    let again = |rest: &str| {
        let once = command(
            "exec",
            &format!("[[fault]]\non = \"exec\"\nattempt = 1\n{rest}"),
        );
        let twice = once.about(&[ONCE]).exec().exec();
        twice.answers(ran(json!(3), "one\n", "two\n"))
    };
    for may_have_run in [
        "status = 502",
        "status = 500",
        "reset = { at = \"body-read\" }",
        "stream = [{ text = \"{\" }, { end = \"fin\" }]",
        "body = { text = \"<html>\" }",
    ] {
        breaks(&again(may_have_run), ONCE);
    }
    for did_not in ["status = 503", "status = 429", "status = 404"] {
        right(&again(did_not));
    }
    breaks(
        &command("exec", "")
            .about(&[ONCE])
            .exec()
            .exec()
            .answers(ran(json!(3), "one\n", "two\n")),
        ONCE,
    );
}

#[test]
fn a_stream_without_an_exit_code_is_no_success() {
    for end in ["chunk", "fin", "reset", "bad-chunk"] {
        let cut = || stream(&[r#"{"stdout":"one\n"}"#], end).exec();
        right(&cut().error("stream-ended"));
        right(&cut().error("exit-status-missing"));
        breaks(&cut().answers(ran(json!(0), "one\n", "")), FRAMES);
        breaks(&cut().error("http-error"), FRAMES);
    }
    // An exit that was followed by a broken connection may not have been seen.
    let lines = &[r#"{"stdout":"one\n"}"#, r#"{"exit_code":3}"#];
    let broken = || stream(lines, "reset").exec();
    right(&broken().answers(ran(json!(3), "one\n", "")));
    right(&broken().error("transport"));
    // After a clean end there is no such freedom.
    breaks(&stream(lines, "chunk").exec().error("transport"), FRAMES);
}

#[test]
fn what_a_failed_command_put_out_is_the_beginning_of_what_came() {
    let lines = &[r#"{"stdout":"one\n"}"#, r#"{"hb":true}"#];
    let failed = |stdout: &str| {
        stream(lines, "chunk").exec().answers(JobResult {
            outcome: "error".to_owned(),
            error: Some(crate::observed::ErrorReport {
                kind: "stream-ended".to_owned(),
                ..Default::default()
            }),
            stdout: Some(Blob::from(stdout)),
            ..JobResult::default()
        })
    };
    right(&failed("one\n"));
    right(&failed("on"));
    right(&failed(""));
    breaks(&failed("one\n{\"hb\":true}"), FRAMES);
}

#[test]
fn half_read_frames_are_no_more_than_a_should() {
    let both = r#"{"stdout":"one\n","stderr":"two\n","exit_code":3}"#;
    let asked = || stream(&[both], "chunk").about(&[COMBINED, FRAMES]).exec();
    right(&asked().answers(ran(json!(3), "one\n", "two\n")));
    for half in [
        asked().answers(ran(json!(3), "one\n", "")),
        asked().answers(ran(json!(3), "", "")),
        asked().error("stream-ended"),
    ] {
        let violation = &half.violations[0];
        assert_eq!(
            (violation.requirement.as_str(), violation.level),
            (COMBINED, Level::Should)
        );
    }
    // Other output, or another code, is no half of it.
    let other = asked().answers(ran(json!(0), "one\n", "two\n"));
    assert_eq!(other.violations[0].requirement, FRAMES);
}

#[test]
fn a_line_that_is_no_frame_is_stepped_over_only_where_nothing_is_lost() {
    let exit = r#"{"exit_code":3}"#;
    let lost = || stream(&[r#"{"stdout":"one\n"}"#, "<html>", exit], "chunk").exec();
    right(&lost().error("frame-invalid"));
    breaks(&lost().answers(ran(json!(3), "one\n", "")), FRAMES);
    let whole = &[
        r#"{"stdout":"one\n"}"#,
        ": a comment",
        r#"{"stderr":"two\n"}"#,
        exit,
    ];
    let whole = || stream(whole, "chunk").exec();
    right(&whole().error("invalid-response"));
    right(&whole().answers(ran(json!(3), "one\n", "two\n")));
}

#[test]
fn a_result_without_a_code_is_no_success() {
    for result in [
        "{ stdout = \"one\" }",
        "{ stdout = \"one\", exit_code = \"0\" }",
        "{ stdout = \"one\", exit_code = 0, error = \"not found\" }",
    ] {
        let asked = || fault("exec", &format!("data = {{ result = {result} }}")).exec();
        breaks(&asked().answers(ran(json!(0), "one", "")), FRAMES);
    }
    right(
        &fault("exec", "data = { result = { stdout = \"one\" } }")
            .exec()
            .error("exit-status-missing"),
    );
    // A whole number that is written as a fraction may be read as one, or as none.
    let fraction = || {
        fault(
            "exec",
            "data = { result = { stdout = \"one\", exit_code = 7.0 } }",
        )
        .exec()
    };
    right(&fraction().answers(ran(json!(7), "one", "")));
    right(&fraction().error("exit-status-missing"));
    breaks_at(
        &fault("exec", "status = 409").exec().error("stream-error"),
        FRAMES,
        Level::Must,
    );
}

#[test]
fn a_coded_stream_is_read_or_refused_in_any_words() {
    let coded = |cut: &str| {
        let encoding = format!("encoding = {{ coding = \"gzip\"{cut} }}");
        fault("exec-stream", &encoding).exec()
    };
    right(&coded("").answers(ran(json!(3), "one\n", "two\n")));
    // Who does not look at the coding finds no frames.
    for refused in ["transport", "frame-invalid"] {
        right(&coded("").error(refused));
        right(&coded(", cut = 12").error(refused));
    }
    breaks(
        &coded(", cut = 12").answers(ran(json!(3), "one\n", "two\n")),
        FRAMES,
    );
}
