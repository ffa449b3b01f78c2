//! Leases: one create, its own status told, what may be left named, changes waited for.

use super::{
    Trial,
    trial::{breaks, breaks_at, broken, right, status},
};
use crate::{
    contract::Level,
    judge::CheckStatus,
    observed::{ErrorReport, JobResult},
};
use fake_server::wire::{Call, call::Capability};

const ONCE: &str = "lease/create-once";
const DIAGNOSTIC: &str = "lease/diagnostic";
const TRANSIENT: &str = "lease/transient";
const TEXT: &str = "lease/no-provider-text";
const CLEANUP: &str = "lease/cleanup";
const LEAK: &str = "lease/no-leak";
const STATE: &str = "lease/async-state";
const IDENTITY: &str = "lease/identity";
const RELEASED: &str = "lease/released";

fn lease(op: &str, rest: &str) -> Trial {
    Trial::of(&format!("title = \"t\"\nop = \"{op}\"\n{rest}"))
}

/// One fault.
fn fault(on: &str, attempt: &str, rest: &str) -> String {
    format!("\n[[fault]]\non = \"{on}\"\nattempt = {attempt}\n{rest}\n")
}

fn acquire(rest: &str) -> Trial {
    lease("acquire", rest).about(&[ONCE])
}

fn failed(kind: &str, http_status: Option<u16>) -> ErrorReport {
    ErrorReport {
        kind: kind.to_owned(),
        message: "it failed".to_owned(),
        http_status,
        ..ErrorReport::default()
    }
}

fn got(sandbox: &str) -> JobResult {
    JobResult {
        outcome: "ok".to_owned(),
        sandbox_id: Some(sandbox.to_owned()),
        ..JobResult::default()
    }
}

fn left(sandbox: Option<&str>, cause: ErrorReport) -> JobResult {
    JobResult {
        outcome: "error".to_owned(),
        sandbox_id: sandbox.map(str::to_owned),
        error: Some(ErrorReport {
            cause: Some(Box::new(cause)),
            ..failed("cleanup-unconfirmed", None)
        }),
        ..JobResult::default()
    }
}

#[test]
fn a_sandbox_is_made_once_and_handed_over() {
    let made = || acquire("").create_sandbox("a");
    let id = made().made_sandbox();
    right(&made().answers(got(&id)));
    // Looking is free, what a first use brings as well.
    right(&made().sandbox(Call::GetSandbox, &id).answers(got(&id)));
    // The second one is left over, too.
    let twice = made().create_sandbox("b").answers(got(&id));
    assert_eq!(broken(&twice), [ONCE, LEAK]);
    breaks(&made().about(&[LEAK]).answers(got("sb-other")), LEAK);
    breaks(&made().about(&[LEAK]).ok(None), LEAK);
    // Whoever never asked has got nothing.
    assert_ne!(status(&acquire("").ok(None), ONCE), CheckStatus::Pass);
}

#[test]
fn an_unclear_create_is_reported_and_not_repeated() {
    for effect in ["done", "none"] {
        let unclear = || {
            let rest = format!("status = 502\neffect = \"{effect}\"");
            acquire(&fault("create-sandbox", "1", &rest)).create_sandbox("a")
        };
        for kind in ["creation-unconfirmed", "http-error"] {
            right(&unclear().fails(failed(kind, Some(502))));
        }
        breaks(&unclear().error("invalid-response"), ONCE);
        let again = unclear().create_sandbox("b").error("http-error");
        assert_eq!(broken(&again)[0], ONCE);
        breaks(&unclear().answers(got("sb-1")), ONCE);
        let about = || unclear().about(&[DIAGNOSTIC]);
        breaks(
            &about().fails(failed("creation-unconfirmed", Some(404))),
            DIAGNOSTIC,
        );
        breaks(&about().error("creation-unconfirmed"), DIAGNOSTIC);
    }
}

#[test]
fn the_lookup_and_the_delete_do_not_hide_the_create() {
    let rest = fault("create-sandbox", "1", "status = 502\neffect = \"done\"")
        + &fault(
            "delete-sandbox",
            "1",
            "status = 500\neffect = \"none\"\nbait = true",
        );
    let tried = || {
        let trial = acquire(&rest)
            .about(&[DIAGNOSTIC, CLEANUP])
            .create_sandbox("a");
        let id = trial.made_sandbox();
        (
            trial
                .sandbox(Call::ListSandboxes, "")
                .sandbox(Call::DeleteSandbox, &id),
            id,
        )
    };
    let (trial, id) = tried();
    right(&trial.answers(left(Some(&id), failed("http-error", Some(502)))));
    let (trial, id) = tried();
    breaks(
        &trial.answers(left(Some(&id), failed("http-error", Some(500)))),
        DIAGNOSTIC,
    );
    let (trial, _) = tried();
    breaks(
        &trial.answers(left(None, failed("http-error", Some(502)))),
        CLEANUP,
    );
    // The delete's own errno stands above the cause, as its own status may.
    let above = |result: JobResult| {
        let mut result = result;
        if let Some(error) = &mut result.error {
            error.errno = Some("ECONNRESET".to_owned());
        }
        result
    };
    let (trial, id) = tried();
    right(&trial.answers(above(left(Some(&id), failed("http-error", Some(502))))));
    let (trial, id) = tried();
    breaks(
        &trial.answers(above(left(Some(&id), failed("http-error", None)))),
        DIAGNOSTIC,
    );
}

#[test]
fn what_a_failure_tells_is_no_text_of_the_provider() {
    let refused = |rest: &str| {
        acquire(&fault("create-sandbox", "\"every\"", rest))
            .about(&[TEXT])
            .create_sandbox("a")
    };
    right(&refused("status = 403").fails(failed("http-error", Some(403))));
    right(&refused("status = 799\neffect = \"none\"").error("http-error"));
    breaks(
        &refused("status = 799\neffect = \"none\"").fails(failed("http-error", Some(799))),
        TEXT,
    );
    let said = |message: &str, errno: Option<&str>| ErrorReport {
        message: message.to_owned(),
        errno: errno.map(str::to_owned),
        ..failed("http-error", Some(403))
    };
    breaks(
        &refused("status = 403").fails(said("EVIL", Some("EVIL"))),
        TEXT,
    );
    breaks(
        &refused("status = 403").fails(said("at http://127.0.0.1:1/v1/sandboxes", None)),
        TEXT,
    );
    // An errno of a connection that was whole is forged.
    breaks(
        &refused("status = 403")
            .about(&[DIAGNOSTIC])
            .fails(said("it failed", Some("ECONNRESET"))),
        DIAGNOSTIC,
    );
}

#[test]
fn transient_is_what_another_try_may_mend() {
    let classified = |status: u16, transient: Option<bool>| {
        let rest = format!("status = {status}\neffect = \"none\"\nbody = {{ text = \"502\" }}");
        acquire(&fault("create-sandbox", "\"every\"", &rest))
            .about(&[TRANSIENT])
            .promising(|promises| {
                promises
                    .capabilities
                    .insert(Capability::ClassifiesTransient);
            })
            .create_sandbox("a")
            .fails(ErrorReport {
                transient,
                ..failed("http-error", Some(status))
            })
    };
    for status in [408, 425, 429, 500, 502, 503, 504] {
        right(&classified(status, Some(true)));
        breaks_at(&classified(status, Some(false)), TRANSIENT, Level::Should);
        breaks_at(&classified(status, None), TRANSIENT, Level::Should);
    }
    for status in [400, 401, 402, 403, 404, 409, 422, 501, 505] {
        right(&classified(status, Some(false)));
        breaks_at(&classified(status, Some(true)), TRANSIENT, Level::Should);
    }
}

#[test]
fn what_was_made_is_destroyed_or_named() {
    let rest = "[sandbox]\nlag = 1\n".to_owned()
        + &fault("get-sandbox", "\"every\"", "data = { status = \"failed\" }");
    let made = || {
        let trial = acquire(&rest).about(&[CLEANUP, LEAK]).create_sandbox("a");
        let id = trial.made_sandbox();
        (trial.sandbox(Call::GetSandbox, &id), id)
    };
    let (trial, id) = made();
    right(
        &trial
            .sandbox(Call::DeleteSandbox, &id)
            .error("state-failed"),
    );
    let (trial, _) = made();
    assert_eq!(broken(&trial.error("state-failed")), [CLEANUP, LEAK]);
    let (trial, id) = made();
    // Another's is left alone.
    let verdict = trial
        .about(&[IDENTITY])
        .sandbox(Call::DeleteSandbox, "sb-other")
        .sandbox(Call::DeleteSandbox, &id)
        .error("state-failed");
    breaks(&verdict, IDENTITY);
}

#[test]
fn a_stopped_acquisition_says_what_may_be_left() {
    let hold = fault("create-sandbox", "1", "hold = \"30s\"\neffect = \"done\"");
    let stopped = |rest: &str| {
        acquire(&format!("[job]\ntimeout = \"500ms\"\n{rest}"))
            .about(&[LEAK])
            .create_sandbox("a")
    };
    right(&stopped(&hold).error("creation-unconfirmed"));
    breaks(&stopped(&hold).outcome("timed-out", ""), LEAK);
    // One that is known goes, although the time is over.
    let starting = || {
        let trial = stopped("[sandbox]\nlag = 9\n").wait(600);
        let id = trial.made_sandbox();
        (trial, id)
    };
    let (trial, id) = starting();
    right(
        &trial
            .sandbox(Call::DeleteSandbox, &id)
            .outcome("timed-out", ""),
    );
    let (trial, _) = starting();
    breaks(&trial.outcome("timed-out", ""), LEAK);
}

#[test]
fn a_policy_is_kept() {
    let policy = |ms: u64, names: [&str; 2]| {
        let rest = "[job]\npolicy = { attempts = 2, min-delay = \"300ms\" }\n".to_owned()
            + &fault(
                "create-sandbox",
                "\"1..2\"",
                "status = 503\neffect = \"none\"",
            );
        acquire(&rest)
            .create_sandbox(names[0])
            .wait(ms)
            .create_sandbox(names[1])
    };
    let failed = || failed("http-error", Some(503));
    right(&policy(300, ["a", "b"]).fails(failed()));
    breaks(&policy(100, ["a", "b"]).fails(failed()), ONCE);
    breaks(&policy(300, ["a", "a"]).fails(failed()), ONCE);
    let third = policy(300, ["a", "b"]).wait(300).create_sandbox("c");
    let id = third.made_sandbox();
    breaks(&third.answers(got(&id)), ONCE);
    let rest = "[job]\npolicy = { attempts = 2 }\n".to_owned()
        + &fault("create-sandbox", "1", "status = 503\neffect = \"none\"");
    breaks_at(
        &acquire(&rest)
            .about(&[TRANSIENT])
            .create_sandbox("a")
            .fails(failed()),
        TRANSIENT,
        Level::Should,
    );
}

#[test]
fn only_a_proof_is_a_release() {
    let release = |rest: &str| {
        let trial = lease("release", rest).about(&[RELEASED]);
        let id = trial.own_sandbox();
        trial.sandbox(Call::DeleteSandbox, &id)
    };
    right(&release("").ok(None));
    breaks(&release("").error("http-error"), RELEASED);
    let answered = |rest: &str| release(&fault("delete-sandbox", "\"every\"", rest));
    right(&answered("status = 404").ok(None));
    for rest in [
        "status = 204",
        "status = 500",
        "status = 409",
        "data = { status = \"running\" }",
        "data = { id = \"sb-other\" }",
        "status = 200\nbody = { text = \"<html>\" }",
        "reset = { at = \"body-read\" }",
    ] {
        breaks(&answered(rest).ok(None), RELEASED);
        right(&answered(rest).error("cleanup-unconfirmed"));
    }
    breaks(&lease("release", "").about(&[RELEASED]).ok(None), RELEASED);
}

#[test]
fn an_accepted_change_is_waited_for() {
    for (op, call) in [("pause", Call::Pause), ("resume", Call::Resume)] {
        let asked = |rest: &str| {
            let trial = lease(op, rest).about(&[STATE]);
            let id = trial.own_sandbox();
            trial.sandbox(call, &id)
        };
        let lag = "[sandbox]\nlag = 2\n";
        let looked = |trial: Trial| {
            let id = trial.own_sandbox();
            trial.sandbox(Call::GetSandbox, &id)
        };
        breaks(&asked(lag).ok(None), STATE);
        breaks(&looked(asked(lag)).ok(None), STATE);
        breaks(&looked(asked(lag)).error("state-failed"), STATE);
        right(&looked(looked(looked(asked(lag)))).ok(None));
        let again = looked(asked(lag));
        let id = again.own_sandbox();
        let again = looked(looked(again.sandbox(call, &id)));
        breaks(&again.ok(None), STATE);
        // 409: the state is read again, and may be the wanted one.
        let conflict = fault(op, "1", "status = 409\neffect = \"done\"");
        breaks(&asked(&conflict).error("http-error"), STATE);
        right(&looked(asked(&conflict)).ok(None));
        let other = fault("get-sandbox", "1", "data = { id = \"sb-other\" }");
        breaks(&looked(asked(&other)).about(&[IDENTITY]).ok(None), IDENTITY);
        right(&looked(asked(&other)).error("invalid-response"));
        let dead = fault("get-sandbox", "1", "data = { status = \"failed\" }");
        right(&looked(asked(&dead)).error("state-failed"));
        breaks(&looked(asked(&dead)).ok(None), STATE);
        let destroyed = looked(asked(&dead));
        let id = destroyed.own_sandbox();
        let destroyed = destroyed.sandbox(Call::DeleteSandbox, &id);
        breaks(&destroyed.error("state-failed"), STATE);
        let replaced = looked(asked(&dead)).about(&[ONCE]).create_sandbox("a");
        assert!(broken(&replaced.error("state-failed")).contains(&ONCE));
    }
}

#[test]
fn a_health_probe_is_no_use_of_an_id_that_is_none() {
    let bad = fault("create-sandbox", "1", "data = { id = \"../../v1/whoami\" }");
    let asked = |target: &str, key: bool| {
        let target = target.to_owned();
        acquire(&bad)
            .about(&[IDENTITY])
            .create_sandbox("a")
            .sandbox(Call::ListSandboxes, "")
            .but(|exchange| {
                exchange.call = None;
                exchange.request.path.clear();
                exchange.request.query.clear();
                exchange.request.target = target;
                if !key {
                    let headers = &mut exchange.request.headers;
                    headers.retain(|(name, _)| name != "x-api-key");
                }
            })
            .error("creation-unconfirmed")
    };
    for probe in ["/healthz", "/readyz"] {
        right(&asked(probe, false));
        // With the key it is an id that led there.
        breaks(&asked(probe, true), IDENTITY);
    }
    breaks(&asked("/v1/whoami", false), IDENTITY);
}
