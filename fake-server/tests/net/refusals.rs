//! What is no request, or no whole one, is refused in the protocol's own words.

use crate::support::*;
use serde_json::Value;

/// Head and JSON body of the only answer on a connection that then closes.
async fn only_answer(mut client: Client) -> (String, Value) {
    let (rest, error) = client.rest().await;
    assert_eq!(error, None, "{rest}");
    let (head, body) = rest.split_once("\r\n\r\n").unwrap();
    assert!(
        head.contains("\r\ncontent-type: application/json"),
        "{head}"
    );
    assert!(head.contains("\r\nconnection: close"), "{head}");
    let length = format!("\r\ncontent-length: {}", body.len());
    assert!(head.contains(&length), "{rest}");
    (head.to_owned(), serde_json::from_str(body).unwrap())
}

#[tokio::test]
async fn what_is_no_http_is_refused_as_everything_else_is() {
    let long_line = format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "x".repeat(70_000));
    let many = format!(
        "GET / HTTP/1.1\r\nhost: x\r\n{}\r\n",
        "a: b\r\n".repeat(200)
    );
    for (text, status, code) in [
        ("this is no HTTP\r\n\r\n", "400 Bad Request", "bad_request"),
        ("\u{16}\u{3}\u{1}\r\n\r\n", "400 Bad Request", "bad_request"),
        (&*long_line, "414 URI Too Long", "uri_too_long"),
        (
            &*many,
            "431 Request Header Fields Too Large",
            "request_header_fields_too_large",
        ),
    ] {
        for server in [tcp(plan(1, vec![])), memory(plan(1, vec![]))] {
            let mut client = Client::connect(&server).await;
            client.send(text).await;
            let (head, body) = only_answer(client).await;
            assert!(
                head.starts_with(&format!("HTTP/1.1 {status}\r\n")),
                "{head}"
            );
            assert_eq!(body["status"], "fail");
            assert_eq!(body["data"]["code"], code);
            assert!(body["data"]["message"].is_string());
            assert_eq!(finish(server).await.exchanges.len(), 0);
        }
    }
}

#[tokio::test]
async fn what_is_no_http_after_an_answer_is_refused_and_the_answer_is_not_changed() {
    let mut fault = fault(1, fake_server::wire::Call::GetProcess, 1, text("no"));
    fault.behaviour.status = Some(400);
    let mut plan = plan(1, vec![]);
    plan.faults = vec![fault];
    let server = tcp(plan);
    let mut client = Client::connect(&server).await;
    // In one go, so that what is no request is there while the answer is being written.
    let first = client.request("GET", "", "");
    client
        .send(&format!("{first}this is no HTTP\r\n\r\n"))
        .await;
    let (head, body) = client.answer().await;
    assert!(head.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{head}");
    assert_eq!(body, "no");
    let (_, body) = only_answer(client).await;
    assert_eq!(body["data"]["code"], "bad_request");
    assert_eq!(finish(server).await.exchanges.len(), 1);
}

#[tokio::test]
async fn a_request_has_exactly_one_host() {
    for (version, hosts, status) in [
        ("1.1", "", 400),
        ("1.1", "host: a\r\nhost: a\r\n", 400),
        ("1.1", "host: a\r\n", 200),
        ("1.0", "", 200),
    ] {
        let server = tcp(plan(1, vec![]));
        let mut client = Client::connect(&server).await;
        let text = format!("GET /healthz HTTP/{version}\r\n{hosts}connection: close\r\n\r\n");
        client.send(&text).await;
        let (head, body) = only_answer(client).await;
        assert_eq!(head[9..12], status.to_string(), "{text}");
        if status == 400 {
            assert_eq!(body["status"], "fail");
            assert_eq!(body["data"]["code"], "bad_request");
        }
        // It is a request, so it is logged.
        assert_eq!(finish(server).await.exchanges.len(), 1);
    }
}

#[tokio::test]
async fn a_cursor_that_is_given_twice_is_refused() {
    let server = tcp(plan(1, vec![]));
    let mut client = Client::connect(&server).await;
    client.ask("GET", "/connect?after=0&after=1", "").await;
    let (head, body) = client.answer().await;
    assert!(head.starts_with("HTTP/1.1 400 "), "{head}");
    assert!(body.contains("\"after\":\""), "{body}");
    // The connection goes on.
    client.ask("GET", "/connect?after=0", "").await;
    assert!(client.until("\r\n\r\n").await.starts_with("HTTP/1.1 200 "));
    finish(server).await;
}
