//! Lines, frames and numbers: what ends a call, and under which name.

use super::{
    Trial, stream,
    trial::{breaks, right},
};

/// A frame where the second true one should be, and a perfect rest.
fn second(step: &str) -> Trial {
    Trial::of(&stream(&format!(
        "{{ send = 1 }}, {step}, {{ send = \"rest\" }}, {{ end = \"chunk\" }}"
    )))
}

#[test]
fn whatever_breaks_the_stream_fails_it_by_its_name() {
    for (step, kind, requirement) in [
        ("{ send = 3 }", "sequence-gap", "sequence/gap"),
        ("{ line = 'nonsense' }", "frame-invalid", "frames/invalid"),
        ("{ line = '[]' }", "frame-invalid", "frames/invalid"),
        (
            "{ frame = { type = 'log' } }",
            "unknown-event",
            "frames/unknown-type",
        ),
        ("{ error = 'boom' }", "stream-error", "frames/error-frame"),
        (
            "{ error = 'output_offset_expired', oldest = 3 }",
            "output-evicted",
            "journal/expired-frame",
        ),
        (
            "{ send = 2, with = { seq = '2' } }",
            "sequence-invalid",
            "sequence/valid",
        ),
        (
            "{ send = 2, with = { seq = 0 } }",
            "sequence-invalid",
            "sequence/valid",
        ),
        (
            "{ send = 2, without = ['seq'] }",
            "sequence-invalid",
            "sequence/valid",
        ),
        (
            "{ send = 2, with = { stream = 'log' } }",
            "output-invalid",
            "data/streams",
        ),
        (
            "{ send = 2, with = { data_base64 = 'dHdvCg' } }",
            "output-invalid",
            "data/base64",
        ),
        (
            "{ frame = { type = 'exit' } }",
            "exit-status-missing",
            "exit/missing",
        ),
    ] {
        right(&second(step).connect(0).error(kind));
        breaks(
            &second(step).connect(0).error("frame-too-large"),
            requirement,
        );
        breaks(&second(step).connect(0).exited(0, "one\n"), requirement);
        let again = second(step)
            .connect(0)
            .connect(1)
            .exited(0, "one\ntwo\nthree\n");
        assert_eq!(again.violations[0].requirement, requirement, "{step}");
    }
}

#[test]
fn several_broken_rules_leave_the_kind_open() {
    let step = "{ send = 2, with = { seq = 7, stream = 'log', data_base64 = '?' } }";
    for kind in ["sequence-gap", "output-invalid"] {
        right(&second(step).connect(0).error(kind));
    }
    breaks(
        &second(step).connect(0).error("sequence-invalid"),
        "sequence/gap",
    );
}

#[test]
fn what_is_left_open_is_right_either_way() {
    for step in [
        "{ send = 2, with = { seq = 2.0 } }",
        "{ send = 2, with = { data_base64 = 'dHdvCh==' } }",
    ] {
        let kind = if step.contains("seq") {
            "sequence-invalid"
        } else {
            "output-invalid"
        };
        right(&second(step).connect(0).error(kind));
    }
    let taken = second("{ send = 2, with = { seq = 2.0 } }")
        .connect(0)
        .exited(0, "one\ntwo\nthree\n");
    right(&taken);
}

#[test]
fn noise_changes_nothing() {
    for step in [
        "{ line = '' }",
        "{ text = \"\\r\\n\" }",
        "{ heartbeat = 2 }",
        "{ send = 1 }",
    ] {
        right(&second(step).connect(0).exited(0, "one\ntwo\nthree\n"));
        let verdict = second(step).connect(0).error("frame-invalid");
        assert!(!verdict.violations.is_empty(), "{step}");
    }
}

#[test]
fn an_unknown_type_is_skipped_by_promise() {
    use fake_server::wire::call::Capability;
    let trial = || {
        second("{ frame = { type = 'log' } }").promising(|promises| {
            promises
                .capabilities
                .insert(Capability::ToleratesUnknownEvents);
        })
    };
    right(&trial().connect(0).exited(0, "one\ntwo\nthree\n"));
    breaks(
        &trial().connect(0).error("unknown-event"),
        "frames/unknown-type",
    );
}

#[test]
fn of_two_keys_the_last_wins_or_the_frame_is_refused() {
    let line = r#"{ line = '{"type":"exit","exit_code":0,"exit_code":3,"signal":null}' }"#;
    let trial = || {
        Trial::of(&stream(&format!(
            "{{ send = \"..3\" }}, {line}, {{ end = \"chunk\" }}"
        )))
    };
    right(&trial().connect(0).exited(3, "one\ntwo\nthree\n"));
    right(&trial().connect(0).error("exit-status-missing"));
    breaks(
        &trial().connect(0).exited(0, "one\ntwo\nthree\n"),
        "frames/duplicate-keys",
    );
}

#[test]
fn the_last_line_is_used_or_fetched_again() {
    let open = "{ send = \"..2\" }, { text = '{\"type\":\"exit\",\"exit_code\":0,\"signal\":null}' }, { end = \"chunk\" }";
    right(&Trial::of(&stream(open)).connect(0).exited(0, "one\ntwo\n"));
    right(
        &Trial::of(&stream(open))
            .connect(0)
            .connect(2)
            .exited(0, "one\ntwo\nthree\n"),
    );
}

#[test]
fn a_partial_line_moves_no_cursor() {
    let cut = "{ send = \"..2\" }, { send = 3, bytes = 30 }, { end = \"chunk\" }";
    right(
        &Trial::of(&stream(cut))
            .connect(0)
            .connect(2)
            .exited(0, "one\ntwo\nthree\n"),
    );
    right(&Trial::of(&stream(cut)).connect(0).error("frame-invalid"));
    let late = Trial::of(&stream(cut))
        .about(&["frames/last-line"])
        .connect(0)
        .connect(3);
    let verdict = late.exited(0, "one\ntwo\n");
    assert_eq!(verdict.violations[0].requirement, "frames/last-line");
}

#[test]
fn the_first_exit_stands() {
    let two =
        "{ send = \"..3\" }, { exit = { code = 4 } }, { exit = { code = 0 } }, { end = \"chunk\" }";
    right(
        &Trial::of(&stream(two))
            .connect(0)
            .exited(4, "one\ntwo\nthree\n"),
    );
    breaks(
        &Trial::of(&stream(two))
            .connect(0)
            .exited(0, "one\ntwo\nthree\n"),
        "exit/first-counts",
    );
}

#[test]
fn exit_codes_are_reported_as_they_are() {
    for code in [0, 1, 137, 255] {
        let text = stream(&format!(
            "{{ send = \"..3\" }}, {{ exit = {{ code = {code} }} }}, {{ end = \"chunk\" }}"
        ));
        right(
            &Trial::of(&text)
                .connect(0)
                .exited(code, "one\ntwo\nthree\n"),
        );
        breaks(
            &Trial::of(&text)
                .connect(0)
                .exited(code - 256, "one\ntwo\nthree\n"),
            "exit/code",
        );
    }
}

#[test]
fn a_signal_is_no_code() {
    let text =
        stream("{ send = \"..3\" }, { exit = { signal = \"SIGKILL\" } }, { end = \"chunk\" }");
    breaks(
        &Trial::of(&text).connect(0).exited(0, "one\ntwo\nthree\n"),
        "exit/signal",
    );
    breaks(
        &Trial::of(&text).connect(0).exited(137, "one\ntwo\nthree\n"),
        "exit/signal",
    );
}
