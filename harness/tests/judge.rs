//! `run --save` and `judge`, as a user or a script meets them.

#![expect(
    clippy::disallowed_methods,
    reason = "a test writes and edits the files it is about"
)]

use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

fn conformance(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_createos-conformance"));
    command.args(words);
    command
}

/// Exit code, standard output, standard error.
fn ran(words: &[&str]) -> (i32, String, String) {
    let output = conformance(words).output().expect("the binary starts");
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Every file below, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Plays these words in memory, saves, and tells what `run` said.
fn saved(folder: &Path, words: &[&str]) -> (i32, String) {
    let mut all = vec!["run", "--in-memory", "--save", text(folder)];
    all.extend(words);
    let (code, out, _) = ran(&all);
    (code, out)
}

/// A saved trial, changed.
fn edit(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut value = serde_json::from_slice(&fs::read(path).expect("read")).expect("JSON");
    change(&mut value);
    fs::write(path, value.to_string()).expect("written");
}

#[test]
fn what_passed_passes_again_and_what_failed_is_told_in_the_same_words() {
    for (code, words) in [
        (0, vec!["stream/drop-and-resume", "raw/*"]),
        (
            1,
            vec![
                "--wrong",
                "end-is-success",
                "stream/drop-and-resume",
                "stream/healthy-follow",
            ],
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let (first, run) = saved(folder.path(), &words);
        let (again, judged, _) = ran(&["judge", text(folder.path())]);
        assert_eq!((first, again), (code, code), "{judged}");
        assert!(
            judged.contains("every verdict is the one that was saved"),
            "{judged}"
        );
        // But for the time it took, and what `judge` adds, the reports are one.
        let stories = |report: &str| {
            let end = report.rfind(" passed").or_else(|| report.rfind(" failed"));
            let report = &report[..end.expect("the last line")];
            report[..report.rfind('\n').expect("lines")].to_owned()
        };
        assert!(
            stories(&judged).starts_with(&stories(&run)),
            "{run}\n----\n{judged}"
        );
        let (_, lines, _) = ran(&["judge", "--json", text(folder.path())]);
        let last: Value = serde_json::from_str(lines.lines().last().expect("lines")).expect("JSON");
        assert_eq!(last["type"], "judged-again");
        assert_eq!(last["changed"], json!([]));
        assert_eq!(last["exit"]["code"], code);
    }
}

#[test]
fn files_are_called_as_their_cases() {
    let folder = tempfile::tempdir().expect("a folder");
    saved(
        folder.path(),
        &["stream/drop-and-resume", "stream/healthy-follow"],
    );
    let names: Vec<String> = files(folder.path())
        .iter()
        .map(|path| text(path.strip_prefix(folder.path()).expect("below")).to_owned())
        .collect();
    assert!(
        names.contains(&"stream/healthy-follow.json".to_owned()),
        "{names:?}"
    );
    assert!(
        names.contains(&"stream/drop-and-resume[how=fin].json".to_owned()),
        "{names:?}"
    );
}

#[test]
fn an_edited_trial_is_told_with_what_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let case = "exit/code-after-every-kind-of-drop[how=chunk]";
    saved(folder.path(), &[case]);
    let [file] = &files(folder.path())[..] else {
        panic!("one file");
    };
    // The client said something else.
    edit(file, |trial| {
        let said = &mut trial["trial"]["observed"]["reply"]["result"]["exit_code"];
        assert_eq!(*said, 3);
        *said = json!(4);
    });
    let (code, out, _) = ran(&["judge", text(file)]);
    assert_eq!(code, 1, "{out}");
    for words in [
        "CHANGED exit/code-after-every-kind-of-drop[how=chunk]",
        "the file was edited",
        "-passed",
        "+failed",
        "1 trial judged again: 1 verdict is not the one that was saved",
    ] {
        assert!(out.contains(words), "{words}\n{out}");
    }
    // Only the verdict was edited: it holds no longer, whatever it says.
    let folder = tempfile::tempdir().expect("a folder");
    saved(folder.path(), &["--wrong", "end-is-success", case]);
    let [file] = &files(folder.path())[..] else {
        panic!("one file");
    };
    edit(file, |trial| {
        trial["standing"] = json!("passed");
        trial["verdict"]["violations"] = json!([]);
    });
    let (code, out, _) = ran(&["judge", text(file)]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("-passed") && out.contains("+failed"), "{out}");
    // A newer suite judges otherwise.
    edit(file, |trial| {
        trial["suite"] = json!("0.0.1");
    });
    let (_, out, _) = ran(&["judge", text(file)]);
    assert!(out.contains("0.0.1 judged it when it was saved"), "{out}");
}

#[test]
fn what_is_no_trial_is_refused_with_what_to_do_and_the_others_are_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    saved(root, &["stream/healthy-follow"]);
    let good = root.join("stream/healthy-follow.json");
    let whole = fs::read_to_string(&good).expect("read");
    let written = |name: &str, text: &[u8]| fs::write(root.join(name), text).expect("written");
    written("cut.json", &whole.as_bytes()[..whole.len() / 2]);
    written("empty.json", b"");
    written("foreign.json", b"{\"name\": \"conformance\"}");
    written("list.json", b"[1, 2]");
    written("bytes.json", b"\xff\xfe");
    written(
        "newer.json",
        whole
            .replacen("\"version\": 1", "\"version\": 2", 1)
            .as_bytes(),
    );
    written(
        "edited.json",
        whole
            .replacen("\"deadline_ms\": ", "\"deadline_ms\": 99999999", 1)
            .as_bytes(),
    );
    written("ignored.txt", b"not JSON");
    fs::create_dir(root.join("nothing")).expect("a folder");
    let empty = root.join("nothing");
    let missing = root.join("missing.json");
    let (code, out, told) = ran(&[
        "judge",
        text(root),
        text(&missing),
        text(&empty),
        "/dev/null",
    ]);
    assert_eq!(code, 2, "{out}{told}");
    assert!(out.contains("1 trial judged again"), "{out}");
    for (file, words) in [
        ("cut.json", "is no whole JSON"),
        ("empty.json", "is no whole JSON"),
        ("foreign.json", "`run --save DIR` writes such files"),
        ("list.json", "is no saved trial"),
        ("bytes.json", "is not UTF-8"),
        ("newer.json", "has format 2"),
        ("edited.json", "no scenario file says its `plan`"),
        ("missing.json", "can't be read"),
        ("nothing", "not one .json file is in it"),
        ("/dev/null", "is no file"),
    ] {
        let found = told
            .lines()
            .any(|line| line.starts_with("error: ") && line.contains(file) && line.contains(words));
        assert!(found, "{file}: {words}\n{told}");
    }
    assert!(
        !told.contains("ignored.txt") && !told.contains("panicked"),
        "{told}"
    );
}

#[test]
fn a_folder_that_cannot_be_is_known_before_anything_is_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("written");
    let (code, out, told) = ran(&[
        "run",
        "--save",
        text(&file.join("x")),
        "stream/healthy-follow",
    ]);
    assert_eq!((code, out.as_str()), (2, ""), "{told}");
    assert!(told.contains("trials can't be saved in"), "{told}");
}

#[test]
fn an_interrupt_loses_nothing_that_was_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = conformance(&[
        "run",
        "--json",
        "--jobs",
        "1",
        "--save",
        text(folder.path()),
    ])
    .stdout(Stdio::piped())
    .spawn()
    .expect("the binary starts");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
    // The first line is about the run, the next ones are cases.
    for _ in 0..3 {
        lines.next().expect("a line").expect("text");
    }
    let interrupted = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill");
    assert!(interrupted.success());
    let told: Vec<Value> = lines
        .map(|line| serde_json::from_str(&line.expect("text")).expect("JSON"))
        .collect();
    assert_eq!(child.wait().expect("an end").code(), Some(130));
    let judged = told.iter().filter(|line| line["type"] == "case").count() + 2;
    let files = files(folder.path());
    assert!(
        files
            .iter()
            .all(|file| file.extension().is_some_and(|end| end == "json")),
        "{files:?}"
    );
    assert_eq!(files.len(), judged);
    let (code, out, told) = ran(&["judge", text(folder.path())]);
    assert_eq!(code, 0, "{out}{told}");
}

#[test]
fn a_folder_holds_one_run_of_one_client() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let names = |root: &Path| -> Vec<String> {
        let below = |file: PathBuf| text(file.strip_prefix(root).expect("below")).to_owned();
        files(root).into_iter().map(below).collect()
    };
    saved(root, &["stream/healthy-follow", "raw/empty-stream"]);
    // What is no trial is none of our business.
    let notes = [
        ("notes.json", "{\"format\": \"mine\"}"),
        ("raw/list.json", "[]"),
        ("readme.txt", ""),
    ];
    for (name, words) in notes {
        fs::write(root.join(name), words).expect("written");
    }
    let words = [
        "run",
        "--in-memory",
        "--save",
        text(root),
        "raw/empty-stream",
    ];
    let (code, out, told) = ran(&words);
    assert_eq!(code, 0, "{out}{told}");
    assert!(
        told.contains("note: 2 trials of an earlier run removed from"),
        "{told}"
    );
    let kept = [
        "notes.json",
        "raw/empty-stream.json",
        "raw/list.json",
        "readme.txt",
    ];
    assert_eq!(names(root), kept);

    // A newer suite's, and one of another client: nothing is removed, and nothing is played.
    let trial = root.join("raw/empty-stream.json");
    let newer = root.join("raw/another.json");
    fs::copy(&trial, &newer).expect("copied");
    for (whose, says) in [
        (
            json!({"client": {"name": "somebody"}}),
            "another.json is a trial of another client, somebody",
        ),
        (
            json!({"by": "somebody"}),
            "another.json is a trial of a client that it does not name",
        ),
    ] {
        edit(&newer, |value| {
            value["version"] = json!(99);
            value["run"] = whose;
        });
        let before = fs::read(&trial).expect("read");
        let (code, out, told) = ran(&words);
        assert_eq!((code, out.as_str()), (2, ""), "{told}");
        assert!(
            told.contains(says) && told.contains("name another folder"),
            "{told}"
        );
        assert_eq!(fs::read(&trial).expect("read"), before);
        assert!(newer.exists());
    }
}
