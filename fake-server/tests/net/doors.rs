//! Connections: refused, cut when accepted, silent, many.

use crate::support::*;
use fake_server::{
    net::{MemoryNet, Options, Server, Transport},
    script::model::{
        Behaviour, Cancel, CancelPoint, Content, Cut, CutPoint, End, FrameRef, Redirect, Span,
        Step, Until,
    },
    wire::Call,
    wirelog::Sent,
};
use std::{io::ErrorKind, sync::Arc, time::Duration};

fn refusing(hold_ms: u64) -> Behaviour {
    Behaviour {
        refuse: true,
        hold_ms: Some(hold_ms),
        ..Behaviour::default()
    }
}

#[tokio::test]
async fn the_port_refuses_from_the_start_and_then_listens_on_the_same_port() {
    for transport in [tcp, memory] {
        let server = transport(plan(1, vec![refusing(50)]));
        let error = Client::try_connect(&server).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let mut client = loop {
            match Client::try_connect(&server).await {
                Ok(client) => break client,
                Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionRefused),
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        client.follow(0).await;
        client.until(ZERO).await;
        let log = finish(server).await;
        assert_eq!(log.refusals.len(), 1);
        assert!(log.refusals[0].until_us.is_some());
        assert_eq!(connects(&log)[0].attempt, 1);
    }
}

#[tokio::test]
async fn a_refusal_between_two_calls_begins_before_the_first_ones_last_byte() {
    let steps = vec![Step::Send(Span::UpTo(1)), Step::End(End::Chunk)];
    let faults = vec![
        fault(1, Call::Connect, 1, stream(steps)),
        fault(2, Call::Connect, 2, refusing(300)),
    ];
    for transport in [tcp, memory] {
        let server = transport(plan_with(2, faults.clone()));
        let mut idle = Client::connect(&server).await;
        let mut client = Client::connect(&server).await;
        client.follow(0).await;
        let head = client.until("\r\n\r\n").await;
        assert!(head.contains("connection: close\r\n"), "{head}");
        client.until(ZERO).await;
        let error = Client::try_connect(&server).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        assert_eq!(client.rest().await, (String::new(), None));
        assert_eq!(idle.rest().await, (String::new(), None));
        let log = server.stop().await;
        assert_eq!(log.refusals[0].fault, 2);
    }
}

#[tokio::test]
async fn a_connection_is_cut_when_it_is_accepted() {
    for reset in [true, false] {
        let cut = Cut {
            at: CutPoint::Accept,
            reset,
        };
        let behaviour = Behaviour {
            cut: Some(cut),
            ..Behaviour::default()
        };
        for transport in [tcp, memory] {
            let server = transport(plan(1, vec![behaviour.clone()]));
            let mut client = Client::connect(&server).await;
            let wanted = reset.then_some(ErrorKind::ConnectionReset);
            assert_eq!(client.rest().await, (String::new(), wanted));
            drop(client);
            let mut client = Client::connect(&server).await;
            client.follow(0).await;
            client.until(ZERO).await;
            let log = finish(server).await;
            assert_eq!(log.connections[0].cut, Some((1, cut)));
            assert_eq!(log.connections[1].cut, None);
            assert_eq!(connects(&log)[0].connection, 2);
        }
    }
}

#[tokio::test]
async fn a_client_that_says_nothing_does_not_keep_the_server() {
    let server = tcp(plan(1, vec![]));
    let mut client = Client::connect(&server).await;
    let mut half = Client::connect(&server).await;
    half.send("GET / HT").await;
    server
        .settled(Duration::from_secs(5))
        .await
        .then_some(())
        .expect("silence is idle");
    let log = server.stop().await;
    assert!(log.exchanges.is_empty());
    assert_eq!(client.rest().await.0, "");
    assert_eq!(half.rest().await.0, "");
}

#[tokio::test]
async fn moments_come_when_they_come() {
    let steps = vec![
        Step::SendOne(FrameRef::Seq(1)),
        Step::Until(Until::Delivered(1)),
        Step::Send(Span::Rest),
        Step::End(End::Chunk),
    ];
    for transport in [tcp, memory] {
        let server = transport(plan(2, vec![stream(steps.clone())]));
        let moment = |at| {
            server.moment(&Cancel {
                on: Call::Connect,
                attempt: 1,
                at,
                plus_ms: 0,
            })
        };
        let mut answered = std::pin::pin!(moment(CancelPoint::Answered));
        let mut client = Client::connect(&server).await;
        client.follow(0).await;
        moment(CancelPoint::Sent).await;
        client.until("\r\n\r\n").await;
        client.until(&chunked([&*line(1)])).await;
        moment(CancelPoint::Frame(1)).await;
        let early = tokio::time::timeout(Duration::from_millis(20), answered.as_mut()).await;
        assert!(early.is_err(), "frame 2 is withheld");
        server.delivered(1);
        client.until(ZERO).await;
        answered.await;
        moment(CancelPoint::Frame(2)).await;
        let log = finish(server).await;
        assert!(
            connects(&log)[0]
                .answer
                .contains(&Sent::Waited(Until::Delivered(1)))
        );
    }
}

#[tokio::test]
async fn the_trap_records_what_follows_a_redirect() {
    let behaviour = Behaviour {
        content: Content::Redirect(Redirect::OtherOrigin),
        ..Behaviour::default()
    };
    for transport in [tcp, memory] {
        let server = transport(plan(1, vec![behaviour.clone()]));
        let trap_url = server.names().trap_url.clone();
        let mut client = Client::connect(&server).await;
        client.follow(0).await;
        let (head, _) = client.answer().await;
        assert!(head.contains(&format!("location: {trap_url}/")), "{head}");
        let authority = trap_url.strip_prefix("http://").unwrap();
        client.socket = server.connector().connect(authority).await.unwrap();
        client.follow(0).await;
        let head = client.until("\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        client.until(EXIT).await;
        let log = server.stop().await;
        assert_eq!(log.trap.len(), 1);
        assert!(log.trap[0].key);
        assert_eq!(log.exchanges.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_trials_live_side_by_side() {
    let mut trials = tokio::task::JoinSet::new();
    let net = MemoryNet::new();
    for trial in 0..1000 {
        let transport = if trial % 2 == 0 {
            Transport::Tcp
        } else {
            Transport::Memory(net.clone())
        };
        let options = Options {
            transport,
            trial,
            ..Options::default()
        };
        let steps = vec![Step::Send(Span::UpTo(1)), Step::End(End::Reset)];
        let plan = Arc::new(plan(3, vec![stream(steps)]));
        let server = Server::start(plan, options).unwrap();
        trials.spawn(async move {
            let mut client = Client::connect(&server).await;
            client.follow(0).await;
            client.until(&chunked([&*line(1)])).await;
            assert_eq!(client.rest().await.1, Some(ErrorKind::ConnectionReset));
            let mut client = Client::connect(&server).await;
            client.follow(1).await;
            client.until(ZERO).await;
            drop(client);
            let names = server.names().clone();
            let log = finish(server).await;
            assert_eq!(connects(&log).len(), 2);
            (names.api_key, names.process_id)
        });
    }
    let mut seen = std::collections::BTreeSet::new();
    while let Some(names) = trials.join_next().await {
        assert!(seen.insert(names.unwrap()), "names are a trial's own");
    }
    assert_eq!(seen.len(), 1000);
}
