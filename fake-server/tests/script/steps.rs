//! What each step of a stream means.

use super::{
    THREE,
    faults::{behaviour, object},
    messages, plan,
};
use fake_server::{
    script::model::{Content, End, FrameRef, Span, Step, Until},
    wire::{Blob, call::Capability},
};
use serde_json::json;

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
