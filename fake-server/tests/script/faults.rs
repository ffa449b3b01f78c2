//! What a file says about faults: which calls they meet and what those get.

use super::{HEAD, REQUIREMENTS, THREE, messages, plan};
use fake_server::{
    script::{
        self,
        model::{
            Attempts, Behaviour, Break, BreakPlace, Chunks, Coding, ConnectionUse, Content, Cut,
            CutPoint, Effect, Encoding, End, Redirect, Segments,
        },
    },
    wire::{Blob, Call},
};
use serde_json::{Value, json};

/// The behaviour of a fault on connect that says this.
pub(crate) fn behaviour(says: &str) -> Behaviour {
    let text = format!("{THREE}[[fault]]\non = \"connect\"\n{says}");
    plan(&text).faults.remove(0).behaviour
}

/// The fields of a JSON object.
pub(crate) fn object(value: Value) -> serde_json::Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("no object: {other}"),
    }
}

#[test]
fn a_fault_takes_the_next_attempt_unless_it_says_which() {
    let faults = |text: &str| -> Vec<(usize, Option<Call>, Attempts)> {
        plan(text)
            .faults
            .iter()
            .map(|fault| (fault.number, fault.on, fault.attempts))
            .collect()
    };
    assert_eq!(
        faults(
            r#"
            [[fault]]
            on = "connect"
            status = 502
            [[fault]]
            on = "connect"
            attempt = 2
            status = 503
            [[fault]]
            on = "delete-process"
            status = 500
            [[fault]]
            on = "connect"
            status = 504
            [[fault]]
            on = "connect"
            attempt = "4..5"
            status = 500
            [[fault]]
            on = "any"
            attempt = "every"
            delay = "1ms"
            [[fault]]
            on = "connect"
            attempt = "6.."
            status = 500
            "#
        ),
        [
            (1, Some(Call::Connect), Attempts::Nth(1)),
            (2, Some(Call::Connect), Attempts::Nth(2)),
            (3, Some(Call::DeleteProcess), Attempts::Nth(1)),
            (4, Some(Call::Connect), Attempts::Nth(3)),
            (5, Some(Call::Connect), Attempts::Range(4, 5)),
            (6, None, Attempts::Every),
            (7, Some(Call::Connect), Attempts::From(6)),
        ]
    );
}

#[test]
fn numbers_stand_above_ranges_and_ranges_above_every() {
    let text = r#"
        [[fault]]
        on = "connect"
        attempt = "every"
        status = 502
        [[fault]]
        on = "connect"
        attempt = "2.."
        status = 503
        [[fault]]
        on = "connect"
        attempt = 3
        "#;
    assert_eq!(
        plan(text).faults.len(),
        3,
        "the last one is a faithful answer inside a range"
    );
}

#[test]
fn two_faults_share_an_attempt_when_one_is_about_the_connection_or_they_never_meet() {
    let two = |first: &str, second: &str| {
        messages(&format!(
            "{THREE}[[fault]]\non = \"connect\"\nattempt = 1\n{first}\n[[fault]]\non = \"connect\"\nattempt = 1\n{second}"
        ))
    };
    assert!(two("delay = \"1s\"", "status = 502").is_empty());
    assert!(two("refuse = true", "status = 502").is_empty());
    assert!(two("close = { at = \"accept\" }", "status = 502").is_empty());
    assert!(
        two(
            "status = 502\nwhen = { after = 0 }",
            "status = 503\nwhen = { after = 2 }"
        )
        .is_empty()
    );
    assert!(
        two(
            "status = 502\non-connection = \"fresh\"",
            "status = 503\non-connection = \"reused\""
        )
        .is_empty()
    );
    assert_eq!(
        two("status = 502", "status = 503"),
        ["two faults for the same attempt of connect"]
    );
    assert_eq!(
        two("delay = \"1s\"", "status = 502\ndelay = \"2s\""),
        ["`delay` twice for the same attempt of connect"]
    );
    assert_eq!(
        two("hold = \"1s\"", "status = 502"),
        ["an answer and none for the same attempt of connect"]
    );
    assert_eq!(
        two("close = { at = \"head-read\" }", "status = 502"),
        ["an answer and none for the same attempt of connect"]
    );
}

#[test]
fn guards_and_bait_are_kept() {
    let text = format!(
        "{THREE}[[fault]]\non = \"connect\"\nattempt = \"every\"\nwhen = {{ after = 2 }}\non-connection = \"reused\"\nbait = true\nstatus = 502"
    );
    let fault = plan(&text).faults.remove(0);
    assert_eq!(
        (fault.when_after, fault.on_connection, fault.bait),
        (Some(2), Some(ConnectionUse::Reused), true)
    );
}

#[test]
fn an_answer_has_status_reason_headers_and_a_body() {
    let answer = behaviour(
        r#"
        status = 429
        reason = "Slow Down"
        headers = { retry-after = ["1", "2"], content-type = [] }
        body = { text = "<html>{canary}</html>" }
        "#,
    );
    assert_eq!(
        (answer.status, answer.reason.as_deref()),
        (Some(429), Some("Slow Down"))
    );
    assert_eq!(
        answer.headers,
        [
            (
                "retry-after".to_owned(),
                vec!["1".to_owned(), "2".to_owned()]
            ),
            ("content-type".to_owned(), Vec::new()),
        ]
    );
    assert_eq!(
        answer.content,
        Content::Text("<html>{canary}</html>".to_owned())
    );
    assert_eq!(
        behaviour("body = { base64 = \"AAE=\" }").content,
        Content::Bytes(Blob(vec![0, 1]))
    );
    assert_eq!(
        behaviour("body = { endless = \"x\" }").content,
        Content::Endless(b'x')
    );
    assert_eq!(
        behaviour("body = { json = { b = [1, 2.5, \"x\", true], a = {} } }").content,
        Content::Json(json!({ "b": [1, 2.5, "x", true], "a": {} }))
    );
}

#[test]
fn a_body_can_be_a_file_beside_the_scenario() {
    let text = format!("{HEAD}[[fault]]\non = \"connect\"\nbody = {{ file = \"page.html\" }}");
    let read = |files: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>| {
        script::parse_with("a.toml", "a", &text, Some(REQUIREMENTS), files)
    };
    let scenario = read(&mut |path| Ok(path.as_bytes().to_vec())).expect("a right file");
    let content = scenario.plan(0, 0).faults.remove(0).behaviour.content;
    assert_eq!(content, Content::Bytes(Blob::from("page.html")));
    let mistakes = read(&mut |_| Err("no such file".to_owned())).expect_err("no file");
    assert!(
        mistakes
            .to_string()
            .contains("this file cannot be read: no such file"),
        "{mistakes}"
    );
}

#[test]
fn an_envelope_is_changed_field_by_field() {
    let text = "[[fault]]\non = \"delete-process\"\ndata = { tree_exited = false }\nwithout = [\"pid\"]\neffect = \"none\"";
    let behaviour = plan(text).faults.remove(0).behaviour;
    assert_eq!(
        behaviour.content,
        Content::Data {
            with: object(json!({ "tree_exited": false })),
            without: vec!["pid".to_owned()]
        }
    );
    assert_eq!(behaviour.effect, Some(Effect::None));
}

#[test]
fn redirects_go_to_four_places() {
    for (word, redirect) in [
        ("other-origin", Redirect::OtherOrigin),
        ("same-origin", Redirect::SameOrigin),
        ("loop", Redirect::Loop),
        ("downgrade", Redirect::Downgrade),
    ] {
        let behaviour = behaviour(&format!("redirect = \"{word}\"\nstatus = 307"));
        assert_eq!(
            (behaviour.content, behaviour.status),
            (Content::Redirect(redirect), Some(307))
        );
    }
}

#[test]
fn the_connection_misbehaves_in_every_way() {
    assert_eq!(behaviour("delay = \"50ms\"").delay_ms, Some(50));
    assert!(behaviour("refuse = true").refuse);
    let cut = |text: &str| behaviour(text).cut;
    assert_eq!(
        cut("close = { at = \"accept\" }"),
        Some(Cut {
            at: CutPoint::Accept,
            reset: false
        })
    );
    assert_eq!(
        cut("reset = { at = \"head-read\" }"),
        Some(Cut {
            at: CutPoint::HeadRead,
            reset: true
        })
    );
    assert_eq!(
        cut("reset = { at = \"body-read\" }"),
        Some(Cut {
            at: CutPoint::BodyRead,
            reset: true
        })
    );
    assert_eq!(behaviour("hold = \"30s\"").hold_ms, Some(30_000));
    assert!(behaviour("http = \"1.0\"").http10);
    assert_eq!(
        behaviour("content-length = \"+10\"").content_length,
        Some(10)
    );
    assert_eq!(
        behaviour("content-length = \"-3\"").content_length,
        Some(-3)
    );
    assert!(behaviour("transfer-encoding = \"also\"").transfer_encoding_also);
    assert_eq!(
        behaviour("encoding = { coding = \"gzip\", flush = \"never\", cut = 5, extra = 2 }")
            .encoding,
        Some(Encoding {
            coding: Coding::Gzip,
            flush_frames: false,
            cut: Some(5),
            lie: false,
            extra: 2
        })
    );
    assert!(
        behaviour("encoding = { coding = \"gzip\", lie = true }")
            .encoding
            .is_some_and(|encoding| encoding.lie)
    );
}

#[test]
fn writes_and_chunks_are_cut_in_every_way() {
    let segments = |says: &str| behaviour(&format!("segments = {says}")).segments;
    assert_eq!(segments("\"frame\""), Segments::Frame);
    assert_eq!(segments("\"byte\""), Segments::Byte);
    assert_eq!(segments("\"all\""), Segments::All);
    assert_eq!(segments("[7, 1, 300]"), Segments::Sizes(vec![7, 1, 300]));
    let chunks = |says: &str| behaviour(&format!("chunks = {says}")).chunks;
    assert_eq!(chunks("\"frame\""), Chunks::Frame);
    assert_eq!(chunks("\"one\""), Chunks::One);
    assert_eq!(chunks("\"step\""), Chunks::Step);
    assert_eq!(chunks("[5]"), Chunks::Sizes(vec![5]));
}

#[test]
fn a_stream_breaks_off_on_the_wire_or_in_its_lines() {
    let broken = |says: &str| behaviour(&format!("break-at = {says}")).break_at;
    let wanted = |at, by| Some(Break { at, by });
    assert_eq!(
        broken("{ byte = 117, by = \"fin\" }"),
        wanted(BreakPlace::Wire(117), End::Fin)
    );
    assert_eq!(
        broken("{ payload = 0, by = \"chunk\" }"),
        wanted(BreakPlace::Payload(0), End::Chunk)
    );
    for (says, message) in [
        (
            "{ byte = 1, payload = 1, by = \"fin\" }",
            "`byte` and `payload`: it breaks off once",
        ),
        ("{ by = \"fin\" }", "where does it break off?"),
        (
            "{ byte = 1, by = \"chunk\" }",
            "a zero chunk in the middle of a chunk is data",
        ),
        (
            "{ byte = 1, by = \"bad-chunk\" }",
            "a body does not break off so",
        ),
    ] {
        let text = format!("{THREE}[[fault]]\non = \"connect\"\nbreak-at = {says}");
        assert!(messages(&text).contains(&message.to_owned()), "{says}");
    }
    for beside in [
        "body = { text = \"x\" }",
        "encoding = { coding = \"gzip\" }",
    ] {
        let text = format!(
            "{THREE}[[fault]]\non = \"connect\"\nbreak-at = {{ byte = 1, by = \"fin\" }}\n{beside}"
        );
        assert_eq!(messages(&text).len(), 1, "{beside}");
    }
}
