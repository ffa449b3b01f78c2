use super::*;
use crate::{
    script::model::TruthFrame,
    wire::{Blob, Op, StreamName},
    wirelog::Names,
    world::{healthy, tests::plan},
};
use serde_json::json;

fn truth(frames: u64) -> Truth {
    Truth {
        frames: (1..=frames)
            .map(|seq| TruthFrame {
                seq,
                stream: StreamName::Stdout,
                data: format!("{seq}\n").as_str().into(),
                pause_ms: 0,
            })
            .collect(),
        ..healthy(false)
    }
}

/// A list in short: `3` is true frame 3, `x` the true exit, other pieces by a word.
fn brief(pieces: &[Piece]) -> String {
    let word = |piece: &Piece| match piece {
        Piece::Bytes { what, .. } => word_of(*what),
        Piece::Trickle { what, portion, .. } => format!("trickle{portion}({})", word_of(*what)),
        Piece::Pause { ms, heartbeats } => {
            format!("{}{ms}", if *heartbeats { "quiet" } else { "mute" })
        }
        Piece::Until(until) => format!("{until:?}"),
        Piece::Every { every_ms, pieces } => format!("every{every_ms}({})", brief(pieces)),
        Piece::End(end) => format!("{end:?}"),
    };
    pieces.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn word_of(what: Payload) -> String {
    let of = |frame: FrameRef| match frame {
        FrameRef::Seq(seq) => seq.to_string(),
        FrameRef::Exit => "x".to_owned(),
    };
    match what {
        Payload::True(frame) => of(frame),
        Payload::Part(frame) => format!("part{}", of(frame)),
        Payload::Edited(frame) => format!("edited{}", of(frame)),
        Payload::Forged(_) => "forged".to_owned(),
        Payload::Raw(_) => "raw".to_owned(),
        Payload::Heartbeat => "hb".to_owned(),
        Payload::Exit => "exit".to_owned(),
        Payload::Error => "error".to_owned(),
        Payload::Plain => "plain".to_owned(),
    }
}

fn expanded(truth: Truth, steps: &[Step], after: u64) -> String {
    brief(&expand(&plan(Op::Follow, truth), steps, after))
}

fn all_bytes(pieces: &[Piece]) -> String {
    let bytes: Vec<u8> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Bytes { bytes, .. } | Piece::Trickle { bytes, .. } => Some(bytes.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_healthy_stream_goes_on_after_the_cursor_to_the_zero_chunk() {
    let plan = plan(Op::Follow, truth(3));
    assert_eq!(brief(&faithful(&plan, 0)), "1 2 3 x Chunk");
    assert_eq!(brief(&faithful(&plan, 2)), "3 x Chunk");
    assert_eq!(brief(&faithful(&plan, 9)), "x Chunk");
}

#[test]
fn a_process_that_never_ends_leaves_heartbeats() {
    let mut truth = truth(1);
    truth.exit = TruthExit::Never;
    assert_eq!(
        brief(&faithful_truth(&truth, 0)),
        "1 mute5000 every5000(hb)"
    );
}

#[test]
fn a_live_truth_keeps_its_pauses_only_when_it_is_sent_as_the_rest() {
    let mut truth = truth(3);
    truth.live = true;
    truth.frames[1].pause_ms = 50;
    truth.exit = TruthExit::Status {
        code: Some(0),
        signal: None,
        pause_ms: 70,
    };
    assert_eq!(
        brief(&faithful_truth(&truth, 0)),
        "1 quiet50 2 3 quiet70 x Chunk"
    );
    let steps = [Step::Send(Span::UpTo(2)), Step::Send(Span::Rest)];
    assert_eq!(expanded(truth, &steps, 0), "1 2 3 quiet70 x Chunk");
}

#[test]
fn up_to_begins_where_this_answer_is() {
    let steps = [
        Step::Send(Span::UpTo(3)),
        Step::Send(Span::UpTo(4)),
        Step::End(End::Fin),
    ];
    assert_eq!(expanded(truth(5), &steps, 1), "2 3 4 Fin");
    assert_eq!(expanded(truth(5), &steps, 4), "Fin");
}

#[test]
fn a_range_is_absolute_and_the_rest_follows_the_highest() {
    let steps = [
        Step::Send(Span::Range(3, 4)),
        Step::Send(Span::Range(1, 2)),
        Step::Send(Span::Rest),
    ];
    assert_eq!(expanded(truth(5), &steps, 2), "3 4 1 2 5 x Chunk");
}

#[test]
fn what_stands_for_a_frame_counts_as_sent_and_a_part_does_not() {
    let forged = Step::Frame {
        fields: Map::new(),
        is: Some(FrameRef::Seq(1)),
    };
    let raw = Step::Raw {
        bytes: "x\n".into(),
        is: Some(FrameRef::Seq(3)),
    };
    let edited = Step::Edited {
        frame: FrameRef::Seq(2),
        with: Map::new(),
        without: Vec::new(),
    };
    let part = Step::Part {
        frame: FrameRef::Seq(4),
        bytes: 5,
    };
    let steps = [forged, edited, raw, part, Step::Send(Span::Rest)];
    assert_eq!(
        expanded(truth(4), &steps, 0),
        "forged edited2 raw part4 4 x Chunk"
    );
}

#[test]
fn a_journal_bounds_what_can_be_sent() {
    let journal = |oldest, newest| Step::Journal { oldest, newest };
    let steps = [journal(3, 4), Step::Send(Span::Rest)];
    assert_eq!(expanded(truth(6), &steps, 0), "3 4 Hold");
    let steps = [journal(3, 6), Step::Send(Span::Rest)];
    assert_eq!(expanded(truth(6), &steps, 0), "3 4 5 6 x Chunk");
    assert_eq!(expanded(truth(6), &steps, 4), "5 6 x Chunk");
    let steps = [
        journal(3, 4),
        Step::SendOne(FrameRef::Seq(2)),
        Step::Send(Span::Range(1, 3)),
        journal(1, 2),
        Step::Send(Span::UpTo(6)),
        Step::End(End::Chunk),
    ];
    assert_eq!(expanded(truth(6), &steps, 0), "3 Chunk");
}

#[test]
fn an_unsaid_end_is_the_zero_chunk_after_an_exit_and_silence_otherwise() {
    let exit = Step::Exit {
        code: Some(0),
        signal: None,
    };
    let hold = [Step::Heartbeat(2)];
    assert_eq!(expanded(truth(1), &[], 0), "Hold");
    assert_eq!(expanded(truth(1), &hold, 0), "hb hb Hold");
    assert_eq!(expanded(truth(1), &[exit], 0), "exit Chunk");
    let closed = [Step::Until(Until::Closed)];
    assert_eq!(expanded(truth(1), &closed, 0), "Closed");
}

#[test]
fn a_trickle_keeps_its_bytes_together() {
    let steps = [
        Step::Trickle {
            bytes: 7,
            every_ms: 10,
            step: Box::new(Step::Send(Span::Range(1, 2))),
        },
        Step::End(End::Chunk),
    ];
    assert_eq!(
        expanded(truth(2), &steps, 0),
        "trickle7(1) mute10 trickle7(2) Chunk"
    );
}

#[test]
fn a_loop_counts_its_rounds_in_what_the_author_wrote() {
    let steps = [Step::Loop {
        count: 3,
        steps: vec![
            Step::Frame {
                fields: json!({"type":"noise","n":"{n}"})
                    .as_object()
                    .unwrap()
                    .clone(),
                is: None,
            },
            Step::Raw {
                bytes: "{n} {other} {n}\n".into(),
                is: None,
            },
        ],
    }];
    let text = all_bytes(&expand(&plan(Op::Follow, truth(1)), &steps, 0));
    assert_eq!(
        text,
        "{\"type\":\"noise\",\"n\":\"1\"}\n1 {other} 1\n{\"type\":\"noise\",\"n\":\"2\"}\n\
         2 {other} 2\n{\"type\":\"noise\",\"n\":\"3\"}\n3 {other} 3\n"
    );
}

#[test]
fn edits_set_and_remove_fields_and_keep_the_order() {
    let steps = [Step::Edited {
        frame: FrameRef::Seq(1),
        with: json!({"seq": 1.0, "extra": null})
            .as_object()
            .unwrap()
            .clone(),
        without: vec!["stream".to_owned()],
    }];
    let text = all_bytes(&expand(&plan(Op::Follow, truth(1)), &steps, 0));
    assert_eq!(
        text,
        "{\"type\":\"data\",\"seq\":1.0,\"data_base64\":\"MQo=\",\"extra\":null}\n"
    );
}

#[test]
fn steps_keep_their_number() {
    let steps = [
        Step::Heartbeat(1),
        Step::Loop {
            count: 1,
            steps: vec![Step::Heartbeat(1)],
        },
        Step::Send(Span::UpTo(1)),
    ];
    let pieces = expand(&plan(Op::Follow, truth(1)), &steps, 0);
    let numbers: Vec<usize> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Bytes { step, .. } => Some(*step),
            _ => None,
        })
        .collect();
    assert_eq!(numbers, [0, 1, 2]);
}

#[test]
fn names_are_put_in_once_and_unknown_braces_stay() {
    let names = Names {
        api_key: "{canary}".into(),
        canary: "C".into(),
        process_id: "p".into(),
        ..Names::default()
    };
    assert_eq!(
        substitute(b"{api-key} {canary} {process} {x} {", &names),
        b"{canary} C p {x} {"
    );
}

#[test]
fn a_first_seq_above_one_is_found() {
    let mut late = truth(2);
    late.first_seq = 40;
    for (frame, seq) in late.frames.iter_mut().zip(40..) {
        frame.seq = seq;
        frame.data = Blob(Vec::new());
    }
    let steps = [
        Step::SendOne(FrameRef::Seq(41)),
        Step::SendOne(FrameRef::Seq(39)),
        Step::Part {
            frame: FrameRef::Seq(40),
            bytes: 3,
        },
        Step::End(End::Fin),
    ];
    assert_eq!(expanded(late, &steps, 0), "41 part40 Fin");
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    fn span() -> impl Strategy<Value = Span> {
        prop_oneof![
            (0_u64..14).prop_map(Span::UpTo),
            (1_u64..14, 0_u64..6).prop_map(|(from, more)| Span::Range(from, from + more)),
        ]
    }

    fn seqs(pieces: &[Piece]) -> Vec<u64> {
        pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Bytes {
                    what: Payload::True(FrameRef::Seq(seq)),
                    ..
                } => Some(*seq),
                _ => None,
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn the_rest_is_whatever_lies_above_all_that_was_sent(
            spans in prop::collection::vec(span(), 0..5),
            frames in 0_u64..12,
            after in 0_u64..14,
        ) {
            let plan = plan(Op::Follow, truth(frames));
            let mut steps: Vec<Step> = spans.into_iter().map(Step::Send).collect();
            let before = seqs(&expand(&plan, &steps, after));
            steps.push(Step::Send(Span::Rest));
            let pieces = expand(&plan, &steps, after);
            let all = seqs(&pieces);
            let highest = before.iter().copied().fold(after, u64::max);
            let right: Vec<u64> = before.into_iter().chain(highest + 1..=frames).collect();
            prop_assert_eq!(all, right);
            prop_assert_eq!(pieces.last(), Some(&Piece::End(End::Chunk)));
        }

        #[test]
        fn a_healthy_stream_is_the_rest_and_nothing_else(
            frames in 0_u64..12,
            after in 0_u64..14,
            live in any::<bool>(),
            pauses in prop::collection::vec(0_u64..3, 12),
        ) {
            let mut truth = truth(frames);
            truth.live = live;
            for (frame, pause_ms) in truth.frames.iter_mut().zip(pauses) {
                frame.pause_ms = pause_ms;
            }
            let plan = plan(Op::Follow, truth);
            let steps = [Step::Send(Span::Rest)];
            prop_assert_eq!(expand(&plan, &steps, after), faithful(&plan, after));
        }
    }
}
