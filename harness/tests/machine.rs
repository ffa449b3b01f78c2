//! A client that takes a key of its own environment for the job's, and talks about it: nothing that the program writes
//! holds the key.

#![expect(
    clippy::disallowed_methods,
    reason = "a test writes manifests and reads what was saved"
)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const KEY: &str = "sk-real-0123456789abcdef";
/// The same as base64, as output and bodies stand in JSON.
const KEY_BASE64: &str = "c2stcmVhbC0wMTIzNDU2Nzg5YWJjZGVm";
const PLACEHOLDER: &str = "{env CREATEOS_API_KEY}";

/// A folder with the manifest of the client that has this name in `doctored/client.py`.
fn client(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = folder.path().join("client.toml");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/doctored/client.py");
    let words = format!(
        "name = \"own-key\"\nmode = \"adapter\"\ncommand = [\"python3\", {program:?}, {name:?}]\n"
    );
    fs::write(&manifest, words).expect("written");
    (folder, manifest)
}

/// What the program writes for these words, on both streams, and its exit code.
fn told(folder: &Path, words: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_createos-conformance"))
        .args(words)
        .current_dir(folder)
        .env("CREATEOS_API_KEY", KEY)
        .output()
        .expect("the binary starts");
    let both = [output.stdout, output.stderr].concat();
    let both = String::from_utf8_lossy(&both).into_owned();
    // The harness's own folder has no key in its name, so whatever holds it came from the client.
    for secret in [KEY, KEY_BASE64] {
        assert!(!both.contains(secret), "{words:?} tells {secret}: {both}");
    }
    (output.status.code(), both)
}

#[test]
fn a_real_key_stands_in_no_output() {
    let (folder, manifest) = client("own-key");
    let client = manifest.to_str().expect("UTF-8");
    let run = ["run", "--client", client, "stream/healthy-follow"];
    for more in [
        &[][..],
        &["--verbose"],
        &["--json"],
        &["--json", "--verbose"],
        &["--verify-stability", "1", "--strict"],
        &["--verify-stability", "1", "--strict", "--json"],
    ] {
        let (code, told) = told(folder.path(), &[&run[..], more].concat());
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains(PLACEHOLDER), "{more:?}: {told}");
    }
}

#[test]
fn a_diff_of_repeats_has_a_placeholder_for_it() {
    let (folder, manifest) = client("own-key");
    let client = manifest.to_str().expect("UTF-8");
    let words = ["run", "--client", client, "stream/healthy-follow"];
    let words = [&words[..], &["--verify-stability", "1", "--strict"]].concat();
    let (_, told) = told(folder.path(), &words);
    let (_, diff) = told.split_once("UNSTABLE wire log").expect("a diff");
    assert!(diff.contains("key={env CREATEOS_API_KEY}"), "{told}");
}

#[test]
fn fuzz_and_sweep_tell_and_keep_no_real_key() {
    let (folder, manifest) = client("own-key");
    let client = manifest.to_str().expect("UTF-8");
    let (code, _) = told(
        folder.path(),
        &["fuzz", "--client", client, "--seed", "17", "--cases", "20"],
    );
    assert_eq!(code, Some(1));
    let (code, _) = told(
        folder.path(),
        &["sweep", "stream/healthy-follow", "--client", client],
    );
    assert_ne!(code, Some(0));
    for file in files(folder.path()) {
        let kept = fs::read_to_string(&file).expect("read");
        assert!(!kept.contains(KEY) && !kept.contains(KEY_BASE64), "{kept}");
    }
}

#[test]
fn an_adapter_that_cannot_be_used_tells_no_real_key() {
    for name in ["own-key-dies", "own-key-mute"] {
        let (folder, manifest) = client(name);
        let client = manifest.to_str().expect("UTF-8");
        for words in [
            &["smoke", "--client", client][..],
            &["run", "--client", client],
            &["sweep", "stream/healthy-follow", "--client", client],
        ] {
            let (code, told) = told(folder.path(), words);
            assert_eq!(code, Some(5), "{told}");
            assert!(told.contains(PLACEHOLDER), "{told}");
        }
    }
}

#[test]
fn a_real_key_is_not_kept_and_changes_no_verdict() {
    let (folder, manifest) = client("own-key");
    let client = manifest.to_str().expect("UTF-8");
    let run = ["run", "--client", client, "stream/healthy-follow"];
    let (code, _) = told(folder.path(), &[&run[..], &["--save", "trials"]].concat());
    assert_eq!(code, Some(1));
    let [file] = &files(&folder.path().join("trials"))[..] else {
        panic!("one file");
    };
    let kept = fs::read_to_string(file).expect("read");
    assert!(!kept.contains(KEY) && !kept.contains(KEY_BASE64), "{kept}");
    assert!(kept.contains(PLACEHOLDER), "{kept}");
    let (code, told) = told(folder.path(), &["judge", "trials"]);
    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.contains("every verdict is the one that was saved"),
        "{told}"
    );
}

/// Every file below.
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
    found
}
