//! Every command of the README is run, as it stands there, and ends as the README says.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads the files it is about"
)]

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// What a command of the README must end with. A command that is not here fails the test.
const ENDS: &[(&str, i32, &str)] = &[
    ("cargo run", 0, " passed"),
    (
        "cargo run -- run --wrong end-is-success \"stream/*\"",
        1,
        "stream/drop-is-not-the-end",
    ),
    (
        "cargo run -- smoke --client clients/python-follow/client.toml",
        0,
        "",
    ),
    (
        "cargo run -- run --client clients/python-follow/client.toml",
        0,
        " passed",
    ),
    ("cargo run -- run --client clients/curl/client.toml", 0, ""),
    (
        "cargo run -- run --in-memory --save target/trials",
        0,
        " passed",
    ),
    (
        "cargo run -- run --in-memory --events target/run.jsonl --html target/run.html",
        0,
        " passed",
    ),
    (
        "cargo run -- report target/run.jsonl --junit target/run.xml --markdown target/run.md",
        0,
        "",
    ),
    (
        "cargo run -- certify --client clients/python-follow/client.toml --out target/certificate",
        0,
        " is conformant",
    ),
    ("cargo run -- verify target/certificate", 0, "verified: "),
    (
        "cargo run -- run --in-memory --shard 1/2 --events target/1.jsonl",
        0,
        " passed",
    ),
    (
        "cargo run -- run --in-memory --shard 2/2 --events target/2.jsonl",
        0,
        " passed",
    ),
    (
        "cargo run -- merge target/1.jsonl target/2.jsonl -o target/run.jsonl",
        0,
        "conforms",
    ),
    (
        "cargo run -- judge target/trials",
        0,
        "every verdict is the one that was saved",
    ),
    (
        "cargo run -- run --client clients/python-follow/client.toml --verify-stability 2 \"stream/*\"",
        0,
        "2 repeats each",
    ),
    ("cargo run -- run docs/outage.toml", 0, " passed"),
    ("cargo run -- fuzz --seed 17 --cases 300", 0, "300 cases: "),
    ("cargo run -- list", 0, "stream/healthy-follow"),
    (
        "cargo run -- sweep stream/healthy-follow --client clients/python-follow/client.toml --at edges",
        0,
        " 0 failed",
    ),
    (
        "cargo run -- show stream/retry-budget",
        0,
        "Without progress",
    ),
    ("cargo run -- list --requirements", 0, "stream/first-cursor"),
    ("cargo run -- coverage", 0, "no holes"),
    ("cargo run -- check", 0, ""),
    ("cargo run -- audit", 0, "score 100 %"),
    ("cargo run -- --help", 0, "Usage"),
];

/// Those that install from a package registry.
const REGISTRY_ENDS: &[(&str, i32, &str)] = &[
    ("cargo run -- setup clients/python-sdk/client.toml", 0, ""),
    (
        "cargo run -- run --client clients/python-sdk/client.toml",
        0,
        "known",
    ),
    ("cargo run -- setup clients/ts-sdk/client.toml", 0, ""),
    (
        "cargo run -- run --client clients/ts-sdk/client.toml",
        0,
        "known",
    ),
    ("cargo run -- setup clients/rust-sdk/client.toml", 0, ""),
    (
        "cargo run -- run --client clients/rust-sdk/client.toml",
        0,
        "known",
    ),
];

/// Played by hand: it runs until it is interrupted.
const BY_HAND: &str = "cargo run -p fake-server -- docs/outage.toml";
/// This test is part of it.
const TESTS: &str = "cargo test --workspace";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
        .to_owned()
}

/// The commands of the README's blocks with this info string, in order.
fn commands(info: &str) -> Vec<String> {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let mut inside = false;
    let mut commands = Vec::new();
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = !inside && line == format!("```{info}");
        } else if inside && !line.is_empty() {
            commands.push(line.to_owned());
        }
    }
    commands
}

/// Runs a `cargo run ..` command with the binary that this test was built with, through a shell, so that quotes mean
/// what they mean to a reader.
fn run(command: &str) -> Output {
    let words = command
        .strip_prefix("cargo run")
        .expect("a cargo run command")
        .trim_start();
    let words = words
        .strip_prefix("--")
        .filter(|rest| rest.starts_with(' '))
        .unwrap_or(words);
    Command::new("sh")
        .arg("-c")
        .arg(format!("exec \"$BINARY\" {words}"))
        .env("BINARY", env!("CARGO_BIN_EXE_createos-conformance"))
        .current_dir(root())
        .stdin(Stdio::null())
        .output()
        .expect("sh")
}

fn hold(ends: &[(&str, i32, &str)], commands: &[String]) {
    for command in commands {
        let Some((_, code, says)) = ends.iter().find(|(text, ..)| text == command) else {
            panic!("the README has a command that no test knows: {command}");
        };
        let output = run(command);
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(*code), "{command}\n{text}");
        assert!(text.contains(says), "{command} should say {says:?}\n{text}");
    }
}

#[test]
fn every_command_of_the_readme_ends_as_it_says() {
    let commands: Vec<String> = commands("sh")
        .into_iter()
        .filter(|line| line != TESTS && line != BY_HAND)
        .collect();
    assert_eq!(
        commands.len(),
        ENDS.len(),
        "commands of the README that are gone stay in this test: {commands:?}"
    );
    hold(ENDS, &commands);
}

#[test]
#[ignore = "installs from a package registry; .ci/run runs it"]
fn every_registry_command_of_the_readme_ends_as_it_says() {
    let commands = commands("sh registry");
    assert_eq!(commands.len(), REGISTRY_ENDS.len(), "{commands:?}");
    hold(REGISTRY_ENDS, &commands);
}

#[test]
fn the_server_by_hand_prints_where_it_is_and_ends_on_interrupt() {
    assert!(commands("sh").iter().any(|line| line == BY_HAND));
    let binary =
        Path::new(env!("CARGO_BIN_EXE_createos-conformance")).with_file_name("fake-createos");
    // Where this package is tested alone, what lies there may be from another day. Cargo knows; where it is fresh,
    // this does nothing.
    let folder = binary.parent().expect("a folder of binaries");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "-q", "-p", "fake-server", "--bin", "fake-createos"]);
    if folder.ends_with("release") {
        build.arg("--release");
    }
    let built = build
        .env(
            "CARGO_TARGET_DIR",
            folder.parent().expect("a target folder"),
        )
        .current_dir(root())
        .status();
    assert!(built.expect("cargo").success());
    let mut child = Command::new(binary)
        .arg("docs/outage.toml")
        .current_dir(root())
        .stdout(Stdio::piped())
        .spawn()
        .expect("fake-createos");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
    let url = lines
        .by_ref()
        .map(|line| line.expect("a line"))
        .find(|line| line.trim_start().starts_with("url"))
        .expect("a line with the URL");
    assert!(url.contains("http://127.0.0.1:"), "{url}");
    let interrupted = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill");
    assert!(interrupted.success());
    let rest: Vec<String> = lines.map(|line| line.expect("a line")).collect();
    assert!(child.wait().expect("an end").success(), "{rest:?}");
    assert!(
        rest.iter().any(|line| line.contains("fault 1 never fired")),
        "{rest:?}"
    );
}

#[test]
fn the_outage_of_the_readme_is_the_file_beside_it() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let outage =
        std::fs::read_to_string(root().join("docs/outage.toml")).expect("docs/outage.toml");
    assert!(
        readme.contains(&format!("```toml\n{outage}```")),
        "README.md and docs/outage.toml differ"
    );
}
