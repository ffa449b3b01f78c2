//! Adapters that do not come up.

use super::support::{LONG, Script, gone, limits};
use harness::client::{
    Client,
    adapter::{Limits, StartError},
    manifest::Manifest,
};
use std::time::Duration;

#[tokio::test]
async fn one_that_never_says_hello_is_given_up_and_killed() {
    let script = Script::bare("echo $$ > leader\nsleep 1000 & echo $! > child\nwait\n");
    let limits = Limits {
        hello: Duration::from_millis(300),
        leave: LONG,
    };
    let error = script.try_start(limits).await.unwrap_err();
    assert!(
        matches!(error, StartError::NoHello { rubbish: None, .. }),
        "{error}"
    );
    assert_eq!(error.to_string(), "no hello within 300ms");
    gone(script.pid("leader").await).await;
    gone(script.pid("child").await).await;
}

#[tokio::test]
async fn one_that_prints_rubbish_instead_is_quoted() {
    let script = Script::bare("echo 'Starting up ...'; echo trouble >&2; exec sleep 1000");
    let limits = Limits {
        hello: Duration::from_millis(500),
        leave: LONG,
    };
    let error = script.try_start(limits).await.unwrap_err().to_string();
    assert!(error.contains("Starting up ..."), "{error}");
    assert!(error.contains("its stderr:\ntrouble"), "{error}");
}

#[tokio::test]
async fn one_that_dies_at_start_is_told_with_its_status_and_last_words() {
    let script = Script::bare("echo 'no module named x' >&2; exit 3");
    let error = script.try_start(limits()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the program ended before its hello (exit status 3); its stderr:\nno module named x"
    );
}

#[tokio::test]
async fn one_that_prints_rubbish_and_dies_is_quoted() {
    let script = Script::bare("echo 'usage: adapter FILE'");
    let error = script.try_start(limits()).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "the program ended before its hello (exit status 0); it wrote a line that is no JSON \
         (expected value at line 1 column 1): usage: adapter FILE"
    );
}

#[tokio::test]
async fn one_that_is_not_there_is_told_with_what_may_help() {
    let start = async |more: &str| {
        let text =
            format!("name='x'\nmode='adapter'\ncommand=['.venv/bin/python', 'a.py']\n{more}");
        let folder = std::env::temp_dir();
        let manifest = Manifest::parse("clients/x/client.toml", folder, &text).unwrap();
        Client::start(manifest, limits())
            .await
            .unwrap_err()
            .to_string()
    };
    let plain = start("").await;
    assert!(
        plain.starts_with("can't start \".venv/bin/python\" in "),
        "{plain}"
    );
    assert!(plain.contains("is it installed"), "{plain}");
    let with_setup = start("setup = [['python3', '-m', 'venv', '.venv']]").await;
    assert!(
        with_setup.contains("`setup clients/x/client.toml` does it"),
        "{with_setup}"
    );
}

#[tokio::test]
async fn one_that_speaks_another_protocol_is_told_so() {
    let script = Script::bare(r#"echo '{"type":"hello","protocol":2}'; exec sleep 1000"#);
    let error = script.try_start(limits()).await.unwrap_err().to_string();
    assert!(
        error.starts_with("the adapter speaks protocol 2, this harness speaks 1"),
        "{error}"
    );
}

#[tokio::test]
async fn chatter_before_the_hello_is_noted() {
    let script = Script::new("echo 'Welcome!'; hello; next");
    let client = script.start().await;
    let notes = client.take_notes().await;
    assert!(notes[0].contains("Welcome!"), "{notes:?}");
    client.shutdown().await;
}

#[tokio::test]
async fn one_that_may_not_be_run_is_told_with_what_may_help() {
    let script = Script::bare("#!/bin/sh\n");
    std::fs::copy(script.file("adapter.sh"), script.file("adapter.py")).unwrap();
    let folder = script.folder.path().to_owned();
    for (command, hint) in [
        (
            "./adapter.py",
            "(make it executable, `chmod +x ./adapter.py`, or name what runs it: command = [\"python3\", \"./adapter.py\"])",
        ),
        ("./", "(it is a folder)"),
    ] {
        let text = format!("name='x'\nmode='adapter'\ncommand=['{command}']\n");
        let manifest = Manifest::parse("client.toml", folder.clone(), &text).unwrap();
        let error = Client::start(manifest, limits()).await.unwrap_err();
        assert!(error.to_string().ends_with(hint), "{error}");
    }
}

#[tokio::test]
async fn one_that_dies_within_a_line_is_told_with_that_line() {
    let script = Script::new(r#"hello; next; printf '{"type":"resu'; exit 4"#);
    let client = script.start().await;
    let answer = super::support::ask(&client, "a").await;
    let words = r#"exit status 4, in the middle of a line: '{"type":"resu'"#;
    assert_eq!(
        answer.reply,
        harness::observed::Reply::AdapterDied(words.to_owned())
    );
    client.shutdown().await;
}

#[tokio::test]
async fn a_version_command_that_fails_is_noted() {
    let script = Script::new("hello; while next; do exited $id; done");
    let note = async |command: &str| {
        let more = format!("version-command = [{command}]\n");
        let client = Client::start(script.manifest(&more), limits())
            .await
            .unwrap();
        let notes = client.take_notes().await;
        let version = client.version().map(str::to_owned);
        client.shutdown().await;
        (version, notes.join("; "))
    };
    let (version, notes) = note("'sh', '-c', 'echo; echo 1.2.3'").await;
    assert_eq!((version.as_deref(), notes.as_str()), (Some("1.2.3"), ""));
    let (version, notes) = note("'sh', '-c', 'echo no such option >&2; exit 2'").await;
    assert_eq!(version, None);
    assert_eq!(
        notes,
        "the manifest's `version-command` failed: exit status 2; its stderr: no such option"
    );
    let (_, notes) = note("'sh', '-c', 'true'").await;
    assert_eq!(
        notes,
        "the manifest's `version-command` failed: it printed nothing"
    );
    let (_, notes) = note("'./nowhere'").await;
    assert!(notes.contains("can't start \"./nowhere\""), "{notes}");
}
