//! What is left over at the end, and whether the result admits it.

use super::{
    Trial,
    trial::{breaks, broken, right},
};
use crate::judge::Place;
use fake_server::{wire::Call, wirelog::LedgerEntry};

/// A process that runs for ever, whose stream has a gap, and something about another call.
fn gap(rest: &str) -> String {
    format!(
        r#"
title = "t"
op = "execute"
[job]
command = ["x"]
[process]
output = [{{ stdout = "one\n" }}, {{ stdout = "two\n" }}, {{ stdout = "three\n" }}]
exit = "never"
[[fault]]
on = "connect"
attempt = 1
stream = [{{ send = 1 }}, {{ send = 3 }}, {{ end = "hold" }}]
{rest}
"#
    )
}

#[test]
fn a_cleanup_that_went_to_another_process_leaves_this_one() {
    let trial = |text: &str| Trial::of(text).started().connect(0);
    right(&trial(&gap("")).delete().error("sequence-gap"));
    // The answer 404 proves that something is gone; what was made is not.
    let lost = gap("[[fault]]\non = \"delete-process\"\nattempt = 1\nstatus = 404");
    let verdict = trial(&lost)
        .delete()
        .but(|exchange| {
            let id = exchange.request.path.last_mut().expect("an id");
            id.push('x');
        })
        .error("sequence-gap");
    breaks(&verdict, "cleanup/on-every-failure");
    let violation = &verdict.violations[0];
    assert_eq!(violation.place, Place::End);
    assert!(
        violation
            .seen
            .contains("is running; made by create-process 1, answered 201"),
        "{}",
        violation.seen
    );
}

#[test]
fn what_the_server_called_gone_is_not_the_clients_to_admit() {
    let lie = gap("[[fault]]\non = \"delete-process\"\nattempt = \"every\"\nstatus = 404");
    right(
        &Trial::of(&lie)
            .started()
            .connect(0)
            .delete()
            .error("sequence-gap"),
    );
}

#[test]
fn a_missing_cleanup_is_told_once() {
    let verdict = Trial::of(&gap(""))
        .started()
        .connect(0)
        .error("sequence-gap");
    assert_eq!(broken(&verdict), ["cleanup/on-every-failure"]);
    assert_eq!(verdict.violations.len(), 1);
}

#[test]
fn an_unconfirmed_creation_admits_what_the_create_left() {
    let text = r#"
title = "t"
op = "execute"
[job]
command = ["x"]
[process]
output = [{ stdout = "one\n" }]
exit = "never"
[[fault]]
on = "create-process"
attempt = 1
effect = "done"
status = 502
"#;
    right(&Trial::of(text).create().error("creation-unconfirmed"));
}

#[test]
fn no_op_leaves_a_sandbox_that_nobody_asked_for() {
    let text = r#"
title = "t"
op = "follow"
[process]
output = [{ stdout = "one\n" }]
exit = { code = 0 }
"#;
    for (state, breaks_it) in [("running", true), ("destroyed", false)] {
        let mut trial = Trial::of(text).connect(0);
        let mut create = trial.log.exchanges[0].clone();
        create.call = Some(Call::CreateSandbox);
        trial.log.exchanges.push(create);
        trial.log.ledger.push(LedgerEntry {
            kind: "sandbox".to_owned(),
            id: "sb-2".to_owned(),
            state: state.to_owned(),
            made_by: Some(1),
            deleted_by: None,
            descendants: false,
        });
        let verdict = trial.exited(0, "one\n");
        if breaks_it {
            breaks(&verdict, "lease/no-leak");
        } else {
            right(&verdict);
        }
    }
}
