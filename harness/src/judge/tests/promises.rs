//! A client is held to what it promises.

use super::{
    DROPPED, Trial,
    trial::{breaks_at, broken, right, status},
};
use crate::{
    contract::{
        Level, applicable,
        oracle::{self, Reach},
    },
    judge::CheckStatus,
    profile::BudgetRenewal,
};
use fake_server::wire::{Op, call::Capability};

#[test]
fn an_op_or_capability_that_is_not_claimed_is_not_judged() {
    let trial = Trial::of(DROPPED).promising(|promises| {
        promises.ops = [Op::Connect].into();
    });
    let why = applicable(&trial.plan, &trial.promises).unwrap_err();
    assert!(why.contains("follow"), "{why}");
    assert_eq!(
        status(&trial.error("unsupported"), "stream/closed-after"),
        CheckStatus::NotApplicable
    );
}

#[test]
fn a_fault_beyond_the_promised_budget_is_not_judged() {
    let text = format!("{DROPPED}\n[[fault]]\non = \"connect\"\nattempt = 2\nstatus = 503\n");
    let plenty = Trial::of(&text);
    assert_eq!(applicable(&plenty.plan, &plenty.promises), Ok(()));
    let none = Trial::of(&text).promising(|promises| {
        promises.capabilities.remove(&Capability::ResumeStream);
    });
    let why = applicable(&none.plan, &none.promises).unwrap_err();
    assert!(why.contains("resume-stream"), "{why}");
    let one = Trial::of(&text).promising(|promises| promises.profile.max_reconnects = 0);
    assert!(
        applicable(&one.plan, &one.promises)
            .unwrap_err()
            .contains("max-reconnects = 0")
    );
}

#[test]
fn without_reconnects_a_drop_is_the_end() {
    let trial = Trial::of(DROPPED).promising(|promises| {
        promises.capabilities.remove(&Capability::ResumeStream);
    });
    right(&trial.connect(0).error("stream-ended"));
}

/// One new frame on each of six streams.
const PROGRESS: &str = r#"
title = "t"
op = "follow"
[process]
output = [{ repeat = 6, stdout = "x" }]
exit = { code = 0 }
[[fault]]
on = "connect"
attempt = 1
stream = [{ send = "..1" }, { end = "chunk" }]
[[fault]]
on = "connect"
attempt = 2
stream = [{ send = "..2" }, { end = "chunk" }]
[[fault]]
on = "connect"
attempt = 3
stream = [{ send = "..3" }, { end = "chunk" }]
[[fault]]
on = "connect"
attempt = 4
stream = [{ send = "..4" }, { end = "chunk" }]
"#;

#[test]
fn progress_renews_the_budget_only_by_promise() {
    let five = |trial: Trial| (0..5).fold(trial, |trial, after| trial.connect(after));
    let four = |trial: Trial| (0..4).fold(trial, |trial, after| trial.connect(after));
    right(&four(Trial::of(PROGRESS)).error("stream-ended"));
    let too_many = five(Trial::of(PROGRESS)).exited(0, "xxxxxx");
    assert_eq!(broken(&too_many), ["stream/retry-budget"]);
    let named = Trial::of(PROGRESS).about(&["stream/progress-renews"]);
    breaks_at(
        &five(named).exited(0, "xxxxxx"),
        "stream/progress-renews",
        Level::Must,
    );
    let promised = || {
        Trial::of(PROGRESS)
            .promising(|promises| promises.profile.budget_renewal = BudgetRenewal::Progress)
    };
    right(&five(promised()).exited(0, "xxxxxx"));
    assert!(!four(promised()).error("stream-ended").violations.is_empty());
}

#[test]
fn the_oracle_knows_what_is_reached() {
    let text =
        format!("{DROPPED}\n[[fault]]\non = \"connect\"\nattempt = 9\nbait = true\nstatus = 503\n");
    let trial = Trial::of(&text);
    let expected = oracle::expected(&trial.plan, &trial.promises);
    assert_eq!(expected.outcomes, ["exited"]);
    assert_eq!(expected.faults[0].reach, Reach::Always);
    assert_eq!(expected.faults[0].attempts, [1]);
    assert_eq!(expected.faults[1].reach, Reach::Bait);
    assert_eq!(
        expected.steps,
        [
            "connects with after=0: accepts frames 1 to 2, the body ends",
            "connects again with after=2, at least 250 ms later: accepts frame 3, the body ends",
            "reports the exit and all output",
        ]
    );
    assert_eq!(
        oracle::unreachable(&trial.plan, &trial.promises),
        [] as [usize; 0]
    );
}

#[test]
fn what_no_right_client_meets_is_unreachable() {
    let text = format!("{DROPPED}\n[[fault]]\non = \"connect\"\nattempt = 3\nstatus = 503\n");
    let trial = Trial::of(&text);
    assert_eq!(oracle::unreachable(&trial.plan, &trial.promises), [2]);
}
