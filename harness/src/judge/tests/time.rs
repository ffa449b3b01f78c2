//! Deadlines and cancellation.

use super::{
    Trial,
    trial::{breaks, broken, right, status},
};
use crate::{judge::CheckStatus, observed::Reply};

/// A stream that says two frames and then nothing; the job has a deadline.
const HELD: &str = r#"
title = "t"
op = "execute"
[job]
command = ["x"]
timeout = "2s"
[process]
output = [{ stdout = "one\n" }, { stdout = "two\n" }]
exit = { code = 0 }
[[fault]]
on = "connect"
attempt = 1
stream = [{ send = "..2" }, { end = "hold" }]
"#;

#[test]
fn a_call_that_stands_still_times_out() {
    right(
        &Trial::of(HELD)
            .started()
            .connect(0)
            .delete()
            .outcome("timed-out", "one\ntwo\n"),
    );
}

#[test]
fn partial_output_is_kept() {
    for kept in ["", "one\n"] {
        let verdict = Trial::of(HELD)
            .started()
            .connect(0)
            .delete()
            .outcome("timed-out", kept);
        breaks(&verdict, "time/deadline");
    }
}

#[test]
fn a_timeout_is_cleaned_up() {
    let trial = Trial::of(HELD).about(&["cleanup/own-deadline"]);
    let verdict = trial
        .started()
        .connect(0)
        .outcome("timed-out", "one\ntwo\n");
    breaks(&verdict, "cleanup/own-deadline");
}

#[test]
fn no_timeout_before_its_time() {
    let verdict = Trial::of(HELD)
        .started()
        .connect(0)
        .but(|exchange| exchange.client_closed_us = Some(2_000_000));
    let mut verdict = verdict;
    verdict = verdict.delete();
    // The trial's clock stands where the open stream was looked at: well past the deadline.
    right(&verdict.outcome("timed-out", "one\ntwo\n"));
    let early = Trial::of(HELD).create().outcome("timed-out", "");
    assert!(
        broken(&early).contains(&"time/deadline"),
        "{:?}",
        early.violations
    );
}

#[test]
fn a_timeout_nobody_asked_for_is_wrong() {
    let text = HELD.replace("timeout = \"2s\"\n", "");
    let verdict = Trial::of(&text)
        .started()
        .connect(0)
        .delete()
        .outcome("timed-out", "one\ntwo\n");
    assert!(!verdict.violations.is_empty());
}

#[test]
fn an_exit_before_a_held_socket_is_the_end() {
    let text = HELD.replace("{ send = \"..2\" }", "{ send = \"rest\" }");
    right(
        &Trial::of(&text)
            .started()
            .connect(0)
            .exited(0, "one\ntwo\n"),
    );
    let waited = Trial::of(&text)
        .started()
        .connect(0)
        .delete()
        .outcome("timed-out", "one\ntwo\n");
    breaks(&waited, "stream/exit-ends-it");
}

#[test]
fn an_error_before_a_held_socket_is_the_end() {
    let text = HELD.replace("{ send = \"..2\" }", "{ send = 1 }, { error = \"boom\" }");
    right(
        &Trial::of(&text)
            .started()
            .connect(0)
            .delete()
            .error("stream-error"),
    );
    let waited = Trial::of(&text)
        .started()
        .connect(0)
        .delete()
        .outcome("timed-out", "one\n");
    breaks(&waited, "frames/error-frame");
}

#[test]
fn no_answer_is_a_failure_of_the_deadline() {
    let verdict = Trial::of(HELD)
        .about(&["stream/closed-after"])
        .started()
        .connect(0)
        .replies(Reply::Silent);
    assert_eq!(broken(&verdict), ["time/deadline"]);
}

const CANCELLED: &str = r#"
title = "t"
op = "follow"
[job]
cancel = { on = "connect", attempt = 1, at = "answered" }
[process]
output = [{ stdout = "one\n" }, { stdout = "two\n" }]
exit = { code = 0 }
[[fault]]
on = "connect"
attempt = 1
stream = [{ send = "..1" }, { end = "chunk" }]
"#;

#[test]
fn a_cancelled_call_connects_no_more() {
    right(
        &Trial::of(CANCELLED)
            .connect(0)
            .cancel()
            .outcome("cancelled", "one\n"),
    );
    let again = Trial::of(CANCELLED)
        .connect(0)
        .cancel()
        .connect(1)
        .outcome("cancelled", "one\n");
    assert!(
        broken(&again).contains(&"time/cancel"),
        "{:?}",
        again.violations
    );
    // On a busy machine the connect may have been on its way.
    let busy = Trial::of(CANCELLED)
        .about(&["time/cancel"])
        .late(30_000)
        .connect(0)
        .cancel()
        .connect(1)
        .outcome("cancelled", "one\n");
    assert!(broken(&busy).is_empty(), "{:?}", busy.violations);
    assert_eq!(status(&busy, "time/cancel"), CheckStatus::NotExercised);
    breaks(
        &Trial::of(CANCELLED)
            .connect(0)
            .cancel()
            .error("stream-ended"),
        "time/cancel",
    );
}

#[test]
fn an_unknown_creation_stands_above_a_timeout() {
    let text = r#"
title = "t"
op = "execute"
[job]
command = ["x"]
timeout = "1s"
[process]
output = [{ stdout = "one\n" }]
exit = { code = 0 }
[[fault]]
on = "create-process"
attempt = 1
hold = "5s"
"#;
    right(&Trial::of(text).create().error("creation-unconfirmed"));
    breaks(
        &Trial::of(text).create().outcome("timed-out", ""),
        "create/once",
    );
}
