//! Scenario files from folders and single paths.

use crate::suite::{LoadError, Source, Suite, embedded};
use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// What keeps scenarios from being read.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilesError {
    /// A path can't be read.
    #[error("can't read {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    /// A file that is no text.
    #[error("{} is not UTF-8: a scenario is a text file", .0.display())]
    NotText(PathBuf),
    /// A folder without a scenario.
    #[error("{} holds no scenario: not one .toml file is in it", .0.display())]
    Empty(PathBuf),
    /// Mistakes in files.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// The embedded scenarios, those of a folder over them, and single files over both.
pub(super) fn load(folder: Option<&Path>, files: &[&Path]) -> Result<Suite, FilesError> {
    let mut layers = vec![embedded()];
    if let Some(folder) = folder {
        let mut sources = Vec::new();
        walk(folder, folder, &mut sources)?;
        if sources.is_empty() {
            return Err(FilesError::Empty(folder.to_owned()));
        }
        layers.push(sources);
    }
    let single: Result<Vec<Source>, FilesError> =
        files.iter().map(|path| single_file(path)).collect();
    layers.push(single?);
    Ok(Suite::load(&layers)?)
}

/// The id of an outside file: its stem.
pub(super) fn stem(path: &Path) -> String {
    path.file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn single_file(path: &Path) -> Result<Source, FilesError> {
    Ok(Source {
        file: path.display().to_string(),
        id: stem(path),
        text: read(path)?,
    })
}

fn walk(root: &Path, folder: &Path, sources: &mut Vec<Source>) -> Result<(), FilesError> {
    let unreadable = |error| FilesError::Unreadable {
        path: folder.to_owned(),
        error,
    };
    let mut entries: Vec<fs::DirEntry> = fs::read_dir(folder)
        .map_err(unreadable)?
        .collect::<Result<_, _>>()
        .map_err(unreadable)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            walk(root, &path, sources)?;
        } else if path.extension().is_some_and(|end| end == "toml") {
            let id = path
                .strip_prefix(root)
                .unwrap_or(&path)
                .with_extension("")
                .to_string_lossy()
                .replace('\\', "/");
            sources.push(Source {
                file: path.display().to_string(),
                id,
                text: read(&path)?,
            });
        }
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the edge at which scenario files are read"
)]
fn read(path: &Path) -> Result<String, FilesError> {
    let bytes = fs::read(path).map_err(|error| FilesError::Unreadable {
        path: path.to_owned(),
        error,
    })?;
    String::from_utf8(bytes).map_err(|_| FilesError::NotText(path.to_owned()))
}

/// Bytes of a file of ours that are read. A plan's output and a log's bodies have limits (256 and 64 MiB), a third more in
/// base64; what is larger is no saved trial, and nothing else is as large.
pub(super) const MOST_BYTES: u64 = 512 << 20;

/// Why a file is not read whole.
#[derive(Debug)]
pub(super) enum Unread {
    Unreadable(io::Error),
    NoFile,
    TooLarge,
}

/// A whole file, if it is one and no larger than [`MOST_BYTES`].
pub(super) fn whole(path: &Path) -> Result<Vec<u8>, Unread> {
    // Nobody may ever write into a pipe.
    if !fs::metadata(path).map_err(Unread::Unreadable)?.is_file() {
        return Err(Unread::NoFile);
    }
    let mut bytes = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(Unread::Unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Unread::TooLarge);
    }
    Ok(bytes)
}

/// Every file below that ends with `.json`, each folder in the order of its names; or the folder that can't be read.
pub(super) fn json_files(
    folder: &Path,
    found: &mut Vec<PathBuf>,
) -> Result<(), (PathBuf, io::Error)> {
    let unreadable = |error| (folder.to_owned(), error);
    let mut entries: Vec<fs::DirEntry> = fs::read_dir(folder)
        .map_err(unreadable)?
        .collect::<Result<_, _>>()
        .map_err(unreadable)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // A link to a folder may lead back here.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            json_files(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "json") {
            found.push(path);
        }
    }
    Ok(())
}
