//! The same client over real sockets and real time.

use super::*;
use tokio::net::TcpListener;

/// Answers one request a connection with these bytes, then resets or closes.
async fn serve_once(listener: &TcpListener, answer: &[u8], reset: bool) {
    let (mut socket, _) = listener.accept().await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.unwrap());
    }
    socket.write_all(answer).await.unwrap();
    if reset {
        socket.set_zero_linger().unwrap();
    }
}

#[tokio::test]
async fn a_reset_and_a_close_are_drops_over_sockets_too() {
    let [a, b, _] = frames();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut case = case(Op::Follow, vec![]);
    case.job.base_url = format!("http://{}", listener.local_addr().unwrap());
    let (live, _handed) = mpsc::unbounded_channel();
    let (_stop, cancel) = watch::channel(false);
    let server = async {
        let part = format!("{STREAM}5000\r\n{a}");
        serve_once(&listener, part.as_bytes(), false).await;
        serve_once(&listener, STREAM.as_bytes(), true).await;
        let rest = [STREAM.as_bytes(), &chunk(format!("{a}{b}{EXIT}"))].concat();
        serve_once(&listener, &rest, false).await;
    };
    let run = case.client.run(&case.job, &Connector::Tcp, &live, cancel);
    let (result, ()) = tokio::join!(run, server);
    assert_eq!(result.outcome, "exited");
    assert_eq!(result.stdout, Some("a\nb\n".into()));
}
