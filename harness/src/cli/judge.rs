//! `judge`: saved trials, judged again without a network.

use super::{
    Failure,
    args::JudgeArgs,
    called,
    files::{MOST_BYTES, Unread, json_files, whole},
    output::{complain, page, say},
};
use crate::{
    exit::Exit,
    report::{
        again::{Again, again_line, report as told},
        console,
        json::{case_line, run_line, summary_line},
        text::harmless,
    },
    saved::{About, Saved, SavedError, read},
    summary::{Judged, Summary},
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a file can't be judged.
#[derive(Debug, thiserror::Error)]
enum FileError {
    #[error("can't be read: {0}")]
    Unreadable(io::Error),
    #[error("is no file")]
    NoFile,
    #[error("is larger than {} MiB: no saved trial is", MOST_BYTES >> 20)]
    TooLarge,
    #[error("is not UTF-8: no saved trial is")]
    NotText,
    #[error("holds no saved trial: not one .json file is in it")]
    Empty,
    #[error(transparent)]
    Saved(#[from] SavedError),
}

/// Trials of one run.
struct Run {
    about: About,
    judged: Vec<Judged>,
}

pub(super) fn judge(args: &JudgeArgs) -> Result<Exit, Failure> {
    let mut runs: Vec<Run> = Vec::new();
    let mut again = Again::default();
    let mut unusable = 0;
    let mut blame = |path: &Path, error: &FileError| {
        unusable += 1;
        complain(&format!(
            "error: {} {}",
            path.display(),
            harmless(&error.to_string())
        ));
    };
    for path in files(&args.paths, &mut blame) {
        match saved(&path) {
            Ok(saved) => {
                let judged = saved.again();
                again.add(&path.display().to_string(), &saved, judged.change);
                match runs.iter_mut().find(|run| run.about == saved.run) {
                    Some(run) => run.judged.push(judged.judged),
                    None => runs.push(Run {
                        about: saved.run,
                        judged: vec![judged.judged],
                    }),
                }
            }
            Err(error) => blame(&path, &error),
        }
    }
    if runs.is_empty() && unusable == 0 {
        return Err(Failure::usage("there is nothing to judge"));
    }
    let mut exit = Exit::AsExpected;
    for run in &runs {
        exit = exit.and(show(run, args));
    }
    if again.changed().next().is_some() {
        exit = exit.and(Exit::Failed);
    }
    if unusable > 0 {
        exit = exit.and(Exit::Usage);
    }
    if !runs.is_empty() {
        say(&if args.json {
            format!("{}\n", again_line(&again, exit))
        } else {
            format!("\n{}", told(&again, exit, &page()))
        });
    }
    Ok(exit)
}

/// The report of one run, as `run` would write it.
fn show(run: &Run, args: &JudgeArgs) -> Exit {
    let info = run.about.info(run.judged.len(), called::program());
    // Nobody was waited for.
    let summary = Summary::new(&run.judged, &info, None, 0);
    if args.json {
        let mut text = run_line(&info) + "\n";
        for (index, one) in run.judged.iter().enumerate() {
            text.push_str(&case_line(one, Some(index), &info, args.verbose));
            text.push('\n');
        }
        text.push_str(&summary_line(&summary));
        text.push('\n');
        say(&text);
    } else {
        say(&console::report(
            &run.judged,
            &summary,
            &info,
            &page(),
            args.verbose,
        ));
    }
    summary.exit()
}

/// Every file that is meant: those named, and in folders all that end with `.json`, each folder in the order of its names.
fn files(paths: &[PathBuf], blame: &mut impl FnMut(&Path, &FileError)) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = found.len();
            if let Err((folder, error)) = json_files(path, &mut found) {
                blame(&folder, &FileError::Unreadable(error));
            } else if found.len() == before {
                blame(path, &FileError::Empty);
            }
        } else {
            found.push(path.clone());
        }
    }
    found
}

fn saved(path: &Path) -> Result<Saved, FileError> {
    let bytes = whole(path).map_err(|unread| match unread {
        Unread::Unreadable(error) => FileError::Unreadable(error),
        Unread::NoFile => FileError::NoFile,
        Unread::TooLarge => FileError::TooLarge,
    })?;
    let text = String::from_utf8(bytes).map_err(|_| FileError::NotText)?;
    Ok(read(&text)?)
}
