//! `certify`: the whole suite, into one folder; `verify`: is a folder what follows from its trials?

use super::{
    Failure,
    args::{CertifyArgs, OutputArgs, RunArgs, SourceArgs, VerifyArgs},
    output::{complain, say},
    report::{opened, records, written},
    run::run,
};
use crate::{
    certificate::{Certificate, Facts, Files, check, digest, parse, reports, whole},
    exit::Exit,
    report::{json::record_lines, text::harmless},
    saved::{Saved, file_name, read},
    suite::{Suite, embedded},
};
use fake_server::script::model::Plan;
use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// The file that makes a folder a certificate's.
const CERTIFICATE: &str = "certificate.json";
const EVENTS: &str = "events.jsonl";
/// What stands in it until there is a certificate. A folder in which `certify` was stopped may be used again.
const UNFINISHED: &str =
    "{\"format\": \"createos-conformance certificate\", \"version\": 1, \"unfinished\": true}\n";
/// Bytes of a file that are read: as much as a saved trial may have.
const MOST_BYTES: u64 = 512 << 20;

pub(super) fn certify(args: &CertifyArgs) -> Result<Exit, Failure> {
    let folder = &args.out;
    prepare(folder)?;
    let played = run(&RunArgs {
        patterns: Vec::new(),
        client: args.client.clone(),
        wrong: args.wrong.clone(),
        jobs: args.jobs,
        seed: args.seed,
        timeout_multiplier: args.timeout_multiplier,
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
    drop(opened(&folder.join(CERTIFICATE), true)?);
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
    for plan in plans(&suite()?, args.seed) {
        let path = folder.join("trials").join(file_name(&plan.id));
        let text = bytes(&path).map_err(|error| broken(&error))?;
        let text = String::from_utf8(text).map_err(|error| broken(&error))?;
        trials.push(read(&text).map_err(|error| broken(&error))?);
    }
    let record = whole(&told, &trials).map_err(|error| broken(&error))?;
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
    certificate.files = files(folder)
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

fn plans(suite: &Suite, seed: u64) -> Vec<Plan> {
    suite
        .iter()
        .flat_map(|entry| entry.scenario.plans(seed))
        .collect()
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
    let files = files(folder).map_err(unusable)?;
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
fn files(folder: &Path) -> Result<Files, String> {
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

/// A whole file, if it is one and no larger than any of a certificate.
fn bytes(path: &PathBuf) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("{}: {error}", path.display());
    // Nobody may ever write into a pipe.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(format!("{} is no file", path.display()));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!(
            "{} is larger than {} MiB",
            path.display(),
            MOST_BYTES >> 20
        ));
    }
    Ok(bytes)
}
