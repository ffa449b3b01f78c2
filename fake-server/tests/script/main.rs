//! Scenario files: what each construct means, what is said about a mistake, and that nothing an
//! author can write breaks the reader.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests read the scenarios and documents of the repository"
)]

mod constructs;
mod docs;
mod faults;
mod files;
mod mistakes;
mod mutations;
mod printed;
mod steps;

use fake_server::script::{self, Mistakes, Scenario, model::Plan};

/// Requirements that the examples cite.
const REQUIREMENTS: &[&str] = &[
    "stream/drop-is-not-the-end",
    "stream/resume-cursor",
    "frames/last-line",
    "data/exact",
];

/// Title and requirement, so that an example says only what it is about.
const HEAD: &str = "title = \"An example\"\nrequirements = [\"data/exact\"]\n";

/// Three frames, for examples about streams.
const THREE: &str = r#"
[process]
output = [{ stdout = "one\n" }, { stderr = "two\n" }, { stdout = "three\n" }]
"#;

fn read(text: &str) -> Result<Scenario, Mistakes> {
    script::parse(
        "scenarios/stream/example.toml",
        "stream/example",
        text,
        Some(REQUIREMENTS),
    )
}

/// The plan of an example below [`HEAD`].
fn plan(text: &str) -> Plan {
    match read(&format!("{HEAD}{text}")) {
        Ok(scenario) => scenario.plan(0, 7),
        Err(mistakes) => panic!("\n{mistakes}"),
    }
}

/// The messages about an example below [`HEAD`], without their places.
fn messages(text: &str) -> Vec<String> {
    match read(&format!("{HEAD}{text}")) {
        Ok(_) => Vec::new(),
        Err(mistakes) => mistakes
            .iter()
            .map(|mistake| mistake.message.clone())
            .collect(),
    }
}
