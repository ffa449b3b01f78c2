//! A client is held to what it promises.

use super::{
    DROPPED, Trial,
    trial::{breaks, breaks_at, broken, right, status},
};
use crate::{
    contract::{
        Level, applicable,
        oracle::{self, Reach},
    },
    judge::CheckStatus,
    profile::BudgetRenewal,
};
use fake_server::wire::{Call, Op, call::Capability};

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

/// Found by generated cases: the process was over before its input came, and a client that goes on reads what it wrote.
#[test]
fn input_that_is_not_taken_is_a_failure_or_none() {
    for status in [409, 500] {
        let text = format!(
            "title = \"t\"\nop = \"execute\"\n[job]\ncommand = [\"x\"]\nstdin = \"hello\"\n[process]\n\
             output = [{{ stdout = \"one\\n\" }}]\nexit = {{ code = 0 }}\n\
             [[fault]]\non = \"input\"\nattempt = \"every\"\nstatus = {status}\n"
        );
        let written = || {
            let body = serde_json::json!({ "data_base64": "aGVsbG8=" });
            Trial::of(&text)
                .create()
                .call(Call::Input, 0, body.to_string())
        };
        let expected = oracle::expected(&written().plan, &written().promises);
        assert_eq!(expected.outcomes, ["error:http-error", "exited"]);
        right(&written().close_stdin().connect(0).exited(0, "one\n"));
        for kind in ["http-error", "other"] {
            right(&written().delete().error(kind));
        }
        breaks(&written().error("http-error"), "cleanup/on-every-failure");
    }
}

#[test]
fn what_no_right_client_meets_is_unreachable() {
    let text = format!("{DROPPED}\n[[fault]]\non = \"connect\"\nattempt = 3\nstatus = 503\n");
    let trial = Trial::of(&text);
    assert_eq!(oracle::unreachable(&trial.plan, &trial.promises), [2]);
}

/// Every stream ends without an exit.
const ENDLESS_DROPS: &str = r#"
title = "t"
op = "follow"
deadline = "10s"
[process]
output = [{ stdout = "one\n" }]
[[fault]]
on = "connect"
attempt = "every"
stream = [{ end = "chunk" }]
"#;

#[test]
fn any_number_of_reconnects_and_any_time_can_be_promised() {
    let suite = crate::suite::Suite::load(&[crate::suite::embedded()]).unwrap();
    for entry in suite.iter() {
        let plan = entry.scenario.plan(0, 1);
        let mut promises = oracle::default_promises(&plan);
        let profile = &mut promises.profile;
        profile.max_reconnects = u32::MAX;
        profile.cleanup_timeout_ms = u64::MAX;
        profile.silence_limit_ms = Some(u64::MAX);
        profile.max_line_bytes = u64::MAX;
        for delay_ms in [0, 1, u64::MAX] {
            promises.profile.reconnect_delay_ms = delay_ms;
            if applicable(&plan, &promises).is_ok() {
                assert!(!oracle::expected(&plan, &promises).outcomes.is_empty());
            }
        }
    }
}

#[test]
fn retries_that_may_outlast_the_case_are_not_judged_by_it() {
    let with = |text: &str, reconnects: u32, delay_ms: u64| {
        let trial = Trial::of(text).promising(|promises| {
            promises.profile.max_reconnects = reconnects;
            promises.profile.reconnect_delay_ms = delay_ms;
        });
        applicable(&trial.plan, &trial.promises)
    };
    // 30 waits of 250 ms are 7.5 s of 10; 40 are all of it.
    assert_eq!(with(ENDLESS_DROPS, 30, 250), Ok(()));
    assert_eq!(
        with(ENDLESS_DROPS, 40, 250),
        Err(
            "its retries may last longer than the case, 10000 ms: it promises max-reconnects = 40, reconnect-delay-ms = 250"
                .to_owned()
        )
    );
    assert!(
        with(ENDLESS_DROPS, u32::MAX, 0).is_err(),
        "no stack is so deep"
    );
    // One drop is one wait, however many are promised.
    assert_eq!(with(DROPPED, u32::MAX, 250), Ok(()));
    assert!(with(DROPPED, 3, 86_400_000).is_err());
}

#[test]
fn a_silence_limit_beyond_the_deadline_ends_nothing() {
    let text = "title = \"t\"\nop = \"follow\"\ndeadline = \"10s\"\n[process]\noutput = [{ stdout = \"one\\n\" }]\n[[fault]]\non = \"connect\"\nattempt = \"every\"\nstream = [{ end = \"hold\" }]\n";
    let trial = Trial::of(text).promising(|promises| {
        promises.profile.silence_limit_ms = Some(15_000);
    });
    let expected = oracle::expected(&trial.plan, &trial.promises);
    assert_eq!(expected.outcomes, ["none"]);
}
