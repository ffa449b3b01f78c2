//! `run --save DIR`: a file for each case, as soon as it is judged.
//!
//! The folder holds one run. Trials of an earlier run of the same client are removed before the first case is played, so
//! that `judge` never takes them for this one's; those of another client are somebody's evidence, and refused. Files that
//! are no saved trials stay.

use super::{Failure, files::json_files, output::complain};
use crate::{
    events::{RunEvent, Sink},
    exit::Exit,
    report::text::{count, harmless},
    saved::{Keeper, Whose, file_name, whose},
    summary::Judged,
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Writes saved trials into a folder.
pub(super) struct Saver {
    folder: PathBuf,
    keeper: Keeper,
    /// What could not be written: how many, and the first with its reason.
    lost: Option<(usize, String)>,
}

impl Saver {
    /// Makes the folder, or empties it of the client's earlier trials, so that a wrong one is known before anything is
    /// played.
    pub(super) fn new(folder: &Path, keeper: Keeper) -> Result<Self, Failure> {
        let unusable = |why: &str| {
            Failure::usage(format!(
                "trials can't be saved in {}: {why}",
                folder.display()
            ))
        };
        fs::create_dir_all(folder)
            .map_err(|error| unusable(&format!("{error}: name a folder that can be written")))?;
        let earlier = earlier(folder, keeper.client()).map_err(|why| unusable(&why))?;
        for path in &earlier {
            fs::remove_file(path).map_err(|error| {
                unusable(&format!(
                    "{}, of an earlier run, can't be removed: {error}",
                    path.display()
                ))
            })?;
        }
        if !earlier.is_empty() {
            complain(&format!(
                "note: {} of an earlier run removed from {}",
                count(earlier.len(), "trial", "trials"),
                folder.display()
            ));
        }
        Ok(Self {
            folder: folder.to_owned(),
            keeper,
            lost: None,
        })
    }

    /// Saves a case; the last one of an id stays.
    pub(super) fn save(&mut self, judged: &Judged) {
        let path = self.folder.join(file_name(judged.case.id()));
        let written = self
            .keeper
            .text(judged)
            .map_err(io::Error::from)
            .and_then(|text| write_whole(&path, &text));
        if let Err(error) = written {
            let first = || (0, format!("{}: {error}", path.display()));
            self.lost.get_or_insert_with(first).0 += 1;
        }
    }

    /// Tells if anything is missing.
    pub(super) fn end(self) -> Result<(), Failure> {
        match self.lost {
            None => Ok(()),
            Some((number, first)) => Err(Failure::new(
                Exit::Harness,
                format!(
                    "{} could not be saved: {first}",
                    count(number, "trial", "trials")
                ),
            )),
        }
    }
}

/// The trials in a folder that are this client's; in words why they may not be replaced, if one is not.
fn earlier(folder: &Path, client: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    json_files(folder, &mut found)
        .map_err(|(within, error)| format!("{} can't be read: {error}", within.display()))?;
    let mut earlier = Vec::new();
    for path in found {
        // A pipe has no end, and is no trial.
        if !path.is_file() {
            continue;
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the edge at which trials are saved"
        )]
        let text = fs::read(&path)
            .map_err(|error| format!("{} can't be read: {error}", path.display()))?;
        let another = match whose(&text) {
            Whose::Foreign => continue,
            Whose::Client(name) if name == client => {
                earlier.push(path);
                continue;
            }
            Whose::Client(name) => format!("of another client, {}", harmless(&name)),
            Whose::Unknown => "of a client that it does not name".to_owned(),
        };
        return Err(format!(
            "{} is a trial {another}: name another folder, or remove this one",
            path.display()
        ));
    }
    Ok(earlier)
}

impl Sink for Saver {
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::CaseFinished { judged, .. } | RunEvent::CaseRevised { judged, .. } = event
        {
            self.save(judged);
        }
    }
}

/// Writes a file so that it is whole or not there, whenever the program ends.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // `judge` reads what ends with `.json` only. Two runs into one folder must not share it.
    let part = path.with_extension(format!("{}.part", std::process::id()));
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the edge at which trials are saved"
    )]
    let done = fs::write(&part, text).and_then(|()| fs::rename(&part, path));
    if done.is_err() {
        // What is half there helps nobody; that it can't be removed either is the same trouble.
        let _ = fs::remove_file(&part);
    }
    done
}
