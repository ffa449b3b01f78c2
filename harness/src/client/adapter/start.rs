//! Why an adapter is not there, in words that help.

use crate::client::{manifest::Manifest, process};
use std::{io, time::Duration};

/// Why an adapter is not there.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It was not started at all.
    #[error("can't start {program:?} in {folder}: {source}{hint}")]
    Spawn {
        /// The program.
        program: String,
        /// The manifest's folder.
        folder: String,
        /// What the system says.
        source: io::Error,
        /// What may help.
        hint: String,
    },
    /// It ended before its hello.
    #[error("the program ended before its hello ({status}){}{}", first_line(rubbish.as_deref()), said(stderr))]
    Ended {
        /// How.
        status: String,
        /// What was wrong with the first line it wrote instead.
        rubbish: Option<String>,
        /// Its last words.
        stderr: String,
    },
    /// It said nothing, or nothing of use, in time.
    #[error("no hello within {waited:?}{}{}", first_line(rubbish.as_deref()), said(stderr))]
    NoHello {
        /// How long it had.
        waited: Duration,
        /// What was wrong with the first line it wrote instead.
        rubbish: Option<String>,
        /// Its last words.
        stderr: String,
    },
    /// Its hello is wrong.
    #[error("{words}")]
    WrongHello {
        /// How.
        words: String,
    },
}

fn first_line(rubbish: Option<&str>) -> String {
    rubbish.map_or_else(String::new, |words| format!("; it wrote {words}"))
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        words => format!("; its stderr:\n{words}"),
    }
}

impl StartError {
    /// The manifest's command was not started.
    pub(super) fn spawn(manifest: &Manifest, source: io::Error) -> Self {
        let program = manifest.command.first().map_or("", String::as_str);
        let hint = match process::start_hint(program, &manifest.folder, &source) {
            Some(hint) => format!(" ({hint})"),
            None if source.kind() != io::ErrorKind::NotFound => String::new(),
            None if manifest.setup.is_empty() => {
                " (is it installed, and its path relative to the manifest's folder?)".to_owned()
            }
            None => format!(" (has it been set up? `setup {}` does it)", manifest.file),
        };
        Self::Spawn {
            program: manifest.command.first().cloned().unwrap_or_default(),
            folder: manifest.folder.display().to_string(),
            source,
            hint,
        }
    }
}
