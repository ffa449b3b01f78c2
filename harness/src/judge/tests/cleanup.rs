//! Processes of the client's own: created once, cleaned up after every failure.

use super::{
    Trial,
    trial::{breaks, breaks_at, broken, right},
};
use crate::{contract::Level, observed::ErrorReport};
use fake_server::{wire::Call, wirelog::Exchange};

/// A gap on the stream of one's own process, and something about another call.
fn gap(rest: &str) -> String {
    format!(
        r#"
title = "t"
op = "execute"
[job]
command = ["x"]
[process]
output = [{{ stdout = "one\n" }}, {{ stdout = "two\n" }}, {{ stdout = "three\n" }}]
exit = {{ code = 0 }}
[[fault]]
on = "connect"
attempt = 1
stream = [{{ send = 1 }}, {{ send = 3 }}, {{ send = "rest" }}, {{ end = "chunk" }}]
{rest}
"#
    )
}

/// A healthy run, but for one call.
fn healthy(rest: &str) -> String {
    format!(
        r#"
title = "t"
op = "execute"
[job]
command = ["x"]
[process]
output = [{{ stdout = "one\n" }}]
exit = {{ code = 0 }}
{rest}
"#
    )
}

fn with_cause(kind: &str) -> ErrorReport {
    ErrorReport {
        kind: "cleanup-unconfirmed".to_owned(),
        cause: Some(Box::new(ErrorReport {
            kind: kind.to_owned(),
            ..ErrorReport::default()
        })),
        ..ErrorReport::default()
    }
}

#[test]
fn a_failure_is_cleaned_up() {
    right(
        &Trial::of(&gap(""))
            .started()
            .connect(0)
            .delete()
            .error("sequence-gap"),
    );
    breaks(
        &Trial::of(&gap(""))
            .started()
            .connect(0)
            .error("sequence-gap"),
        "cleanup/on-every-failure",
    );
}

#[test]
fn a_delete_says_how_much_grace() {
    let verdict = Trial::of(&gap(""))
        .started()
        .connect(0)
        .delete()
        .but(|exchange| exchange.request.query.clear())
        .error("sequence-gap");
    breaks(&verdict, "cleanup/on-every-failure");
}

#[test]
fn an_unproven_cleanup_stands_above_its_cause() {
    for answer in [
        "data = { tree_exited = false }",
        "data = { tree_exited = 'true' }",
        "data = {}\nwithout = ['tree_exited']",
        "status = 204",
        "status = 500",
        "status = 202\nbody = { json = { status = 'success', data = {} } }",
        "body = { json = { status = 'fail', data = { tree_exited = true } } }",
        "close = { at = 'body-read' }",
    ] {
        let text = gap(&format!(
            "[[fault]]\non = \"delete-process\"\nattempt = \"every\"\n{answer}"
        ));
        let trial = || Trial::of(&text).started().connect(0).delete();
        right(&trial().fails(with_cause("sequence-gap")));
        breaks(&trial().error("sequence-gap"), "cleanup/confirmed");
        breaks_at(
            &trial().error("cleanup-unconfirmed"),
            "cleanup/cause-kept",
            Level::Should,
        );
        breaks(
            &trial().fails(with_cause("frame-invalid")),
            "cleanup/cause-kept",
        );
    }
}

#[test]
fn not_found_proves_that_it_is_gone() {
    let text = gap("[[fault]]\non = \"delete-process\"\nattempt = \"every\"\nstatus = 404");
    right(
        &Trial::of(&text)
            .started()
            .connect(0)
            .delete()
            .error("sequence-gap"),
    );
    let verdict = Trial::of(&text)
        .started()
        .connect(0)
        .delete()
        .fails(with_cause("sequence-gap"));
    breaks(&verdict, "cleanup/confirmed");
}

#[test]
fn a_delete_may_be_repeated_until_it_is_confirmed() {
    let text = gap("[[fault]]\non = \"delete-process\"\nattempt = 1\nstatus = 500");
    right(
        &Trial::of(&text)
            .started()
            .connect(0)
            .delete()
            .delete()
            .error("sequence-gap"),
    );
}

#[test]
fn after_success_nothing_is_deleted() {
    right(
        &Trial::of(&healthy(""))
            .started()
            .connect(0)
            .exited(0, "one\n"),
    );
    right(
        &Trial::of(&healthy(""))
            .started()
            .connect(0)
            .delete()
            .exited(0, "one\n"),
    );
    let twice = Trial::of(&healthy(""))
        .started()
        .connect(0)
        .delete()
        .delete()
        .exited(0, "one\n");
    assert_eq!(broken(&twice), ["cleanup/not-on-success"]);
}

#[test]
fn an_ambiguous_create_is_made_once() {
    for answer in [
        "status = 500\neffect = 'done'",
        "status = 503",
        "reset = { at = 'body-read' }",
        "body = { text = 'nonsense' }",
        "body = { json = { status = 'fail', data = { process_id = 'p1' } } }",
    ] {
        let text = healthy(&format!(
            "[[fault]]\non = \"create-process\"\nattempt = 1\n{answer}"
        ));
        right(&Trial::of(&text).create().error("creation-unconfirmed"));
        breaks(
            &Trial::of(&text).create().error("http-error"),
            "create/once",
        );
        let again = Trial::of(&text)
            .create()
            .started()
            .connect(0)
            .exited(0, "one\n");
        assert_eq!(again.violations[0].requirement, "create/once", "{answer}");
    }
}

#[test]
fn a_create_may_be_repeated_by_promise() {
    let text = healthy("[[fault]]\non = \"create-process\"\nattempt = 1\nstatus = 503");
    let trial = Trial::of(&text).promising(|promises| promises.profile.retry_create_on = vec![503]);
    right(&trial.create().started().connect(0).exited(0, "one\n"));
}

#[test]
fn a_refused_create_is_a_refusal() {
    let text = healthy("[[fault]]\non = \"create-process\"\nattempt = 1\nstatus = 422");
    right(&Trial::of(&text).create().error("http-error"));
    breaks(
        &Trial::of(&text).create().error("creation-unconfirmed"),
        "create/refused",
    );
    let cleaned = Trial::of(&text).create().delete().error("http-error");
    breaks(&cleaned, "create/refused");
}

#[test]
fn an_id_that_is_none_reaches_no_url() {
    for id in ["../x", "", "a b", "x/y", "p?q"] {
        let text = healthy(&format!(
            "[[fault]]\non = \"create-process\"\nattempt = 1\ndata = {{ process_id = '{id}' }}"
        ));
        right(&Trial::of(&text).create().error("creation-unconfirmed"));
        let used = Trial::of(&text).create().connect(0).error("http-error");
        assert!(broken(&used).contains(&"create/identifier"), "{id}");
        let probe = |exchange: &mut Exchange| {
            exchange.call = None;
            exchange.request.path.clear();
            exchange.request.target = "/healthz".to_owned();
            exchange.request.headers.clear();
        };
        right(
            &Trial::of(&text)
                .create()
                .sandbox(Call::GetSandbox, "")
                .but(probe)
                .error("creation-unconfirmed"),
        );
    }
}

#[test]
fn stdin_that_is_closed_already_is_fine() {
    let text = healthy("[[fault]]\non = \"stdin-close\"\nattempt = 1\nstatus = 409");
    right(&Trial::of(&text).started().connect(0).exited(0, "one\n"));
    let failed = Trial::of(&text).started().delete().error("http-error");
    assert_eq!(broken(&failed), ["stdin/closed-already"]);
}

#[test]
fn any_other_failure_of_stdin_ends_it() {
    let text = healthy("[[fault]]\non = \"stdin-close\"\nattempt = 1\nstatus = 500");
    for kind in ["http-error", "transport", "invalid-response", "other"] {
        right(&Trial::of(&text).started().delete().error(kind));
    }
    breaks(
        &Trial::of(&text).started().error("http-error"),
        "cleanup/on-every-failure",
    );
    let on = Trial::of(&text).started().connect(0).exited(0, "one\n");
    assert_eq!(on.violations[0].requirement, "stdin/closed-already");
}

#[test]
fn stdin_is_closed() {
    breaks(
        &Trial::of(&healthy(""))
            .create()
            .connect(0)
            .exited(0, "one\n"),
        "stdin/closed-already",
    );
}

#[test]
fn a_followed_process_is_left_alone() {
    let verdict = Trial::of(super::DROPPED)
        .connect(0)
        .connect(2)
        .delete()
        .exited(0, "one\ntwo\nthree\n");
    breaks(&verdict, "cleanup/not-on-success");
}
