use super::*;
use fake_server::wire::{Op, call::Capability};
use serde_json::json;

fn words(line: &str) -> String {
    decode(line.as_bytes()).unwrap_err().words
}

fn result(line: &str) -> JobResult {
    match decode(line.as_bytes()) {
        Ok(Message::Result(_, result)) => *result,
        other => panic!("{other:?}"),
    }
}

#[test]
fn hello_tells_who_and_what() {
    let line = r#"{"type":"hello","protocol":1,"client":{"name":"c","version":"2","language":"Go","x":1},
        "capabilities":["follow","cancel","teleport"],"profile":{"max-reconnects":7,"x":[]}}"#;
    let Ok(Message::Hello(hello)) = decode(line.as_bytes()) else {
        panic!("no hello");
    };
    assert_eq!(hello.name.as_deref(), Some("c"));
    let abilities = hello.abilities.unwrap();
    assert!(abilities.ops.contains(&Op::Follow));
    assert!(abilities.capabilities.contains(&Capability::Cancel));
    assert_eq!(hello.unknown, ["teleport"]);
    assert_eq!(hello.profile.max_reconnects, Some(7));
    assert_eq!(hello.profile.cleanup_timeout_ms, None);
}

#[test]
fn a_hello_is_held_to_what_a_manifest_may_promise() {
    for (profile, told) in [
        (
            r#""cleanup-timeout-ms":0"#,
            "`cleanup-timeout-ms` is 0; it is a whole number from 1 on",
        ),
        (
            r#""reconnect-delay-ms":18446744073709551615"#,
            "`reconnect-delay-ms` is 18446744073709551615",
        ),
        (
            r#""max-line-bytes":0"#,
            "`max-line-bytes` is 0; it is a whole number from 1 on",
        ),
        (
            r#""retry-statuses":["5xx","404"]"#,
            "`retry-statuses` holds `404`",
        ),
        (r#""retry-create-on":[500]"#, "`retry-create-on` holds 500"),
    ] {
        let said = words(&format!(
            r#"{{"type":"hello","protocol":1,"profile":{{{profile}}}}}"#
        ));
        assert!(said.contains(told), "{said}");
    }
}

#[test]
fn another_protocol_is_refused_in_words() {
    assert!(words(r#"{"type":"hello","protocol":2}"#).starts_with("the adapter speaks protocol 2"));
    assert!(words(r#"{"type":"hello"}"#).starts_with("`hello` without `protocol`"));
}

#[test]
fn numbers_stay_as_they_were_written() {
    let line = r#"{"type":"event","id":"a","kind":"data","seq":9007199254740993,"exit_code":7.0}"#;
    let Ok(Message::Event(_, event)) = decode(line.as_bytes()) else {
        panic!("no event");
    };
    assert_eq!(event.seq.as_deref(), Some("9007199254740993"));
    assert_eq!(event.exit_code.unwrap().to_string(), "7.0");
}

#[test]
fn null_and_absent_differ_where_it_matters() {
    let said = result(r#"{"type":"result","id":"a","outcome":"exited","exit_code":null}"#);
    assert_eq!(said.exit_code, Some(Value::Null));
    assert_eq!(said.signal, None);
    let again: JobResult = serde_json::from_value(json!(said)).unwrap();
    assert_eq!(again, said);
}

#[test]
fn separators_inside_strings_are_text() {
    let said = result(
        "{\"type\":\"result\",\"id\":\"a\",\"outcome\":\"error\",\"error\":{\"kind\":\"other\",\"message\":\"a\u{2028}b\u{85}c\"}}\r",
    );
    assert_eq!(said.error.unwrap().message, "a\u{2028}b\u{85}c");
}

#[test]
fn what_is_wrong_is_told_with_the_job_it_is_about() {
    for (line, expected) in [
        (
            r#"{"type":"result","id":"a"}"#,
            "`result` without `outcome`",
        ),
        (
            r#"{"type":"result","id":"a","outcome":"fine"}"#,
            "`result` with `outcome` \"fine\"; it is one of exited",
        ),
        (
            r#"{"type":"result","id":"a","outcome":"error"}"#,
            "a result with outcome `error` but without `error`",
        ),
        (
            r#"{"type":"result","id":"a","outcome":"error","error":{"kind":"oops"}}"#,
            "`result` with `error.kind` \"oops\"",
        ),
        (
            r#"{"type":"result","id":"a","outcome":"error","error":{"kind":"other","cause":{"kind":"x"}}}"#,
            "`result` with `error.kind` \"x\"",
        ),
        (
            r#"{"type":"result","id":"a","outcome":"exited","stdout_base64":"a"}"#,
            "`stdout_base64` is wrong",
        ),
        (
            r#"{"type":"output","id":"a","stream":"stdout"}"#,
            "`output` without `data_base64`",
        ),
        (
            r#"{"type":"event","id":"a","kind":"ping"}"#,
            "`event` with `kind` \"ping\"",
        ),
    ] {
        let fault = decode(line.as_bytes()).unwrap_err();
        assert!(fault.words.starts_with(expected), "{}", fault.words);
        assert_eq!(fault.id.as_deref(), Some("a"), "{line}");
    }
    assert!(words(r#"{"type":"result","outcome":"ok"}"#).starts_with("`result` without the `id`"));
    assert!(words(r#"{"id":"a"}"#).starts_with("a message without `type`"));
}

#[test]
fn what_is_no_object_is_told_apart() {
    assert!(words("[1]").starts_with("a line that is no JSON object"));
    assert!(words("hello").starts_with("a line that is no JSON ("));
    assert!(words("").starts_with("a line that is no JSON ("));
    assert!(
        decode(b"{\"type\":\"\xff\"}")
            .unwrap_err()
            .words
            .starts_with("a line that is not UTF-8")
    );
    assert!(words(&"[".repeat(100_000)).contains('…'));
}
