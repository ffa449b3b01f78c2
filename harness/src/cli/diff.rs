//! `diff`: what is not the same in two runs.

use super::{
    Failure,
    args::DiffArgs,
    output::{page, say},
    report::records,
};
use crate::{
    exit::Exit,
    report::{
        diff::{diff, report},
        record::Record,
        text::harmless,
    },
};
use std::path::Path;

pub(super) fn differences(args: &DiffArgs) -> Result<Exit, Failure> {
    let (before, after) = (one(&args.before)?, one(&args.after)?);
    let diff = diff(&before, &after);
    for line in report(&before, &after, &diff, page().width).lines() {
        say(&format!("{}\n", harmless(line)));
    }
    Ok(if diff.is_empty() {
        Exit::AsExpected
    } else {
        Exit::Failed
    })
}

/// The run of an event file, or of a certificate's folder.
fn one(path: &Path) -> Result<Record, Failure> {
    let file = if path.is_dir() {
        path.join("events.jsonl")
    } else {
        path.to_owned()
    };
    let mut records = records(&file)?;
    match (records.pop(), records.is_empty()) {
        (Some(record), true) => Ok(record),
        _ => Err(Failure::usage(format!(
            "{}: it holds several runs: name a file with one",
            file.display()
        ))),
    }
}
