//! Eleven known bugs, each met in a plan of forty steps: what is left after shrinking is a file that a person would have
//! written.

use fake_server::script::{
    model::{Content, Plan},
    parse,
    print::{Header, print},
};
use harness::{
    client::{
        Client,
        adapter::Limits,
        manifest::Manifest,
        reference::{Bug, Reference},
    },
    generate::{
        Failure, settle,
        shrink::{Measure, shrink},
        words,
    },
    run::{play, play_in_memory},
};
use std::{
    future::{pending, ready},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Output of every kind, and three connects full of noise before the last one.
const NOISE: &str = r#"
title = "A long case"
requirements = ["stream/authenticated"]
op = "OP"

[process]
heartbeat = "2s"
output = [
  { stdout = "one\n" },
  { stderr = "two\n" },
  { repeat = 8, stdout = "line {n}\n" },
  { stdout-base64 = "/wDigg==" },
  { stderr = "é€𝄞\n" },
  { fill = 500, byte = "=" },
  { repeat = 6, stderr = "warning {n}\n" },
  { stdout = "" },
  { stdout = "last\n" },
]
exit = EXIT

[[fault]]
on = "connect"
attempt = 1
segments = [7, 1, 30]
headers = { x-served-by = ["cache-7"] }
stream = [
  { heartbeat = 3 },
  { send = "..1" },
  { pause = "20ms" },
  { send = 2 },
  { heartbeat = 1 },
  { send = "..4" },
  { line = "" },
  { send = 5, with = { note = "naïve" } },
  { heartbeat = 2 },
  { send = "..7" },
  { loop = 3, steps = [{ heartbeat = 1 }, { pause = "5ms" }] },
  { until = "acked" },
  { send = 8 },
  { heartbeat = 5 },
  { end = "chunk" },
]

[[fault]]
on = "connect"
attempt = 2
delay = "30ms"
status = 503
headers = { retry-after = ["0"] }
body = { text = "<html>unavailable</html>" }

[[fault]]
on = "connect"
attempt = 3
chunks = [1000, 1]
stream = [
  { heartbeat = 2 },
  { send = "5..9" },
  { pause = "10ms" },
  { send = "..10" },
  { heartbeat = 1 },
  { send = "9..10" },
  { send = "..12" },
  { line = '  {"type":"heartbeat","uptime":7}  ' },
  { send = 13 },
  { heartbeat = 4 },
  { pause = "1ms" },
  { send = "..14" },
  { heartbeat = 1 },
  { end = "chunk" },
]

[[fault]]
on = "connect"
attempt = 4
segments = "all"
stream = [
  { heartbeat = 1 },
  { send = "..15" },
  { pause = "5ms" },
  { heartbeat = 2 },
  LAST
]
"#;

/// How the last connect goes on where nothing in particular happens.
const GOOD: &str = r#"{ send = "rest" }, { end = "chunk" }"#;

fn large(op: &str, exit: &str, last: &str) -> Plan {
    filled(NOISE, op, exit, last)
}

fn filled(noise: &str, op: &str, exit: &str, last: &str) -> Plan {
    let text = noise
        .replace("OP", op)
        .replace("EXIT", exit)
        .replace("LAST", last);
    let read = parse("large.toml", "large", &text, None);
    let mut plan = read
        .unwrap_or_else(|mistakes| panic!("{mistakes}"))
        .plan(0, 0);
    settle(&mut plan);
    plan
}

/// Shrinks the plan against the client with the bug, and holds what is left to what a person would have written.
fn comes_down(bug: Bug, plan: &Plan) {
    let client = Client::Reference(Reference::wrong(bug));
    let failure = Failure::of(&play_in_memory(&Arc::new(plan.clone()), &client), false);
    let failure = failure.unwrap_or_else(|| panic!("{bug} passes the long case"));
    assert!(Measure::of(plan).steps >= 40, "{:?}", Measure::of(plan));
    let promises = client.promises();
    let fails = |plan: Arc<Plan>| ready(failure.is_in(&play_in_memory(&plan, &client)));
    let shrunk = at_once(shrink(failure.about(plan), promises, 1, fails, pending()));
    assert!(shrunk.is_smallest);
    let case = play_in_memory(&Arc::new(shrunk.plan.clone()), &client);
    let broken: Vec<String> = failure.in_case(&case).cloned().collect();
    assert!(!broken.is_empty(), "{bug}: the shrunk case passes");

    let comment = "Found with seed 7, case 12.".to_owned();
    let text = print(&shrunk.plan, &words::header(&case, &broken, vec![comment]));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots/shrink"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(bug.name(), text));

    let read = parse("found.toml", "found", &text, None);
    let again = read
        .unwrap_or_else(|mistakes| panic!("{mistakes}"))
        .plan(0, 0);
    let case = play_in_memory(&Arc::new(again.clone()), &client);
    let same = Failure::of(&case, false).expect("it fails again");
    assert!(
        same.requirements().iter().any(|id| broken.contains(id)),
        "{bug}: {same:?}"
    );
    let good = play_in_memory(
        &Arc::new(again.clone()),
        &Client::Reference(Reference::conformant()),
    );
    assert_eq!(
        good.status(true),
        harness::judge::CheckStatus::Pass,
        "{bug}: {text}"
    );

    assert!(
        again.faults.len() <= 3,
        "{bug}: more than 3 attempts\n{text}"
    );
    assert!(
        again.truth.frames.len() <= 4,
        "{bug}: more than 4 frames\n{text}"
    );
    let steps = again
        .faults
        .iter()
        .map(|fault| match &fault.behaviour.content {
            Content::Stream(steps) => steps.len(),
            _ => 1,
        });
    assert!(steps.sum::<usize>() <= 8, "{bug}: too many steps\n{text}");
}

/// Nothing in memory waits for anybody.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    // The trials have runtimes of their own, which cannot be inside another.
    let mut future = std::pin::pin!(future);
    let _ = runtime;
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("it waits for something"),
    }
}

#[test]
fn end_is_success() {
    comes_down(Bug::EndIsSuccess, &large("follow", "{ code = 0 }", GOOD));
}

#[test]
fn no_duplicate_check() {
    comes_down(
        Bug::NoDuplicateCheck,
        &large("follow", "{ code = 0 }", GOOD),
    );
}

#[test]
fn duplicates_forgotten_on_reconnect() {
    comes_down(
        Bug::DuplicatesForgottenOnReconnect,
        &large("execute", "{ code = 0 }", GOOD),
    );
}

#[test]
fn reconnect_at_first_cursor() {
    comes_down(
        Bug::ReconnectAtFirstCursor,
        &large("execute", "{ code = 0 }", GOOD),
    );
}

#[test]
fn no_gap_check() {
    let last = r#"{ send = "18..20" }, { send = "rest" }, { end = "chunk" }"#;
    comes_down(Bug::NoGapCheck, &large("execute", "{ code = 0 }", last));
}

#[test]
fn lenient_base64() {
    let last = r#"{ send = 16, with = { data_base64 = "d2FybmluZyAz-g==" } }, { send = "rest" }, { end = "chunk" }"#;
    comes_down(Bug::LenientBase64, &large("follow", "{ code = 0 }", last));
}

#[test]
fn bytes_as_text() {
    let without_duplicates = NOISE
        .replace("\"5..9\"", "\"..9\"")
        .replace("\"9..10\"", "\"..10\"");
    let plan = filled(&without_duplicates, "follow", "{ code = 0 }", GOOD);
    comes_down(Bug::BytesAsText, &plan);
}

#[test]
fn signal_is_zero() {
    comes_down(
        Bug::SignalIsZero,
        &large("execute", r#"{ code = 137, signal = "SIGKILL" }"#, GOOD),
    );
}

#[test]
fn one_connect_too_many() {
    let last = r#"{ send = "..18" }, { end = "reset" }"#;
    comes_down(
        Bug::OneConnectTooMany,
        &large("follow", "{ code = 0 }", last),
    );
}

#[test]
fn no_cleanup_after_gap() {
    let last = r#"{ send = 18 }, { send = "rest" }, { end = "chunk" }"#;
    comes_down(Bug::NoCleanupAfterGap, &large("execute", "\"never\"", last));
}

#[test]
fn malformed_line_skipped() {
    let last = r#"{ line = '{"type":"data","seq":16,' }, { send = "rest" }, { end = "chunk" }"#;
    comes_down(
        Bug::MalformedLineSkipped,
        &large("execute", "{ code = 7 }", last),
    );
}

/// A spawned client waits 250 ms before each reconnect, in real time: 21 s on two cores that had six times as much to
/// do. Run with `cargo test -p createos-conformance --test shrink -- --ignored --nocapture`.
#[test]
#[ignore = "takes up to a minute of real time, and what it prints is for people"]
#[expect(
    clippy::disallowed_methods,
    reason = "a client program is written, and how long it takes is the question"
)]
fn a_spawned_client_with_real_back_offs_comes_down() {
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients/python-follow");
    let folder = tempfile::tempdir().unwrap();
    let program = std::fs::read_to_string(clients.join("adapter.py")).unwrap();
    let right = "        if seq <= cursor:\n";
    assert_eq!(
        program.matches(right).count(),
        1,
        "the check for duplicates"
    );
    // Only the number that was just taken is known again.
    let wrong = program.replace(right, "        if seq < cursor:\n");
    std::fs::write(folder.path().join("adapter.py"), wrong).unwrap();
    std::fs::copy(
        clients.join("client.toml"),
        folder.path().join("client.toml"),
    )
    .unwrap();
    let plan = large("execute", "{ code = 0 }", GOOD);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let manifest = Manifest::read(&folder.path().join("client.toml")).unwrap();
        let client = Arc::new(Client::start(manifest, Limits::default()).await.unwrap());
        let number = AtomicUsize::new(0);
        let played = |plan: Arc<Plan>| {
            let number = number.fetch_add(1, Ordering::Relaxed);
            let client = Arc::clone(&client);
            async move { play(number, plan, &client, 1.0).await }
        };
        let failure = Failure::of(&played(Arc::new(plan.clone())).await, false).expect("it fails");
        let fails = |plan: Arc<Plan>| {
            let (played, failure) = (played(plan), failure.clone());
            async move { failure.is_in(&played.await) }
        };
        let began = std::time::Instant::now();
        let shrunk = shrink(
            failure.about(&plan),
            client.promises(),
            64,
            fails,
            pending(),
        )
        .await;
        println!(
            "{:?}: {} steps, {} tried",
            began.elapsed(),
            shrunk.steps,
            shrunk.tried
        );
        println!("{}", print(&shrunk.plan, &Header::of(&shrunk.plan)));
        assert!(shrunk.is_smallest);
        assert!(shrunk.plan.faults.len() <= 3 && shrunk.plan.truth.frames.len() <= 4);
    });
}
