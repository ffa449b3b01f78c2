//! The scenario files of this repository are read without a mistake, and the committed schema is current.

use fake_server::script::{self, Scenario};
use std::{
    fs,
    path::{Path, PathBuf},
};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
    {
        if entry.is_dir() {
            files(&entry, found);
        } else if entry
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            found.push(entry);
        }
    }
}

/// Every scenario of the repository with its id, or all mistakes in them.
fn read_all() -> Result<Vec<(String, Scenario)>, String> {
    let root = root();
    let mut found = Vec::new();
    files(&root, &mut found);
    found.sort();
    assert!(!found.is_empty(), "no scenarios in {}", root.display());
    let mut wrong = String::new();
    let mut scenarios = Vec::new();
    for path in &found {
        let id = path
            .strip_prefix(&root)
            .expect("below the root")
            .with_extension("");
        let id = id.to_str().expect("a plain name").replace('\\', "/");
        let text = fs::read_to_string(path).expect("text");
        let mut beside =
            |name: &str| fs::read(path.with_file_name(name)).map_err(|error| error.to_string());
        match script::parse_with(
            &format!("scenarios/{id}.toml"),
            &id,
            &text,
            None,
            &mut beside,
        ) {
            Ok(scenario) => scenarios.push((id, scenario)),
            Err(mistakes) => wrong.push_str(&format!("{mistakes}\n\n")),
        }
    }
    if wrong.is_empty() {
        Ok(scenarios)
    } else {
        Err(wrong)
    }
}

/// Every scenario of the repository with its id.
pub(crate) fn all() -> Vec<(String, Scenario)> {
    read_all().unwrap_or_else(|wrong| panic!("\n{wrong}"))
}

#[test]
fn every_scenario_of_the_repository_is_read() {
    if let Err(wrong) = read_all() {
        panic!("\n{wrong}");
    }
}

#[test]
fn the_committed_schema_is_current() {
    let path = root().join("scenario.schema.json");
    let current = format!("{:#}\n", script::schema());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::write(&path, &current).expect("the schema can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == current,
        "scenarios/scenario.schema.json is stale: run the tests with UPDATE_SCHEMA=1"
    );
}
