//! A check is told "pass" only on evidence: each test plays a client that has not earned one, and its right neighbour.

use super::{
    DROPPED, Trial, stream,
    trial::{broken, right, status},
};
use crate::{
    judge::{CheckStatus, Verdict},
    observed::JobResult,
    profile::BudgetRenewal,
};
use fake_server::{
    wire::call::Capability,
    wirelog::{Exchange, Sent},
};
use serde_json::json;

#[track_caller]
fn is(verdict: &Verdict, id: &str, wanted: CheckStatus) {
    assert_eq!(status(verdict, id), wanted, "{id}: {:#?}", verdict.checks);
}

/// The client leaves before the answer has ended, this long after the server's last byte.
fn leaves(after_us: u64) -> impl FnOnce(&mut Exchange) {
    move |exchange| {
        exchange
            .answer
            .retain(|sent| !matches!(sent, Sent::End { .. }));
        let last_us = exchange.last_sent_us.unwrap_or(exchange.head_us);
        exchange.client_closed_us = Some(last_us + after_us);
    }
}

const EXECUTE: &str = r#"
title = "t"
op = "execute"
[job]
command = ["x"]
[process]
output = [{ stdout = "one\n" }]
exit = { code = 0 }
"#;

#[test]
fn a_second_create_is_no_evidence_for_one() {
    let text =
        format!("{EXECUTE}[[fault]]\non = \"create-process\"\nattempt = \"every\"\nstatus = 409\n");
    let trial = || {
        Trial::of(&text)
            .about(&["create/refused", "create/once"])
            .create()
    };
    right(&trial().error("http-error"));
    let again = trial().create().error("http-error");
    is(&again, "create/refused", CheckStatus::Fail);
    is(&again, "create/once", CheckStatus::NotExercised);
}

#[test]
fn one_create_of_a_process_that_is_there_is_once_whatever_comes_later() {
    let trial = || {
        Trial::of(EXECUTE)
            .about(&["create/once", "exit/code"])
            .started()
    };
    right(&trial().connect(0).exited(0, "one\n"));
    is(
        &trial().connect(0).exited(3, "one\n"),
        "create/once",
        CheckStatus::Pass,
    );
    // Where the answer says that nobody knows, a connect is as wrong as a second create.
    let text = format!("{EXECUTE}[[fault]]\non = \"create-process\"\nattempt = 1\nstatus = 502\n");
    let trial = Trial::of(&text)
        .about(&["stream/retry-budget", "create/once"])
        .create();
    let guessed = trial.connect(0).exited(0, "one\n");
    assert_ne!(status(&guessed, "create/once"), CheckStatus::Pass);
}

#[test]
fn a_budget_that_was_overdrawn_says_nothing_of_its_renewal() {
    let text = DROPPED
        .replace("attempt = 1", "attempt = \"every\"")
        .replace("..2", "..1");
    let trial = || {
        let about = ["stream/retry-budget", "stream/progress-renews"];
        (0..3).fold(Trial::of(&text).about(&about).connect(0), |trial, _| {
            trial.connect(1)
        })
    };
    right(&trial().error("stream-ended"));
    let more = trial().connect(1).error("stream-ended");
    is(&more, "stream/retry-budget", CheckStatus::Fail);
    is(&more, "stream/progress-renews", CheckStatus::NotExercised);
}

#[test]
fn who_hangs_up_on_a_live_stream_has_parted() {
    let about = ["data/exact", "stream/exit-ends-it", "stream/resume-cursor"];
    let verdict = Trial::of(DROPPED)
        .about(&about)
        .connect(0)
        .but(leaves(1_000))
        .connect(2)
        .exited(0, "one\ntwo\nthree\n");
    assert_eq!(broken(&verdict), ["stream/silence"]);
    for id in about {
        is(&verdict, id, CheckStatus::NotExercised);
    }
    right(
        &Trial::of(DROPPED)
            .about(&about)
            .connect(0)
            .connect(2)
            .exited(0, "one\ntwo\nthree\n"),
    );
}

#[test]
fn who_does_not_wait_for_the_answer_has_parted() {
    let text = DROPPED.replace(
        "stream = [{ send = \"..2\" }, { end = \"chunk\" }]",
        "status = 503",
    );
    let gone = |exchange: &mut Exchange| {
        exchange.answer.clear();
        exchange.client_closed_us = Some(exchange.head_us + 1_000);
    };
    let trial = || {
        Trial::of(&text)
            .about(&["stream/retry-transient"])
            .connect(0)
    };
    right(&trial().connect(0).exited(0, "one\ntwo\nthree\n"));
    let verdict = trial().but(gone).connect(0).exited(0, "one\ntwo\nthree\n");
    is(
        &verdict,
        "stream/retry-transient",
        CheckStatus::NotExercised,
    );
}

#[test]
fn the_last_stream_of_the_budget_is_read_to_its_end_too() {
    let trial = || {
        Trial::of(DROPPED)
            .promising(|promises| {
                promises.capabilities.remove(&Capability::ResumeStream);
            })
            .about(&["stream/drop-is-not-the-end"])
            .connect(0)
    };
    right(&trial().error("stream-ended"));
    let verdict = trial().but(leaves(1_000)).error("stream-ended");
    assert_eq!(broken(&verdict), ["stream/silence"]);
    is(
        &verdict,
        "stream/drop-is-not-the-end",
        CheckStatus::NotExercised,
    );
}

#[test]
fn a_promised_limit_is_a_reason_to_leave_once_it_is_over() {
    let text = stream("{ send = 1 }, { end = \"hold\" }");
    let after = |us: u64| {
        Trial::of(&text)
            .promising(|promises| promises.profile.silence_limit_ms = Some(2_000))
            .about(&["data/exact"])
            .connect(0)
            .but(leaves(us))
            .connect(1)
            .exited(0, "one\ntwo\nthree\n")
    };
    right(&after(2_000_000));
    right(&after(1_995_000));
    assert_eq!(broken(&after(1_500_000)), ["stream/silence"]);
}

#[test]
fn a_coded_stream_may_be_left_as_a_drop() {
    let text = stream("{ send = \"rest\" }, { end = \"hold\" }")
        + "encoding = { coding = \"gzip\" }\n[[fault]]\non = \"connect\"\nattempt = 2\nbait = true\nstream = [{ send = \"rest\" }, { end = \"chunk\" }]\n";
    let verdict = Trial::of(&text)
        .about(&["stream/content-coding"])
        .connect(0)
        .but(leaves(1_000))
        .connect(0)
        .exited(0, "one\ntwo\nthree\n");
    right(&verdict);
}

#[test]
fn who_had_left_before_the_cancel_did_not_meet_it() {
    let text = stream("{ send = 1 }, { end = \"hold\" }").replace(
        "[process]",
        "[job]\ncancel = { on = \"connect\", attempt = 1, at = \"frame 1\" }\n[process]",
    );
    let trial = || Trial::of(&text).about(&["time/cancel"]).connect(0);
    right(&trial().cancel().outcome("cancelled", "one\n"));
    let verdict = trial()
        .but(leaves(1_000))
        .wait(500)
        .cancel()
        .outcome("cancelled", "one\n");
    is(&verdict, "time/cancel", CheckStatus::NotExercised);
}

#[test]
fn what_the_contract_lets_a_client_leave_out_is_not_applicable() {
    // No failure, so no delete; no cancel that struck; nothing handed over live.
    let about = [
        "cleanup/on-every-failure",
        "time/cancel",
        "stream/one-reader",
        "data/order",
    ];
    let trial = Trial::of(EXECUTE).about(&about).started().connect(0);
    let verdict = trial.exited(0, "one\n");
    assert_eq!(verdict.violations, []);
    for id in about {
        is(&verdict, id, CheckStatus::NotApplicable);
    }
    // A refusal that is allowed shows nothing of the bytes.
    let text = stream(
        "{ send = 1, with = { seq = 9007199254740993 } }, { send = \"rest\" }, { end = \"chunk\" }",
    );
    let refused = Trial::of(&text)
        .about(&["data/exact"])
        .connect(0)
        .error("sequence-invalid");
    assert_eq!(refused.violations, []);
    is(&refused, "data/exact", CheckStatus::NotApplicable);
}

#[test]
fn the_key_is_told_from_the_connects_that_a_right_client_makes() {
    let about = ["stream/authenticated"];
    let trial = || Trial::of(DROPPED).about(&about).connect(0);
    is(
        &trial().exited(0, "one\ntwo\n"),
        about[0],
        CheckStatus::NotExercised,
    );
    is(
        &trial().connect(2).exited(7, "one\ntwo\nthree\n"),
        about[0],
        CheckStatus::Pass,
    );
}

#[test]
fn renewal_by_progress_is_still_told() {
    let text = DROPPED
        .replace("attempt = 1", "attempt = \"1..2\"")
        .replace("..2\" }, { end", "..3\" }, { end");
    let verdict = Trial::of(&text)
        .promising(|promises| promises.profile.budget_renewal = BudgetRenewal::Progress)
        .about(&["stream/progress-renews"])
        .connect(0)
        .connect(3)
        .connect(3)
        .exited(0, "one\ntwo\nthree\n");
    right(&verdict);
}

fn raw(steps: &str) -> Trial {
    let text = stream(steps).replace("\"follow\"", "\"connect\"");
    Trial::of(&text).connect(0)
}

fn one(trial: Trial) -> Trial {
    trial
        .event(json!({ "kind": "data", "seq": "1", "stream": "stdout", "data_base64": "b25lCg==" }))
}

const DAMAGED: &str = "{ send = 1 }, { send = 2, with = { data_base64 = \"dHdvCg\" } }, { send = \"rest\" }, { end = \"chunk\" }";

#[test]
fn a_transport_that_was_whole_explains_no_line() {
    let about = ["raw/base64-visible"];
    let trial = || one(raw(DAMAGED).about(&about));
    right(&trial().error("output-invalid"));
    right(&trial().error("other"));
    // It left after its first block and blames the connection.
    let left = trial().but(leaves(1_000)).error("transport");
    is(&left, about[0], CheckStatus::NotExercised);
    is(
        &trial().error("transport"),
        about[0],
        CheckStatus::NotExercised,
    );
    // And what had not arrived cannot have been met, whatever it is called.
    let unsent = trial()
        .but(leaves(1_000))
        .but(|exchange| {
            for sent in exchange.answer.iter_mut().skip(2) {
                if let Sent::Body { acked, .. } = sent {
                    *acked = false;
                }
            }
        })
        .error("other");
    is(&unsent, about[0], CheckStatus::NotExercised);
    // What comes before it has to be there.
    let none = raw(DAMAGED).about(&about).error("output-invalid");
    assert_ne!(status(&none, about[0]), CheckStatus::Pass);
}

#[test]
fn an_answer_that_never_began_hands_over_nothing() {
    let about = ["raw/faithful"];
    let steps = "{ send = \"rest\" }, { end = \"chunk\" }";
    let gone = raw(steps)
        .about(&about)
        .but(|exchange| {
            exchange.answer.clear();
            exchange.last_sent_us = None;
            exchange.client_closed_us = Some(exchange.head_us + 1_000);
        })
        .error("transport");
    is(&gone, about[0], CheckStatus::NotExercised);
}

#[test]
fn who_leaves_first_has_not_seen_how_it_ends() {
    let about = ["raw/truncation-visible", "raw/no-hidden-retry"];
    let steps = "{ send = 1 }, { line = \"nonsense\" }, { end = \"reset\" }";
    right(&one(raw(steps).about(&about)).error("transport"));
    let left = one(raw(steps).about(&about))
        .but(leaves(1_000))
        .error("transport");
    for id in about {
        is(&left, id, CheckStatus::NotExercised);
    }
    // A reason to leave before the end is as good as the end.
    right(
        &one(raw(steps).about(&about))
            .but(leaves(1_000))
            .error("frame-invalid"),
    );
}

#[test]
fn a_caller_that_stopped_is_seen_by_the_close() {
    let text = stream("{ send = 1 }, { end = \"hold\" }")
        .replace("\"follow\"", "\"connect\"")
        .replace(
            "[process]",
            "[job]\ncancel = { on = \"connect\", attempt = 1, at = \"frame 1\" }\n[process]",
        );
    let trial = || {
        one(Trial::of(&text)
            .about(&["raw/closed-on-drop"])
            .connect(0)
            .cancel())
    };
    let cancelled = || JobResult {
        outcome: "cancelled".to_owned(),
        ..JobResult::default()
    };
    right(&trial().answers(cancelled()));
    let open = trial().but(|exchange| {
        exchange.client_closed_us = None;
        exchange.open = true;
    });
    is(
        &open.answers(cancelled()),
        "raw/closed-on-drop",
        CheckStatus::Fail,
    );
}

#[test]
fn a_breach_told_under_one_rule_is_no_pass_of_its_sibling() {
    let text = DROPPED.replace(
        "stream = [{ send = \"..2\" }, { end = \"chunk\" }]",
        "status = 503\nheaders = { retry-after = [\"0\"] }",
    );
    let about = ["stream/retry-after", "stream/retry-delay"];
    let trial = || Trial::of(&text).about(&about).connect(0);
    right(&trial().connect(0).exited(0, "one\ntwo\nthree\n"));
    let hasty = trial().connect_at_once(0).exited(0, "one\ntwo\nthree\n");
    is(&hasty, "stream/retry-after", CheckStatus::Fail);
    is(&hasty, "stream/retry-delay", CheckStatus::NotExercised);
}

#[test]
fn what_fails_nothing_hides_no_should() {
    // A hang-up is a `may`: a must that it hides is a hole in the run, a `should` is not.
    let verdict = Trial::of(DROPPED)
        .about(&["data/exact", "cleanup/not-on-success"])
        .connect(0)
        .but(leaves(1_000))
        .connect(2)
        .exited(0, "one\ntwo\nthree\n");
    is(&verdict, "data/exact", CheckStatus::NotExercised);
    is(
        &verdict,
        "cleanup/not-on-success",
        CheckStatus::NotApplicable,
    );
}
