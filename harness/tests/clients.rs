//! The clients that come with the repository, as far as they need nothing to be installed, and the smoke probe.

#![expect(
    clippy::disallowed_methods,
    reason = "tests write scripts and read what these leave behind"
)]

use fake_server::wire::Op;
use harness::client::{
    Client,
    adapter::Limits,
    manifest::{Manifest, Mode},
    smoke::{JOB_TIME, smoke},
};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../clients")
        .join(name)
}

fn manifest(name: &str) -> Manifest {
    Manifest::read(&folder(name)).unwrap_or_else(|error| panic!("{error}"))
}

/// Whether a program is there. Only a client that is asked for needs its language.
fn has(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        eprintln!("{program} is not installed: not tried");
    }
    there
}

async fn passes_smoke(name: &str) {
    let client = Client::start(manifest(name), Limits::default())
        .await
        .unwrap();
    let found = smoke(&client, JOB_TIME).await.unwrap();
    client.shutdown().await;
    assert!(found.is_usable(), "{found}");
}

#[test]
fn every_manifest_reads() {
    let clients = folder("");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(clients).unwrap() {
        let path = entry.unwrap().path();
        if path.join("client.toml").is_file() {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let manifest = manifest(&name);
            assert!(path.join("README.md").is_file(), "{name} says what it is");
            assert!(!manifest.name.is_empty());
            names.push(name);
        }
    }
    names.sort();
    assert_eq!(
        names,
        ["curl", "python-follow", "python-sdk", "rust-sdk", "ts-sdk"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn python_follow_passes_smoke() {
    if has("python3") {
        passes_smoke("python-follow").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_passes_smoke() {
    assert_eq!(manifest("curl").mode, Mode::Command);
    if has("curl") {
        passes_smoke("curl").await;
    }
}

#[test]
fn python_follow_passes_its_own_tests() {
    if has("python3") {
        let tests = Command::new("python3")
            .args(["-m", "unittest"])
            .current_dir(folder("python-follow"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&tests.stderr);
        assert!(tests.status.success(), "{said}");
    }
}

/// A shell adapter that claims `execute`, and answers each job with what the test wants. It never asks the server.
async fn smoke_of(answers: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        r#"
        printf '{{"type":"hello","protocol":1,"capabilities":["execute"]}}\n'
        read -r greeting
        while read -r line; do
            id=${{line#*'"id":"'}}; id=${{id%%'"'*}}
            {answers}
        done
        "#
    );
    std::fs::write(folder.path().join("adapter.sh"), script).unwrap();
    let text = "name='x'\nmode='adapter'\ncommand=['sh', 'adapter.sh']\n";
    let manifest = Manifest::parse("client.toml", folder.path().to_owned(), text).unwrap();
    let client = Client::start(manifest, Limits::default()).await.unwrap();
    assert!(client.promises().ops.contains(&Op::Execute));
    let found = smoke(&client, JOB_TIME).await.unwrap();
    assert!(!found.is_usable());
    client.shutdown().await;
    found.to_string()
}

#[tokio::test]
async fn an_adapter_that_asks_nothing_of_the_server_fails_smoke() {
    let found = smoke_of(
        r#"printf '{"type":"result","id":"%s","outcome":"exited","exit_code":0}\n' "$id""#,
    )
    .await;
    assert_eq!(
        found,
        "FAIL  op `execute`: no request with the API key reached the server\n\
         FAIL  an op that does not exist: its outcome is `exited`, not an error `unsupported`\n"
    );
}

#[tokio::test]
async fn an_adapter_that_calls_its_own_op_unsupported_fails_smoke() {
    let found = smoke_of(
        r#"printf '{"type":"result","id":"%s","outcome":"error","error":{"kind":"unsupported"}}\n' "$id""#,
    )
    .await;
    assert!(
        found.starts_with(
            "FAIL  op `execute`: it claims this op, and calls it unsupported\nok    an op"
        ),
        "{found}"
    );
}

#[tokio::test]
async fn an_adapter_that_prints_rubbish_fails_smoke() {
    let found = smoke_of("echo 'here you are'; echo 'really' >&2").await;
    assert!(
        found.contains("it broke the protocol: a line that is no JSON"),
        "{found}"
    );
    assert!(found.contains("stderr: really"), "{found}");
}

#[tokio::test]
async fn the_client_that_is_built_in_passes_smoke() {
    let client = Client::Reference(harness::client::reference::Reference::conformant());
    let found = smoke(&client, JOB_TIME).await.unwrap();
    assert!(found.is_usable(), "{found}");
}
