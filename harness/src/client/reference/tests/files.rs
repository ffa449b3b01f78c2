//! Ops `upload` and `download`.

use super::*;

const TARGET: &str = "/v1/sandboxes/sb/files?path=/a%20b%2bc";

fn stored(bytes: u64) -> Script {
    envelope(&format!(
        r#"{{"status":"success","data":{{"bytes":{bytes}}}}}"#
    ))
}

fn file(head: &str, body: &str) -> Script {
    vec![bytes(format!("HTTP/1.1 200 OK\r\n{head}\r\n{body}"))]
}

async fn upload(scripts: Vec<Script>) -> Told {
    case(Op::Upload, scripts).run().await
}

async fn download(scripts: Vec<Script>) -> Told {
    case(Op::Download, scripts).run().await
}

#[tokio::test(start_paused = true)]
async fn a_file_is_stored_under_its_escaped_path() {
    let told = upload(vec![stored(3)]).await;
    assert_eq!(told.outcome(), "ok");
    assert_eq!(told.asked[0].line, format!("PUT {TARGET}"));
    assert_eq!(told.asked[0].body, "one");
    assert!(told.asked[0].head.contains("application/octet-stream"));
}

#[tokio::test(start_paused = true)]
async fn another_size_is_no_success() {
    let told = upload(vec![stored(2)]).await;
    assert_eq!(told.kind(), "invalid-response");
    assert_eq!(told.asked.len(), 1, "the same bytes would be cut again");
}

#[tokio::test(start_paused = true)]
async fn an_upload_is_repeated_once_and_whole() {
    let told = upload(vec![status(503), stored(3)]).await;
    assert_eq!((told.outcome(), told.asked.len()), ("ok", 2));
    assert_eq!(told.asked[1].body, "one");
    assert!(told.asked[1].at >= 250);
    let told = upload(vec![vec![Reset], status(503), stored(3)]).await;
    assert_eq!((told.kind(), told.asked.len()), ("http-error", 2));
    let told = upload(vec![status(413), stored(3)]).await;
    assert_eq!((told.kind(), told.asked.len()), ("http-error", 1));
}

#[tokio::test(start_paused = true)]
async fn a_file_is_fetched_whole_or_not_at_all() {
    let told = download(vec![file("Content-Length: 3\r\n", "one")]).await;
    assert_eq!(told.outcome(), "ok");
    assert_eq!(told.asked[0].line, format!("GET {TARGET}"));
    assert_eq!(told.result.data, Some("one".into()));
    let short = then(file("Content-Length: 4\r\n", "one"), [Fin]);
    let told = download(vec![short]).await;
    assert_eq!((told.kind(), &told.result.data), ("transport", &None));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_the_file_is_not_handed_over() {
    for (head, kind) in [
        ("Content-Type: text/html\r\n", "invalid-response"),
        (
            "Content-Type: Application/JSON; a=b\r\n",
            "invalid-response",
        ),
        ("Content-Encoding: gzip\r\n", "transport"),
    ] {
        let script = file(&format!("{head}Content-Length: 3\r\n"), "one");
        let told = download(vec![script]).await;
        assert_eq!((told.kind(), &told.result.data), (kind, &None), "{head}");
    }
    let told = download(vec![status(404)]).await;
    let error = told.result.error.unwrap();
    assert_eq!(
        (error.kind.as_str(), error.http_status),
        ("http-error", Some(404))
    );
}

#[tokio::test(start_paused = true)]
async fn a_deadline_leaves_nothing_of_the_file() {
    let stalled = then(file("Content-Length: 4\r\n", "one"), [Hold]);
    let told = case(Op::Download, vec![stalled]).timeout(300).run().await;
    assert_eq!((told.outcome(), told.took), ("timed-out", 300));
    assert_eq!(told.result.data, None);
    assert_eq!(told.asked[0].closed, Some(300));
}
