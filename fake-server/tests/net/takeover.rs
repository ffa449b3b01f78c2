//! What hyper no longer does once a connection is taken over, done by us.

use crate::support::*;
use fake_server::{
    script::model::{Behaviour, End, FrameRef, Span, Step},
    wirelog::{AnswerEnd, Sent},
};

#[tokio::test]
async fn a_kept_connection_answers_on_after_a_stream() {
    let server = tcp(plan(2, vec![]));
    let mut client = Client::connect(&server).await;
    client.follow(0).await;
    let head = client.until("\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("transfer-encoding: chunked\r\n"), "{head}");
    let body = client.until(ZERO).await;
    let (one, two) = (line(1), line(2));
    assert_eq!(body, chunked([&*one, &two, EXIT]) + ZERO);
    client.ask("GET", "", "").await;
    let (head, body) = client.answer().await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(!head.contains("date:"), "{head}");
    assert!(body.contains("\"status\":\"success\""), "{body}");
    client.follow(2).await;
    client.until("\r\n\r\n").await;
    assert_eq!(client.until(ZERO).await, chunked([EXIT]) + ZERO);
    let log = finish(server).await;
    assert_eq!(log.connections.len(), 1);
    let numbers: Vec<_> = log.exchanges.iter().map(|one| one.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert_eq!(
        log.exchanges[0].answer[1],
        Sent::Frames {
            from: 1,
            to: 2,
            acked: true
        }
    );
    for exchange in &log.exchanges {
        let end = exchange.answer.last().unwrap();
        let complete = Sent::End {
            how: AnswerEnd::Complete,
            acked: true,
        };
        assert_eq!(end, &complete, "{exchange:#?}");
        assert!(!exchange.open);
    }
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order_around_a_stream() {
    let server = tcp(plan(1, vec![]));
    let mut client = Client::connect(&server).await;
    let process = client.request("GET", "", "");
    let connect = client.request("GET", "/connect?after=0", "");
    client
        .send(&format!("{process}{connect}{process}{connect}"))
        .await;
    for _ in 0..2 {
        client.answer().await;
        client.until("\r\n\r\n").await;
        assert_eq!(client.until(ZERO).await, chunked([&*line(1), EXIT]) + ZERO);
    }
    let log = finish(server).await;
    assert_eq!(log.exchanges.len(), 4);
}

#[tokio::test]
async fn a_body_is_read_whole_and_its_rest_is_no_request() {
    let steps = vec![Step::SendOne(FrameRef::Seq(1)), Step::End(End::Chunk)];
    let server = tcp(plan(1, vec![stream(steps)]));
    let mut client = Client::connect(&server).await;
    let body = "x".repeat(100_000);
    client
        .ask(
            "GET",
            "/connect?after=0",
            &format!("content-length: {}\r\n", body.len()),
        )
        .await;
    client.send(&body).await;
    client.until("\r\n\r\n").await;
    assert_eq!(client.until(ZERO).await, chunked([&*line(1)]) + ZERO);
    client.ask("GET", "", "").await;
    client.answer().await;
    let log = finish(server).await;
    assert_eq!(log.exchanges.len(), 2);
    assert_eq!(log.exchanges[0].request.body.len(), body.len());
}

#[tokio::test]
async fn a_client_that_waits_for_100_continue_gets_it_before_either_kind_of_answer() {
    let server = tcp(plan(1, vec![]));
    let mut client = Client::connect(&server).await;
    let headers = "content-length: 2\r\nexpect: 100-continue\r\n";
    for (method, path) in [("POST", "/stdin/close"), ("GET", "/connect?after=0")] {
        client.ask(method, path, headers).await;
        assert_eq!(
            client.until("\r\n\r\n").await,
            "HTTP/1.1 100 Continue\r\n\r\n"
        );
        client.send("{}").await;
        if method == "POST" {
            client.answer().await;
        } else {
            client.until("\r\n\r\n").await;
            client.until(ZERO).await;
        }
    }
    assert!(
        server
            .log()
            .exchanges
            .iter()
            .all(|one| one.request.body_complete)
    );
}

#[tokio::test]
async fn head_gets_the_head_only_and_the_connection_goes_on() {
    let mut behaviour = text("a body");
    behaviour.status = Some(503);
    let mut faults = vec![fault(1, fake_server::wire::Call::Connect, 1, behaviour)];
    faults[0].on = None;
    let server = tcp(plan_with(1, faults));
    let mut client = Client::connect(&server).await;
    client.ask("HEAD", "/connect?after=0", "").await;
    let head = client.until("\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    assert!(head.contains("content-length: 6\r\n"), "{head}");
    client.ask("GET", "", "").await;
    client.answer().await;
    finish(server).await;
}

#[tokio::test]
async fn http_1_0_gets_a_body_ended_by_close() {
    let server = tcp(plan(1, vec![]));
    let mut client = Client::connect(&server).await;
    let request = client
        .request("GET", "/connect?after=0", "")
        .replace("HTTP/1.1", "HTTP/1.0");
    client.send(&request).await;
    let head = client.until("\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.0 200 OK\r\n"), "{head}");
    assert!(!head.contains("transfer-encoding"), "{head}");
    assert_eq!(client.rest().await, (line(1) + EXIT, None));
    let log = finish(server).await;
    let end = log.exchanges[0].answer.last().unwrap();
    assert!(
        matches!(
            end,
            Sent::End {
                how: AnswerEnd::CloseDelimited,
                acked: true
            }
        ),
        "{end:?}"
    );
}

#[tokio::test]
async fn an_answer_as_http_1_0_ends_by_close_for_a_1_1_client_too() {
    let behaviour = Behaviour {
        http10: true,
        ..stream(vec![Step::Send(Span::Rest), Step::End(End::Chunk)])
    };
    let server = tcp(plan(1, vec![behaviour]));
    let mut client = Client::connect(&server).await;
    client.follow(0).await;
    let head = client.until("\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.0 200 OK\r\n"), "{head}");
    assert_eq!(client.rest().await, (line(1) + EXIT, None));
}

#[tokio::test]
async fn connection_close_is_honoured_by_both_writers() {
    let server = tcp(plan(1, vec![]));
    for path in ["", "/connect?after=0"] {
        let mut client = Client::connect(&server).await;
        client.ask("GET", path, "connection: close\r\n").await;
        let head = client.until("\r\n\r\n").await;
        assert!(head.contains("connection: close\r\n"), "{head}");
        let (rest, error) = client.rest().await;
        assert_eq!(error, None, "{rest}");
    }
    let log = finish(server).await;
    assert!(log.connections.iter().all(|one| one.closed_us.is_some()));
}

#[tokio::test]
async fn a_body_that_breaks_off_is_answered_400_and_what_is_no_request_ends_the_connection() {
    let server = tcp(plan(1, vec![]));
    let mut client = Client::connect(&server).await;
    client
        .ask("POST", "/input", "transfer-encoding: chunked\r\n")
        .await;
    client.send("zz\r\n").await;
    let (rest, _) = client.rest().await;
    assert!(rest.starts_with("HTTP/1.1 400 "), "{rest}");
    let mut client = Client::connect(&server).await;
    client.send("this is no HTTP\r\n\r\n").await;
    let (rest, _) = client.rest().await;
    assert!(rest.starts_with("HTTP/1.1 400 "), "{rest}");
    let log = finish(server).await;
    assert_eq!(log.exchanges.len(), 1);
    assert!(!log.exchanges[0].request.body_complete);
}

#[tokio::test]
async fn a_body_beyond_64_mib_is_answered_413_and_the_connection_closed() {
    let server = memory(plan(1, vec![]));
    let mut client = Client::connect(&server).await;
    let length = (64 << 20) + 1;
    client
        .ask("POST", "/input", &format!("content-length: {length}\r\n"))
        .await;
    client.send(&"x".repeat(length)).await;
    let (rest, error) = client.rest().await;
    assert!(rest.starts_with("HTTP/1.1 413 "), "{rest}");
    assert!(rest.contains("connection: close\r\n"), "{rest}");
    assert_eq!(error, None);
    let log = finish(server).await;
    assert!(!log.exchanges[0].request.body_complete);
}
