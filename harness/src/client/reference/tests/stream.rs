//! Connecting, reconnecting, and what ends a stream.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_healthy_stream_is_success_with_every_byte() {
    let [a, b, c] = frames();
    let told = follow(vec![whole(&[&a, HEARTBEAT, &b, &c, EXIT])]).await;
    assert_eq!((told.outcome(), told.stdout()), ("exited", "a\nb\nc\n"));
    assert_eq!(told.result.exit_code, Some(json!(0)));
    assert_eq!(told.result.signal, Some(Value::Null));
    assert_eq!(told.result.stderr.as_ref().unwrap().len(), 0);
    assert_eq!(told.lines(), ["connect?after=0"]);
    assert!(told.asked[0].head.contains("\r\nx-api-key: skp_secret\r\n"));
    assert_eq!(told.live.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn it_starts_at_the_cursor_it_was_given() {
    let told = case(Op::Follow, vec![whole(&[&data(3, "Ywo="), EXIT])])
        .field("after", json!(2))
        .run()
        .await;
    assert_eq!((told.outcome(), told.stdout()), ("exited", "c\n"));
    assert_eq!(told.lines(), ["connect?after=2"]);
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_end_without_exit_is_a_drop() {
    let [a, b, c] = frames();
    let http10 = "HTTP/1.0 200 OK\r\n\r\n";
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n";
    let drops = [
        whole(&[&a]),
        then(open(&[&a]), [Fin]),
        then(open(&[&a]), [Reset]),
        vec![bytes(format!("{http10}{a}")), Fin],
        vec![bytes(format!("{short}{a}")), Fin],
        then(open(&[&a]), [bytes("zz\r\nbad"), Fin]),
        then(open(&[&a]), [bytes("5000\r\ntruncated"), Fin]),
    ];
    for drop in drops {
        let script = format!("{drop:?}");
        let told = follow(vec![drop, whole(&[&b, &c, EXIT])]).await;
        assert_eq!(
            (told.outcome(), told.stdout()),
            ("exited", "a\nb\nc\n"),
            "{script}"
        );
        assert_eq!(
            told.lines(),
            ["connect?after=0", "connect?after=1"],
            "{script}"
        );
        assert!(told.asked[1].at >= told.asked[0].at + 250, "{script}");
    }
}

#[tokio::test(start_paused = true)]
async fn four_connects_and_no_more_whatever_failed() {
    let [a, ..] = frames();
    for (script, kind, after) in [
        (whole(&[&a, HEARTBEAT]), "stream-ended", 1),
        (status(503), "connection-failed", 0),
        (status(429), "connection-failed", 0),
        (vec![Reset], "connection-failed", 0),
        (vec![Fin], "connection-failed", 0),
    ] {
        let told = follow(vec![script; 9]).await;
        assert_eq!((told.outcome(), told.kind()), ("error", kind));
        let later = format!("connect?after={after}");
        assert_eq!(told.lines(), ["connect?after=0", &later, &later, &later]);
    }
    let told = follow(vec![status(503); 9]).await;
    assert_eq!(told.result.error.unwrap().http_status, Some(503));
}

#[tokio::test(start_paused = true)]
async fn progress_renews_the_budget_where_it_is_promised() {
    let scripts: Vec<Script> = (1..=8).map(|seq| whole(&[&data(seq, "YQo=")])).collect();
    let told = follow(scripts.clone()).await;
    assert_eq!((told.kind(), told.asked.len()), ("stream-ended", 4));
    let mut client = Reference::conformant();
    client.promises.profile.budget_renewal = crate::profile::BudgetRenewal::Progress;
    let told = case(Op::Follow, scripts).client(client).run().await;
    assert_eq!(told.asked.len(), 8 + 3);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_resume_connects_once() {
    let mut client = Reference::conformant();
    client.promises.capabilities.clear();
    let told = case(Op::Follow, vec![whole(&[]); 3])
        .client(client)
        .run()
        .await;
    assert_eq!((told.kind(), told.asked.len()), ("stream-ended", 1));
}

#[tokio::test(start_paused = true)]
async fn permanent_statuses_are_asked_once_and_told() {
    for code in [
        201, 202, 204, 206, 301, 302, 307, 400, 401, 403, 404, 408, 409, 413, 425,
    ] {
        let told = follow(vec![status(code); 3]).await;
        assert_eq!((told.kind(), told.asked.len()), ("http-error", 1), "{code}");
        let error = told.result.error.unwrap();
        assert_eq!(error.http_status, Some(code));
        assert!(!error.message.contains("secret") && !error.message.contains("Whatever"));
    }
    let told = follow(vec![whole(&[]), status(410)]).await;
    assert_eq!((told.kind(), told.asked.len()), ("output-evicted", 2));
}

#[tokio::test(start_paused = true)]
async fn the_body_of_a_refusal_is_never_read_as_frames() {
    let [a, ..] = frames();
    let body = format!("{a}{EXIT}");
    let refusal = format!(
        "HTTP/1.1 502 Bad\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let told = follow(vec![vec![bytes(refusal)]; 9]).await;
    assert_eq!((told.kind(), told.stdout()), ("connection-failed", ""));
}

#[tokio::test(start_paused = true)]
async fn an_exit_is_the_end_whatever_the_transport_does() {
    let [a, ..] = frames();
    for end in [Hold, Reset, Fin, bytes("zz\r\n"), Pause(60_000)] {
        let told = follow(vec![then(open(&[&a, EXIT]), [Pause(10), end])]).await;
        assert_eq!(
            (told.outcome(), told.stdout(), told.took),
            ("exited", "a\n", 0)
        );
        assert_eq!(told.asked.len(), 1);
    }
    let told = follow(vec![then(open(&[EXIT]), [Hold])]).await;
    assert_eq!(told.asked[0].closed, Some(0));
}

#[tokio::test(start_paused = true)]
async fn the_first_exit_stands_and_nothing_after_it_counts() {
    let [a, b, _] = frames();
    let more = "{\"type\":\"exit\",\"exit_code\":9}\nrubbish\n";
    let told = follow(vec![whole(&[&format!("{a}{EXIT}{b}{more}")])]).await;
    assert_eq!((told.outcome(), told.stdout()), ("exited", "a\n"));
    assert_eq!(told.result.exit_code, Some(json!(0)));
}

#[tokio::test(start_paused = true)]
async fn gaps_duplicates_and_replays() {
    let [a, b, c] = frames();
    let told = follow(vec![whole(&[&a]), whole(&[&a, &b, &b, &c, EXIT])]).await;
    assert_eq!((told.outcome(), told.stdout()), ("exited", "a\nb\nc\n"));
    for script in [whole(&[&b]), whole(&[&a, &c, EXIT]), whole(&[&c, &a])] {
        let told = follow(vec![script]).await;
        assert_eq!((told.kind(), told.asked.len()), ("sequence-gap", 1));
    }
}

#[tokio::test(start_paused = true)]
async fn error_frames_end_the_call_at_once() {
    let [a, ..] = frames();
    for (code, kind) in [
        ("output_offset_expired", "output-evicted"),
        ("other", "stream-error"),
    ] {
        let error =
            format!("{{\"type\":\"error\",\"error\":\"{code}\",\"oldest_available_seq\":9}}\n");
        let told = follow(vec![then(open(&[&format!("{a}{error}{EXIT}")]), [Hold])]).await;
        assert_eq!(
            (told.kind(), told.stdout(), told.asked.len()),
            (kind, "a\n", 1)
        );
        assert_eq!(told.asked[0].closed, Some(0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_last_line_without_lf_is_used_or_asked_for_again() {
    let [a, b, _] = frames();
    let told = follow(vec![whole(&[&a, &b, EXIT.trim_end()])]).await;
    assert_eq!(
        (told.outcome(), told.stdout(), told.asked.len()),
        ("exited", "a\nb\n", 1)
    );
    let told = follow(vec![whole(&[&a, &b[..30]]), whole(&[&b, EXIT])]).await;
    assert_eq!((told.outcome(), told.stdout()), ("exited", "a\nb\n"));
    assert_eq!(told.lines(), ["connect?after=0", "connect?after=1"]);
    let told = follow(vec![
        then(open(&[&a, b.trim_end()]), [Reset]),
        whole(&[&b, EXIT]),
    ])
    .await;
    assert_eq!((told.outcome(), told.stdout()), ("exited", "a\nb\n"));
}

#[tokio::test(start_paused = true)]
async fn html_and_envelopes_are_never_success() {
    for body in [
        "<html>\n</html>\n",
        "<html></html>",
        "{\"status\":\"success\",\"data\":{}}",
        "[]",
    ] {
        let told = follow(vec![envelope(body); 4]).await;
        assert_eq!(told.outcome(), "error", "{body}");
        assert!(
            matches!(told.kind(), "frame-invalid" | "unknown-event"),
            "{body}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_coded_body_is_a_drop() {
    let coded = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n";
    let script = vec![bytes(coded), bytes(chunk(EXIT)), bytes(LAST)];
    let told = follow(vec![script.clone(), whole(&[EXIT])]).await;
    assert_eq!((told.outcome(), told.asked.len()), ("exited", 2));
    let told = follow(vec![script; 4]).await;
    assert_eq!((told.kind(), told.asked.len()), ("stream-ended", 4));
}

#[tokio::test(start_paused = true)]
async fn an_endless_line_is_left_early() {
    let piece = "x".repeat(64 << 10);
    let told = follow(vec![open(&vec![piece.as_str(); 64])]).await;
    assert_eq!((told.kind(), told.asked.len()), ("frame-too-large", 1));
    assert!(told.asked[0].closed.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_line_of_exactly_the_limit_works() {
    let limit = 1 << 20;
    let frame = data(1, "");
    let payload = "A".repeat((limit - (frame.len() - 1)) / 4 * 4);
    let mut line = data(1, &payload);
    line.insert_str(line.len() - 1, &" ".repeat(limit + 1 - line.len()));
    assert_eq!(line.len(), limit + 1);
    let told = follow(vec![whole(&[&line, EXIT])]).await;
    assert_eq!(told.outcome(), "exited");
    line.insert(0, ' ');
    let told = follow(vec![whole(&[&line, EXIT])]).await;
    assert_eq!(told.kind(), "frame-too-large");
}
