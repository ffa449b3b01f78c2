//! The end of an adapter: it may leave by itself, and whatever it started goes with it.

use super::support::{LONG, Script, ask, gone, limits, result};
use harness::client::adapter::Limits;
use std::time::Duration;

#[tokio::test]
async fn closing_stdin_lets_it_finish_by_itself() {
    let script = Script::new("hello; while read -r line; do :; done; echo bye > end");
    let client = script.start().await;
    client.shutdown().await;
    let end = std::fs::read_to_string(script.file("end")).unwrap();
    assert_eq!(end, "bye\n");
}

#[tokio::test]
async fn one_that_stays_is_killed_with_all_it_started() {
    let script =
        Script::new("hello; sleep 1000 & echo $! > child; echo $$ > leader; trap '' TERM; wait");
    let limits = Limits {
        hello: LONG,
        leave: Duration::from_millis(50),
    };
    let client = script.try_start(limits).await.unwrap();
    let (leader, child) = (script.pid("leader").await, script.pid("child").await);
    client.shutdown().await;
    gone(leader).await;
    gone(child).await;
}

#[tokio::test]
async fn grandchildren_that_are_left_behind_are_killed() {
    // The leader leaves at once; its child holds the pipes open.
    let script = Script::new("hello; next; sleep 1000 & echo $! > child; exited $id; exit 0");
    let client = script.start().await;
    result(ask(&client, "a").await);
    gone(script.pid("child").await).await;
    client.shutdown().await;
}

#[tokio::test]
async fn dropping_a_client_kills_it() {
    let script = Script::new("hello; sleep 1000 & echo $! > child; wait");
    let client = script.start().await;
    let child = script.pid("child").await;
    drop(client);
    gone(child).await;
}

#[test]
fn dropping_the_runtime_kills_it() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let script = Script::new("hello; sleep 1000 & echo $! > child; wait");
    let (client, child) = runtime.block_on(async {
        let client = script.try_start(limits()).await.unwrap();
        (client, script.pid("child").await)
    });
    drop(runtime);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(gone(child));
    drop(client);
}

#[tokio::test]
async fn a_job_that_is_dropped_leaves_the_program_usable() {
    let script = Script::new("hello; next; next; exited b; next");
    let client = script.start().await;
    let dropped = tokio::time::timeout(Duration::from_millis(100), ask(&client, "a")).await;
    assert!(dropped.is_err());
    result(ask(&client, "b").await);
    client.shutdown().await;
}

#[tokio::test]
async fn a_job_that_is_given_up_takes_its_program_with_it() {
    let script = Script::new(
        "hello; next; if first; then echo trouble >&2; echo $$ > leader; sleep 1000 & wait; else exited $id; next; fi",
    );
    let client = script.start().await;
    let mut asked = Box::pin(ask(&client, "a"));
    let leader = tokio::select! {
        _ = &mut asked => panic!("it has no answer"),
        leader = script.pid("leader") => leader,
    };
    let answer = client.abandon("a");
    assert_eq!(answer.reply, harness::observed::Reply::Silent);
    drop(asked);
    gone(leader).await;
    result(ask(&client, "b").await);
    client.shutdown().await;
}
