//! What a file says about faults: which calls they meet, what those get, and every step of a stream.

use super::{HEAD, REQUIREMENTS, THREE, messages, plan};
use fake_server::{
    script::{
        self,
        model::{
            Attempts, Behaviour, Chunks, Coding, ConnectionUse, Content, Cut, CutPoint, Effect,
            Encoding, End, FrameRef, Redirect, Segments, Span, Step, Until,
        },
    },
    wire::{Blob, Call, call::Capability},
};
use serde_json::{Value, json};

/// The behaviour of a fault on connect that says this.
fn behaviour(says: &str) -> Behaviour {
    let text = format!("{THREE}[[fault]]\non = \"connect\"\n{says}");
    plan(&text).faults.remove(0).behaviour
}

/// The steps of a stream.
fn steps(list: &str) -> Vec<Step> {
    match behaviour(&format!("stream = [{list}]")).content {
        Content::Stream(steps) => steps,
        other => panic!("no stream: {other:?}"),
    }
}

/// The only step before an end.
fn step(one: &str) -> Step {
    let mut steps = steps(&format!("{one}, {{ end = \"chunk\" }}"));
    assert_eq!(steps.pop(), Some(Step::End(End::Chunk)));
    assert_eq!(steps.len(), 1);
    steps.remove(0)
}

fn object(value: Value) -> serde_json::Map<String, Value> {
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
fn true_frames_are_sent_by_number_and_range() {
    assert_eq!(step("{ send = 3 }"), Step::SendOne(FrameRef::Seq(3)));
    assert_eq!(step("{ send = \"exit\" }"), Step::SendOne(FrameRef::Exit));
    assert_eq!(step("{ send = \"..2\" }"), Step::Send(Span::UpTo(2)));
    assert_eq!(step("{ send = \"2..3\" }"), Step::Send(Span::Range(2, 3)));
    assert_eq!(step("{ send = \"rest\" }"), Step::Send(Span::Rest));
    assert_eq!(
        step("{ send = 3, bytes = 20 }"),
        Step::Part {
            frame: FrameRef::Seq(3),
            bytes: 20
        }
    );
    assert_eq!(
        step("{ send = \"exit\", bytes = 0 }"),
        Step::Part {
            frame: FrameRef::Exit,
            bytes: 0
        }
    );
    assert_eq!(
        step("{ send = 2, with = { seq = 5.0, note = \"x\" }, without = [\"stream\"] }"),
        Step::Edited {
            frame: FrameRef::Seq(2),
            with: object(json!({ "seq": 5.0, "note": "x" })),
            without: vec!["stream".to_owned()],
        }
    );
}

#[test]
fn a_part_can_be_all_but_the_line_feed() {
    // {"type":"data","seq":3,"stream":"stdout","data_base64":"dGhyZWUK"} and its LF.
    assert_eq!(
        step("{ send = 3, bytes = 66 }"),
        Step::Part {
            frame: FrameRef::Seq(3),
            bytes: 66
        }
    );
    let whole = format!(
        "{THREE}[[fault]]\non = \"connect\"\nstream = [{{ send = 3, bytes = 67 }}, {{ end = \"fin\" }}]"
    );
    assert_eq!(
        messages(&whole),
        ["the line of frame 3 has 67 bytes with its LF"]
    );
}

#[test]
fn frames_are_forged_and_raw_bytes_sent() {
    assert_eq!(
        step("{ frame = { type = \"data\", seq = 18446744073709551615 }, is = 2 }"),
        Step::Frame {
            fields: object(json!({ "type": "data", "seq": u64::MAX })),
            is: Some(FrameRef::Seq(2)),
        }
    );
    assert_eq!(
        step("{ line = '{' }"),
        Step::Raw {
            bytes: Blob::from("{\n"),
            is: None
        }
    );
    assert_eq!(
        step("{ text = '{' }"),
        Step::Raw {
            bytes: Blob::from("{"),
            is: None
        }
    );
    assert_eq!(
        step("{ base64 = \"/w==\", is = \"exit\" }"),
        Step::Raw {
            bytes: Blob(vec![0xff]),
            is: Some(FrameRef::Exit)
        }
    );
    assert_eq!(step("{ heartbeat = 3 }"), Step::Heartbeat(3));
    assert_eq!(
        step("{ exit = { code = -1 } }"),
        Step::Exit {
            code: Some(-1),
            signal: None
        }
    );
    assert_eq!(
        step("{ exit = {} }"),
        Step::Exit {
            code: None,
            signal: None
        }
    );
    assert_eq!(
        step("{ error = \"output_offset_expired\", oldest = 42 }"),
        Step::Error {
            code: "output_offset_expired".to_owned(),
            oldest: Some(json!(42))
        }
    );
    assert_eq!(
        step("{ error = \"x\" }"),
        Step::Error {
            code: "x".to_owned(),
            oldest: None
        }
    );
}

#[test]
fn time_passes_in_a_stream() {
    assert_eq!(step("{ pause = \"50ms\" }"), Step::Pause { ms: 50 });
    assert_eq!(
        step("{ trickle = 1, every = \"10ms\", step = { send = 3 } }"),
        Step::Trickle {
            bytes: 1,
            every_ms: 10,
            step: Box::new(Step::SendOne(FrameRef::Seq(3)))
        }
    );
    assert_eq!(
        steps("{ every = \"1s\", step = { heartbeat = 1 } }"),
        [Step::Every {
            every_ms: 1_000,
            step: Box::new(Step::Heartbeat(1))
        }]
    );
    assert_eq!(
        step("{ loop = 5, steps = [{ line = \"{n}\" }, { pause = \"1ms\" }] }"),
        Step::Loop {
            count: 5,
            steps: vec![
                Step::Raw {
                    bytes: Blob::from("{n}\n"),
                    is: None
                },
                Step::Pause { ms: 1 }
            ],
        }
    );
}

#[test]
fn a_stream_waits_and_ends() {
    assert_eq!(step("{ until = \"acked\" }"), Step::Until(Until::Acked));
    assert_eq!(
        steps("{ until = \"closed\" }"),
        [Step::Until(Until::Closed)]
    );
    assert_eq!(
        step("{ journal = { oldest = 2, newest = 3 } }"),
        Step::Journal {
            oldest: 2,
            newest: 3
        }
    );
    for (word, end) in [
        ("chunk", End::Chunk),
        ("fin", End::Fin),
        ("reset", End::Reset),
        ("reset-now", End::ResetNow),
        ("hold", End::Hold),
        ("truncated-chunk", End::TruncatedChunk),
        ("bad-chunk", End::BadChunk),
    ] {
        assert_eq!(steps(&format!("{{ end = \"{word}\" }}")), [Step::End(end)]);
    }
    assert_eq!(
        steps("{ send = \"rest\" }"),
        [Step::Send(Span::Rest)],
        "an exit ends it as HTTP does"
    );
}

#[test]
fn waiting_for_delivery_needs_live_output_except_for_raw_events() {
    let fault = "[[fault]]\non = \"connect\"\nstream = [{ send = \"..2\" }, { until = \"delivered\", seq = 2 }, { end = \"hold\" }]";
    assert_eq!(
        plan(&format!("{THREE}{fault}")).needs,
        [Capability::LiveOutput]
    );
    assert!(
        plan(&format!("op = \"connect\"\n{THREE}{fault}"))
            .needs
            .is_empty()
    );
}

#[test]
fn other_calls_can_answer_by_raw_steps() {
    let text = "[[fault]]\non = \"delete-process\"\nstream = [{ text = \"{\" }, { every = \"50ms\", step = { text = \" \" } }]";
    assert!(matches!(
        plan(text).faults[0].behaviour.content,
        Content::Stream(_)
    ));
    let framed =
        "[[fault]]\non = \"delete-process\"\nstream = [{ heartbeat = 1 }, { end = \"fin\" }]";
    assert_eq!(
        messages(framed),
        ["the answer of delete-process has no frames of the truth"]
    );
}
