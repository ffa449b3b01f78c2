//! Op `connect`: events as they are.

use super::*;
use crate::observed::ClientEvent;

async fn raw(scripts: Vec<Script>) -> (Told, Vec<ClientEvent>) {
    let told = case(Op::Connect, scripts).run().await;
    let events = told.live.iter().filter_map(|live| match live {
        Live::Event(event) => Some(event.clone()),
        Live::Output(_) => None,
    });
    let events = events.collect();
    (told, events)
}

#[tokio::test(start_paused = true)]
async fn events_are_handed_over_unchanged() {
    let odd = "{\"type\":\"data\",\"seq\":9007199254740991,\"stream\":\"other\",\"data_base64\":\"YQo=\"}\n";
    let exit = "{\"type\":\"exit\",\"exit_code\":7.0,\"signal\":\"sigwhat\"}\n";
    let (told, events) = raw(vec![whole(&[
        &data(5, "YQo="),
        HEARTBEAT,
        odd,
        "{\"type\":\"new\"}\n",
        exit,
    ])])
    .await;
    assert_eq!(
        (told.outcome(), told.lines()),
        ("ended", vec!["connect?after=0".to_owned()])
    );
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["data", "heartbeat", "data", "other", "exit"]);
    assert_eq!(events[2].seq.as_deref(), Some("9007199254740991"));
    assert_eq!(events[2].stream.as_deref(), Some("other"));
    assert_eq!(events[2].data, Some("a\n".into()));
    assert_eq!(events[4].exit_code.as_ref().unwrap().to_string(), "7.0");
    assert_eq!(events[4].signal, Some(json!("sigwhat")));
}

#[tokio::test(start_paused = true)]
async fn absent_and_null_stay_apart() {
    let (_, events) = raw(vec![whole(&["{\"type\":\"exit\",\"signal\":null}\n"])]).await;
    assert_eq!(
        (events[0].exit_code.clone(), events[0].signal.clone()),
        (None, Some(Value::Null))
    );
}

#[tokio::test(start_paused = true)]
async fn a_clean_end_without_exit_is_an_end_and_a_broken_one_an_error() {
    let a = data(1, "YQo=");
    let (told, events) = raw(vec![whole(&[&a])]).await;
    assert_eq!((told.outcome(), events.len()), ("ended", 1));
    for end in [Fin, Reset, bytes("zz\r\n")] {
        let (told, events) = raw(vec![then(open(&[&a]), [end]), whole(&[EXIT])]).await;
        assert_eq!(
            (told.kind(), events.len(), told.asked.len()),
            ("transport", 1, 1)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn refusals_and_errors_are_told() {
    for (code, kind) in [
        (404, "http-error"),
        (503, "http-error"),
        (204, "http-error"),
        (410, "output-evicted"),
    ] {
        let (told, events) = raw(vec![status(code), whole(&[EXIT])]).await;
        assert_eq!((told.kind(), told.asked.len(), events.len()), (kind, 1, 0));
        assert_eq!(told.result.error.unwrap().http_status, Some(code));
    }
    for (line, kind) in [
        ("rubbish\n", "frame-invalid"),
        (
            "{\"type\":\"data\",\"seq\":1,\"stream\":\"stdout\",\"data_base64\":\"YQ\"}\n",
            "output-invalid",
        ),
        (
            "{\"type\":\"data\",\"seq\":\"1\",\"stream\":\"stdout\",\"data_base64\":\"\"}\n",
            "sequence-invalid",
        ),
        ("{\"type\":\"da", "frame-invalid"),
    ] {
        let (told, events) = raw(vec![whole(&[line])]).await;
        assert_eq!((told.kind(), events.len()), (kind, 0), "{line}");
    }
    let (told, events) = raw(vec![whole(&[
        "{\"type\":\"error\",\"error\":\"gone\"}\n",
        EXIT,
    ])])
    .await;
    assert_eq!((told.kind(), events.len()), ("stream-error", 1));
    assert_eq!(events[0].error.as_deref(), Some("gone"));
}

#[tokio::test(start_paused = true)]
async fn a_last_line_without_lf_is_an_event() {
    let (told, events) = raw(vec![whole(&[EXIT.trim_end()])]).await;
    assert_eq!((told.outcome(), events.len()), ("ended", 1));
}
