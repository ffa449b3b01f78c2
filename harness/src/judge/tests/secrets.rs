//! What must never be reported, and where nothing may be sent.

use super::{
    DROPPED, Trial,
    trial::{breaks, broken, right},
};
use crate::observed::ErrorReport;
use fake_server::wirelog::{Request, TrapRequest};

const REFUSED: &str = r#"
title = "t"
op = "follow"
[process]
output = [{ stdout = "one\n" }]
exit = { code = 0 }
[[fault]]
on = "connect"
attempt = 1
status = 403
body = { text = "no entry for {api-key}, says {canary}" }
"#;

fn says(message: impl Into<String>) -> ErrorReport {
    ErrorReport {
        kind: "http-error".to_owned(),
        message: message.into(),
        http_status: Some(403),
        ..ErrorReport::default()
    }
}

#[test]
fn a_status_may_be_told_and_nothing_else() {
    right(
        &Trial::of(REFUSED)
            .connect(0)
            .fails(says("connect failed with status 403")),
    );
}

#[test]
fn the_key_is_never_reported() {
    let trial = Trial::of(REFUSED).connect(0);
    let key = trial.log.names.api_key.clone();
    breaks(
        &trial.fails(says(format!("key {key} refused"))),
        "secrets/key",
    );
}

#[test]
fn the_providers_text_is_never_reported() {
    let trial = Trial::of(REFUSED).connect(0);
    let canary = trial.log.names.canary.clone();
    breaks(
        &trial.fails(says(format!("says {canary}"))),
        "secrets/no-provider-text",
    );
    let trial = Trial::of(REFUSED).connect(0);
    let hidden = ErrorReport {
        cause: Some(Box::new(says(trial.log.names.canary.clone()))),
        ..says("refused")
    };
    breaks(&trial.fails(hidden), "secrets/no-provider-text");
}

#[test]
fn every_request_carries_the_key() {
    let verdict = Trial::of(DROPPED)
        .connect(0)
        .connect(2)
        .but(|exchange| exchange.request.headers.clear())
        .exited(0, "one\ntwo\nthree\n");
    breaks(&verdict, "stream/authenticated");
}

#[test]
fn nothing_reaches_another_origin() {
    let mut trial = Trial::of(DROPPED).connect(0).connect(2);
    trial.log.trap.push(TrapRequest {
        request: Request {
            method: "GET".to_owned(),
            target: "/x".to_owned(),
            ..Request::default()
        },
        key: true,
        at_us: 5,
    });
    let verdict = trial.exited(0, "one\ntwo\nthree\n");
    assert_eq!(broken(&verdict), ["secrets/no-redirect"]);
}

#[test]
fn an_answer_left_open_is_noticed() {
    let verdict = Trial::of(DROPPED)
        .connect(0)
        .connect(2)
        .but(|exchange| exchange.open = true)
        .exited(0, "one\ntwo\nthree\n");
    breaks(&verdict, "stream/closed-after");
}
