//! Nobody is told "pass" about something that was not exercised: clients that cheat, give up or look away are judged by
//! the whole suite, and what passes is what they earned.
//!
//! Two families. `client.py` talks just enough to be taken for a client and makes up the rest; what it has earned is a
//! short list. `altered.py` is the right client of `clients/python-follow` with one thing changed, and notes each job in
//! which that thing did something: of those jobs alone is asked what they earned, by lists that stand here with their
//! reasons and by plain facts of the wire log. None of it is computed by the code under test.

#![expect(
    clippy::disallowed_methods,
    reason = "tests write manifests and read what their clients noted"
)]

use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The status of every check of a run, by case and requirement, and how the run ended.
#[derive(Default)]
struct Judged {
    checks: BTreeMap<(String, String), String>,
    /// Facts of each case's wire log, as far as the run told them.
    facts: BTreeMap<String, Facts>,
    code: Option<i32>,
}

/// What the wire log says, without a judgement.
#[derive(Clone, Copy, Default)]
struct Facts {
    /// The client closed a connect's answer before the server had ended it, and before any cancel.
    left_first: bool,
    /// An answer was still open when the trial was over.
    left_open: bool,
    /// A body broke off by a bad or a cut chunk, and the client never closed its connection.
    left_broken: bool,
    connects: usize,
}

/// How much earlier than a cancel a close must be to have had nothing to do with it, in microseconds.
const BEFORE_US: u64 = 10_000;

impl Facts {
    fn of(case: &Value) -> Self {
        let none = Vec::new();
        let exchanges = case["log"]["exchanges"].as_array().unwrap_or(&none);
        let cancelled_us = case["observed"]["cancelled_us"].as_u64();
        let ends = |exchange: &Value| -> Vec<String> {
            let answer = exchange["answer"].as_array().cloned().unwrap_or_default();
            let ends = answer.iter().filter(|sent| sent.get("end").is_some());
            ends.map(|sent| sent["end"]["how"].to_string()).collect()
        };
        let connections = case["log"]["connections"].as_array().unwrap_or(&none);
        let is_closed = |number: &Value| {
            let mut closed = connections
                .iter()
                .filter(|one| !one["client_closed_us"].is_null());
            closed.any(|one| one["number"] == *number)
        };
        let mut facts = Self::default();
        for exchange in exchanges {
            let ends = ends(exchange);
            facts.left_open |= exchange["open"] == Value::Bool(true)
                || ends.iter().any(|how| how.contains("trial-over"));
            let breaks = ["bad-chunk", "truncated-chunk"];
            facts.left_broken |= ends
                .iter()
                .any(|how| breaks.iter().any(|one| how.contains(one)))
                && !is_closed(&exchange["connection"]);
            if exchange["call"] == "connect" {
                facts.connects += 1;
                let closed_us = exchange["client_closed_us"].as_u64();
                facts.left_first |= ends.is_empty()
                    && closed_us.is_some_and(|closed| {
                        cancelled_us.is_none_or(|cancel| closed + BEFORE_US < cancel)
                    });
            }
        }
        facts
    }
}

impl Judged {
    fn with_status(&self, status: &str) -> BTreeSet<&str> {
        let of_it = self.checks.iter().filter(|(_, is)| *is == status);
        of_it
            .map(|((_, requirement), _)| requirement.as_str())
            .collect()
    }

    /// Passes of some cases, as (case, requirement).
    fn passes_in<'a>(
        &'a self,
        is_one: impl Fn(&str) -> bool + 'a,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let passed = self.checks.iter().filter(|(_, status)| *status == "pass");
        passed
            .map(|((case, requirement), _)| (case.as_str(), requirement.as_str()))
            .filter(move |(case, _)| is_one(case))
    }
}

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Runs the suite, or what `patterns` choose of it, with a client of this command.
fn run(name: &str, command: &[&str], patterns: &[&str]) -> Output {
    let place = tempfile::tempdir().expect("a folder");
    let manifest = place.path().join("client.toml");
    let text = format!("name = \"{name}\"\nmode = \"adapter\"\ncommand = {command:?}\n");
    std::fs::write(&manifest, text).expect("written");
    Command::new(env!("CARGO_BIN_EXE_createos-conformance"))
        .args(["run", "--json", "--verbose", "--client"])
        .arg(&manifest)
        .args(patterns)
        .output()
        .expect("the program runs")
}

fn read(output: &Output) -> Judged {
    let mut judged = Judged {
        code: output.status.code(),
        ..Judged::default()
    };
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let (Some(id), Some(list)) = (event["id"].as_str(), event["checks"].as_array()) else {
            continue;
        };
        judged.facts.insert(id.to_owned(), Facts::of(&event));
        for check in list {
            let text = |key: &str| check[key].as_str().expect("text").to_owned();
            let key = (id.to_owned(), text("requirement"));
            judged.checks.insert(key, text("status"));
        }
    }
    judged
}

fn judged(how: &str) -> Judged {
    let program = folder("tests/doctored/client.py");
    let output = run(how, &["python3", &program.to_string_lossy(), how], &[]);
    let judged = read(&output);
    assert!(
        judged.checks.len() > 900,
        "only {} checks: {}",
        judged.checks.len(),
        String::from_utf8_lossy(&output.stderr)
    );
    judged
}

/// The right client with one thing changed, and the cases in which it made a difference.
fn altered(how: &str, patterns: &[&str]) -> (Judged, BTreeSet<String>) {
    let place = tempfile::tempdir().expect("a folder");
    let deeds = place.path().join("deeds");
    let [program, right] = ["tests/doctored/altered.py", "../clients/python-follow"].map(folder);
    let paths = [&program, &right, &deeds].map(|path| path.to_string_lossy().into_owned());
    let command = ["python3", &paths[0], how, &paths[1], &paths[2]];
    let output = run(how, &command, patterns);
    let judged = read(&output);
    let noted = std::fs::read_to_string(&deeds).unwrap_or_default();
    let did: BTreeSet<String> = noted
        .lines()
        .filter_map(|job| job.rsplit_once('#'))
        .map(|(case, _)| case.to_owned())
        .collect();
    assert!(
        did.len() >= 20,
        "it made a difference in {} cases only: {}",
        did.len(),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        !matches!(judged.code, Some(0) | None),
        "the run ended with {:?}",
        judged.code
    );
    (judged, did)
}

/// Passes, one a line, for a message.
fn listed<'a>(passes: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    for (case, requirement) in passes {
        let _ = writeln!(text, "{requirement}  {case}");
    }
    text
}

fn passes(judged: &Judged) -> String {
    listed(judged.passes_in(|_| true))
}

fn scenario(case: &str) -> &str {
    case.split('[').next().unwrap_or(case)
}

#[test]
fn a_client_that_never_connects_passes_nothing() {
    let judged = judged("never-connects");
    assert_eq!(passes(&judged), "");
    assert_eq!(judged.code, Some(1));
}

#[test]
fn a_client_that_always_fails_passes_nothing() {
    let judged = judged("always-an-error");
    assert_eq!(passes(&judged), "");
    assert_eq!(judged.code, Some(1));
}

#[test]
fn a_client_that_always_says_its_time_is_over_passes_nothing() {
    let judged = judged("always-timed-out");
    assert_eq!(passes(&judged), "");
    assert_eq!(judged.code, Some(1));
}

#[test]
fn a_client_that_answers_from_the_job_alone_is_not_even_judged() {
    let program = folder("tests/doctored/client.py");
    let how = "talks-to-nobody";
    let output = run(how, &["python3", &program.to_string_lossy(), how], &[]);
    assert_eq!(output.status.code(), Some(5));
    assert!(read(&output).checks.is_empty());
}

#[test]
fn a_client_that_behaves_for_the_probe_only_passes_nothing() {
    let judged = judged("only-in-smoke");
    assert_eq!(passes(&judged), "");
    assert_eq!(judged.code, Some(1));
}

#[test]
fn a_client_that_looks_once_and_guesses_has_earned_its_first_cursor_only() {
    let judged = judged("peeks");
    let earned = judged.with_status("pass");
    // The last two by `raw/empty-stream` alone: that nothing came and the body ended is the truth there.
    let may = BTreeSet::from([
        "stream/first-cursor",
        "stream/authenticated",
        "raw/after-param",
        "raw/no-hidden-retry",
        "raw/truncation-visible",
    ]);
    assert!(earned.is_subset(&may), "{}", passes(&judged));
    assert_eq!(judged.code, Some(1));
}

#[test]
fn a_client_that_dies_passes_nothing_of_the_job_it_died_in() {
    // A sample: each death costs a new program.
    let (judged, died) = altered("dies", &["create/*", "stream/*", "sequence/*"]);
    assert_eq!(listed(judged.passes_in(|case| died.contains(case))), "");
}

#[test]
fn a_client_that_leaves_before_the_end_passes_nothing_of_what_it_left() {
    let (judged, left) = altered("leaves", &[]);
    // Where the server ended the stream before the close arrived, nobody can tell that the client had not read on.
    let is_one = |case: &str| left.contains(case) && judged.facts[case].left_first;
    // It waits before it connects again, whatever made it do so, and asks for what it does not have.
    let earned = [
        "stream/retry-delay",
        "stream/first-cursor",
        "stream/authenticated",
    ];
    let earned = |id: &str| earned.contains(&id) || id == "create/once" || id == "raw/after-param";
    let unearned = judged.passes_in(is_one).filter(|(_, id)| !earned(id));
    assert_eq!(listed(unearned), "");
    assert!(left.iter().filter(|case| is_one(case)).count() >= 20);
}

#[test]
fn a_client_that_waits_for_no_answer_passes_nothing_about_answers() {
    let (judged, gone) = altered("impatient", &[]);
    let is_one = |case: &str| gone.contains(case);
    // It has read not one byte of a stream.
    let of_streams = ["frames/", "sequence/", "data/", "exit/", "journal/"];
    let of_events = [
        "raw/faithful",
        "raw/segmentation",
        "raw/base64-visible",
        "raw/invalid-visible",
        "raw/unknown-visible",
        "raw/exit-visible",
        "raw/error-frame-visible",
        "raw/combined",
        "raw/long-stream",
        "stream/exit-ends-it",
        "stream/status-decides",
        "stream/content-type",
        "stream/framing",
        "stream/progress-renews",
        "stream/silence",
    ];
    let unread = judged.passes_in(is_one).filter(|(_, id)| {
        of_streams.iter().any(|area| id.starts_with(area)) || of_events.contains(id)
    });
    assert_eq!(listed(unread), "");
    // Where it is seen to be gone first, its requests alone count.
    let requests = [
        "stream/first-cursor",
        "stream/authenticated",
        "stream/retry-delay",
        "raw/after-param",
        "create/once",
    ];
    let seen = judged
        .passes_in(|case| gone.contains(case) && judged.facts[case].left_first)
        .filter(|(_, id)| !requests.contains(id));
    assert_eq!(listed(seen), "");
}

#[test]
fn a_library_that_retries_on_its_own_earns_no_delay_no_budget_and_no_raw_stream() {
    let (judged, swallowed) = altered("swallows", &[]);
    let is_one = |case: &str| swallowed.contains(case);
    // The program as a whole does connect again, and what it hands over is judged as anybody's. It does so at once,
    // heeds no Retry-After, and opens streams again that are its caller's to open.
    let never = [
        "stream/retry-delay",
        "stream/retry-after",
        "stream/progress-renews",
    ];
    let unearned = judged.passes_in(is_one).filter(|(case, id)| {
        let overdrawn = *id == "stream/retry-budget" && judged.facts[*case].connects > 4;
        never.contains(id)
            || overdrawn
            || (id.starts_with("raw/") && !["raw/after-param", "raw/status-visible"].contains(id))
    });
    assert_eq!(listed(unearned), "");
}

#[test]
fn an_adapter_that_asks_again_for_its_client_passes_only_where_a_client_may_try_again() {
    // A sample: every failure is tried three times.
    let areas = [
        "create/*",
        "raw/*",
        "secrets/*",
        "sequence/*",
        "stream/*",
        "journal/*",
    ];
    let (judged, again) = altered("asks-again", &areas);
    // Answers that the contract lets a client take for a failed connect, so that a repeated op looks like a retry.
    let may_retry = [
        "raw/refused-by-status",
        "raw/redirected-to-another-origin",
        "secrets/redirected-to-another-origin",
        "stream/redirected-within-the-origin",
        "stream/success-without-a-stream",
        "stream/gzip-truncated",
        "stream/gzip-unasked",
    ];
    // True of any two requests: where the first one begins, and that the second one waits.
    let of_requests = [
        "stream/first-cursor",
        "stream/authenticated",
        "stream/retry-delay",
        "raw/after-param",
    ];
    let unearned = judged
        .passes_in(|case| again.contains(case) && !may_retry.contains(&scenario(case)))
        .filter(|(_, id)| !of_requests.contains(id));
    assert_eq!(listed(unearned), "");
}

#[test]
fn a_client_that_closes_nothing_earns_no_close() {
    // A sample: what is left open is waited for.
    let areas = ["stream/*", "time/*", "raw/*", "secrets/*"];
    let (judged, lingers) = altered("lingers", &areas);
    // What the server ended whole needs no close, and a cancel wakes this client by a shutdown, which is one.
    let is_one = |case: &str| lingers.contains(case) && judged.facts[case].left_open;
    let is_broken = |case: &str| lingers.contains(case) && judged.facts[case].left_broken;
    let closes = [
        "stream/closed-after",
        "raw/closed-on-drop",
        "secrets/responses-unread",
    ];
    let unearned = judged
        .passes_in(|case| is_one(case) || is_broken(case))
        .filter(|(_, id)| closes.contains(id));
    assert_eq!(listed(unearned), "");
    assert!(lingers.iter().filter(|case| is_broken(case)).count() >= 3);
    let open = lingers
        .iter()
        .filter(|case| is_one(case) || is_broken(case));
    for case in open {
        let failed = closes.iter().any(|id| {
            let key = (case.clone(), (*id).to_owned());
            judged
                .checks
                .get(&key)
                .is_some_and(|status| status == "fail")
        });
        let unknown = judged
            .checks
            .iter()
            .any(|((of, _), status)| of == case && status != "pass");
        assert!(failed || unknown, "{case} is left open, and all is well");
    }
}
