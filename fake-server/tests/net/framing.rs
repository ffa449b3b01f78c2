//! Lengths that lie, codings, segments and what cannot be said in a few bytes.

use crate::support::*;
use fake_server::{
    net::Server,
    script::model::{
        Behaviour, Chunks, Coding, Content, Encoding, End, FrameRef, Segments, Span, Step,
    },
    wirelog::{AnswerEnd, Payload, Segmented, Sent},
};
use std::{io::Read as _, time::Duration};
use tokio::io::AsyncReadExt as _;

async fn asked(server: &Server) -> (Client, String) {
    let mut client = Client::connect(server).await;
    client.follow(0).await;
    let head = client.until("\r\n\r\n").await;
    (client, head)
}

fn rest() -> Vec<Step> {
    vec![Step::Send(Span::Rest), Step::End(End::Chunk)]
}

#[tokio::test]
async fn a_length_too_long_is_short_and_one_too_short_leaves_bytes_beyond_it() {
    let mut longer = text("0123456789");
    longer.content_length = Some(5);
    let mut shorter = text("0123456789");
    shorter.content_length = Some(-4);
    let server = tcp(plan(1, vec![longer, shorter]));
    let (mut client, head) = asked(&server).await;
    assert!(head.contains("content-length: 15\r\n"), "{head}");
    assert_eq!(client.rest().await, ("0123456789".to_owned(), None));
    // It broke off, so that the client is waited for.
    drop(client);
    let (mut client, head) = asked(&server).await;
    assert!(head.contains("content-length: 6\r\n"), "{head}");
    assert_eq!(client.rest().await, ("0123456789".to_owned(), None));
    let log = finish(server).await;
    let connects = connects(&log);
    assert!(matches!(
        connects[0].answer.last(),
        Some(Sent::End {
            how: AnswerEnd::Short,
            ..
        })
    ));
    let framed: Vec<(usize, bool)> = connects[1]
        .answer
        .iter()
        .filter_map(|sent| match sent {
            Sent::Body { bytes, framed, .. } => Some((bytes.len(), *framed)),
            _ => None,
        })
        .collect();
    assert_eq!(framed, [(6, true), (4, false)]);
}

#[tokio::test]
async fn a_stream_can_have_an_exact_length_and_be_kept() {
    let behaviour = Behaviour {
        content_length: Some(0),
        ..stream(rest())
    };
    let server = tcp(plan(2, vec![behaviour]));
    let (mut client, head) = asked(&server).await;
    let body = line(1) + &line(2) + EXIT;
    assert!(
        head.contains(&format!("content-length: {}\r\n", body.len())),
        "{head}"
    );
    assert_eq!(client.until(EXIT).await, body);
    client.ask("GET", "", "").await;
    client.answer().await;
    let log = finish(server).await;
    assert_eq!(log.connections.len(), 1);
}

#[tokio::test]
async fn transfer_encoding_stands_beside_a_length() {
    let behaviour = Behaviour {
        transfer_encoding_also: true,
        content_length: Some(-20),
        ..stream(rest())
    };
    let server = tcp(plan(1, vec![behaviour]));
    let (mut client, head) = asked(&server).await;
    let length = line(1).len() + EXIT.len() - 20;
    assert!(
        head.contains(&format!("content-length: {length}\r\n")),
        "{head}"
    );
    assert!(head.contains("transfer-encoding: chunked\r\n"), "{head}");
    assert_eq!(client.until(ZERO).await, chunked([&*line(1), EXIT]) + ZERO);
}

#[tokio::test]
async fn raw_bytes_under_the_authors_own_framing_cut_a_chunk_header() {
    let mut behaviour = text("4\r\none\n\r\n1");
    behaviour.headers = vec![("transfer-encoding".to_owned(), vec!["chunked".to_owned()])];
    let server = tcp(plan(1, vec![behaviour]));
    let (mut client, head) = asked(&server).await;
    assert!(!head.contains("content-length"), "{head}");
    assert_eq!(client.rest().await, ("4\r\none\n\r\n1".to_owned(), None));
}

#[tokio::test]
async fn an_unasked_coding_decodes_to_the_frames() {
    for flush_frames in [true, false] {
        let behaviour = Behaviour {
            http10: true,
            encoding: Some(Encoding {
                coding: Coding::Gzip,
                flush_frames,
                cut: None,
                lie: false,
                extra: 0,
            }),
            ..stream(rest())
        };
        let server = tcp(plan(3, vec![behaviour]));
        let (mut client, head) = asked(&server).await;
        assert!(head.contains("content-encoding: gzip\r\n"), "{head}");
        let mut coded = Vec::new();
        client.socket.read_to_end(&mut coded).await.unwrap();
        let mut decoded = String::new();
        flate2::read::GzDecoder::new(&*coded)
            .read_to_string(&mut decoded)
            .unwrap();
        assert_eq!(decoded, line(1) + &line(2) + &line(3) + EXIT);
        let log = finish(server).await;
        let frames = &connects(&log)[0].answer[1];
        assert_eq!(
            frames,
            &Sent::Frames {
                from: 1,
                to: 3,
                acked: true
            }
        );
    }
}

#[tokio::test]
async fn one_byte_a_write_is_one_acknowledged_byte_after_the_other() {
    for transport in [tcp, memory] {
        let behaviour = Behaviour {
            segments: Segments::Byte,
            ..stream(rest())
        };
        let server = transport(plan(1, vec![behaviour]));
        let (mut client, _) = asked(&server).await;
        let whole = chunked([&*line(1), EXIT]) + ZERO;
        let mut got = Vec::new();
        let mut reads = 0;
        while got.len() < whole.len() {
            let mut buf = [0; 1024];
            let read = client.socket.read(&mut buf).await.unwrap();
            got.extend_from_slice(&buf[..read]);
            reads += 1;
        }
        assert_eq!(String::from_utf8(got).unwrap(), whole);
        // A read may find two bytes where the reader was late; nearly all find one.
        assert!(reads * 10 >= whole.len() * 9, "{reads} of {}", whole.len());
        let log = finish(server).await;
        let Segmented { writes, alone } = connects(&log)[0].segmented.unwrap();
        assert_eq!(writes, whole.len() as u64);
        assert!(alone * 10 >= writes * 9, "{alone} of {writes}");
    }
}

#[tokio::test]
async fn sizes_go_round_and_all_is_one_write() {
    let sizes = Behaviour {
        segments: Segments::Sizes(vec![7, 1, 300]),
        ..stream(rest())
    };
    let all = Behaviour {
        segments: Segments::All,
        ..stream(rest())
    };
    let server = memory(plan(2, vec![sizes, all]));
    let (mut client, _) = asked(&server).await;
    let whole = chunked([&*line(1), &line(2), EXIT]) + ZERO;
    let mut buf = [0; 4096];
    let mut reads = Vec::new();
    while reads.iter().sum::<usize>() < whole.len() {
        reads.push(client.socket.read(&mut buf).await.unwrap());
    }
    assert_eq!(reads[..2], [7, 1]);
    client.follow(0).await;
    let read = client.socket.read(&mut buf).await.unwrap();
    assert!(buf[..read].ends_with(whole.as_bytes()));
}

#[tokio::test]
async fn chunks_are_cut_apart_from_the_frames() {
    let sized = Behaviour {
        chunks: Chunks::Sizes(vec![10]),
        ..stream(rest())
    };
    let one = Behaviour {
        chunks: Chunks::One,
        ..stream(rest())
    };
    let server = tcp(plan(1, vec![sized, one]));
    let body = line(1) + EXIT;
    let (mut client, _) = asked(&server).await;
    let parts: Vec<&str> = (0..body.len())
        .step_by(10)
        .map(|at| &body[at..body.len().min(at + 10)])
        .collect();
    assert_eq!(client.until(ZERO).await, chunked(parts) + ZERO);
    let (mut client, _) = asked(&server).await;
    assert_eq!(client.until(ZERO).await, chunked([&*body]) + ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_trickle_is_one_chunk_a_few_bytes_at_a_time() {
    let steps = vec![
        Step::Trickle {
            bytes: 10,
            every_ms: 100,
            step: Box::new(Step::SendOne(FrameRef::Seq(1))),
        },
        Step::End(End::Chunk),
    ];
    let server = memory(plan(1, vec![stream(steps)]));
    let began = tokio::time::Instant::now();
    let (mut client, _) = asked(&server).await;
    let body = client.until(ZERO).await;
    assert_eq!(body, chunked([&*line(1)]) + ZERO);
    let portions = line(1).len().div_ceil(10) as u64;
    assert_eq!(began.elapsed(), Duration::from_millis(100 * (portions - 1)));
    let log = finish(server).await;
    assert_eq!(
        connects(&log)[0].answer[1],
        Sent::Frames {
            from: 1,
            to: 1,
            acked: true
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_live_pause_carries_heartbeats_at_the_truths_own_pace() {
    let mut plan = plan(2, vec![]);
    plan.truth.live = true;
    plan.truth.heartbeat_ms = 1_000;
    plan.truth.frames[1].pause_ms = 2_500;
    let server = memory(plan);
    let (mut client, _) = asked(&server).await;
    let beat = "{\"type\":\"heartbeat\"}\n";
    let body = client.until(ZERO).await;
    let lines = [&*line(1), beat, beat, &line(2), EXIT];
    assert_eq!(body, chunked(lines) + ZERO);
    let log = finish(server).await;
    let beats = connects(&log)[0].answer.iter().filter(|sent| {
        matches!(
            sent,
            Sent::Body {
                what: Payload::Heartbeat,
                ..
            }
        )
    });
    assert_eq!(beats.count(), 2);
}

#[tokio::test]
async fn an_endless_body_stops_when_the_client_leaves_and_the_log_stays_small() {
    let behaviour = Behaviour {
        content: Content::Endless(b'x'),
        ..Behaviour::default()
    };
    let options = fake_server::net::Options {
        log_limit_bytes: 1 << 20,
        ..fake_server::net::Options::default()
    };
    let server = Server::start(std::sync::Arc::new(plan(1, vec![behaviour])), options).unwrap();
    let (mut client, _) = asked(&server).await;
    let mut read = vec![0; 4 << 20];
    client.socket.read_exact(&mut read).await.unwrap();
    drop(client);
    let log = finish(server).await;
    assert!(log.dropped_bytes > 2 << 20, "{}", log.dropped_bytes);
    assert!(connects(&log)[0].client_closed_us.is_some());
}
