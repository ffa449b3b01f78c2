//! Every way an answer ends, as the client's socket sees it.

use crate::support::*;
use fake_server::{
    net::Server,
    script::model::{Behaviour, Cut, CutPoint, End, FrameRef, Plan, Step, Until},
    wire::Call,
    wirelog::{AnswerEnd, Payload, Sent},
};
use std::{io::ErrorKind, time::Duration};
use tokio::io::AsyncReadExt as _;

/// Frames 1 and 2, then this end, for the first connect.
fn ending(end: End) -> Plan {
    let steps = vec![
        Step::SendOne(FrameRef::Seq(1)),
        Step::SendOne(FrameRef::Seq(2)),
        Step::End(end),
    ];
    plan(2, vec![stream(steps)])
}

/// What follows the head on a first connect, and the error that ended it.
async fn seen(server: &Server) -> (String, Option<ErrorKind>) {
    let mut client = Client::connect(server).await;
    client.follow(0).await;
    client.until("\r\n\r\n").await;
    client.rest().await
}

fn two() -> String {
    chunked([&*line(1), &line(2)])
}

fn end_of(log: &fake_server::wirelog::WireLog) -> &Sent {
    connects(log)[0].answer.last().unwrap()
}

fn scripted(how: End) -> Sent {
    let how = AnswerEnd::Scripted(how);
    Sent::End { how, acked: true }
}

#[tokio::test]
async fn a_reset_arrives_as_a_reset_after_all_that_came_before() {
    for server in [tcp(ending(End::Reset)), memory(ending(End::Reset))] {
        let seen = seen(&server).await;
        assert_eq!(seen, (two(), Some(ErrorKind::ConnectionReset)));
        let log = finish(server).await;
        assert_eq!(end_of(&log), &scripted(End::Reset));
        assert!(!connects(&log)[0].open);
    }
}

#[tokio::test]
async fn a_reset_of_a_large_answer_loses_nothing_of_it() {
    let body = "x".repeat(3 << 20);
    let steps = vec![
        Step::Raw {
            bytes: body.as_str().into(),
            is: None,
        },
        Step::End(End::Reset),
    ];
    for server in [
        tcp(plan(1, vec![stream(steps.clone())])),
        memory(plan(1, vec![stream(steps.clone())])),
    ] {
        let (rest, error) = seen(&server).await;
        assert_eq!(rest, chunked([&*body]));
        assert_eq!(error, Some(ErrorKind::ConnectionReset));
        finish(server).await;
    }
}

#[tokio::test]
async fn a_reset_that_the_peer_never_acknowledged_says_so() {
    let body = "x".repeat(16 << 20);
    let steps = vec![
        Step::Raw {
            bytes: body.as_str().into(),
            is: None,
        },
        Step::End(End::ResetNow),
    ];
    let server = memory(plan(1, vec![stream(steps)]));
    let mut client = Client::connect(&server).await;
    client.follow(0).await;
    client.until("\r\n\r\n").await;
    let mut all = vec![0; (16 << 20) - 1024];
    client.socket.read_exact(&mut all).await.unwrap();
    server
        .moment(&fake_server::script::model::Cancel {
            on: Call::Connect,
            attempt: 1,
            at: fake_server::script::model::CancelPoint::Answered,
            plus_ms: 0,
        })
        .await;
    let log = server.stop().await;
    assert_eq!(
        end_of(&log),
        &Sent::End {
            how: AnswerEnd::Scripted(End::ResetNow),
            acked: false
        }
    );
}

#[tokio::test]
async fn a_fin_comes_without_the_zero_chunk() {
    for server in [tcp(ending(End::Fin)), memory(ending(End::Fin))] {
        assert_eq!(seen(&server).await, (two(), None));
        assert_eq!(end_of(&finish(server).await), &scripted(End::Fin));
    }
}

#[tokio::test]
async fn half_a_frame_leaves_as_half_a_frame() {
    let steps = vec![
        Step::SendOne(FrameRef::Seq(1)),
        Step::Part {
            frame: FrameRef::Seq(2),
            bytes: 20,
        },
        Step::End(End::Fin),
    ];
    let server = tcp(plan(2, vec![stream(steps)]));
    let (one, half) = (line(1), &line(2)[..20]);
    assert_eq!(seen(&server).await, (chunked([&*one, half]), None));
    let log = finish(server).await;
    assert_eq!(
        connects(&log)[0].answer[2],
        Sent::Body {
            what: Payload::Part(FrameRef::Seq(2)),
            bytes: half.into(),
            framed: true,
            acked: true
        }
    );
}

#[tokio::test]
async fn a_truncated_chunk_announces_more_than_comes() {
    let server = tcp(ending(End::TruncatedChunk));
    assert_eq!(seen(&server).await, (two() + "40\r\n", None));
    assert_eq!(
        end_of(&finish(server).await),
        &scripted(End::TruncatedChunk)
    );
    let steps = vec![
        Step::Part {
            frame: FrameRef::Seq(1),
            bytes: 20,
        },
        Step::End(End::TruncatedChunk),
    ];
    let server = tcp(plan(1, vec![stream(steps)]));
    let half = &line(1)[..20];
    assert_eq!(seen(&server).await, (format!("54\r\n{half}"), None));
}

#[tokio::test]
async fn a_bad_chunk_is_no_number() {
    let server = tcp(ending(End::BadChunk));
    assert_eq!(seen(&server).await, (two() + "xyz\r\n", None));
    assert_eq!(end_of(&finish(server).await), &scripted(End::BadChunk));
}

#[tokio::test]
async fn a_held_stream_stays_open_until_the_client_leaves() {
    for server in [tcp(ending(End::Hold)), memory(ending(End::Hold))] {
        let mut client = Client::connect(&server).await;
        client.follow(0).await;
        client.until("\r\n\r\n").await;
        client.until(&two()).await;
        assert!(connects(&server.log())[0].open);
        assert!(!server.settled(Duration::from_millis(10)).await);
        drop(client);
        let log = finish(server).await;
        let connect = connects(&log)[0];
        assert_eq!(connect.answer.last().unwrap(), &scripted(End::Hold));
        assert!(connect.client_closed_us.is_some() && !connect.open);
    }
}

#[tokio::test]
async fn a_stream_that_is_open_when_the_trial_ends_is_told_as_open() {
    let steps = vec![Step::Until(Until::Closed)];
    let server = tcp(plan(1, vec![stream(steps)]));
    let mut client = Client::connect(&server).await;
    client.follow(0).await;
    client.until("\r\n\r\n").await;
    let log = server.stop().await;
    let connect = connects(&log)[0];
    assert!(connect.open);
    assert!(
        matches!(
            connect.answer.last(),
            Some(Sent::End {
                how: AnswerEnd::TrialOver,
                ..
            })
        ),
        "{connect:?}"
    );
    assert_eq!(client.rest().await, (String::new(), None));
}

#[tokio::test]
async fn an_early_close_of_the_client_ends_waits_and_repetitions() {
    let repeated = Step::Every {
        every_ms: 5,
        step: Box::new(Step::Heartbeat(1)),
    };
    for step in [repeated, Step::Until(Until::Closed)] {
        let steps = vec![Step::SendOne(FrameRef::Seq(1)), step];
        let server = tcp(plan(2, vec![stream(steps)]));
        let mut client = Client::connect(&server).await;
        client.follow(0).await;
        client.until("\r\n\r\n").await;
        client.until(&chunked([&*line(1)])).await;
        drop(client);
        let log = finish(server).await;
        let connect = connects(&log)[0];
        assert!(connect.client_closed_us.is_some());
        assert!(log.connections[0].client_closed_us.is_some());
        assert!(!connect.open);
    }
}

#[tokio::test]
async fn connections_end_before_the_body_or_before_the_answer() {
    for reset in [true, false] {
        for at in [CutPoint::HeadRead, CutPoint::BodyRead] {
            let cut = Cut { at, reset };
            let behaviour = Behaviour {
                cut: Some(cut),
                ..Behaviour::default()
            };
            for transport in [tcp, memory] {
                let server = transport(plan(1, vec![behaviour.clone()]));
                let mut client = Client::connect(&server).await;
                client
                    .ask("GET", "/connect?after=0", "content-length: 2\r\n")
                    .await;
                if at == CutPoint::BodyRead {
                    client.send("{}").await;
                }
                let wanted = reset.then_some(ErrorKind::ConnectionReset);
                assert_eq!(client.rest().await, (String::new(), wanted), "{cut:?}");
                drop(client);
                let log = finish(server).await;
                assert_eq!(
                    connects(&log)[0].answer,
                    [Sent::End {
                        how: AnswerEnd::Cut(cut),
                        acked: true
                    }]
                );
                let complete = connects(&log)[0].request.body_complete;
                assert_eq!(complete, at == CutPoint::BodyRead);
            }
        }
    }
}

#[tokio::test]
async fn a_held_request_is_closed_unanswered_when_its_time_is_over() {
    let behaviour = Behaviour {
        hold_ms: Some(30),
        ..Behaviour::default()
    };
    let server = tcp(plan(1, vec![behaviour]));
    let mut client = Client::connect(&server).await;
    client.follow(0).await;
    assert_eq!(client.rest().await, (String::new(), None));
    let log = finish(server).await;
    let held = connects(&log)[0];
    assert!(held.last_sent_us.unwrap() - held.head_us >= 30_000);
    assert!(matches!(
        held.answer[0],
        Sent::End {
            how: AnswerEnd::Held,
            ..
        }
    ));
}
