//! What a program's end and its output mean for the job.

use crate::{
    client::{
        manifest::{Manifest, Meaning},
        process,
    },
    observed::{JobResult, Reply},
};
use fake_server::wire::Blob;
use serde_json::json;
use std::{os::unix::process::ExitStatusExt as _, process::ExitStatus};

/// What an exit status and the output mean.
pub(super) fn outcome(
    manifest: &Manifest,
    status: ExitStatus,
    cancelled: bool,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
) -> Reply {
    let stdout = Some(Blob(stdout));
    let Some(code) = status.code() else {
        // The program's end is the process's, by a signal too: a program that crashes has told a wrong one.
        let signal = status.signal().map(process::signal_name);
        return Reply::Result(if cancelled {
            JobResult {
                outcome: "cancelled".to_owned(),
                stdout,
                ..JobResult::default()
            }
        } else {
            JobResult {
                outcome: "exited".to_owned(),
                signal: Some(json!(signal)),
                stdout,
                stderr: Some(Blob(stderr)),
                ..JobResult::default()
            }
        });
    };
    let meaning = manifest
        .exit
        .iter()
        .find(|meaning| meaning.statuses.contains(&code))
        .map(|meaning| &meaning.meaning);
    let mut result = JobResult {
        stdout,
        ..JobResult::default()
    };
    match meaning {
        None => {
            result.outcome = "exited".to_owned();
            result.exit_code = Some(json!(code));
            result.stderr = Some(Blob(stderr));
        }
        // Its stderr holds its own words too: no output can be told apart in it.
        Some(Meaning::TimedOut) => result.outcome = "timed-out".to_owned(),
        Some(Meaning::Cancelled) => result.outcome = "cancelled".to_owned(),
        Some(Meaning::Error(kind)) => {
            let words = String::from_utf8_lossy(&stderr);
            result.outcome = "error".to_owned();
            result.error = Some(manifest.errors.report(words.trim_end(), kind));
        }
    }
    Reply::Result(result)
}
