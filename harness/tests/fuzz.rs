//! `fuzz`, as a user or a script meets it.

#![expect(
    clippy::disallowed_methods,
    reason = "a test reads the files it is about"
)]

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Exit code, standard output, standard error.
fn fuzz(save: &Path, words: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_createos-conformance"))
        .arg("fuzz")
        .args(words)
        .arg("--save")
        .arg(save)
        .output()
        .expect("the binary under test starts");
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let Ok(listed) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = listed
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|is| is == end))
        .collect();
    files.sort();
    files
}

#[test]
fn the_right_client_passes_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let save = folder.path().join("regressions");
    let (code, out, err) = fuzz(&save, &["--seed", "17", "--cases", "60"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(
        out.contains("60 cases of seed 17, profile quick, in memory"),
        "{out}"
    );
    assert!(out.contains("seed 17\nexit 0"), "{out}");
    assert!(!save.exists());
}

#[test]
fn another_seed_each_time_is_told_and_plays_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let (_, out, _) = fuzz(folder.path(), &["--cases", "3"]);
    let (_, seed) = out.split_once("cases of seed ").expect("the seed");
    let (seed, _) = seed.split_once(',').expect("the seed's end");
    let (code, again, _) = fuzz(folder.path(), &["--cases", "3", "--seed", seed]);
    assert_eq!(code, 0, "{again}");
    assert!(out.contains(&format!("seed {seed}\nexit 0")), "{out}");
}

#[test]
fn a_wrong_client_is_told_saved_and_tried_first_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = ["--wrong", "no-gap-check"];
    let words = [&wrong[..], &["--seed", "1", "--cases", "200"]].concat();
    let (code, out, _) = fuzz(folder.path(), &words);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("here they part: sequence/gap"), "{out}");
    let saved = files(folder.path(), "json");
    assert!(!saved.is_empty());
    // Not more than a few of a kind, whatever the number of cases that fail.
    assert!(saved.len() < 20, "{saved:?}");

    // One of each kind came down to a scenario file that a person can read, and that fails by itself.
    let smallest = files(folder.path(), "toml");
    assert!(!smallest.is_empty() && smallest.len() <= saved.len());
    for path in &smallest {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains("seed 1, case "), "{text}");
        assert!(text.contains("requirements = [\"sequence/gap\"]"), "{text}");
        assert!(
            text.matches("[[fault]]").count() <= 3 && text.lines().count() <= 25,
            "{text}"
        );
        let run = |words: &[&str]| {
            Command::new(env!("CARGO_BIN_EXE_createos-conformance"))
                .args(["run", "--in-memory"])
                .args(words)
                .arg(path)
                .output()
                .unwrap()
        };
        assert_eq!(run(&wrong).status.code(), Some(1), "{text}");
        assert_eq!(run(&[]).status.code(), Some(0), "{text}");
        assert!(out.contains(&path.display().to_string()), "{out}");
    }

    // The replay line is a command that fails in the same way.
    let (_, replay) = out.split_once("--case ").expect("a replay line");
    let number: String = replay.chars().take_while(char::is_ascii_digit).collect();
    let elsewhere = folder.path().join("elsewhere");
    let one = [
        &wrong[..],
        &["--seed", "1", "--case", &number, "--no-shrink"],
    ]
    .concat();
    let (code, again, _) = fuzz(&elsewhere, &one);
    assert_eq!(code, 1, "{again}");
    assert!(files(&elsewhere, "toml").is_empty());

    // Another seed, and yet the same failures come first; the right client has none of them.
    let next = ["--seed", "2", "--cases", "1"];
    let (code, first, _) = fuzz(folder.path(), &[&wrong[..], &next].concat());
    assert_eq!(code, 1, "{first}");
    assert!(first.contains("failed before"), "{first}");
    let (code, right, _) = fuzz(folder.path(), &next);
    assert_eq!(code, 0, "{right}");
    let cases = saved.len() + 1;
    assert!(right.contains(&format!("{cases} cases: ")), "{right}");
}

#[test]
fn a_file_that_is_no_saved_case_is_told_and_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("broken.json"), "{").unwrap();
    let (code, out, err) = fuzz(folder.path(), &["--seed", "1", "--cases", "1"]);
    assert_eq!(code, 0, "{out}");
    assert!(err.contains("broken.json holds no generated case"), "{err}");
}

#[test]
fn a_wrong_command_line_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for (words, says) in [
        (&["--max-time", "10"][..], "90s, 10m or 2h"),
        (&["--profile", "slow"], "quick or deep"),
        (&["--case", "4"], "--seed"),
        (&["--wrong", "no-gap-chek"], "did you mean `no-gap-check`?"),
    ] {
        let (code, _, err) = fuzz(folder.path(), words);
        assert_eq!(code, 2, "{words:?}");
        assert!(err.contains(says), "{words:?}: {err}");
    }
}

#[test]
fn a_time_limit_ends_it_between_two_cases() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, _) = fuzz(folder.path(), &["--seed", "1", "--max-time", "1s"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("cases until the time is over"), "{out}");
}
