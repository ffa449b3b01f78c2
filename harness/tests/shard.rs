//! A run divided among processes, and joined again.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads and writes the files it is about"
)]

use harness::report::record::{Record, read};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

fn conformance(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_createos-conformance"));
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn ended(child: Child) -> (i32, String) {
    let output: Output = child.wait_with_output().expect("an end");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code().expect("a code"), text.into_owned())
}

fn ran(words: &[&str]) -> (i32, String) {
    ended(conformance(words).spawn().expect("started"))
}

fn name(path: &Path) -> &str {
    path.to_str().expect("a name")
}

/// Starts a run with these words more, its events going to a file of the folder.
fn start(folder: &Path, file: &str, words: &[&str]) -> (PathBuf, Child) {
    let path = folder.join(file);
    let mut all = vec!["run", "--in-memory", "--events", name(&path)];
    all.extend(words);
    let child = conformance(&all).spawn().expect("started");
    (path, child)
}

fn record(path: &Path) -> Record {
    let text = fs::read_to_string(path).expect("events");
    // Keys and ids of sandboxes that are not placeholders follow from the place of a trial among those of its process.
    let key = regex::Regex::new(r"\b(skp_|sb-)[0-9a-z]+").expect("a pattern");
    let mut records = read(&key.replace_all(&text, "$1x")).expect("events");
    assert_eq!(records.len(), 1);
    records.remove(0)
}

/// Without the times on a wall.
fn timeless(mut record: Record) -> Record {
    if let Some(line) = &mut record.summary {
        line.summary.took_ms = 0;
    }
    record
}

/// Few cases, some of which fail.
const FEW: &[&str] = &["--wrong", "end-is-success", "stream/*", "exit/*"];

/// The events of three shards of [`FEW`].
fn three(folder: &Path) -> Vec<PathBuf> {
    (1..=3)
        .map(|number| {
            let shard = format!("{number}/3");
            let mut words = vec!["--shard", &shard];
            words.extend(FEW);
            let (path, child) = start(folder, &format!("{number}.jsonl"), &words);
            let (code, text) = ended(child);
            assert_eq!(code, 1, "{text}");
            path
        })
        .collect()
}

fn merged(files: &[&Path], to: &Path) -> (i32, String) {
    let mut words = vec!["merge", "-o", name(to)];
    words.extend(files.iter().map(|path| name(path)));
    ran(&words)
}

#[test]
fn three_shards_played_at_once_are_one_whole_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (whole, child) = start(folder, "whole.jsonl", &[]);
    // As on three machines: none knows of the others.
    let shards: Vec<(PathBuf, Child)> = ["1/3", "2/3", "3/3"]
        .iter()
        .enumerate()
        .map(|(at, shard)| start(folder, &format!("{at}.jsonl"), &["--shard", shard]))
        .collect();
    let (code, text) = ended(child);
    assert_eq!(code, 0, "{text}");
    let mut files = Vec::new();
    for (path, child) in shards {
        let (code, text) = ended(child);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("(shard "), "{text}");
        files.push(path);
    }
    // In any order.
    files.reverse();
    let joined = folder.join("joined.jsonl");
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let (code, text) = merged(&files, &joined);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("conforms"), "{text}");
    let (whole, joined) = (timeless(record(&whole)), timeless(record(&joined)));
    assert!(whole.cases.len() > 500);
    assert_eq!(whole.run, joined.run);
    assert_eq!(whole.summary, joined.summary);
    for (one, other) in whole.cases.iter().zip(&joined.cases) {
        assert_eq!(one, other);
    }
    assert_eq!(whole.cases.len(), joined.cases.len());
    // Each had a part worth having.
    for path in files {
        let part = record(path).cases.len();
        assert!(part * 5 > whole.cases.len(), "{part}");
    }
}

#[test]
fn failures_are_merged_too_and_the_exit_is_that_of_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (whole, child) = start(folder, "whole.jsonl", FEW);
    assert_eq!(ended(child).0, 1);
    let files = three(folder);
    let joined = folder.join("joined.jsonl");
    let (code, text) = merged(&[&files[2], &files[0], &files[1]], &joined);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("does not conform"), "{text}");
    assert_eq!(timeless(record(&whole)), timeless(record(&joined)));
}

#[test]
fn what_is_not_all_of_one_run_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let files = three(folder);
    let (one, two, three) = (&files[0], &files[1], &files[2]);
    let file = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).expect("written");
        path
    };
    let text = fs::read_to_string(two).expect("events");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() > 4);
    let without = |at: usize| {
        let mut lines = lines.clone();
        lines.remove(at);
        lines.join("\n")
    };
    let case = file("case.jsonl", without(2));
    let killed = file("killed.jsonl", without(lines.len() - 1));
    let stopped = file(
        "stopped.jsonl",
        text.replace("\"stopped\":null", "\"stopped\":\"interrupted\""),
    );
    let client = file(
        "client.jsonl",
        text.replacen("\"version\":\"end-is-success\"", "\"version\":\"other\"", 1),
    );
    let digest = record(two).run.digest;
    let suite = file("suite.jsonl", text.replace(&digest, "00ff"));
    // A case of the third in the place of one of the second.
    let third = fs::read_to_string(three).expect("events");
    let foreign = third.lines().nth(1).expect("a case");
    let mut swapped = lines.clone();
    swapped[1] = foreign;
    let swapped = file("swapped.jsonl", swapped.join("\n"));
    let mut doubled = lines.clone();
    doubled[1] = lines[2];
    let doubled = file("doubled.jsonl", doubled.join("\n"));
    let impossible = file(
        "impossible.jsonl",
        text.replacen("\"number\":2", "\"number\":9", 1),
    );
    let seed = {
        let mut words = vec!["--shard", "2/3", "--seed", "2"];
        words.extend(FEW);
        let (path, child) = start(folder, "seed.jsonl", &words);
        ended(child);
        path
    };
    let other = {
        let (path, child) = start(
            folder,
            "other.jsonl",
            &["--shard", "2/3", "--wrong", "end-is-success", "stream/*"],
        );
        ended(child);
        path
    };
    let whole = {
        let (path, child) = start(folder, "whole.jsonl", FEW);
        ended(child);
        path
    };
    let mut told = String::new();
    let refused: &[(&str, &[&Path], i32)] = &[
        ("a gap", &[one, three], 2),
        ("two gaps", &[three], 2),
        ("a double", &[one, two, three, one], 2),
        ("another client", &[one, &client, three], 2),
        ("another suite", &[one, &suite, three], 2),
        ("another seed", &[one, &seed, three], 2),
        ("another selection", &[one, &other, three], 2),
        ("a whole run", &[one, &whole, three], 2),
        ("a shard that can't be", &[one, &impossible, three], 2),
        ("a case of another shard", &[one, &swapped, three], 2),
        ("a case twice", &[one, &doubled, three], 2),
        ("a case less", &[one, &case, three], 3),
        ("a shard that was killed", &[one, &killed, three], 3),
        ("a shard that was stopped", &[one, &stopped, three], 3),
    ];
    let joined = folder.join("joined.jsonl");
    let place = format!("{}/", folder.display());
    for (what, files, code) in refused {
        let (ended, text) = merged(files, &joined);
        assert_eq!(ended, *code, "{what}: {text}");
        assert!(!joined.exists(), "{what}: nothing may come of it");
        told.push_str(&format!(
            "{what}:\n  {}\n",
            text.replace(&place, "").trim_end()
        ));
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/report");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    // What changes with every scenario that is added.
    for (pattern, instead) in [
        ("[0-9a-f]{64}", "{digest}"),
        (r"\b\d+ cases? of \d+", "{n} cases of {m}"),
        (r"cases is \d+, and \d+", "cases is {n}, and {m}"),
    ] {
        let pattern = regex::Regex::new(pattern).expect("a pattern");
        told = pattern.replace_all(&told, instead).into_owned();
    }
    settings.bind(|| insta::assert_snapshot!("merge-refused", told));
    // The same three are still fine.
    assert_eq!(merged(&[one, two, three], &joined).0, 1);
}

#[test]
fn a_shard_without_a_case_is_incomplete_and_is_merged_all_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mut files = Vec::new();
    let mut codes = Vec::new();
    for number in 1..=3 {
        let (path, child) = start(
            folder,
            &format!("{number}.jsonl"),
            &["--shard", &format!("{number}/3"), "stream/healthy-follow"],
        );
        let (code, _) = ended(child);
        codes.push(code);
        files.push(path);
    }
    codes.sort_unstable();
    assert_eq!(codes, [0, 3, 3], "nothing played is nothing proven");
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let (code, text) = merged(&files, &folder.join("joined.jsonl"));
    assert_eq!(code, 0, "{text}");
}

#[test]
fn generated_cases_are_shared_by_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let fuzz = |words: &[&str]| {
        let mut all = vec![
            "fuzz",
            "--seed",
            "17",
            "--cases",
            "100",
            "--no-shrink",
            "--save",
            name(folder.path()),
        ];
        all.extend(words);
        ran(&all)
    };
    let cases = |shard: &str| {
        let (code, text) = fuzz(&["--shard", shard]);
        assert_eq!(code, 0, "{text}");
        let (number, _) = text
            .lines()
            .find_map(|line| line.split_once(" cases: "))
            .unwrap_or_else(|| panic!("{text}"));
        number.parse::<u64>().expect("a number")
    };
    assert_eq!([cases("1/3"), cases("2/3"), cases("3/3")], [34, 33, 33]);
    let (code, text) = ran(&["fuzz", "--shard", "1/3", "--cases", "3"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("--seed"), "{text}");
    let (code, text) = ran(&["run", "--shard", "4/3"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("as in 2/8"), "{text}");
}
