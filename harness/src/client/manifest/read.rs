//! Reads a manifest: every mistake with its place, the line, and what would be right.

mod profile;
mod shapes;

use shapes::closest;

use super::{Abilities, ExitMeaning, KnownFailure, Manifest, Meaning, Mode};
use crate::{client::errors::Patterns, contract, observed::ERROR_KINDS};
use fake_server::{
    script::{Gather, Mistakes},
    wire::{Op, call::Capability},
};
use std::{
    io,
    ops::{Range, RangeInclusive},
    path::{Path, PathBuf},
};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// Why there is no manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The file can't be read.
    #[error("can't read the manifest {file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// What stands in it is wrong.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
}

impl Manifest {
    /// Reads a manifest from a file, or `client.toml` from a folder.
    ///
    /// # Errors
    /// When it can't be read, or holds mistakes: all of them.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        let path = if path.is_dir() {
            path.join("client.toml")
        } else {
            path.to_owned()
        };
        let file = path.display().to_string();
        let unreadable = |source| ManifestError::Unreadable {
            file: file.clone(),
            source,
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "a manifest is a file, and this is the edge that reads it"
        )]
        let text = std::fs::read_to_string(&path).map_err(unreadable)?;
        let folder = std::path::absolute(&path).map_err(unreadable)?;
        let folder = folder.parent().map_or_else(PathBuf::new, Path::to_owned);
        Ok(Self::parse(&file, folder, &text)?)
    }

    /// Reads a manifest from its text. `folder` is where its commands run.
    ///
    /// # Errors
    /// Every mistake in it.
    pub fn parse(file: &str, folder: PathBuf, text: &str) -> Result<Self, Mistakes> {
        let (root, errors) = DeTable::parse_recoverable(text);
        let mut syntax = Gather::new(file, text);
        for error in errors {
            syntax.at(&error.span().unwrap_or(0..0), error.message());
        }
        syntax.finish()?;
        let mut reader = Reader {
            gather: Gather::new(file, text),
            text,
        };
        let manifest = reader.manifest(file, folder, root.get_ref());
        reader.gather.finish()?;
        Ok(manifest)
    }
}

/// Keys of the whole file.
const KEYS: &[&str] = &[
    "name",
    "mode",
    "command",
    "setup",
    "version-command",
    "capabilities",
    "profile",
    "errors",
    "exit",
    "known-failures",
    "speed",
];

/// Outcomes that an exit status may stand for beside the error kinds.
const EXIT_OUTCOMES: &[&str] = &["timed-out", "cancelled"];

/// The placeholders of a command line in command mode. `{command...}` stands for itself and becomes as
/// many arguments as the job's command has; the others may stand inside an argument.
const PLACEHOLDERS: &[&str] = &[
    "{command...}",
    "{sandbox_id}",
    "{base_url}",
    "{api_key}",
    "{timeout_ms}",
];

type Table<'t> = DeTable<'t>;
type Value<'t> = Spanned<DeValue<'t>>;

/// Goes through the file and notes what is wrong. What is wrong gets a stand-in, so that reading goes on.
struct Reader<'t> {
    gather: Gather,
    text: &'t str,
}

impl<'t> Reader<'t> {
    fn manifest(&mut self, file: &str, folder: PathBuf, root: &Table<'t>) -> Manifest {
        self.keys(root, KEYS, "a manifest has no key");
        let mode = self.mode(root);
        let command = self.required(root, "command", Self::command);
        if let (Mode::Command, Some(value)) = (mode, root.get("command")) {
            self.placeholders(value);
        }
        Manifest {
            file: file.to_owned(),
            folder,
            name: self.required(root, "name", Self::text),
            mode,
            command,
            setup: self
                .optional(root, "setup", Self::commands)
                .unwrap_or_default(),
            version_command: self.optional(root, "version-command", Self::command),
            capabilities: self.capabilities(root, mode),
            profile: self
                .optional(root, "profile", Self::profile)
                .unwrap_or_default(),
            errors: self
                .optional(root, "errors", Self::errors)
                .unwrap_or_default(),
            exit: self.exit(root, mode),
            known_failures: self
                .optional(root, "known-failures", Self::known_failures)
                .unwrap_or_default(),
            speed: self.optional(root, "speed", Self::speed),
            env: Vec::new(),
        }
    }

    fn mode(&mut self, root: &Table<'t>) -> Mode {
        let text = self.required(root, "mode", Self::text);
        match text.as_str() {
            "adapter" => Mode::Adapter,
            "command" => Mode::Command,
            // A missing or empty one has been noted.
            "" => Mode::Adapter,
            other => {
                let message = format!("`{other}` is no mode");
                self.one_of(&span(root, "mode"), message, other, &["adapter", "command"]);
                Mode::Adapter
            }
        }
    }

    fn capabilities(&mut self, root: &Table<'t>, mode: Mode) -> Option<Abilities> {
        let names = self.optional(root, "capabilities", |reader, value| {
            reader.list(value, "capability", |reader, value| {
                let name = reader.text(value);
                let known =
                    Op::from_name(&name).is_some() || Capability::from_name(&name).is_some();
                if !known && !name.is_empty() {
                    let known: Vec<&str> = capability_names().collect();
                    reader.one_of(
                        &value.span(),
                        format!("`{name}` is no capability"),
                        &name,
                        &known,
                    );
                }
                name
            })
        });
        let abilities = names.map(|names| Abilities::of(names.iter().map(String::as_str)).0);
        let no_op = abilities
            .as_ref()
            .is_none_or(|abilities| abilities.ops.is_empty());
        if mode == Mode::Command && no_op {
            let place = root.get("capabilities").map_or(0..0, Spanned::span);
            self.gather
                .at(
                    &place,
                    "a command-line client says no hello, so its manifest must claim an op",
                )
                .help("for example capabilities = [\"execute\"]");
        }
        abilities
    }

    fn errors(&mut self, value: &Value<'t>) -> Patterns {
        let mut patterns = Patterns::default();
        for (key, value) in self.entries(value) {
            let kind = self.text(value);
            self.error_kind(value, &kind);
            if let Err(error) = patterns.push(key.get_ref(), &kind) {
                let words = error.to_string();
                let words = words.lines().last().unwrap_or_default();
                self.gather
                    .at(&key.span(), "this is no regular expression")
                    .label(words.strip_prefix("error: ").unwrap_or(words));
            }
        }
        patterns
    }

    fn error_kind(&mut self, value: &Value<'t>, kind: &str) {
        if !kind.is_empty() && !ERROR_KINDS.contains(&kind) {
            self.one_of(
                &value.span(),
                format!("`{kind}` is no error kind"),
                kind,
                ERROR_KINDS,
            );
        }
    }

    fn exit(&mut self, root: &Table<'t>, mode: Mode) -> Vec<ExitMeaning> {
        let Some(value) = root.get("exit") else {
            return Vec::new();
        };
        if mode == Mode::Adapter {
            self.gather
                .at(&key_span(root, "exit"), "`[exit]` belongs to command mode")
                .help("an adapter says in its results what went wrong");
            return Vec::new();
        }
        let mut exit: Vec<ExitMeaning> = Vec::new();
        for (key, value) in self.entries(value) {
            let Some(statuses) = statuses(key.get_ref()) else {
                self.gather
                    .at(
                        &key.span(),
                        format!("`{}` is no exit status", key.get_ref()),
                    )
                    .help("a status from 0 to 255, or a range of them, both included: \"64..78\"");
                continue;
            };
            let word = self.text(value);
            let meaning = match word.as_str() {
                "timed-out" => Meaning::TimedOut,
                "cancelled" => Meaning::Cancelled,
                kind => {
                    if !kind.is_empty() && !ERROR_KINDS.contains(&kind) {
                        let known: Vec<&str> =
                            ERROR_KINDS.iter().chain(EXIT_OUTCOMES).copied().collect();
                        self.one_of(
                            &value.span(),
                            format!("`{kind}` is no error kind"),
                            kind,
                            &known,
                        );
                    }
                    Meaning::Error(kind.to_owned())
                }
            };
            exit.push(ExitMeaning { statuses, meaning });
        }
        exit
    }

    fn known_failures(&mut self, value: &Value<'t>) -> Vec<KnownFailure> {
        let mut known = Vec::new();
        for (key, value) in self.entries(value) {
            let reason = self.text(value);
            let mut words = key.get_ref().split_whitespace();
            let (pattern, requirement) = (words.next().unwrap_or_default(), words.next());
            if pattern.is_empty() || words.next().is_some() {
                self.gather
                    .at(&key.span(), "a known failure is a scenario id or pattern, and perhaps a requirement id after a space")
                    .help("for example \"sequence/duplicate-*\" or \"raw/lines-cr raw/lines\"");
                continue;
            }
            if let Some(id) = requirement
                && contract::requirement(id).is_none()
            {
                let ids: Vec<&str> = contract::registry().iter().map(|entry| entry.id).collect();
                self.one_of(&key.span(), format!("`{id}` is no requirement"), id, &ids);
            }
            known.push(KnownFailure {
                pattern: pattern.to_owned(),
                requirement: requirement.map(str::to_owned),
                reason,
                line: self.line_of(&key.span()),
            });
        }
        known
    }

    /// Placeholders that are unknown, or stand where they can't be filled in. Other braces, and those behind a
    /// `%` or a `$` (curl's `%{http_code}`, a shell's `${HOME}`), are the program's own business.
    fn placeholders(&mut self, command: &Value<'t>) {
        let DeValue::Array(arguments) = command.get_ref() else {
            return;
        };
        for argument in arguments.iter() {
            let Some(text) = argument.get_ref().as_str() else {
                continue;
            };
            if text.contains("{command...}") && text != "{command...}" {
                self.gather
                    .at(
                        &argument.span(),
                        "`{command...}` becomes several arguments, so it must stand alone",
                    )
                    .help("as an argument of its own: \"{command...}\"");
            }
            for name in braced(text).filter(|name| !PLACEHOLDERS.contains(name)) {
                let known = format!("there are {}", PLACEHOLDERS.join(", "));
                self.gather
                    .at(&argument.span(), format!("`{name}` is no placeholder"))
                    .help(closest(name, PLACEHOLDERS).map_or_else(
                        || known.clone(),
                        |meant| format!("did you mean `{meant}`? {known}"),
                    ));
            }
        }
    }
}

/// Ops, then capabilities.
fn capability_names() -> impl Iterator<Item = &'static str> {
    let ops = Op::ALL.iter().map(|op| op.name());
    ops.chain(Capability::ALL.iter().map(|capability| capability.name()))
}

fn span(table: &Table<'_>, key: &str) -> Range<usize> {
    table.get(key).map_or(0..0, Spanned::span)
}

fn key_span(table: &Table<'_>, key: &str) -> Range<usize> {
    let found = table.keys().find(|known| known.get_ref().as_ref() == key);
    found.map_or(0..0, Spanned::span)
}

/// `7`, or `64..78` with both included.
fn statuses(text: &str) -> Option<RangeInclusive<i32>> {
    let status = |text: &str| text.parse::<u8>().ok().map(i32::from);
    match text.split_once("..") {
        None => status(text).map(|one| one..=one),
        Some((first, last)) => {
            let range = status(first)?..=status(last)?;
            (!range.is_empty()).then_some(range)
        }
    }
}

/// `{word}`s in a text, without those behind a `%` or a `$`.
fn braced(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{').filter_map(|(start, _)| {
        if text[..start].ends_with(['%', '$']) {
            return None;
        }
        let rest = &text[start..];
        let end = rest.find('}')?;
        let word = &rest[1..end];
        let is_word = word
            .chars()
            .all(|char| char.is_ascii_alphabetic() || matches!(char, '_' | '-' | '.'));
        (is_word && !word.is_empty()).then(|| &rest[..=end])
    })
}

#[cfg(test)]
mod tests;
