//! Creating, stdin, and the cleanup that every failure owes.

use super::*;

async fn execute(scripts: Vec<Script>) -> Told {
    case(Op::Execute, scripts).run().await
}

const DELETE: &str = "DELETE /p?grace_ms=500";

#[tokio::test(start_paused = true)]
async fn a_healthy_run_asks_three_things_on_one_connection() {
    let told = execute(vec![
        created(),
        acknowledged(),
        whole(&[&frames()[0], EXIT]),
    ])
    .await;
    assert_eq!((told.outcome(), told.stdout()), ("exited", "a\n"));
    assert_eq!(
        told.lines(),
        ["POST ", "POST /p/stdin/close", "connect?after=0"]
    );
    assert_eq!(told.asked[0].body, r#"{"cmd":"run","args":["it"]}"#);
    assert!(told.asked.iter().all(|asked| asked.connection == 1));
    assert!(
        told.asked
            .iter()
            .all(|asked| asked.head.contains("x-api-key: skp_secret"))
    );
}

#[tokio::test(start_paused = true)]
async fn stdin_is_sent_before_it_is_closed() {
    let told = case(
        Op::Execute,
        vec![created(), acknowledged(), acknowledged(), whole(&[EXIT])],
    )
    .field("stdin_base64", json!("aGk="))
    .field("env", json!({"A": "b"}))
    .run()
    .await;
    assert_eq!(told.outcome(), "exited");
    assert_eq!(
        told.asked[1].line,
        "POST /v1/sandboxes/sb/processes/p/input"
    );
    assert_eq!(told.asked[1].body, r#"{"data_base64":"aGk="}"#);
}

#[tokio::test(start_paused = true)]
async fn a_create_that_may_have_worked_is_unconfirmed_and_not_repeated() {
    let cut = "HTTP/1.1 201 Created\r\nContent-Length: 50\r\n\r\n{\"status\":";
    for script in [
        status(500),
        status(503),
        status(504),
        vec![Reset],
        vec![Fin],
        vec![bytes(cut), Fin],
        envelope("<html>"),
        envelope(r#"{"status":"fail","data":{"process_id":"p"}}"#),
        envelope(r#"{"status":"success","data":{"process_id":"../p"}}"#),
        envelope(r#"{"status":"success","data":{"process_id":""}}"#),
        envelope(r#"{"status":"success","data":{"process_id":7}}"#),
        envelope(r#"{"status":"success","data":null}"#),
        status(200),
    ] {
        let words = format!("{script:?}");
        let told = execute(vec![script, created()]).await;
        assert_eq!(
            (told.kind(), told.asked.len()),
            ("creation-unconfirmed", 1),
            "{words}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_create_is_refused() {
    for code in [400, 401, 404, 409, 422, 429, 302] {
        let told = execute(vec![status(code), created()]).await;
        assert_eq!((told.kind(), told.asked.len()), ("http-error", 1), "{code}");
    }
    let mut client = Reference::conformant();
    client.promises.profile.retry_create_on = vec![429];
    let told = case(
        Op::Execute,
        vec![status(429), created(), acknowledged(), whole(&[EXIT])],
    )
    .client(client)
    .run()
    .await;
    assert_eq!((told.outcome(), told.asked.len()), ("exited", 4));
}

#[tokio::test(start_paused = true)]
async fn closed_stdin_is_fine_and_other_failures_end_the_call() {
    let told = execute(vec![created(), status(409), whole(&[EXIT])]).await;
    assert_eq!(told.outcome(), "exited");
    for (script, kind) in [
        (status(400), "http-error"),
        (status(500), "http-error"),
        (status(307), "http-error"),
        (vec![Reset], "transport"),
        (
            envelope(r#"{"status":"fail","data":null}"#),
            "invalid-response",
        ),
    ] {
        let told = execute(vec![created(), script, deleted()]).await;
        assert_eq!(told.kind(), kind);
        assert_eq!(told.lines(), ["POST ", "POST /p/stdin/close", DELETE]);
    }
}

#[tokio::test(start_paused = true)]
async fn every_failure_after_creation_deletes_the_tree() {
    let [a, b, c] = frames();
    let bad = data(2, "Ygo");
    for (script, kind) in [
        (whole(&[&a, &c]), "sequence-gap"),
        (whole(&[&a, &bad]), "output-invalid"),
        (whole(&[&a, "rubbish\n", &b]), "frame-invalid"),
        (whole(&[&a, "{}\n"]), "unknown-event"),
        (whole(&[&a, "{\"type\":\"exit\"}\n"]), "exit-status-missing"),
        (
            whole(&[&a, "{\"type\":\"error\",\"error\":\"x\"}\n"]),
            "stream-error",
        ),
        (status(404), "http-error"),
        (status(410), "output-evicted"),
    ] {
        let told = execute(vec![created(), acknowledged(), script, deleted()]).await;
        assert_eq!(told.kind(), kind);
        assert_eq!(told.lines()[3..], [DELETE], "{kind}");
    }
    let drop = whole(&[HEARTBEAT]);
    let mut scripts = vec![created(), acknowledged()];
    scripts.extend(vec![drop; 4]);
    scripts.push(deleted());
    let told = execute(scripts).await;
    assert_eq!((told.kind(), told.asked.len()), ("stream-ended", 7));
    assert_eq!(told.lines()[6], DELETE);
}

#[tokio::test(start_paused = true)]
async fn only_a_success_with_tree_exited_or_404_confirms() {
    let fail = || vec![created(), acknowledged(), status(404)];
    let told = execute(then_script(fail(), status(404))).await;
    assert_eq!(told.kind(), "http-error");
    let unproven = [
        envelope(r#"{"status":"success","data":{"tree_exited":false}}"#),
        envelope(r#"{"status":"success","data":{"tree_exited":"true"}}"#),
        envelope(r#"{"status":"success","data":{}}"#),
        envelope(r#"{"status":"fail","data":{"tree_exited":true}}"#),
        vec![bytes("HTTP/1.1 204 No Content\r\n\r\n")],
        vec![bytes("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")],
        status(500),
        vec![bytes("HTTP/1.1 500 No\r\nContent-Length: 3\r\n\r\n404")],
        status(403),
        vec![Reset],
        vec![Hold],
    ];
    for script in unproven {
        let words = format!("{script:?}");
        let told = execute(then_script(fail(), script)).await;
        assert_eq!(
            (told.kind(), told.asked.len()),
            ("cleanup-unconfirmed", 4),
            "{words}"
        );
        let cause = told.result.error.unwrap().cause.unwrap();
        assert_eq!(
            (cause.kind.as_str(), cause.http_status),
            ("http-error", Some(404)),
            "{words}"
        );
    }
}

fn then_script(mut scripts: Vec<Script>, last: Script) -> Vec<Script> {
    scripts.push(last);
    scripts
}

#[tokio::test(start_paused = true)]
async fn a_terminal_is_sent_its_input_and_follows_its_own_stream() {
    let pty = data(1, "YQo=").replace("stdout", "pty");
    let told = case(
        Op::Terminal,
        vec![
            created(),
            acknowledged(),
            acknowledged(),
            whole(&[&pty, EXIT]),
        ],
    )
    .field("cols", json!(100))
    .field(
        "input",
        json!([{"data_base64": "aGk="}, {"cols": 10, "rows": 5}]),
    )
    .run()
    .await;
    assert_eq!(told.outcome(), "exited");
    assert_eq!(told.result.pty, Some("a\n".into()));
    assert_eq!(told.result.stdout, None);
    assert_eq!(
        told.lines(),
        [
            "POST ",
            "POST /p/input",
            "POST /p/resize",
            "connect?after=0"
        ]
    );
    assert_eq!(
        told.asked[0].body,
        r#"{"cmd":"run","args":["it"],"pty":{"rows":24,"cols":100}}"#
    );
    assert_eq!(told.asked[2].body, r#"{"rows":5,"cols":10}"#);
}

#[tokio::test(start_paused = true)]
async fn no_message_holds_a_secret() {
    let told = case(
        Op::Execute,
        vec![created(), acknowledged(), status(500), status(500)],
    )
    .field("env", json!({"TOKEN": "hunter2"}))
    .run()
    .await;
    let said = format!("{:?}", told.result.error);
    for secret in ["skp_secret", "hunter2", "secret", "Whatever"] {
        assert!(!said.contains(secret), "{said}");
    }
}
