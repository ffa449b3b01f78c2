//! One connection at a time, kept where it can be, and never trusted beyond the framing.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_fully_read_answer_keeps_its_connection() {
    let told = follow(vec![whole(&[]), whole(&[EXIT])]).await;
    let connections: Vec<usize> = told.asked.iter().map(|asked| asked.connection).collect();
    assert_eq!(connections, [1, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_not_read_and_costs_its_connection() {
    let endless = "HTTP/1.1 503 No\r\nContent-Length: 99999999\r\n\r\nx";
    let told = follow(vec![vec![bytes(endless), Hold], whole(&[EXIT])]).await;
    assert_eq!(told.outcome(), "exited");
    assert_eq!(
        (told.asked[0].closed, told.asked[1].connection),
        (Some(0), 2)
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_closed_while_idle_is_replaced_without_a_failure() {
    let told = follow(vec![then(whole(&[]), [Pause(100), Fin]), whole(&[EXIT])]).await;
    assert_eq!((told.outcome(), told.asked.len()), ("exited", 2));
    assert_eq!(told.asked[1].connection, 2);
}

#[tokio::test(start_paused = true)]
async fn a_reused_connection_that_breaks_counts_like_any_failure() {
    let told = follow(vec![
        whole(&[]),
        vec![Reset],
        whole(&[]),
        vec![Fin],
        whole(&[EXIT]),
    ])
    .await;
    assert_eq!((told.kind(), told.asked.len()), ("connection-failed", 4));
}

#[tokio::test(start_paused = true)]
async fn bytes_beyond_the_length_are_never_used() {
    let exit = EXIT.len();
    let beyond = format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n{EXIT}");
    let told = follow(vec![vec![bytes(&beyond)], whole(&[EXIT])]).await;
    assert_eq!((told.outcome(), told.asked.len()), ("exited", 2));
    assert_eq!(told.asked[1].connection, 2);
    let poison = format!("HTTP/1.1 200 OK\r\nContent-Length: {exit}\r\n\r\n{EXIT}");
    let beyond = format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n{poison}");
    let told = follow(vec![vec![bytes(&beyond), Hold]; 4]).await;
    assert_eq!((told.kind(), told.asked.len()), ("stream-ended", 4));
}

#[tokio::test(start_paused = true)]
async fn length_beside_chunks_is_read_as_chunks() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n";
    let told = follow(vec![vec![bytes(head), bytes(chunk(EXIT)), bytes(LAST)]]).await;
    assert_eq!(told.outcome(), "exited");
}

#[tokio::test(start_paused = true)]
async fn a_refused_connection_tells_its_errno() {
    let mut case = case(Op::Follow, vec![]);
    case.job.base_url = "http://nobody.invalid:1".to_owned();
    let (live, _handed) = mpsc::unbounded_channel();
    let (_stop, cancel) = watch::channel(false);
    let connector = Connector::Memory(MemoryNet::new());
    let start = Instant::now();
    let result = case.client.run(&case.job, &connector, &live, cancel).await;
    let error = result.error.unwrap();
    assert_eq!(error.kind, "connection-failed");
    assert_eq!(error.errno.as_deref(), Some("ECONNREFUSED"));
    assert_eq!(since(start), 750);
}

#[tokio::test(start_paused = true)]
async fn redirects_are_not_followed() {
    let redirect = "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n";
    let told = follow(vec![vec![bytes(redirect)]; 2]).await;
    assert_eq!((told.kind(), told.asked.len()), ("http-error", 1));
}

#[tokio::test(start_paused = true)]
async fn other_schemes_are_unsupported() {
    let mut case = case(Op::Pause, vec![]);
    case.job.base_url = "https://127.0.0.1:1".to_owned();
    let (live, _handed) = mpsc::unbounded_channel();
    let (_stop, cancel) = watch::channel(false);
    let connector = Connector::Memory(MemoryNet::new());
    let result = case.client.run(&case.job, &connector, &live, cancel).await;
    assert_eq!(result.error.unwrap().kind, "unsupported");
}

#[test]
fn a_job_can_be_spawned() {
    fn sendable<T: Send>(_: T) {}
    let case = case(Op::Follow, vec![]);
    let (live, _) = mpsc::unbounded_channel();
    let (_, cancel) = watch::channel(false);
    sendable(case.client.run(&case.job, &Connector::Tcp, &live, cancel));
}
