//! What leaves is what was planned: to the byte, under any cutting of writes and chunks, and where it breaks off.

use crate::support::*;
use fake_server::{
    script::{
        expand::{Piece, expand, faithful},
        framing::{Framing, broken, layout},
        model::{
            Behaviour, Break, BreakPlace, Chunks, Content, End, FrameRef, Plan, Segments, Span,
            Step, TruthFrame,
        },
    },
    wire::{Blob, StreamName},
    wirelog::{AnswerEnd, Exchange, Sent, WireLog},
};
use proptest::{collection::vec, prelude::*, test_runner::RngSeed};
use std::{io, time::Duration};
use tokio::io::AsyncReadExt as _;

const HEARTBEAT_MS: u64 = 5_000;

fn truth() -> impl Strategy<Value = Plan> {
    vec((any::<bool>(), vec(any::<u8>(), 0..24)), 0..5).prop_map(|outputs| {
        let mut plan = plan(0, Vec::new());
        plan.truth.frames = outputs
            .into_iter()
            .zip(1..)
            .map(|((err, bytes), seq)| TruthFrame {
                seq,
                stream: if err {
                    StreamName::Stderr
                } else {
                    StreamName::Stdout
                },
                data: Blob(bytes),
                pause_ms: 0,
            })
            .collect();
        plan
    })
}

fn step() -> impl Strategy<Value = Step> {
    let raw = |bytes: Vec<u8>| Step::Raw {
        bytes: Blob(bytes),
        is: None,
    };
    prop_oneof![
        4 => (1..5_u64).prop_map(|seq| Step::SendOne(FrameRef::Seq(seq))),
        2 => (1..5_u64).prop_map(|seq| Step::Send(Span::UpTo(seq))),
        2 => Just(Step::Send(Span::Rest)),
        2 => (1..5_u64, 0..30_usize)
            .prop_map(|(seq, bytes)| Step::Part { frame: FrameRef::Seq(seq), bytes }),
        2 => Just(Step::Heartbeat(2)),
        2 => vec(any::<u8>().prop_filter("no placeholder", |byte| *byte != b'{'), 0..20)
            .prop_map(raw),
        1 => Just(Step::Pause { ms: 7 }),
    ]
}

/// A scripted stream that ends by itself, or the faithful one.
fn content() -> impl Strategy<Value = Content> {
    let end = prop_oneof![
        3 => Just(None),
        3 => Just(Some(End::Chunk)),
        1 => Just(Some(End::Fin)),
        1 => Just(Some(End::Reset)),
        1 => Just(Some(End::TruncatedChunk)),
        1 => Just(Some(End::BadChunk)),
    ];
    let scripted = (vec(step(), 0..7), end).prop_map(|(mut steps, end)| {
        steps.extend(end.map(Step::End));
        Content::Stream(steps)
    });
    prop_oneof![1 => Just(Content::Faithful), 3 => scripted]
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    vec(prop_oneof![1..9_usize, 1..90_usize], 1..5)
}

fn chunks() -> impl Strategy<Value = Chunks> {
    prop_oneof![
        Just(Chunks::Frame),
        Just(Chunks::One),
        Just(Chunks::Step),
        sizes().prop_map(Chunks::Sizes),
    ]
}

fn segments() -> impl Strategy<Value = Segments> {
    prop_oneof![
        Just(Segments::Frame),
        Just(Segments::Byte),
        Just(Segments::All),
        sizes().prop_map(Segments::Sizes),
    ]
}

/// A place as a share of the body, and an end.
fn break_off() -> impl Strategy<Value = Option<(bool, f64, End)>> {
    let by = prop_oneof![
        Just(End::Fin),
        Just(End::Reset),
        Just(End::Hold),
        Just(End::Chunk),
    ];
    proptest::option::weighted(0.7, (any::<bool>(), 0.0..1.0_f64, by))
}

fn share(of: usize, share: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a few hundred bytes"
    )]
    let at = (of as f64 * share) as u64;
    at
}

/// Reads the answer to its end, or for as long as something comes: head, body, and how the connection ended.
async fn read(client: &mut Client) -> (String, Vec<u8>, Result<(), io::ErrorKind>) {
    let head = client.until("\r\n\r\n").await;
    let mut body = Vec::new();
    let mut buf = [0; 4096];
    let end = loop {
        // On the clock of a runtime that stands still: nothing more comes.
        match tokio::time::timeout(Duration::from_secs(600), client.socket.read(&mut buf)).await {
            Ok(Ok(0)) | Err(_) => break Ok(()),
            Ok(Ok(length)) => body.extend_from_slice(&buf[..length]),
            Ok(Err(error)) => break Err(error.kind()),
        }
    };
    (head, body, end)
}

async fn played(plan: Plan) -> (Vec<u8>, Result<(), io::ErrorKind>, WireLog) {
    let server = memory(plan);
    let mut client = Client::connect(&server).await;
    client.follow(0).await;
    let (_, body, end) = read(&mut client).await;
    drop(client);
    (body, end, server.stop().await)
}

/// The payload that the log tells of.
fn logged(exchange: &Exchange, plan: &Plan) -> Vec<u8> {
    let mut payload = Vec::new();
    for sent in &exchange.answer {
        match sent {
            Sent::Body { bytes, .. } => payload.extend_from_slice(bytes),
            Sent::Frames { from, to, .. } => {
                for seq in *from..=*to {
                    let line =
                        fake_server::script::expand::true_line(&plan.truth, FrameRef::Seq(seq));
                    payload.extend(line.expect("a true frame"));
                }
            }
            _ => {}
        }
    }
    payload
}

fn payload(pieces: &[Piece]) -> Vec<u8> {
    let bytes = pieces.iter().filter_map(|piece| match piece {
        Piece::Bytes { bytes, .. } => Some(bytes.as_slice()),
        _ => None,
    });
    bytes.collect::<Vec<_>>().concat()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(4),
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_left_is_what_was_planned(
        mut plan in truth(),
        content in content(),
        chunks in chunks(),
        segments in segments(),
        broken_off in break_off(),
        http10 in proptest::bool::weighted(0.2),
    ) {
        let pieces = match &content {
            Content::Stream(steps) => expand(&plan, steps, 0),
            _ => faithful(&plan, 0),
        };
        let framing = if http10 {
            Framing::Plain
        } else {
            Framing::Chunked(chunks.clone())
        };
        let whole = layout(&pieces, &framing, HEARTBEAT_MS);
        let break_at = broken_off.map(|(of_payload, at, by)| {
            if of_payload || by == End::Chunk {
                let at = BreakPlace::Payload(share(payload(&pieces).len(), at));
                Break { at, by }
            } else {
                let at = BreakPlace::Wire(share(whole.bytes.len(), at));
                Break { at, by }
            }
        });
        let (left, expected) = match break_at {
            None => (pieces, whole.bytes),
            Some(at) => {
                let left = broken(&pieces, &framing, HEARTBEAT_MS, at).expect("it is reached");
                let bytes = match at.at {
                    BreakPlace::Wire(at) => whole.bytes[..at as usize].to_vec(),
                    BreakPlace::Payload(_) => layout(&left, &framing, HEARTBEAT_MS).bytes,
                };
                (left, bytes)
            }
        };
        plan.faults = vec![fault(
            1,
            fake_server::wire::Call::Connect,
            1,
            Behaviour { content, chunks, segments, break_at, http10, ..Behaviour::default() },
        )];
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let (body, end, log) = runtime.block_on(played(plan.clone()));
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        prop_assert_eq!(shown(&body), shown(&expected));
        prop_assert_eq!(body, expected);
        let exchange = connects(&log)[0];
        prop_assert_eq!(logged(exchange, &plan), payload(&left));
        prop_assert_eq!(exchange.broke_off, break_at);
        let reset = matches!(left.last(), Some(Piece::End(End::Reset)));
        prop_assert_eq!(end, if reset { Err(io::ErrorKind::ConnectionReset) } else { Ok(()) });
        if let Some(at) = break_at {
            let how = exchange.answer.iter().find_map(|sent| match sent {
                Sent::End { how, .. } => Some(*how),
                _ => None,
            });
            let wanted = match at.by {
                End::Chunk if http10 => AnswerEnd::CloseDelimited,
                End::Chunk => AnswerEnd::Complete,
                by => AnswerEnd::Scripted(by),
            };
            prop_assert_eq!(how, Some(wanted));
        }
    }
}
