//! Adapters that do as they should, in unusual ways.

use super::support::{LONG, Script, ask, ask_with, result};
use harness::{client::job::Live, observed::Reply};
use serde_json::json;
use tokio::sync::{mpsc, watch};

#[tokio::test]
async fn results_in_any_order_find_their_jobs() {
    let script = Script::new(
        "hello; next; a=$id; next; b=$id; next; c=$id; exited $c; exited $b; exited $a; next",
    );
    let client = script.start().await;
    let (a, b, c) = tokio::join!(ask(&client, "a"), ask(&client, "b"), ask(&client, "c"));
    for answer in [a, b, c] {
        assert_eq!(result(answer).exit_code, Some(json!(0)));
    }
    client.shutdown().await;
}

#[tokio::test]
async fn a_job_line_says_what_it_is() {
    let script = Script::new(r#"hello; next; printf '%s' "$line" > seen; exited $id; next"#);
    let client = script.start().await;
    result(ask(&client, "a").await);
    let line = std::fs::read_to_string(script.file("seen")).unwrap();
    let job: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        job,
        json!({"type": "job", "id": "a", "op": "execute", "base_url": "http://127.0.0.1:1",
            "api_key": "skp_key_of_a", "sandbox_id": "sb-1", "command": ["true"]})
    );
    client.shutdown().await;
}

#[tokio::test]
async fn unicode_separators_inside_a_line_split_nothing() {
    let script = Script::new(concat!(
        r#"hello; next; printf '{"type":"result","id":"%s","outcome":"error","error":{"kind":"other","message":"a"#,
        "\u{2028}b\u{2029}c\u{85}d",
        r#""}}\n' $id; next"#
    ));
    let client = script.start().await;
    let error = result(ask(&client, "a").await).error.unwrap();
    assert_eq!(error.message, "a\u{2028}b\u{2029}c\u{85}d");
    client.shutdown().await;
}

#[tokio::test]
async fn a_last_line_without_lf_counts() {
    let script = Script::new(
        r#"hello; next; printf '{"type":"result","id":"%s","outcome":"exited","exit_code":7}' $id"#,
    );
    let client = script.start().await;
    assert_eq!(result(ask(&client, "a").await).exit_code, Some(json!(7)));
    client.shutdown().await;
}

#[tokio::test]
async fn the_protocol_may_move_to_the_other_pipes_and_stdout_is_then_free() {
    let script = Script::bare(
        r#"
        echo 'a library says hello on stdout'
        eval "exec 0<&$CONFORMANCE_IN 1<&- 9>&$CONFORMANCE_OUT"
        exec 1>&2
        printf '{"type":"hello","protocol":1}\n' >&9
        read -r greeting
        while read -r line; do
            echo 'chatter'
            id=${line#*'"id":"'}; id=${id%%'"'*}
            printf '{"type":"result","id":"%s","outcome":"ok"}\n' $id >&9
        done
        "#,
    );
    let client = script.start().await;
    for id in ["a", "b"] {
        assert_eq!(result(ask(&client, id).await).outcome, "ok");
    }
    assert_eq!(client.take_notes().await, Vec::<String>::new());
    client.shutdown().await;
}

#[tokio::test]
async fn chatter_on_stdout_beside_the_other_pipes_is_kept_like_stderr() {
    let script = Script::bare(
        r#"
        eval "exec 0<&$CONFORMANCE_IN 9>&$CONFORMANCE_OUT"
        printf '{"type":"hello","protocol":1}\n' >&9
        read -r greeting
        read -r line
        echo 'chatter'
        exit 1
        "#,
    );
    let client = script.start().await;
    let answer = ask(&client, "a").await;
    assert_eq!(answer.reply, Reply::AdapterDied("exit status 1".to_owned()));
    assert_eq!(answer.stderr, "chatter\n");
    client.shutdown().await;
}

#[tokio::test]
async fn output_is_handed_over_as_it_comes() {
    // The result waits for a word in a file that the test writes when it has seen the output.
    let script = Script::new(
        r#"hello; next
        printf '{"type":"output","id":"%s","stream":"stdout","data_base64":"aGk="}\n' $id
        until test -e seen; do sleep 0.01; done
        exited $id; next"#,
    );
    let client = script.start().await;
    let (live, mut outputs) = mpsc::unbounded_channel();
    let (_keep, cancel) = watch::channel(false);
    let seen = script.file("seen");
    let watcher = async {
        let output = outputs.recv().await.unwrap();
        std::fs::write(seen, "").unwrap();
        output
    };
    let (answer, output) = tokio::join!(ask_with(&client, "a", live, cancel, LONG), watcher);
    result(answer);
    let Live::Output(output) = output else {
        panic!("an event");
    };
    assert_eq!(&output.data[..], b"hi");
    client.shutdown().await;
}

#[tokio::test]
async fn a_cancel_is_passed_on_once() {
    let script = Script::new(
        r#"hello; next; job=$id; next; printf '%s' "$line" > seen
        printf '{"type":"result","id":"%s","outcome":"cancelled"}\n' $job; next"#,
    );
    let client = script.start().await;
    let (live, _) = mpsc::unbounded_channel();
    let (sender, cancel) = watch::channel(true);
    let answer = ask_with(&client, "a", live, cancel, LONG).await;
    assert_eq!(result(answer).outcome, "cancelled");
    let line = std::fs::read_to_string(script.file("seen")).unwrap();
    assert_eq!(line, r#"{"type":"cancel","id":"a"}"#);
    drop(sender);
    client.shutdown().await;
}

#[tokio::test]
async fn other_is_classified_by_the_manifest() {
    let script = Script::new(
        r#"hello; next; printf '{"type":"result","id":"%s","outcome":"error","error":{"kind":"other","message":"output has a sequence gap"}}\n' $id; next"#,
    );
    let manifest = script.manifest("[errors]\n'sequence gap' = 'sequence-gap'\n");
    let client = harness::client::Client::start(manifest, super::support::limits())
        .await
        .unwrap();
    let error = result(ask(&client, "a").await).error.unwrap();
    assert_eq!(error.kind, "sequence-gap");
    client.shutdown().await;
}

#[tokio::test]
async fn a_secret_on_stderr_is_told_and_redacted_for_the_job_whose_it_is() {
    let script = Script::new(
        "hello; next; next
        echo 'GET with skp_key_of_b' >&2
        exited a; exited b; next",
    );
    let client = script.start().await;
    let (a, b) = tokio::join!(ask(&client, "a"), ask(&client, "b"));
    assert_eq!(a.leaks, Vec::<String>::new());
    assert_eq!(b.leaks, ["stderr: {api-key}"]);
    assert_eq!(a.stderr, "GET with {api-key}\n");
    assert_eq!(b.stderr, "GET with {api-key}\n");
    client.shutdown().await;
}
