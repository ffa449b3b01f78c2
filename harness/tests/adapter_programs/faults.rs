//! Adapters that break the protocol: the case is marked, the run goes on.

use super::support::{Script, ask, ask_for, fault, result, until};
use harness::observed::Reply;
use std::time::Duration;

/// Long enough for a script to be asked, short enough to wait for.
const SHORT: Duration = Duration::from_millis(300);

#[tokio::test]
async fn rubbish_is_an_adapter_fault_and_the_next_job_is_served() {
    let script =
        Script::new("hello; next; echo 'Segmentation fault, haha'; next; exited $id; next");
    let client = script.start().await;
    let words = fault(ask(&client, "a").await);
    assert!(words.contains("Segmentation fault, haha"), "{words}");
    result(ask(&client, "b").await);
    client.shutdown().await;
}

#[tokio::test]
async fn one_that_never_answers_is_silent_and_replaced() {
    let script = Script::new(
        "hello; if first; then echo $$ > leader; exec sleep 1000; fi; next; exited $id; next",
    );
    let client = script.start().await;
    let answer = ask_for(&client, "a", SHORT).await;
    assert_eq!(answer.reply, Reply::Silent);
    super::support::gone(script.pid("leader").await).await;
    result(ask(&client, "b").await);
    client.shutdown().await;
}

#[tokio::test]
async fn a_silent_job_does_not_take_its_neighbours_with_it() {
    // The first program keeps job `a` to itself and answers `b` after a's deadline.
    let script = Script::new(
        "hello
        if first; then
            echo $$ > leader; next; next
            until test -e late; do sleep 0.01; done
            exited b; exited a; exec sleep 1000
        fi
        next; exited $id; next",
    );
    let client = script.start().await;
    let late = script.file("late");
    let silent = async {
        let answer = ask_for(&client, "a", SHORT).await;
        std::fs::write(late, "").unwrap();
        answer
    };
    let (a, b) = tokio::join!(silent, ask(&client, "b"));
    assert_eq!(a.reply, Reply::Silent);
    result(b);
    super::support::gone(script.pid("leader").await).await;
    result(ask(&client, "c").await);
    client.shutdown().await;
}

#[tokio::test]
async fn a_late_result_is_ignored_with_a_note() {
    let script = Script::new(
        "hello; next; next; until test -e late; do sleep 0.01; done; exited a; exited b; next",
    );
    let client = script.start().await;
    let late = script.file("late");
    let silent = async {
        let answer = ask_for(&client, "a", SHORT).await;
        std::fs::write(late, "").unwrap();
        answer
    };
    let (a, b) = tokio::join!(silent, ask(&client, "b"));
    assert_eq!(a.reply, Reply::Silent);
    result(b);
    assert_eq!(
        client.take_late("a").await,
        ["a result after the deadline; ignored"]
    );
    client.shutdown().await;
}

#[tokio::test]
async fn a_second_result_is_a_fault() {
    let script = Script::new(
        r#"hello; next
        two=$(exited $id; exited $id); printf '%s\n' "$two"
        next; exited $id; exited a; next"#,
    );
    let client = script.start().await;
    assert_eq!(fault(ask(&client, "a").await), "a second result");
    result(ask(&client, "b").await);
    client.shutdown().await;
}

#[tokio::test]
async fn a_second_result_much_later_is_noted_on_its_job() {
    let script = Script::new("hello; next; exited $id; next; exited a; exited $id; next");
    let client = script.start().await;
    result(ask(&client, "a").await);
    result(ask(&client, "b").await);
    assert_eq!(client.take_late("a").await, ["a second result"]);
    assert_eq!(client.take_late("b").await, Vec::<String>::new());
    client.shutdown().await;
}

#[tokio::test]
async fn a_result_for_nobody_is_noted() {
    let script = Script::new("hello; next; exited nobody; exited $id; next");
    let client = script.start().await;
    result(ask(&client, "a").await);
    assert_eq!(
        client.take_notes().await,
        ["a result for the unknown job \"nobody\""]
    );
    client.shutdown().await;
}

#[tokio::test]
async fn a_result_without_an_outcome_is_a_fault() {
    let script = Script::new(r#"hello; next; printf '{"type":"result","id":"%s"}\n' $id; next"#);
    let client = script.start().await;
    let words = fault(ask(&client, "a").await);
    assert!(words.starts_with("`result` without `outcome`"), "{words}");
    client.shutdown().await;
}

#[tokio::test]
async fn a_line_of_100_mb_is_refused_without_eating_memory() {
    let script = Script::new(
        r#"hello; next
        printf '{"type":"result","id":"%s","outcome":"exited","stdout_base64":"' $id
        head -c 100000000 /dev/zero | tr '\0' A
        printf '"}\n'
        next; exited $id; next"#,
    );
    let client = script.start().await;
    let before = peak_memory();
    let words = fault(ask(&client, "a").await);
    assert!(words.starts_with("a line of more than 16 MiB"), "{words}");
    result(ask(&client, "b").await);
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        let grown = after.saturating_sub(before) >> 20;
        assert!(grown < 90, "grew by {grown} MiB");
    }
    client.shutdown().await;
}

/// Bytes of memory that this process ever used at once, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

#[tokio::test]
async fn a_crash_ends_the_jobs_it_had_and_the_next_gets_a_new_program() {
    let script = Script::new(
        "hello
        if first; then next; next; echo 'out of cheese' >&2; kill -SEGV $$; fi
        next; exited $id; next",
    );
    let client = script.start().await;
    let (a, b) = tokio::join!(ask(&client, "a"), ask(&client, "b"));
    for answer in [a, b] {
        assert_eq!(
            answer.reply,
            Reply::AdapterDied("killed by SIGSEGV".to_owned())
        );
        assert_eq!(answer.stderr, "out of cheese\n");
    }
    result(ask(&client, "c").await);
    client.shutdown().await;
}

#[tokio::test]
async fn what_was_answered_before_a_crash_counts() {
    let script = Script::new("hello; next; a=$id; next; exited $a; exit 9");
    let client = script.start().await;
    let (a, b) = tokio::join!(ask(&client, "a"), ask(&client, "b"));
    result(a);
    assert_eq!(b.reply, Reply::AdapterDied("exit status 9".to_owned()));
    client.shutdown().await;
}

#[tokio::test]
async fn one_that_closes_its_output_and_stays_is_ended() {
    let script = Script::new("hello; next; exec >&-; exec sleep 1000");
    let client = script.start().await;
    let answer = ask(&client, "a").await;
    assert_eq!(
        answer.reply,
        Reply::AdapterDied(
            "killed by SIGKILL, since it had closed its output and stayed".to_owned()
        )
    );
    client.shutdown().await;
}

#[tokio::test]
async fn one_that_always_dies_is_not_started_for_ever() {
    let script = Script::new("hello; echo x >> starts; next; exit 1");
    let client = script.start().await;
    let mut last = None;
    for number in 0..40 {
        last = Some(ask(&client, &format!("j{number}")).await.reply);
    }
    let Some(Reply::AdapterDied(words)) = last else {
        panic!("{last:?}");
    };
    assert!(
        words.starts_with("not started again: 20 programs in a row"),
        "{words}"
    );
    let starts = until(|| std::fs::read_to_string(script.file("starts")).ok()).await;
    assert_eq!(starts.lines().count(), 20);
    client.shutdown().await;
}
