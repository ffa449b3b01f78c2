//! Certificates: what is certified, and every way of tampering with one.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads and writes the files it is about"
)]

mod support;

use fake_server::script::model::Plan;
use harness::{
    certificate::{
        Certificate, Conformance, Facts, Files, Ruling, badge, check, digest, reports, schema,
        whole,
    },
    client::reference::{Bug, Reference},
    contract::Level,
    exit::Exit,
    judge::CheckStatus,
    report::{
        json::{case_line, record_lines, run_line, summary_line},
        record::{Record, read},
    },
    saved::{self, Keeper, file_name},
    standing::{KnownFailures, Standing},
    suite::{Suite, embedded},
    summary::Summary,
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

fn ran(words: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_createos-conformance"))
        .args(words)
        .stdin(Stdio::null())
        .output()
        .expect("started");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code().expect("a code"), text.into_owned())
}

fn name(path: &Path) -> &str {
    path.to_str().expect("a name")
}

fn settings() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/report");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

/// A run of a client over a few scenarios, in memory.
fn record(reference: Reference) -> Record {
    let mut chosen = support::plans();
    chosen.retain(|plan| plan.id.starts_with("exit/") || plan.id.starts_with("stream/drop"));
    let (judged, summary, info) = support::judged(&chosen, reference, true);
    let mut lines = vec![run_line(&info)];
    for (index, one) in judged.iter().enumerate() {
        lines.push(case_line(one, Some(index), &info, false));
    }
    lines.push(summary_line(&summary));
    let mut record = read(&lines.join("\n")).expect("events").remove(0);
    record.run.digest = "0".repeat(64);
    record.run.strict = false;
    record
}

/// The certificate of a record whose cases were changed.
fn certified(mut record: Record) -> Certificate {
    let cases = record.cases.iter();
    let judged = cases.map(|case| (&case.standing, &case.checks[..]));
    let summary = Summary::of(judged, false, record.run.cases, None, 0);
    record.summary = Some((&summary).into());
    Certificate::new(&record, &[], Facts::default())
}

fn told(certificate: &Certificate) -> String {
    format!("{}exit {}\n\n", certificate.summary(), certificate.exit())
}

#[test]
fn what_is_certified_and_what_is_not() {
    let right = || record(Reference::conformant());
    let mut all = String::new();

    let certificate = certified(right());
    assert_eq!(certificate.verdict, Conformance::Conformant);
    assert_eq!(certificate.exit(), Exit::AsExpected);
    all += &told(&certificate);

    // A broken must, and the same as the manifest admits it: never certified.
    let wrong = || record(Reference::wrong(Bug::EndIsSuccess));
    let certificate = certified(wrong());
    assert_eq!(certificate.verdict, Conformance::NotConformant);
    assert_eq!(certificate.exit(), Exit::Failed);
    all += &told(&certificate);
    let mut listed = wrong();
    for case in &mut listed.cases {
        if case.standing == Standing::Failed {
            case.standing = Standing::KnownFailure {
                reasons: vec!["see 17".to_owned()],
            };
        }
    }
    let certificate = certified(listed);
    assert_eq!(certificate.verdict, Conformance::NotConformant);
    assert_eq!(certificate.exit(), Exit::Failed);
    let broken = |one: &&harness::certificate::Ruled| one.verdict == Ruling::Admitted;
    assert!(certificate.requirements.iter().any(|one| broken(&one)));
    all += &told(&certificate);

    // A broken should is a deviation, admitted or not.
    for admitted in [false, true] {
        let mut deviating = right();
        let case = &mut deviating.cases[0];
        let should = harness::contract::registry()
            .iter()
            .find(|known| known.level == Level::Should)
            .expect("a should");
        case.checks[0].requirement = should.id.to_owned();
        case.checks[0].level = Level::Should;
        case.checks[0].status = CheckStatus::Fail;
        if admitted {
            case.standing = Standing::KnownFailure {
                reasons: vec!["see 18".to_owned()],
            };
        }
        let certificate = certified(deviating);
        assert_eq!(
            certificate.verdict,
            Conformance::ConformantWithKnownDeviations
        );
        assert_eq!(certificate.exit(), Exit::AsExpected);
        all += &told(&certificate);
    }

    // What could not be judged is no pass, in the whole case or in one check of it.
    let mut open = right();
    open.cases[0].standing = Standing::NotExercised;
    open.cases[0].checks[0].status = CheckStatus::NotExercised;
    let certificate = certified(open.clone());
    assert_eq!(certificate.verdict, Conformance::NotConformant);
    assert_eq!(certificate.exit(), Exit::Incomplete);
    all += &told(&certificate);
    open.cases[0].standing = Standing::Passed;
    let certificate = certified(open);
    assert_eq!(certificate.verdict, Conformance::NotConformant);

    // A case less.
    let mut less = right();
    less.cases.pop();
    assert_eq!(certified(less).verdict, Conformance::NotConformant);

    // The manifest is not true.
    let mut fixed = right();
    fixed.cases[0].standing = Standing::Fixed {
        keys: vec!["exit/*".to_owned()],
    };
    let certificate = certified(fixed);
    assert_eq!(certificate.verdict, Conformance::NotConformant);
    assert_eq!(certificate.exit(), Exit::Failed);
    all += &told(&certificate);

    // Nothing applies.
    let mut nothing = right();
    for case in &mut nothing.cases {
        case.standing = Standing::NotApplicable;
        for check in &mut case.checks {
            check.status = CheckStatus::NotApplicable;
        }
    }
    let certificate = certified(nothing);
    assert_eq!(certificate.verdict, Conformance::NotConformant);
    assert_eq!(certificate.exit(), Exit::Incomplete);
    all += &told(&certificate);

    let numbers = regex::Regex::new(r"\b\d+ (cases|of)\b").expect("a pattern");
    let all = numbers.replace_all(&all, "{n} $1").into_owned();
    settings().bind(|| insta::assert_snapshot!("certificate-summaries", all));
    settings().bind(|| {
        insta::assert_snapshot!(
            "certificate-badge",
            badge(Conformance::ConformantWithKnownDeviations)
        );
    });
}

#[test]
fn the_schema_that_is_committed_is_that_of_a_certificate() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/certificate.schema.json");
    let text = format!("{:#}\n", schema().to_value());
    if std::env::var_os("INSTA_UPDATE").is_some_and(|how| how == "always") {
        fs::write(&file, &text).expect("written");
    }
    let committed = fs::read_to_string(&file).expect("docs/certificate.schema.json");
    assert!(
        committed == text,
        "docs/certificate.schema.json is stale: INSTA_UPDATE=always cargo test -p createos-conformance --test certify writes it"
    );
}

#[test]
fn a_folder_with_something_else_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let mine = folder.path().join("mine.txt");
    fs::write(&mine, "mine").expect("written");
    let (code, text) = ran(&["certify", "--out", name(folder.path())]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("it holds something else"), "{text}");
    fs::write(folder.path().join("certificate.json"), "{}").expect("written");
    assert_eq!(ran(&["certify", "--out", name(folder.path())]).0, 2);
    assert_eq!(fs::read_to_string(&mine).expect("mine"), "mine");
    assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 2);
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("listed") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copied(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

fn change(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("a file");
    assert!(text.contains(from), "{} has no {from}", path.display());
    fs::write(path, text.replacen(from, to, 1)).expect("written");
}

/// Makes the digests of `certificate.json` those of the files again, as whoever tampers would.
fn covered(folder: &Path) {
    let path = folder.join("certificate.json");
    let text = fs::read_to_string(&path).expect("a certificate");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let files = value["files"].as_object_mut().expect("files");
    files.retain(|file, _| folder.join(file).exists());
    for (file, sum) in files {
        *sum = digest(&fs::read(folder.join(file)).expect("a file")).into();
    }
    fs::write(path, format!("{value:#}\n")).expect("written");
}

/// One way to tamper.
type Way = (&'static str, fn(&Path));

/// A case that this client fails, and one that it passes.
const FAILED: &str = "trials/exit/no-status-after-every-kind-of-drop[how=chunk].json";
const PASSED: &str = "trials/stream/healthy-follow.json";

const WAYS: &[Way] = &[
    ("the verdict of the certificate", |folder| {
        change(
            &folder.join("certificate.json"),
            "\"not-conformant\"",
            "\"conformant\"",
        );
    }),
    ("the verdict of a requirement", |folder| {
        change(
            &folder.join("certificate.json"),
            "\"verdict\": \"broken\"",
            "\"verdict\": \"held\"",
        );
    }),
    ("the counts of the certificate", |folder| {
        let path = folder.join("certificate.json");
        let text = fs::read_to_string(&path).expect("a certificate");
        let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        value["cases"]["failed"] = 0.into();
        fs::write(path, format!("{value:#}\n")).expect("written");
    }),
    ("the standing of an event, digests not", |folder| {
        change(
            &folder.join("events.jsonl"),
            "\"standing\":\"failed\"",
            "\"standing\":\"passed\"",
        );
    }),
    ("the standing of an event, digests too", |folder| {
        change(
            &folder.join("events.jsonl"),
            "\"standing\":\"failed\"",
            "\"standing\":\"passed\"",
        );
        covered(folder);
    }),
    ("an event removed", |folder| {
        let path = folder.join("events.jsonl");
        let text = fs::read_to_string(&path).expect("events");
        let lines: Vec<&str> = text.lines().collect();
        fs::write(&path, [&lines[..1], &lines[2..]].concat().join("\n")).expect("written");
        covered(folder);
    }),
    ("the counts of the events", |folder| {
        let path = folder.join("events.jsonl");
        let text = fs::read_to_string(&path).expect("events");
        let fewer = regex::Regex::new("\"failed\":[1-9][0-9]*").expect("a pattern");
        let changed = fewer.replace(&text, "\"failed\":0").into_owned();
        assert_ne!(changed, text);
        fs::write(&path, changed).expect("written");
        covered(folder);
    }),
    ("a trial removed", |folder| {
        fs::remove_file(folder.join(FAILED)).expect("removed");
        covered(folder);
    }),
    ("a trial added", |folder| {
        fs::copy(folder.join(PASSED), folder.join("trials/stream/more.json")).expect("copied");
    }),
    ("the verdict in a trial", |folder| {
        change(
            &folder.join(FAILED),
            "\"status\": \"fail\"",
            "\"status\": \"pass\"",
        );
        covered(folder);
    }),
    ("a trial replaced by that of a case that passed", |folder| {
        let id = "exit/no-status-after-every-kind-of-drop[how=chunk]";
        let text = fs::read_to_string(folder.join(PASSED)).expect("a trial");
        let text = text.replace("\"stream/healthy-follow\"", &format!("\"{id}\""));
        fs::write(folder.join(FAILED), text).expect("written");
        covered(folder);
    }),
    ("a verdict without a trial", |folder| {
        let path = folder.join(FAILED);
        let text = fs::read_to_string(&path).expect("a trial");
        let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        value["trial"] = serde_json::Value::Null;
        value["standing"] = "passed".into();
        for check in value["verdict"]["checks"].as_array_mut().expect("checks") {
            check["status"] = "pass".into();
            check["reason"] = "".into();
        }
        value["verdict"]["violations"] = serde_json::json!([]);
        fs::write(&path, format!("{value:#}\n")).expect("written");
        covered(folder);
    }),
    ("a failure admitted afterwards", |folder| {
        change(
            &folder.join(FAILED),
            "\"known_failures\": []",
            "\"known_failures\": [{\"pattern\": \"exit/*\", \"requirement\": null, \"reason\": \"see 17\", \"line\": 1}]",
        );
        covered(folder);
    }),
    ("what the client promises", |folder| {
        let path = folder.join(FAILED);
        let text = fs::read_to_string(&path).expect("a trial");
        let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        value["promises"]["ops"] = serde_json::json!(["exec"]);
        fs::write(&path, format!("{value:#}\n")).expect("written");
        covered(folder);
    }),
    ("the page", |folder| {
        change(&folder.join("report.html"), "does not conform", "conforms");
        covered(folder);
    }),
    ("JUnit", |folder| {
        change(&folder.join("junit.xml"), "<failure", "<skipped");
        covered(folder);
    }),
    ("the badge", |folder| {
        change(&folder.join("badge.svg"), "not conformant", "conformant");
        covered(folder);
    }),
];

/// A suite of few scenarios, since everything is judged again for every way to tamper.
fn small() -> Suite {
    let mut sources = embedded();
    sources.retain(|source| {
        source.id == "stream/healthy-follow"
            || source.id.starts_with("stream/asked-cursor")
            || source.id.starts_with("exit/no-status-after")
    });
    Suite::load(&[sources]).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// The certificate of a client that is wrong, in a folder.
fn make(folder: &Path, suite: &Suite) {
    let plans: Vec<Arc<Plan>> = suite.plans(support::SEED).map(Arc::new).collect();
    let reference = Reference::wrong(Bug::EndIsSuccess);
    let promises = reference.promises.clone();
    let (judged, summary, mut info) = support::judged(&plans, reference, true);
    info.digest = suite.digest();
    let keeper = Keeper::new(&info, promises, KnownFailures::default());
    let put = |file: &str, text: &str| {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    let mut trials = Vec::new();
    for one in &judged {
        let text = keeper.text(one).expect("JSON");
        put(&format!("trials/{}", file_name(one.case.id())), &text);
        trials.push(saved::read(&text).expect("a trial"));
    }
    let lines = [run_line(&info), summary_line(&summary)].join("\n");
    let told = read(&lines).expect("events").remove(0);
    let again: Vec<_> = trials.iter().map(|trial| trial.again().judged).collect();
    let record = whole(&told, &trials, &again).expect("lines");
    put("events.jsonl", &record_lines(&record));
    let mut certificate = Certificate::new(&record, &trials, Facts::default());
    for (file, content) in reports(&record, &certificate) {
        put(file, &content.expect("a report"));
    }
    certificate.files = files(folder)
        .iter()
        .map(|(file, bytes)| (file.clone(), digest(bytes)))
        .collect();
    put("certificate.json", &certificate.text());
}

/// What is in a folder, but the certificate.
fn files(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("listed") {
            let path = entry.expect("an entry").path();
            let name = path
                .strip_prefix(folder)
                .expect("inside")
                .display()
                .to_string();
            if path.is_dir() {
                folders.push(path);
            } else if name != "certificate.json" {
                files.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    files
}

/// What is wrong with a folder, in words.
fn problems(folder: &Path, suite: &Suite) -> Vec<String> {
    let text = fs::read_to_string(folder.join("certificate.json")).expect("a certificate");
    let (_, problems) = check(&text, &files(folder), suite).expect("a certificate");
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn whatever_is_tampered_with_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = folder.path().join("made");
    let suite = small();
    make(&made, &suite);
    assert_eq!(problems(&made, &suite), [""; 0]);
    // A trial that is replaced must be one that fails.
    let failed = fs::read_to_string(made.join(FAILED)).expect("a trial");
    assert!(failed.contains("\"standing\": \"failed\""));
    let mut told = String::new();
    for (at, (what, tamper)) in WAYS.iter().enumerate() {
        let copy: PathBuf = folder.path().join(at.to_string());
        copied(&made, &copy);
        tamper(&copy);
        let problems = problems(&copy, &suite);
        let first = problems
            .first()
            .unwrap_or_else(|| panic!("{what} is not found"));
        let first = first.lines().next().unwrap_or_default();
        told.push_str(&format!("{what}:\n  {first}\n"));
    }
    assert!(WAYS.len() >= 10);
    settings().bind(|| insta::assert_snapshot!("verify-tampered", told));
}

#[test]
fn a_certificate_is_made_and_verified() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = folder.path().join("made");
    let (code, text) = ran(&[
        "certify",
        "--wrong",
        "end-is-success",
        "--build",
        "1f2e3d",
        "--out",
        name(&made),
    ]);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("end-is-success 1f2e3d is not conformant: "),
        "{text}"
    );
    let (code, text) = ran(&["verify", name(&made)]);
    assert_eq!(code, 1, "as certify: {text}");
    assert!(text.contains("\nverified: "), "{text}");
    change(
        &made.join(FAILED),
        "\"status\": \"fail\"",
        "\"status\": \"pass\"",
    );
    let (code, text) = ran(&["verify", name(&made)]);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.ends_with("not verified: do not rely on this certificate\n"),
        "{text}"
    );
    // Of another suite, or none: nothing is said of it.
    let path = made.join("certificate.json");
    let text = fs::read_to_string(&path).expect("a certificate");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    value["digest"] = "00ff".into();
    fs::write(&path, value.to_string()).expect("written");
    let (code, text) = ran(&["verify", name(&made)]);
    assert_eq!(code, 2, "{text}");
    assert!(
        text.contains("verify it with the version that made it"),
        "{text}"
    );
    fs::write(&path, "{}").expect("written");
    assert_eq!(ran(&["verify", name(&made)]).0, 2);
    fs::remove_file(&path).expect("removed");
    assert_eq!(ran(&["verify", name(&made)]).0, 2);
}
