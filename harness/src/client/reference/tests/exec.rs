//! Ops `exec` and `exec-stream`.

use super::*;

fn result(fields: &str) -> Script {
    envelope(&format!(
        r#"{{"status":"success","data":{{"result":{{{fields}}},"exec_ms":1.5}}}}"#
    ))
}

async fn exec(scripts: Vec<Script>) -> Told {
    case(Op::Exec, scripts).run().await
}

async fn stream(lines: &[&str]) -> Told {
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    case(Op::ExecStream, vec![whole(&lines)]).run().await
}

#[tokio::test(start_paused = true)]
async fn a_command_runs_once_and_its_result_is_told() {
    let ok = result(r#""stdout":"one\n","stderr":"two\n","exit_code":3"#);
    let stdin = json!("aW4K");
    let told = case(Op::Exec, vec![ok])
        .field("stdin_base64", stdin)
        .run()
        .await;
    assert_eq!((told.outcome(), told.stdout()), ("exited", "one\n"));
    assert_eq!(told.result.stderr, Some("two\n".into()));
    assert_eq!(told.result.exit_code, Some(json!(3)));
    assert_eq!(told.asked[0].line, "POST /v1/sandboxes/sb/exec");
    let body: Value = serde_json::from_str(&told.asked[0].body).unwrap();
    assert_eq!(
        body,
        json!({ "cmd": "run", "args": ["it"], "stdin": "in\n" })
    );
}

#[tokio::test(start_paused = true)]
async fn only_503_is_asked_again() {
    let ok = || result(r#""exit_code":0"#);
    let told = exec(vec![status(503), ok()]).await;
    assert_eq!((told.outcome(), told.asked.len()), ("exited", 2));
    for other in [status(502), status(504), status(429), vec![Reset]] {
        let told = exec(vec![other, ok()]).await;
        assert_eq!((told.outcome(), told.asked.len()), ("error", 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_is_whole_or_none() {
    for (fields, kind) in [
        ("", "exit-status-missing"),
        (r#""exit_code":"0""#, "exit-status-missing"),
        (r#""exit_code":null"#, "exit-status-missing"),
        (r#""exit_code":0,"error":"not found""#, "stream-error"),
        (r#""exit_code":0,"stdout":7"#, "invalid-response"),
    ] {
        assert_eq!(exec(vec![result(fields)]).await.kind(), kind, "{fields}");
    }
    let none = envelope(r#"{"status":"success","data":{}}"#);
    assert_eq!(exec(vec![none]).await.kind(), "invalid-response");
}

#[tokio::test(start_paused = true)]
async fn every_key_of_a_frame_counts_and_heartbeats_deliver_nothing() {
    let told = stream(&[
        r#"{"hb":true}"#,
        r#"{"stdout":"one\n","stderr":"two\n"}"#,
        "",
        r#"{"hb":true,"stdout":"three\n","exit_code":0}"#,
        r#"{"stdout":"late"}"#,
    ])
    .await;
    assert_eq!((told.outcome(), told.stdout()), ("exited", "one\nthree\n"));
    assert_eq!(told.result.stderr, Some("two\n".into()));
    assert!(told.asked[0].body.contains(r#""stream":true"#));
}

#[tokio::test(start_paused = true)]
async fn a_stream_needs_its_exit_code() {
    for (lines, kind) in [
        (vec![r#"{"stdout":"one\n"}"#], "stream-ended"),
        (vec![r#"{"hb":true}"#], "stream-ended"),
        (vec!["<html>"], "frame-invalid"),
        (vec![r#"{"exit_code":"0"}"#], "exit-status-missing"),
        (vec![r#"{"error":"gone"}"#], "stream-error"),
    ] {
        assert_eq!(stream(&lines).await.kind(), kind, "{lines:?}");
    }
    let cut = then(open(&["{\"stdout\":\"one\\n\"}\n"]), [Fin]);
    let told = case(Op::ExecStream, vec![cut]).run().await;
    assert_eq!((told.kind(), told.stdout()), ("transport", "one\n"));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_a_command_that_only_beats() {
    let mut script = open(&["{\"stdout\":\"one\\n\"}\n"]);
    for _ in 0..20 {
        script.push(Pause(50));
        script.push(bytes(chunk("{\"hb\":true}\n")));
    }
    let told = case(Op::ExecStream, vec![script]).timeout(300).run().await;
    assert_eq!((told.outcome(), told.took), ("timed-out", 300));
    assert_eq!(told.stdout(), "one\n");
}
