//! Cursors, budgets and waits between connects.

use super::{
    DROPPED, Trial, stream,
    trial::{breaks, breaks_at, right},
};
use crate::{contract::Level, judge::Place};

const ALL: &str = "one\ntwo\nthree\n";

#[test]
fn a_drop_and_a_resume_are_right() {
    right(&Trial::of(DROPPED).connect(0).connect(2).exited(0, ALL));
}

#[test]
fn after_a_clean_end_the_cursor_is_exact() {
    for cursor in [0, 1, 3] {
        let verdict = Trial::of(DROPPED).connect(0).connect(cursor).exited(0, ALL);
        assert_eq!(verdict.violations[0].requirement, "stream/resume-cursor");
        assert_eq!(
            verdict.violations[0].expected,
            "a reconnect with after=2, the last whole data frame"
        );
        assert_eq!(verdict.violations[0].seen, format!("after={cursor}"));
        assert_eq!(verdict.violations[0].place, Place::Exchange(1));
    }
}

#[test]
fn after_an_unclean_end_the_cursor_may_lag() {
    for end in ["fin", "reset", "truncated-chunk", "bad-chunk"] {
        let text = DROPPED.replace("end = \"chunk\"", &format!("end = \"{end}\""));
        for cursor in 0..=2 {
            right(&Trial::of(&text).connect(0).connect(cursor).exited(0, ALL));
        }
        let verdict = Trial::of(&text).connect(0).connect(3).exited(0, ALL);
        assert_eq!(verdict.violations[0].requirement, "stream/resume-cursor");
    }
}

#[test]
fn a_cursor_never_lags_behind_what_was_handed_over() {
    let text = DROPPED.replace("end = \"chunk\"", "end = \"reset\"");
    let verdict = Trial::of(&text)
        .connect(0)
        .live("stdout", "one\ntwo\n")
        .connect(0)
        .live("stdout", "three\n")
        .exited(0, ALL);
    breaks(&verdict, "stream/resume-cursor");
}

#[test]
fn the_first_cursor_is_said_even_if_it_is_zero() {
    let verdict = Trial::of(DROPPED)
        .connect(0)
        .but(|exchange| exchange.request.query.clear())
        .connect(2)
        .exited(0, ALL);
    breaks(&verdict, "stream/first-cursor");
}

#[test]
fn a_cursor_is_said_once_and_plainly() {
    for query in [vec!["0", "0"], vec!["+0"], vec!["00"], vec!["0.0"]] {
        let verdict = Trial::of(DROPPED)
            .connect(0)
            .but(|exchange| {
                exchange.request.query = query
                    .iter()
                    .map(|value| ("after".to_owned(), (*value).to_owned()))
                    .collect();
            })
            .connect(2)
            .exited(0, ALL);
        breaks(&verdict, "stream/first-cursor");
    }
}

#[test]
fn a_drop_is_no_success() {
    breaks(
        &Trial::of(DROPPED).connect(0).exited(0, "one\ntwo\n"),
        "stream/drop-is-not-the-end",
    );
}

#[test]
fn two_connects_are_far_enough_apart() {
    right(
        &Trial::of(DROPPED)
            .connect(0)
            .wait(241)
            .connect_at_once(2)
            .exited(0, ALL),
    );
    let verdict = Trial::of(DROPPED)
        .connect(0)
        .wait(239)
        .connect_at_once(2)
        .exited(0, ALL);
    breaks(&verdict, "stream/retry-delay");
}

fn always(status: u16) -> String {
    format!(
        r#"
title = "t"
op = "follow"
[process]
output = [{{ stdout = "one\n" }}]
exit = {{ code = 0 }}
[[fault]]
on = "connect"
attempt = "every"
status = {status}
"#
    )
}

#[test]
fn the_budget_is_four_connects() {
    let tried = |times: u32| (0..times).fold(Trial::of(&always(503)), |trial, _| trial.connect(0));
    right(&tried(4).error("connection-failed"));
    breaks_at(
        &tried(5).error("connection-failed"),
        "stream/retry-budget",
        Level::Must,
    );
    breaks_at(
        &tried(3).error("connection-failed"),
        "stream/retry-budget",
        Level::Should,
    );
    breaks_at(
        &tried(1).error("connection-failed"),
        "stream/retry-transient",
        Level::Must,
    );
}

#[test]
fn a_wrong_kind_fails_the_check() {
    let verdict = (0..4)
        .fold(Trial::of(&always(503)), |trial, _| trial.connect(0))
        .error("stream-ended");
    breaks(&verdict, "stream/retry-transient");
}

#[test]
fn giving_up_where_one_more_connect_would_do_is_no_matter_of_number() {
    let text = always(503).replace("\"every\"", "\"1..3\"");
    let trial = || (0..3).fold(Trial::of(&text), |trial, _| trial.connect(0));
    right(&trial().connect(0).exited(0, "one\n"));
    breaks_at(
        &trial().error("connection-failed"),
        "stream/retry-transient",
        Level::Must,
    );
}

#[test]
fn a_refusal_is_final() {
    for status in [400, 404, 409, 422] {
        right(&Trial::of(&always(status)).connect(0).error("http-error"));
        let verdict = Trial::of(&always(status))
            .connect(0)
            .connect(0)
            .error("http-error");
        breaks(&verdict, "stream/permanent-status");
    }
}

#[test]
fn gone_is_evicted_output() {
    right(&Trial::of(&always(410)).connect(0).error("output-evicted"));
    breaks(
        &Trial::of(&always(410)).connect(0).error("http-error"),
        "journal/410",
    );
    let again = Trial::of(&always(410))
        .connect(0)
        .connect(0)
        .error("output-evicted");
    breaks(&again, "journal/410");
}

#[test]
fn an_empty_success_is_none() {
    for kind in ["http-error", "invalid-response", "stream-ended"] {
        right(&Trial::of(&always(204)).connect(0).error(kind));
    }
    breaks(
        &Trial::of(&always(204)).connect(0).exited(0, ""),
        "stream/permanent-status",
    );
}

#[test]
fn nothing_is_asked_after_the_exit() {
    let whole = stream("{ send = \"rest\" }, { end = \"chunk\" }");
    right(&Trial::of(&whole).connect(0).exited(0, ALL));
    breaks(
        &Trial::of(&whole).connect(0).connect(3).exited(0, ALL),
        "stream/exit-ends-it",
    );
}

#[test]
fn an_exit_before_a_break_may_not_have_been_seen() {
    let broken = stream("{ send = \"rest\" }, { end = \"reset\" }");
    right(&Trial::of(&broken).connect(0).exited(0, ALL));
    right(&Trial::of(&broken).connect(0).connect(3).exited(0, ALL));
    right(&Trial::of(&broken).connect(0).connect(1).exited(0, ALL));
}

#[test]
fn a_refused_port_uses_up_the_budget() {
    let text = always(503)
        .replace("status = 503", "refuse = true")
        .replace("\"every\"", "1");
    right(&Trial::of(&text).connect(0).connect(0).exited(0, "one\n"));
}
