//! What is typed into a terminal, and its size.

use super::{
    Trial,
    trial::{breaks, right},
};
use crate::observed::JobResult;
use fake_server::wire::{Blob, Call, limits};
use serde_json::json;

/// A terminal of 120 by 30 into which this is typed.
fn terminal(input: &str) -> Trial {
    Trial::of(&format!(
        r#"
title = "t"
op = "terminal"
[job]
cols = 120
rows = 30
input = [{input}]
[process]
output = [{{ pty = "one\n" }}]
exit = {{ code = 0 }}
"#
    ))
}

const TYPED: &str = r#"{ text = "ls\n" }, { cols = 100, rows = 40 }, { text = "exit\n" }"#;

impl Trial {
    fn made(self, cols: u64, rows: u64) -> Self {
        let body = json!({ "pty": { "rows": rows, "cols": cols } });
        self.call(Call::CreateProcess, 0, body.to_string())
    }

    fn types(self, bytes: impl AsRef<[u8]>) -> Self {
        let body = json!({ "data_base64": Blob::from(bytes.as_ref()).to_base64() });
        self.call(Call::Input, 0, body.to_string())
    }

    fn resizes(self, cols: u64, rows: u64) -> Self {
        let body = json!({ "rows": rows, "cols": cols });
        self.call(Call::ResizeProcess, 0, body.to_string())
    }

    fn ends(self) -> crate::judge::Verdict {
        self.connect(0).answers(JobResult {
            outcome: "exited".to_owned(),
            exit_code: Some(json!(0)),
            signal: Some(json!(null)),
            pty: Some(Blob::from("one\n")),
            ..JobResult::default()
        })
    }
}

#[test]
fn input_and_sizes_are_sent_in_order_cut_as_the_client_likes() {
    let made = || terminal(TYPED).made(120, 30);
    right(&made().types("ls\n").resizes(100, 40).types("exit\n").ends());
    let cut = made().types("l").types("s\n").resizes(100, 40).types("ex");
    right(&cut.types("it\n").ends());
    // The size that it has may be told at any time.
    let told = made().resizes(120, 30).types("ls\n").resizes(100, 40);
    right(&told.resizes(100, 40).types("exit\n").ends());
}

#[test]
fn nothing_is_changed_repeated_left_out_or_sent_in_another_place() {
    let made = || terminal(TYPED).made(120, 30);
    for (trial, id) in [
        (
            made().types("ls\r").resizes(100, 40).types("exit\n"),
            "stdin/exact",
        ),
        (made().types("ls\n").types("ls\n"), "stdin/terminal-size"),
        (
            made().types("ls\n").resizes(100, 40).types("ls\n"),
            "stdin/exact",
        ),
        (made().types("ls\n").types("exit\n"), "stdin/terminal-size"),
        (
            made().resizes(100, 40).types("ls\n").types("exit\n"),
            "stdin/terminal-size",
        ),
        (
            made().types("ls\n").resizes(40, 100).types("exit\n"),
            "stdin/terminal-size",
        ),
        (made().types("ls\n").resizes(100, 40), "stdin/exact"),
        (made().types("ls\n"), "stdin/terminal-size"),
        (
            made()
                .types("ls\n")
                .resizes(100, 40)
                .types("exit\n")
                .types("exit\n"),
            "stdin/exact",
        ),
        (made(), "stdin/exact"),
    ] {
        breaks(&trial.ends(), id);
    }
}

#[test]
fn a_terminal_begins_in_the_size_that_was_asked_for() {
    for (cols, rows) in [(80, 24), (30, 120)] {
        breaks(&terminal("").made(cols, rows).ends(), "stdin/terminal-size");
    }
    let without = terminal("").call(Call::CreateProcess, 0, r#"{"cmd":"sh"}"#);
    breaks(&without.ends(), "stdin/terminal-size");
}

#[test]
fn a_request_carries_at_most_256_kib() {
    let pasted = || terminal(r#"{ fill = "600KiB" }"#).made(120, 30);
    let all = crate::judge::typed::requests(&pasted().plan);
    assert_eq!(all.len(), 3);
    let mut pieces = pasted();
    for (call, body) in &all {
        pieces = pieces.call(*call, 0, body);
    }
    right(&pieces.ends());
    let first = pasted().call(Call::Input, 0, &all[0].1);
    breaks(&first.ends(), "stdin/exact");
    let too_long = pasted().types(vec![0; limits::INPUT_BYTES + 1]);
    breaks(&too_long.delete().error("http-error"), "stdin/exact");
}

#[test]
fn what_is_refused_ends_the_typing_and_is_not_sent_again() {
    let made = || {
        let text = "\n[[fault]]\non = \"input\"\nattempt = 1\nstatus = 409";
        Trial::of(&format!(
            "title = \"t\"\nop = \"terminal\"\n[job]\ncols = 120\nrows = 30\ninput = [{TYPED}]\n[process]\noutput = [{{ pty = \"one\\n\" }}]\nexit = {{ code = 0 }}{text}"
        ))
        .made(120, 30)
    };
    right(&made().types("ls\n").ends());
    right(&made().types("ls\n").resizes(100, 40).types("exit\n").ends());
    breaks(
        &made().types("ls\n").types("ls\n").ends(),
        "stdin/terminal-size",
    );
}

#[test]
fn a_call_that_fails_need_not_have_typed_all() {
    right(
        &terminal(TYPED)
            .made(120, 30)
            .types("ls\n")
            .connect(0)
            .delete()
            .outcome_of_deadline(),
    );
}

impl Trial {
    /// Its deadline has struck.
    fn outcome_of_deadline(mut self) -> crate::judge::Verdict {
        self.plan.job.timeout_ms = Some(1);
        self.answers(JobResult {
            outcome: "timed-out".to_owned(),
            pty: Some(Blob::from("one\n")),
            ..JobResult::default()
        })
    }
}
