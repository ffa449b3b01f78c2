//! The scenarios of a run: those embedded in the binary, and what a user lays over them.

use crate::contract;
use fake_server::script::{Mistakes, Scenario, model::Plan, parse};
use include_dir::{Dir, DirEntry, include_dir};
use sha2::{Digest as _, Sha256};
use std::{collections::BTreeMap, fmt};

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../scenarios");

/// The text of a scenario file and how it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// How messages name the file.
    pub file: String,
    /// The scenario's id.
    pub id: String,
    /// The whole text.
    pub text: String,
}

/// Every scenario of a run, ordered by the contract's areas, then by id.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    entries: Vec<Entry>,
}

/// One scenario with its text.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it says.
    pub scenario: Scenario,
    /// Where it says so.
    pub source: Source,
}

/// Every mistake in every file.
#[derive(Debug, thiserror::Error)]
pub struct LoadError(Vec<Mistakes>);

impl LoadError {
    /// The text for people, with ANSI styles if `colour`.
    #[must_use]
    pub fn render(&self, colour: bool) -> String {
        /// More files at once help nobody.
        const MOST: usize = 10;
        let mut texts: Vec<String> = self
            .0
            .iter()
            .take(MOST)
            .map(|file| file.render(colour))
            .collect();
        if self.0.len() > MOST {
            texts.push(format!(
                "... and {} more files with mistakes\n",
                self.0.len() - MOST
            ));
        }
        texts.join("\n")
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

/// The files that are embedded.
#[must_use]
pub fn embedded() -> Vec<Source> {
    let mut sources = Vec::new();
    gather(&EMBEDDED, &mut sources);
    sources
}

/// The JSON Schema that is committed beside the scenarios, as text; `None` if there is none.
#[must_use]
pub fn embedded_schema() -> Option<&'static str> {
    EMBEDDED
        .get_file("scenario.schema.json")
        .and_then(include_dir::File::contents_utf8)
}

fn gather(folder: &Dir<'static>, sources: &mut Vec<Source>) {
    for entry in folder.entries() {
        match entry {
            DirEntry::Dir(inner) => gather(inner, sources),
            DirEntry::File(file) => {
                let path = file.path().to_string_lossy().replace('\\', "/");
                if let Some(id) = path.strip_suffix(".toml") {
                    sources.push(Source {
                        file: format!("scenarios/{path}"),
                        id: id.to_owned(),
                        // What is no UTF-8 becomes a mistake with a place when it is parsed.
                        text: String::from_utf8_lossy(file.contents()).into_owned(),
                    });
                }
            }
        }
    }
}

impl Suite {
    /// Parses layers of files; a later layer adds scenarios and replaces those of the same id.
    ///
    /// # Errors
    /// Every mistake in every file; two files of one layer with one id; an id that is no id, or a requirement's.
    pub fn load(layers: &[Vec<Source>]) -> Result<Self, LoadError> {
        let requirements: Vec<&str> = contract::registry().iter().map(|known| known.id).collect();
        let mut mistakes = Vec::new();
        let mut entries: BTreeMap<&str, Entry> = BTreeMap::new();
        for layer in layers {
            let mut files: BTreeMap<&str, &str> = BTreeMap::new();
            for source in layer {
                if let Err(mistake) = check_id(source, &requirements) {
                    mistakes.push(mistake);
                    continue;
                }
                if let Some(other) = files.insert(&source.id, &source.file) {
                    mistakes.push(Mistakes::whole_file(
                        &source.file,
                        format!("`{}` is the id of {other} too", source.id),
                        Some(
                            "an id is the file's path, for a single file its name: rename one"
                                .to_owned(),
                        ),
                    ));
                    continue;
                }
                match parse(&source.file, &source.id, &source.text, Some(&requirements)) {
                    Ok(scenario) => {
                        let id = source.id.as_str();
                        let source = source.clone();
                        entries.insert(id, Entry { scenario, source });
                    }
                    Err(found) => mistakes.push(found),
                }
            }
        }
        if !mistakes.is_empty() {
            return Err(LoadError(mistakes));
        }
        let mut entries: Vec<Entry> = entries.into_values().collect();
        entries.sort_by_cached_key(|entry| (area_place(&entry.source.id), entry.source.id.clone()));
        Ok(Self { entries })
    }

    /// Every scenario in order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// SHA-256 over ids and texts of all scenarios, ordered by id, in hex: the same digest is the same suite, whatever
    /// machine and folder it came from.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut sources: Vec<(&str, &str)> = self
            .iter()
            .map(|entry| (entry.source.id.as_str(), entry.source.text.as_str()))
            .collect();
        sources.sort_unstable();
        let mut hash = Sha256::new();
        for (id, text) in sources {
            for part in [id, text] {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part.as_bytes());
            }
        }
        hex(&hash.finalize())
    }

    /// Every case of every scenario with this seed, in the order of the suite.
    pub fn plans(&self, seed: u64) -> impl Iterator<Item = Plan> {
        self.iter()
            .flat_map(move |entry| entry.scenario.plans(seed))
    }

    /// The scenario with that id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.source.id == id)
    }

    /// How many scenarios there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Bytes in hex, as digests are written.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn area_place(id: &str) -> usize {
    let area = contract::area_of(id);
    contract::AREAS
        .iter()
        .position(|known| known.name == area)
        .unwrap_or(usize::MAX)
}

/// An id is one or more kebab-case words with `/` between, and no requirement's.
fn check_id(source: &Source, requirements: &[&str]) -> Result<(), Mistakes> {
    let word = |word: &str| {
        !word.is_empty()
            && !word.starts_with('-')
            && !word.ends_with('-')
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let id = &source.id;
    if !id.split('/').all(word) {
        return Err(Mistakes::whole_file(
            &source.file,
            format!("`{id}` can't be a scenario's id"),
            Some("an id is the file's path: small letters, digits and `-`, as in `stream/drop-and-resume`".to_owned()),
        ));
    }
    if requirements.contains(&id.as_str()) {
        return Err(Mistakes::whole_file(
            &source.file,
            format!("`{id}` is the id of a requirement"),
            Some(
                "`show` must tell them apart: name the scenario after what goes wrong in it"
                    .to_owned(),
            ),
        ));
    }
    Ok(())
}
