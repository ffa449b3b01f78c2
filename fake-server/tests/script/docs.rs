//! The examples of `docs/scenarios.md` are right.

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn every_whole_example_of_the_documentation_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenarios.md");
    let text = fs::read_to_string(path).expect("docs/scenarios.md");
    let mut whole = 0;
    for part in text.split("```toml\n").skip(1) {
        let example = part.split("```").next().unwrap_or_default();
        // What has no title is a part of a file.
        if !example.contains("title = ") {
            continue;
        }
        whole += 1;
        let mut files = |_: &str| Ok(Vec::new());
        let read = fake_server::script::parse_with(
            "docs/scenarios.md",
            "example",
            example,
            None,
            &mut files,
        );
        if let Err(mistakes) = read {
            panic!("\n{mistakes}");
        }
    }
    assert!(whole > 5, "only {whole} whole examples");
}

/// Keys of every table of the schema.
fn keys(schema: &serde_json::Value, found: &mut Vec<String>) {
    match schema {
        serde_json::Value::Object(fields) => {
            if let Some(serde_json::Value::Object(properties)) = fields.get("properties") {
                found.extend(properties.keys().cloned());
            }
            fields.values().for_each(|field| keys(field, found));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn every_key_is_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenarios.md");
    let text = fs::read_to_string(path).expect("docs/scenarios.md");
    let words: BTreeSet<&str> = text
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
        .collect();
    let mut found = Vec::new();
    keys(&fake_server::script::schema(), &mut found);
    assert!(found.len() > 80);
    let missing: Vec<_> = found
        .iter()
        .filter(|key| !words.contains(key.as_str()))
        .collect();
    assert!(missing.is_empty(), "not in docs/scenarios.md: {missing:?}");
}
