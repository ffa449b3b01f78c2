//! `setup` runs what the manifest says, in order, in its folder, and stops at the first failure.

#![expect(
    clippy::disallowed_methods,
    reason = "tests read what the commands leave behind"
)]

use harness::client::{
    manifest::Manifest,
    setup::{SetupError, setup},
};

fn manifest(folder: &tempfile::TempDir, commands: &str) -> Manifest {
    let text = format!("name='x'\nmode='adapter'\ncommand=['x']\nsetup={commands}\n");
    Manifest::parse("client.toml", folder.path().to_owned(), &text).unwrap()
}

#[tokio::test]
async fn commands_run_in_order_in_the_manifests_folder() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = manifest(
        &folder,
        "[['sh', '-c', 'echo one >> log'], ['sh', '-c', 'echo two >> log']]",
    );
    let mut told = Vec::new();
    setup(&manifest, |words| told.push(words.to_owned()))
        .await
        .unwrap();
    assert_eq!(told, ["sh -c echo one >> log", "sh -c echo two >> log"]);
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert_eq!(log, "one\ntwo\n");
}

#[tokio::test]
async fn the_first_failure_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let failing = manifest(&folder, "[['sh', '-c', 'exit 3'], ['touch', 'never']]");
    let error = setup(&failing, |_| {}).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`sh -c exit 3` failed (exit status 3); the commands after it were not run"
    );
    assert!(!folder.path().join("never").exists());
    let missing = manifest(&folder, "[['./no-such-program']]");
    let error = setup(&missing, |_| {}).await.unwrap_err();
    assert!(matches!(error, SetupError::NotStarted { .. }), "{error}");
}
