//! The same plan and the same client give the same canonical log on both transports.

use crate::support::*;
use fake_server::{
    net::Server,
    script::model::{
        Behaviour, Coding, Content, Cut, CutPoint, Encoding, End, FrameRef, Plan, Segments, Span,
        Step, Until,
    },
    wire::Call,
    wirelog::canonical,
};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;

/// Follows the stream, reconnecting until an exit was read, and then asks for the process.
async fn play(server: Server, plan: &Plan) -> String {
    for _ in 0..6 {
        let Ok(mut client) = Client::try_connect(&server).await else {
            tokio::time::sleep(Duration::from_millis(60)).await;
            continue;
        };
        client.follow(0).await;
        let read = tokio::time::timeout(Duration::from_secs(3), reads_exit(&mut client)).await;
        if read == Ok(true) {
            break;
        }
    }
    let mut client = Client::connect(&server).await;
    client.ask("GET", "", "connection: close\r\n").await;
    client.answer().await;
    drop(client);
    let log = finish(server).await;
    canonical(&log, plan)
}

/// Reads up to an exit; false where the end came first.
async fn reads_exit(client: &mut Client) -> bool {
    let mut read = Vec::new();
    let mut buf = vec![0; 64 << 10];
    loop {
        match client.socket.read(&mut buf).await {
            Ok(0) | Err(_) => return false,
            Ok(length) => read.extend_from_slice(&buf[..length]),
        }
        // Only framing follows an exit.
        let tail = &read[read.len().saturating_sub(256)..];
        if String::from_utf8_lossy(tail).contains(EXIT) {
            return true;
        }
    }
}

fn behaviours() -> Vec<Behaviour> {
    let ends = [
        End::Fin,
        End::Reset,
        End::TruncatedChunk,
        End::BadChunk,
        End::Hold,
    ];
    let mut all: Vec<Behaviour> = ends
        .into_iter()
        .map(|end| stream(vec![Step::Send(Span::UpTo(2)), Step::End(end)]))
        .collect();
    for at in [CutPoint::Accept, CutPoint::HeadRead, CutPoint::BodyRead] {
        for reset in [true, false] {
            all.push(Behaviour {
                cut: Some(Cut { at, reset }),
                ..Behaviour::default()
            });
        }
    }
    all.push(Behaviour {
        refuse: true,
        hold_ms: Some(30),
        ..Behaviour::default()
    });
    all.push(Behaviour {
        status: Some(502),
        ..text("<html>{canary}</html>")
    });
    all.push(Behaviour {
        content: Content::Endless(b'x'),
        ..Behaviour::default()
    });
    all.push(stream(vec![
        Step::Part {
            frame: FrameRef::Seq(1),
            bytes: 20,
        },
        Step::End(End::Fin),
    ]));
    all.push(stream(vec![
        Step::Send(Span::UpTo(1)),
        Step::SendOne(FrameRef::Seq(3)),
        Step::Until(Until::Acked),
        Step::Send(Span::Rest),
        Step::End(End::Chunk),
    ]));
    all.push(stream(vec![Step::Every {
        every_ms: 20,
        step: Box::new(Step::Heartbeat(1)),
    }]));
    let rest = vec![Step::Send(Span::Rest), Step::End(End::Chunk)];
    all.push(Behaviour {
        http10: true,
        ..stream(rest.clone())
    });
    all.push(Behaviour {
        segments: Segments::Sizes(vec![7, 1, 300]),
        ..stream(rest.clone())
    });
    all.push(Behaviour {
        encoding: Some(Encoding {
            coding: Coding::Gzip,
            flush_frames: true,
            cut: Some(4),
            lie: false,
            extra: 0,
        }),
        ..stream(rest.clone())
    });
    all.push(Behaviour {
        content_length: Some(7),
        ..stream(rest)
    });
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_transports_tell_the_same_story() {
    let mut stories = tokio::task::JoinSet::new();
    for (index, behaviour) in behaviours().into_iter().enumerate() {
        let plan = plan_with(3, vec![fault(1, Call::Connect, 1, behaviour)]);
        let over_tcp = tcp(plan.clone());
        let in_memory = memory(plan.clone());
        stories.spawn(async move {
            let over_tcp = play(over_tcp, &plan).await;
            let in_memory = play(in_memory, &plan).await;
            (index, over_tcp, in_memory)
        });
    }
    while let Some(story) = stories.join_next().await {
        let (index, over_tcp, in_memory) = story.unwrap();
        assert_eq!(over_tcp, in_memory, "behaviour {index}");
        assert!(over_tcp.contains("get-process 1\n"), "{over_tcp}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_story_reads_well() {
    let steps = vec![Step::Send(Span::UpTo(2)), Step::End(End::Reset)];
    let plan = plan_with(3, vec![fault(1, Call::Connect, 1, stream(steps))]);
    let story = play(memory(plan.clone()), &plan).await;
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots/canonical"),
    );
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!("a-story", story));
}
