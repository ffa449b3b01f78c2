//! `run --save DIR`: a file for each case, as soon as it is judged.

use super::Failure;
use crate::{
    events::{RunEvent, Sink},
    exit::Exit,
    report::text::count,
    saved::{Keeper, file_name},
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
    /// Makes the folder, so that a wrong one is known before anything is played.
    pub(super) fn new(folder: &Path, keeper: Keeper) -> Result<Self, Failure> {
        fs::create_dir_all(folder).map_err(|error| {
            Failure::usage(format!(
                "trials can't be saved in {}: {error}: name a folder that can be written",
                folder.display()
            ))
        })?;
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
