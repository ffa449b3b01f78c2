//! The command line, as a user or a script meets it.

#![expect(
    clippy::disallowed_methods,
    reason = "a test writes the files it is about"
)]

use std::{
    path::Path,
    process::{Command, Output},
};

fn conformance(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_createos-conformance"))
        .args(words)
        .output()
        .expect("the binary under test starts")
}

/// Exit code, standard output, standard error.
fn ran(words: &[&str]) -> (i32, String, String) {
    let output = conformance(words);
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

const SCENARIO: &str = r#"
title = "A short healthy stream"
requirements = ["data/exact"]
fault-kinds = []
why = "The example of a test."
op = "follow"

[process]
output = [{ stdout = "one\n" }]
exit = { code = 0 }
"#;

#[test]
fn help_and_version_are_no_failures() {
    for words in [["--help"], ["--version"]] {
        let (code, out, _) = ran(&words);
        assert_eq!(code, 0);
        assert!(
            out.contains("conformance") || out.contains("CreateOS"),
            "{out}"
        );
    }
}

#[test]
fn a_word_that_is_no_verb_is_wrong_usage_with_a_hint() {
    let (code, _, err) = ran(&["lst"]);
    assert_eq!(code, 2);
    assert!(err.contains("list"), "{err}");
}

#[test]
fn a_pattern_that_matches_nothing_is_wrong_usage_with_a_hint() {
    for words in [
        &["stream/drop-and-resum"][..],
        &["run", "stream/drop-and-resum"],
        &["list", "stream/drop-and-resum"],
    ] {
        let (code, out, err) = ran(words);
        assert_eq!((code, out.as_str()), (2, ""), "{words:?}");
        assert!(
            err.contains("did you mean `stream/drop-and-resume`?"),
            "{err}"
        );
    }
}

#[test]
fn list_begins_each_line_with_an_id_that_show_knows() {
    let (code, out, err) = ran(&["list"]);
    assert_eq!(code, 0, "{err}");
    let ids: Vec<&str> = out
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(ids.len() > 1);
    let (code, out, _) = ran(&["show", ids[0]]);
    assert_eq!(code, 0);
    assert!(out.contains(ids[0]), "{out}");
}

#[test]
fn show_knows_scenarios_requirements_and_areas() {
    let (code, out, _) = ran(&["show", "stream/drop-and-resume"]);
    assert_eq!(code, 0);
    assert!(
        out.contains("createos-conformance run stream/drop-and-resume"),
        "{out}"
    );
    let (code, out, _) = ran(&["show", "stream/resume-cursor"]);
    assert_eq!(code, 0);
    assert!(out.contains("stream/drop-and-resume"), "{out}");
    assert_eq!(ran(&["show", "stream"]).0, 0);
    let (code, _, err) = ran(&["show", "stream/resume-curser"]);
    assert_eq!(code, 2);
    assert!(err.contains("stream/resume-cursor"), "{err}");
}

#[test]
fn a_broken_scenario_names_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let broken = SCENARIO.replace("op = \"follow\"", "op = \"folow\"");
    let path = written(folder.path(), "mine.toml", &broken);
    let (code, _, err) = ran(&["run", &path]);
    assert_eq!(code, 2);
    assert!(err.contains("mine.toml:6"), "{err}");
    assert!(err.contains("follow"), "{err}");
}

#[test]
fn a_scenario_file_is_called_by_its_stem() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "mine.toml", SCENARIO);
    let (code, out, err) = ran(&["run", "--in-memory", "--json", &path]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains(r#""id":"mine""#), "{out}");
}

#[test]
fn an_empty_scenario_folder_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let (code, _, err) = ran(&["run", "--scenarios", &folder.path().display().to_string()]);
    assert_eq!(code, 2);
    assert!(err.contains("no scenario"), "{err}");
}

#[test]
fn a_folder_adds_to_the_embedded_scenarios() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "mine/healthy.toml", SCENARIO);
    let folder = folder.path().display().to_string();
    let (code, out, err) = ran(&["list", "--scenarios", &folder]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.lines().any(|line| line.starts_with("mine/healthy ")),
        "{out}"
    );
    assert!(out.lines().any(|line| line.starts_with("stream/")), "{out}");
}

#[test]
fn a_client_that_cannot_start_is_unusable_and_a_missing_manifest_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "name = \"x\"\nmode = \"adapter\"\ncommand = [\"./no-such-program\"]\n";
    let path = written(folder.path(), "client.toml", manifest);
    let (code, _, err) = ran(&["run", "--client", &path]);
    assert_eq!(code, 5, "{err}");
    assert!(err.contains("no-such-program"), "{err}");
    let missing = folder.path().join("nothing.toml").display().to_string();
    assert_eq!(ran(&["run", "--client", &missing]).0, 2);
}

#[test]
fn a_bug_that_does_not_exist_is_wrong_usage_with_a_hint() {
    let (code, _, err) = ran(&["run", "--wrong", "end-is-sucess"]);
    assert_eq!(code, 2);
    assert!(err.contains("end-is-success"), "{err}");
}

#[test]
fn a_reader_that_leaves_early_is_no_panic() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_createos-conformance"))
        .arg("list")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(!err.contains("panicked"), "{err}");
}

#[test]
fn a_report_that_could_not_be_written_is_no_success() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("/dev/full");
    let output = Command::new(env!("CARGO_BIN_EXE_createos-conformance"))
        .arg("list")
        .stdout(full)
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output can't be written"));
}

#[test]
fn few_open_files_make_a_slow_run_and_no_failures() {
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 64; exec \"$0\" run 'exit/*'"])
        .arg(env!("CARGO_BIN_EXE_createos-conformance"))
        .output()
        .expect("sh");
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("cases at a time instead of"),
        "{told}"
    );
}

#[test]
fn a_file_whose_fault_nobody_meets_is_played_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let late = format!("{SCENARIO}\n[[fault]]\non = \"connect\"\nattempt = 2\nstatus = 502\n");
    let path = written(folder.path(), "late.toml", &late);
    let (code, _, err) = ran(&["run", &path]);
    let note = "note: late: a right client never reaches fault 1: mark it `bait = true`, or mend the plan\n";
    assert_eq!((code, err.as_str()), (0, note));
    let bait = written(folder.path(), "bait.toml", &format!("{late}bait = true\n"));
    let (code, _, err) = ran(&["run", &bait]);
    assert_eq!((code, err.as_str()), (0, ""));
}

/// Ctrl-C while the adapter has not said a word yet: the program and what it started are gone.
#[test]
fn an_interrupt_before_the_first_case_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let mute = "trap '' INT TERM; sleep 600 & echo $$ $! > pids; wait";
    let manifest = written(
        folder.path(),
        "client.toml",
        &format!(
            "name='mute'\nmode='adapter'\ncommand=['sh','-c','''{mute}''']\nsetup=[['sh','-c','''{mute}''']]\n"
        ),
    );
    for words in [
        &["run", "--client", manifest.as_str()][..],
        &["smoke", "--client", manifest.as_str()],
        &["setup", manifest.as_str()],
    ] {
        for signal in ["-INT", "-TERM"] {
            let child = Command::new(env!("CARGO_BIN_EXE_createos-conformance"))
                .args(words)
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            let started = loop {
                match std::fs::read_to_string(&pids) {
                    Ok(text) if text.ends_with('\n') => break text,
                    _ => std::thread::yield_now(),
                }
            };
            std::fs::remove_file(&pids).unwrap();
            let kill = |arguments: &[&str]| Command::new("kill").args(arguments).output().unwrap();
            kill(&[signal, &child.id().to_string()]);
            let output = child.wait_with_output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(130), "{words:?} {signal}: {err}");
            assert!(err.ends_with("exit 130: interrupted\n"), "{err}");
            for pid in started.split_whitespace() {
                // Killed is enough: who reaps it, and when, is not ours.
                let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
                loop {
                    let stat = format!("/proc/{pid}/stat");
                    let state = std::fs::read_to_string(stat).unwrap_or_default();
                    if state.is_empty() || state.contains(") Z ") || state.contains(") X ") {
                        break;
                    }
                    let now = std::time::Instant::now();
                    assert!(now < until, "{words:?} {signal}: {state}");
                    std::thread::yield_now();
                }
            }
        }
    }
}

#[test]
fn a_sweep_of_what_has_no_stream_is_wrong_usage() {
    let (code, _, err) = ran(&["sweep", "stream/gzip-unasked", "--in-memory"]);
    assert_eq!(code, 2);
    assert!(
        err.contains("can't be swept: connect 1 is left out"),
        "{err}"
    );
    let (code, _, err) = ran(&["sweep", "stream/healthy-folow", "--in-memory"]);
    assert_eq!(code, 2);
    assert!(err.contains("stream/healthy-follow"), "{err}");
}

#[test]
fn a_sweep_of_what_does_not_pass_unbroken_ends_as_the_case_does() {
    let words = ["sweep", "stream/drop-and-resume", "--in-memory", "--wrong"];
    let (code, out, err) = ran(&[&words[..], &["break-is-fatal"]].concat());
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("does not pass unbroken"), "{err}");
    assert!(out.contains(" run --wrong break-is-fatal"), "{out}");
}

#[test]
fn one_cut_is_played_by_its_name() {
    let words = ["sweep", "stream/healthy-follow", "--in-memory", "--cut"];
    let (code, out, err) = ran(&[&words[..], &["1:fin@117/bytes", "--json"]].concat());
    assert_eq!(code, 0, "{out}{err}");
    let object: serde_json::Value = serde_json::from_str(&out).expect("one object");
    assert_eq!(object["all"]["cuts"], 1);
    assert_eq!(object["all"]["same"], 1);
    let (code, _, err) = ran(&[&words[..], &["1:fin@9000"]].concat());
    assert_eq!(code, 2);
    assert!(err.contains("has no cut `1:fin@9000`"), "{err}");
    let (code, _, err) = ran(&[&words[..], &["fin at 3"]].concat());
    assert_eq!(code, 2);
    assert!(err.contains("as in `1:fin@117`"), "{err}");
}

#[test]
fn a_sweep_that_would_never_end_is_refused() {
    let words = ["sweep", "stream/healthy-follow", "--in-memory"];
    let (code, _, err) = ran(&[&words[..], &["--most", "100"]].concat());
    assert_eq!(code, 2);
    assert!(err.contains("--at edges"), "{err}");
}

#[test]
fn setup_takes_the_manifest_bare_or_as_the_other_verbs_do() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = written(
        folder.path(),
        "client.toml",
        "name='x'\nmode='adapter'\ncommand=['x']\nsetup=[['sh','-c','echo done >> done']]\n",
    );
    for words in [
        &["setup", manifest.as_str()][..],
        &["setup", "--client", manifest.as_str()],
    ] {
        let (code, _, err) = ran(words);
        assert_eq!(code, 0, "{err}");
    }
    let done = std::fs::read_to_string(folder.path().join("done")).unwrap();
    assert_eq!(done, "done\ndone\n");
    for words in [
        &["setup"][..],
        &["setup", manifest.as_str(), "--client", manifest.as_str()],
    ] {
        assert_eq!(ran(words).0, 2);
    }
}
