//! What is said about mistakes, as an author sees it. Each example holds one mistake (or a few that
//! must all be told); the answers stand in `snapshots/mistakes`.

use super::{HEAD, THREE, messages, read};
use fake_server::script;

/// Examples below [`HEAD`], by the name of the snapshot.
const MISTAKES: &[(&str, &str)] = &[
    // TOML itself.
    ("no-toml-unquoted-duration", "deadline = 10s"),
    ("no-toml-unquoted-word", "op = follow"),
    (
        "no-toml-same-key-twice",
        "op = \"follow\"\nop = \"execute\"",
    ),
    (
        "no-toml-open-bracket",
        "needs = [\"timeout\"\n\n[process]\nlive = true\n",
    ),
    ("no-toml-bad-escape", "why = \"a \\q b\""),
    // Keys.
    ("unknown-key-slip", "[process]\nouput = []"),
    ("unknown-key-underscore", "fault_kinds = [\"CT03\"]"),
    ("unknown-key-of-another-table", "[process]\nstatus = 502"),
    (
        "unknown-key-below-a-table",
        "[process]\nlive = true\ndeadline = \"1s\"",
    ),
    ("unknown-key-hint", "id = \"stream/x\""),
    ("unknown-key-anything", "frobnicate = 1"),
    ("fault-with-one-bracket", "[fault]\non = \"connect\""),
    ("fault-without-call", "[[fault]]\nstatus = 502"),
    // Files.
    ("file-without-a-path", "[[file]]\ntext = \"one\""),
    (
        "file-with-a-relative-path",
        "[[file]]\npath = \"data/file.bin\"",
    ),
    (
        "file-twice",
        "[[file]]\npath = \"/a\"\n[[file]]\npath = \"/a\"\ntext = \"one\"",
    ),
    (
        "file-with-two-contents",
        "[[file]]\npath = \"/a\"\ntext = \"one\"\nfill = 3",
    ),
    ("file-of-a-slip", "[[file]]\npath = \"/a\"\ndata = \"one\""),
    (
        "file-too-large",
        "[[file]]\npath = \"/a\"\nfill = \"65MiB\"",
    ),
    ("files-in-one-table", "[files]\n\"/a\" = \"one\""),
    (
        "upload-with-two-contents",
        "op = \"upload\"\n[job]\npath = \"/a\"\ndata = \"one\"\ndata-fill = 3",
    ),
    // Types and units.
    ("duration-without-unit", "deadline = 10"),
    (
        "fill-of-a-bad-size",
        "[process]\noutput = [{ fill = -1, byte = \"x\" }]",
    ),
    ("duration-with-another-unit", "deadline = \"10sec\""),
    ("duration-of-zero", "deadline = \"0s\""),
    ("size-of-thousands", "[process]\njournal = \"1MB\""),
    ("text-for-a-list", "needs = \"timeout\""),
    ("number-for-text", "why = 7"),
    ("negative-number", "[sandbox]\nlag = -1"),
    (
        "header-values-are-lists",
        "[[fault]]\non = \"connect\"\nheaders = { retry-after = \"1\" }",
    ),
    // Names.
    ("unknown-op", "op = \"folow\""),
    (
        "unknown-capability",
        "needs = [\"live_output\", \"teleport\"]",
    ),
    (
        "unknown-call",
        "[[fault]]\non = \"create_process\"\nstatus = 500",
    ),
    ("unknown-state", "[sandbox]\nstate = \"stopped\""),
    ("unknown-error-kind", "[expect]\nkind = [\"seq-gap\"]"),
    (
        "unknown-fault-kind",
        "fault-kinds = [\"CT13\", \"reset_mid_frame\", \"XX01\"]",
    ),
    ("fault-kind-twice", "fault-kinds = [\"CT03\", \"CT03\"]"),
    (
        "unknown-placeholder",
        "[[fault]]\non = \"connect\"\nbody = { text = \"see {api_key} and {canery}\" }",
    ),
    // Job.
    (
        "field-of-another-op",
        "op = \"follow\"\n[job]\ncommand = [\"x\"]",
    ),
    (
        "cancel-at-no-moment",
        "[job]\ncancel = { on = \"connect\", at = \"frame\" }",
    ),
    (
        "cancel-at-a-frame-of-no-stream",
        "[job]\ncancel = { on = \"wait\", at = \"frame 1\" }",
    ),
    (
        "cursor-beyond-the-truth",
        "op = \"follow\"\n[job]\nafter = 5",
    ),
    ("upload-without-path", "op = \"upload\""),
    // Truth.
    (
        "two-outputs-in-one",
        "[process]\noutput = [{ stdout = \"a\", stderr = \"b\" }]",
    ),
    (
        "output-on-no-stream",
        "[process]\noutput = [{ text = \"a\" }]",
    ),
    (
        "output-of-another-kind",
        "[process]\nkind = \"pty\"\noutput = [{ stdout = \"a\" }]",
    ),
    (
        "pause-in-a-finished-process",
        "[process]\noutput = [{ stdout = \"a\" }, { pause = \"1s\" }]",
    ),
    (
        "count-without-repeat",
        "[process]\noutput = [{ stdout = \"line {n}\\n\" }]",
    ),
    (
        "bad-base64",
        "[process]\noutput = [{ stdout-base64 = \"4oK\" }]",
    ),
    (
        "too-much-output",
        "[process]\noutput = [{ repeat = 10, fill = \"100MiB\" }]",
    ),
    ("exit-as-a-number", "[process]\nexit = 1"),
    (
        "exit-by-a-lower-case-signal",
        "[process]\nexit = { signal = \"sigkill\" }",
    ),
    ("exit-of-nothing", "[process]\nexit = {}"),
    // Matrix.
    (
        "matrix-unused",
        "[matrix]\nhow = [\"fin\"]\n[[fault]]\non = \"connect\"\nreason = \"by $how\"",
    ),
    (
        "matrix-unknown-name",
        "[matrix]\nhow = [\"fin\"]\n[[fault]]\non = \"connect\"\nstream = [{ end = \"$hw\" }, { end = \"$how\" }]",
    ),
    (
        "matrix-wrong-value",
        "[matrix]\nhow = [\"fin\", \"rest\"]\n[[fault]]\non = \"connect\"\nstream = [{ end = \"$how\" }]",
    ),
    (
        "matrix-value-twice",
        "[matrix]\ncode = [1, 2, 1]\n[process]\nexit = { code = \"$code\" }",
    ),
    (
        "matrix-without-values",
        "[matrix]\ncode = []\n[process]\nexit = { code = \"$code\" }",
    ),
    (
        "matrix-name-for-no-id",
        "[matrix.text]\n\"a b\" = \"x\"\n[process]\noutput = [{ stdout = \"$text\" }]",
    ),
    // Faults.
    (
        "fault-that-changes-nothing",
        "[[fault]]\non = \"connect\"\nbait = true",
    ),
    (
        "attempt-of-zero",
        "[[fault]]\non = \"connect\"\nattempt = 0\nstatus = 502",
    ),
    (
        "attempt-in-quotes",
        "[[fault]]\non = \"connect\"\nattempt = \"2\"\nstatus = 502",
    ),
    (
        "attempt-backwards",
        "[[fault]]\non = \"connect\"\nattempt = \"3..1\"\nstatus = 502",
    ),
    (
        "attempt-up-to",
        "[[fault]]\non = \"connect\"\nattempt = \"..3\"\nstatus = 502",
    ),
    (
        "attempt-twice",
        "[[fault]]\non = \"connect\"\nattempt = 2\nstatus = 502\n[[fault]]\non = \"connect\"\nattempt = 2\nstatus = 503",
    ),
    (
        "attempt-in-two-ranges",
        "[[fault]]\non = \"connect\"\nattempt = \"1..3\"\nstatus = 502\n[[fault]]\non = \"connect\"\nattempt = \"3..\"\nstatus = 503",
    ),
    (
        "attempt-after-every",
        "[[fault]]\non = \"connect\"\nattempt = \"every\"\nstatus = 502\n[[fault]]\non = \"connect\"\nstatus = 503",
    ),
    (
        "attempt-after-a-hole",
        "[[fault]]\non = \"connect\"\nattempt = 3\nstatus = 502\n[[fault]]\non = \"connect\"\nstatus = 503",
    ),
    (
        "two-bodies",
        "[[fault]]\non = \"connect\"\nbody = { text = \"x\" }\nstream = [{ end = \"fin\" }]",
    ),
    (
        "answer-to-a-cut-request",
        "[[fault]]\non = \"connect\"\nreset = { at = \"head-read\" }\nstatus = 502",
    ),
    (
        "close-as-a-word",
        "[[fault]]\non = \"connect\"\nclose = \"head-read\"",
    ),
    (
        "status-out-of-range",
        "[[fault]]\non = \"connect\"\nstatus = 100",
    ),
    (
        "status-of-a-redirect",
        "[[fault]]\non = \"connect\"\nstatus = 200\nredirect = \"loop\"",
    ),
    (
        "length-by-a-header",
        "[[fault]]\non = \"connect\"\nheaders = { Content-Length = [\"5\"] }",
    ),
    (
        "length-without-sign",
        "[[fault]]\non = \"connect\"\ncontent-length = 10",
    ),
    (
        "effect-of-a-read",
        "[[fault]]\non = \"get-process\"\neffect = \"done\"\nstatus = 500",
    ),
    (
        "cursor-of-a-delete",
        "[[fault]]\non = \"delete-process\"\nwhen = { after = 0 }\nstatus = 500",
    ),
    (
        "body-of-two-forms",
        "[[fault]]\non = \"wait\"\nbody = { text = \"x\", json = 1 }",
    ),
    (
        "body-from-a-file",
        "[[fault]]\non = \"wait\"\nbody = { file = \"page.html\" }",
    ),
    (
        "segments-of-zero",
        "[[fault]]\non = \"connect\"\nsegments = [7, 0]",
    ),
    (
        "segments-by-another-word",
        "[[fault]]\non = \"connect\"\nsegments = \"bytes\"",
    ),
    (
        "chunks-in-http-1-0",
        "[[fault]]\non = \"connect\"\nhttp = \"1.0\"\nchunks = \"one\"",
    ),
    // Expectations.
    (
        "output-the-process-never-writes",
        "[process]\noutput = [{ stdout = \"one\\n\" }]\n[expect]\noutput-at-least = { stdout = \"one\\r\" }",
    ),
    (
        "output-longer-than-the-truth",
        "[process]\noutput = [{ stdout = \"one\\n\" }]\n[expect]\noutput-at-most = { stdout = \"one\\ntwo\\n\" }",
    ),
    ("same-before-the-first", "[expect]\nconnects = [\"same\"]"),
    ("one-alternative", "[[expect.any-of]]\ntrap = 0"),
    (
        "several-at-once",
        "deadline = 10\nneeds = [\"live-outptu\"]\n[process]\nexit = \"never \"\n[[fault]]\non = \"conect\"\nstatus = 502\n[[fault]]\non = \"connect\"\nstream = [{ send = 9 }, { end = \"fin\" }]",
    ),
];

/// Streams that answer a connect of three true frames, by the name of the snapshot.
const STREAMS: &[(&str, &str)] = &[
    ("step-outside-the-truth", "{ send = 4 }, { end = \"fin\" }"),
    (
        "step-range-outside-the-truth",
        "{ send = \"2..5\" }, { end = \"fin\" }",
    ),
    (
        "step-range-without-end",
        "{ send = \"2..\" }, { end = \"fin\" }",
    ),
    (
        "step-range-of-another-language",
        "{ send = \"1..=3\" }, { end = \"fin\" }",
    ),
    (
        "step-after-the-end",
        "{ send = 1 }, { end = \"fin\" }, { send = 2 }",
    ),
    (
        "step-after-every",
        "{ every = \"1s\", step = { heartbeat = 1 } }, { end = \"fin\" }",
    ),
    ("step-without-an-end", "{ send = \"..2\" }"),
    ("step-of-two-kinds", "{ send = 1, end = \"fin\" }"),
    ("step-of-no-kind", "{ bytes = 5 }"),
    ("step-empty", "{}, { end = \"fin\" }"),
    ("step-unknown", "{ hearbeat = 1 }, { end = \"fin\" }"),
    ("step-hint", "{ close = true }, { end = \"fin\" }"),
    ("step-unknown-end", "{ end = \"rst\" }"),
    (
        "step-with-what-is-not-its",
        "{ heartbeat = 1, is = 2 }, { end = \"fin\" }",
    ),
    (
        "step-part-of-a-whole-line",
        "{ send = 1, bytes = 67 }, { end = \"fin\" }",
    ),
    (
        "step-part-of-several",
        "{ send = \"..2\", bytes = 20 }, { end = \"fin\" }",
    ),
    (
        "step-without-a-field-it-has",
        "{ send = 1, without = [\"data-base64\"] }, { end = \"fin\" }",
    ),
    (
        "step-end-in-a-loop",
        "{ loop = 2, steps = [{ send = 1 }, { end = \"fin\" }] }",
    ),
    (
        "step-trickle-without-time",
        "{ trickle = 1, step = { send = 1 } }, { end = \"fin\" }",
    ),
    ("step-every-without-step", "{ every = \"1s\" }"),
    (
        "step-waits-for-ever",
        "{ send = 1 }, { until = \"delivered\", seq = 2 }, { end = \"fin\" }",
    ),
    (
        "step-delivered-without-frame",
        "{ send = 1 }, { until = \"delivered\" }, { end = \"fin\" }",
    ),
    (
        "step-journal-outside-the-truth",
        "{ journal = { oldest = 2, newest = 40 } }, { end = \"fin\" }",
    ),
    (
        "step-journal-backwards",
        "{ journal = { oldest = 3, newest = 2 } }, { end = \"fin\" }",
    ),
    (
        "step-too-many",
        "{ loop = 1000000, steps = [{ heartbeat = 1000 }] }, { end = \"fin\" }",
    ),
    (
        "step-date-in-a-frame",
        "{ frame = { type = \"data\", seq = 2025-01-01 } }, { end = \"fin\" }",
    ),
];

#[test]
fn mistakes_are_answered_as_the_snapshots_say() {
    for (name, text) in MISTAKES {
        answer(name, &format!("{HEAD}{text}\n"));
    }
}

#[test]
fn mistakes_in_streams_are_answered_as_the_snapshots_say() {
    for (name, steps) in STREAMS {
        let one_a_line = steps.replace("}, {", "},\n  {");
        answer(
            name,
            &format!(
                "{HEAD}{THREE}\n[[fault]]\non = \"connect\"\nstream = [\n  {one_a_line},\n]\n"
            ),
        );
    }
}

#[test]
fn mistakes_of_the_head_are_answered_as_the_snapshots_say() {
    answer("head-empty", "");
    answer("head-without-requirements", "title = \"x\"\n");
    answer(
        "head-title-of-two-lines",
        "title = \"\"\"a\nb\"\"\"\nrequirements = [\"data/exact\", \"data/exact\"]\n",
    );
    answer(
        "head-unknown-requirements",
        "title = \"x\"\nrequirements = [\"frames/exact\", \"data/exakt\", \"stream/x\", \"nonsense\"]\n",
    );
}

fn answer(name: &str, text: &str) {
    let Err(mistakes) = read(text) else {
        panic!("{name} is no mistake:\n{text}");
    };
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../snapshots/mistakes");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, mistakes.to_string()));
}

#[test]
fn what_is_wrong_in_every_instance_is_said_once() {
    let text = "[matrix]\nhow = [\"fin\", \"reset\"]\n[[fault]]\non = \"connect\"\nstream = [{ send = 7 }, { end = \"$how\" }]";
    assert_eq!(messages(text), ["there is no true frame 7"]);
}

#[test]
fn a_broken_truth_does_not_blame_the_faults() {
    let text = "[process]\noutput = [{ stdot = \"a\" }]\n[[fault]]\non = \"connect\"\nstream = [{ send = 1 }, { end = \"fin\" }]";
    assert_eq!(messages(text), ["an output has no key `stdot`"]);
}

#[test]
fn a_mistake_has_its_line_and_column() {
    let Err(mistakes) = read(&format!("{HEAD}op = \"é\" # \n[process]\nlive = 1\n")) else {
        panic!("two mistakes");
    };
    let places: Vec<_> = mistakes
        .iter()
        .map(|mistake| (mistake.line(), mistake.column()))
        .collect();
    assert_eq!(places, [(Some(3), Some(6)), (Some(5), Some(8))]);
}

#[test]
fn an_id_is_no_requirement_and_no_pattern() {
    let parse = |id: &str| {
        script::parse("a.toml", id, HEAD, Some(&["data/exact"]))
            .map_err(|mistakes| mistakes.to_string())
    };
    assert!(parse("data/cut").is_ok());
    assert!(parse("data/exact").is_err_and(|text| text.contains("is the id of a requirement")));
    assert!(parse("data/*").is_err_and(|text| text.contains("cannot be the id of a scenario")));
}

#[test]
fn colours_are_asked_for() {
    let Err(mistakes) = read("") else {
        panic!("an empty file is a mistake");
    };
    assert!(mistakes.render(true).contains("\u{1b}["));
    assert!(!mistakes.render(false).contains('\u{1b}'));
    assert_eq!(mistakes.render(false).trim_end(), mistakes.to_string());
}
