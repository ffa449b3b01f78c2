//! `certify`: the whole suite, into one folder; `verify`: is a folder what follows from its trials?

use super::{
    Failure,
    args::{CertifyArgs, OutputArgs, RunArgs, SourceArgs, VerifyArgs},
    files::{self, MOST_BYTES, Unread},
    output::{complain, say},
    report::{records, written},
    run::run,
};
use crate::{
    certificate::{Certificate, Facts, Files, check, digest, parse, reports, whole},
    exit::Exit,
    report::{json::record_lines, text::harmless},
    saved::{Saved, file_name, read},
    suite::{Suite, embedded},
    summary::Judged,
};
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// The file that makes a folder a certificate's.
const CERTIFICATE: &str = "certificate.json";
const EVENTS: &str = "events.jsonl";
/// What stands in it until there is a certificate. A folder in which `certify` was stopped may be used again.
const UNFINISHED: &str =
    "{\"format\": \"createos-conformance certificate\", \"version\": 1, \"unfinished\": true}\n";
pub(super) fn certify(args: &CertifyArgs) -> Result<Exit, Failure> {
    let folder = &args.out;
    prepare(folder)?;
    let played = run(&RunArgs {
        patterns: Vec::new(),
        client: args.client.clone(),
        wrong: args.wrong.clone(),
        jobs: args.jobs,
        pace: args.pace,
        verify_stability: None,
        events: Some(folder.join(EVENTS)),
        outputs: OutputArgs {
            junit: None,
            markdown: None,
            html: None,
            github: args.github,
        },
        shard: None,
        save: Some(folder.join("trials")),
        fail_fast: false,
        strict: false,
        verbose: false,
        json: false,
        in_memory: false,
        source: SourceArgs { scenarios: None },
    })?;
    if played >= Exit::AdapterUnusable {
        complain("note: no certificate: the run did not come to its end");
        return Ok(played);
    }
    let certificate = finished(args)?;
    say(&format!("\n{}", harmless(certificate.summary().trim_end())));
    say(&format!("\ncertificate in {}\n", folder.display()));
    Ok(played.and(certificate.exit()))
}

/// Makes the folder one for a certificate, or says why it may not be used.
fn prepare(folder: &Path) -> Result<(), Failure> {
    let refused = |why: String| {
        Failure::usage(format!(
            "{} can't take a certificate: {why}",
            folder.display()
        ))
    };
    fs::create_dir_all(folder).map_err(|error| refused(error.to_string()))?;
    let is_empty = fs::read_dir(folder)
        .map_err(|error| refused(error.to_string()))?
        .next()
        .is_none();
    if !is_empty {
        let is_ours = bytes(&folder.join(CERTIFICATE))
            .ok()
            .and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok())
            .is_some_and(|value| value["format"] == crate::certificate::FORMAT);
        if !is_ours {
            return Err(refused(
                "it holds something else; name an empty folder, or one of a certificate".to_owned(),
            ));
        }
    }
    written(&folder.join(CERTIFICATE), false, UNFINISHED)
}

/// Everything in the folder is made from the trials as they are read back, as `verify` makes it.
fn finished(args: &CertifyArgs) -> Result<Certificate, Failure> {
    let folder = &args.out;
    let broken = |why: &dyn std::fmt::Display| {
        Failure::new(Exit::Harness, format!("{}: {why}", folder.display()))
    };
    let mut records = records(&folder.join(EVENTS))?;
    let told = records.pop().ok_or_else(|| broken(&"no run"))?;
    let mut trials: Vec<Saved> = Vec::new();
    for plan in suite()?.plans(args.pace.seed) {
        let path = folder.join("trials").join(file_name(&plan.id));
        let text = bytes(&path).map_err(|error| broken(&error))?;
        let text = String::from_utf8(text).map_err(|error| broken(&error))?;
        trials.push(read(&text).map_err(|error| broken(&error))?);
    }
    let judged: Vec<Judged> = trials.iter().map(|trial| trial.again().judged).collect();
    let record = whole(&told, &trials, &judged).map_err(|error| broken(&error))?;
    written(&folder.join(EVENTS), false, &record_lines(&record))?;
    let facts = Facts {
        issued_s: now_s(),
        build: args.build.clone(),
        files: BTreeMap::new(),
    };
    let mut certificate = Certificate::new(&record, &trials, facts);
    for (file, content) in reports(&record, &certificate) {
        let content = content.ok_or_else(|| broken(&format!("no {file}")))?;
        written(&folder.join(file), false, &content)?;
    }
    certificate.files = contents(folder)
        .map_err(|error| broken(&error))?
        .into_iter()
        .map(|(file, bytes)| (file, digest(&bytes)))
        .collect();
    written(&folder.join(CERTIFICATE), false, &certificate.text())?;
    Ok(certificate)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the edge: a certificate says when it was made"
)]
fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

fn suite() -> Result<Suite, Failure> {
    Suite::load(&[embedded()]).map_err(|error| Failure::new(Exit::Harness, error))
}

pub(super) fn verify(args: &VerifyArgs) -> Result<Exit, Failure> {
    let folder = &args.folder;
    let unusable = |why: String| {
        let place = folder.display();
        Failure::usage(format!("{place} can't be verified: {}", harmless(&why)))
    };
    let text = bytes(&folder.join(CERTIFICATE))
        .map_err(|error| unusable(format!("{CERTIFICATE}: {error}")))?;
    let text = String::from_utf8_lossy(&text);
    // Before a thousand files are read.
    parse(&text).map_err(|error| unusable(error.to_string()))?;
    let files = contents(folder).map_err(unusable)?;
    let (certificate, problems) =
        check(&text, &files, &suite()?).map_err(|error| unusable(error.to_string()))?;
    if problems.is_empty() {
        say(&format!("{}\n", harmless(certificate.summary().trim_end())));
        say("verified: everything in the folder follows from its trials\n");
        return Ok(certificate.exit());
    }
    /// More help nobody.
    const MOST: usize = 20;
    for problem in problems.iter().take(MOST) {
        for line in problem.to_string().lines() {
            say(&format!("{}\n", harmless(line)));
        }
    }
    if problems.len() > MOST {
        say(&format!("and {} more\n", problems.len() - MOST));
    }
    say("not verified: do not rely on this certificate\n");
    Ok(Exit::Failed)
}

/// Every file of the folder but the certificate, each folder's in the order of their names.
fn contents(folder: &Path) -> Result<Files, String> {
    let mut files = Files::new();
    let mut folders = vec![(folder.to_owned(), String::new())];
    while let Some((path, prefix)) = folders.pop() {
        let unreadable = |error: std::io::Error| format!("{}: {error}", path.display());
        for entry in fs::read_dir(&path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type().map_err(unreadable)?.is_dir() {
                folders.push((entry.path(), format!("{name}/")));
            } else if name != CERTIFICATE {
                let content = bytes(&entry.path())?;
                files.insert(name, content);
            }
        }
    }
    Ok(files)
}

/// A whole file, or in words why there is none.
fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let place = path.display();
    files::whole(path).map_err(|unread| match unread {
        Unread::Unreadable(error) => format!("{place}: {error}"),
        Unread::NoFile => format!("{place} is no file"),
        Unread::TooLarge => format!("{place} is larger than {} MiB", MOST_BYTES >> 20),
    })
}
