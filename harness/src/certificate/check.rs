//! Checking a certificate: everything is made again from its trials, and whatever is not the same is told.

use super::{Certificate, FORMAT, Facts, VERSION, badge, digest, lines};
use crate::{
    case::Case,
    contract::{applicable, registry},
    judge::CheckStatus,
    report::{html, json::record_lines, junit, record, record::Record},
    saved::{Saved, file_name, read},
    standing::KnownFailures,
    suite::Suite,
    summary::Judged,
};
use fake_server::script::model::Plan;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The files of a folder but `certificate.json`: path, with `/`, and content.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Why a folder can't be verified at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unverifiable {
    /// It holds something else.
    #[error("certificate.json is no certificate ({0}): `certify --out FOLDER` makes one")]
    Foreign(String),
    /// It was not finished.
    #[error("`certify` did not end: run it again")]
    Unfinished,
    /// Another suite made it.
    #[error(
        "it is of suite {suite} with digest {digest}, this is {own} with {own_digest}: verify it with the version that made it"
    )]
    Suite {
        /// The version that made it.
        suite: String,
        /// The digest of that.
        digest: String,
        /// This version.
        own: String,
        /// The digest of this.
        own_digest: String,
    },
}

/// Something that is not as the trials say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A file that the certificate lists is not there.
    #[error("{0} is missing")]
    Missing(String),
    /// A file that it does not list is.
    #[error("{0} does not belong to the certificate")]
    Extra(String),
    /// A file was changed.
    #[error("{0} was changed: its SHA-256 is not the one in certificate.json")]
    Changed(String),
    /// A file is not what follows from the trials.
    #[error("{file} is not what follows from the {source_of}{}", .part.as_ref().map_or_else(String::new, |part| format!(": {part}")))]
    Follows {
        /// Which.
        file: String,
        /// `trials` or `events`.
        source_of: &'static str,
        /// Which part of it.
        part: Option<String>,
    },
    /// A trial that can't be read.
    #[error("{file} {why}")]
    Trial {
        /// Its file.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// A case of the suite that has none.
    #[error("the case `{0}` of the suite has no trial")]
    NoTrial(String),
    /// A trial of no case of the suite.
    #[error("{0} is a trial of no case of the suite")]
    NoCase(String),
    /// The verdict in it does not follow from it.
    #[error("{file} says a verdict that does not follow from its trial:\n{change}")]
    Verdict {
        /// Its file.
        file: String,
        /// The first difference.
        change: String,
    },
}

/// What stands in `certificate.json`.
///
/// # Errors
/// If it is none, unfinished, or of another version of the format.
pub fn parse(text: &str) -> Result<Certificate, Unverifiable> {
    let foreign = |why: String| Unverifiable::Foreign(why);
    let value: Value = serde_json::from_str(text).map_err(|error| foreign(error.to_string()))?;
    if value["format"] != FORMAT {
        return Err(foreign("its `format` is another".to_owned()));
    }
    if value["version"] != VERSION {
        return Err(foreign(format!("its version is not {VERSION}")));
    }
    if value["unfinished"] == true {
        return Err(Unverifiable::Unfinished);
    }
    serde_json::from_value(value).map_err(|error| foreign(error.to_string()))
}

/// The certificate in a folder, and everything in the folder that is not as it says.
///
/// # Errors
/// If it can't be verified, because it is none, or of another suite.
pub fn check(
    certificate: &str,
    files: &Files,
    suite: &Suite,
) -> Result<(Certificate, Vec<Problem>), Unverifiable> {
    let said = parse(certificate)?;
    let own = env!("CARGO_PKG_VERSION").to_owned();
    let own_digest = suite.digest();
    if said.suite != own || said.digest != own_digest {
        return Err(Unverifiable::Suite {
            suite: said.suite,
            digest: said.digest,
            own,
            own_digest,
        });
    }
    let mut problems = digests(&said, files);
    let (trials, judged) = trials(&said, files, suite, &mut problems);
    follows(&said, files, &trials, &judged, &mut problems);
    Ok((said, problems))
}

fn digests(said: &Certificate, files: &Files) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (file, sum) in &said.files {
        match files.get(file) {
            None => problems.push(Problem::Missing(file.clone())),
            Some(bytes) if digest(bytes) != *sum => problems.push(Problem::Changed(file.clone())),
            Some(_) => {}
        }
    }
    let listed = |file: &&String| !said.files.contains_key(*file);
    problems.extend(files.keys().filter(listed).cloned().map(Problem::Extra));
    problems
}

/// The trials in the order of the suite, as far as they can be read, each judged again.
fn trials(
    said: &Certificate,
    files: &Files,
    suite: &Suite,
    problems: &mut Vec<Problem>,
) -> (Vec<Saved>, Vec<Judged>) {
    let mut found: BTreeMap<String, Saved> = BTreeMap::new();
    for (file, bytes) in files {
        let Some(name) = file.strip_prefix("trials/") else {
            continue;
        };
        let trial = |why: String| Problem::Trial {
            file: file.clone(),
            why,
        };
        let saved = std::str::from_utf8(bytes)
            .map_err(|error| error.to_string())
            .and_then(|text| read(text).map_err(|error| error.to_string()));
        match saved {
            Err(why) => problems.push(trial(why)),
            Ok(saved) if file_name(&saved.id) != name => {
                problems.push(trial(format!("is the trial of `{}`", saved.id)));
            }
            Ok(saved) => {
                found.insert(saved.id.clone(), saved);
            }
        }
    }
    let plans: Vec<Plan> = suite.plans(said.seed).collect();
    let ids: Vec<&str> = plans.iter().map(|plan| plan.id.as_str()).collect();
    let known = entries(&found, &ids);
    let mut first: Option<Saved> = None;
    let (mut ordered, mut judged) = (Vec::new(), Vec::new());
    for plan in &plans {
        let Some(saved) = found.remove(&plan.id) else {
            problems.push(Problem::NoTrial(plan.id.clone()));
            continue;
        };
        let file = format!("trials/{}", file_name(&saved.id));
        let like = first.get_or_insert_with(|| saved.clone());
        for why in unsound(&saved, plan, like, known.as_ref()) {
            let file = file.clone();
            problems.push(Problem::Trial { file, why });
        }
        let again = saved.again();
        if let Some(change) = again.change {
            problems.push(Problem::Verdict { file, change });
        }
        judged.push(again.judged);
        ordered.push(saved);
    }
    problems.extend(
        found
            .keys()
            .map(|id| Problem::NoCase(format!("trials/{}", file_name(id)))),
    );
    (ordered, judged)
}

/// What the manifest admitted, put together from all trials.
fn entries(found: &BTreeMap<String, Saved>, ids: &[&str]) -> Option<KnownFailures> {
    let requirements: Vec<&str> = registry().iter().map(|known| known.id).collect();
    let mut entries = Vec::new();
    for entry in found.values().flat_map(|saved| &saved.known_failures) {
        if !entries.contains(entry) {
            entries.push(entry.clone());
        }
    }
    entries.sort_by_key(|entry| entry.line);
    KnownFailures::find(&entries, ids, &requirements).ok()
}

/// What is wrong with a trial that can be read, in words.
fn unsound(saved: &Saved, plan: &Plan, like: &Saved, known: Option<&KnownFailures>) -> Vec<String> {
    let mut wrong = Vec::new();
    if serde_json::json!(saved.plan) != serde_json::json!(plan) {
        wrong.push("has another plan than the suite".to_owned());
    }
    if saved.suite != like.suite || saved.run != like.run {
        wrong.push(format!("is of another run than that of `{}`", like.id));
    }
    if saved.promises != like.promises {
        wrong.push(format!(
            "promises something else than that of `{}`",
            like.id
        ));
    }
    if known.is_none_or(|known| known.entries_of(&saved.id) != saved.known_failures) {
        wrong.push("admits other failures than the other trials of the run".to_owned());
    }
    // Without a trial there is nothing that a verdict could follow from.
    let applies = applicable(&saved.plan, &saved.promises).is_ok();
    let failed = |status| status == CheckStatus::HarnessError;
    let statuses = || saved.verdict.checks.iter().map(|check| check.status);
    if saved.trial.is_none() && applies && !statuses().all(failed) {
        wrong.push("has a verdict and no trial".to_owned());
    }
    let case = Case {
        plan: std::sync::Arc::new(saved.plan.clone()),
        trial: saved.trial.clone(),
        verdict: saved.verdict.clone(),
    };
    if serde_json::json!(case.account()) != serde_json::json!(saved.ledger) {
        wrong.push("has a ledger that does not follow from it".to_owned());
    }
    wrong
}

/// Whether everything else is what follows from the trials.
fn follows(
    said: &Certificate,
    files: &Files,
    trials: &[Saved],
    judged: &[Judged],
    problems: &mut Vec<Problem>,
) {
    let mut wrong = |file: &str, source_of, part: Option<String>| {
        problems.push(Problem::Follows {
            file: file.to_owned(),
            source_of,
            part,
        });
    };
    let text = |file: &str| files.get(file).map(|bytes| String::from_utf8_lossy(bytes));
    // A file that is not there has been told.
    let Some(events) = text("events.jsonl") else {
        return;
    };
    let told = match record::read(&events) {
        Ok(told) if told.len() == 1 => told,
        Ok(_) => {
            return wrong(
                "events.jsonl",
                "trials",
                Some("it has several runs".to_owned()),
            );
        }
        Err(error) => return wrong("events.jsonl", "trials", Some(error.to_string())),
    };
    let right = match whole(&told[0], trials, judged) {
        Ok(right) => right,
        Err(error) => return wrong("events.jsonl", "trials", Some(error.to_string())),
    };
    for part in different(&told[0], &right) {
        wrong("events.jsonl", "trials", Some(part));
    }
    if told[0] == right && record_lines(&right) != events {
        wrong("events.jsonl", "trials", Some("its text".to_owned()));
    }
    let facts = Facts {
        issued_s: said.issued_s,
        build: said.build.clone(),
        files: said.files.clone(),
    };
    let made = Certificate::new(&right, trials, facts);
    let (said_value, made_value) = (serde_json::json!(said), serde_json::json!(made));
    for (member, value) in made_value.as_object().into_iter().flatten() {
        if said_value[member] != *value {
            let part = Some(format!("`{member}`"));
            wrong("certificate.json", "trials", part);
        }
    }
    for (file, content) in reports(&right, &made) {
        if text(file).is_some_and(|text| content.as_deref() != Some(&*text)) {
            wrong(file, "trials", None);
        }
    }
}

/// The run of these trials, each of which was judged again to this. What is said before its first case and how long it took is as it was told.
///
/// # Errors
/// If a line can't be read back, which would be a mistake of ours.
pub fn whole(
    told: &Record,
    trials: &[Saved],
    judged: &[Judged],
) -> Result<Record, serde_json::Error> {
    let cases = lines(trials, judged)?;
    let mut run = told.run.clone();
    if let Some(saved) = trials.first() {
        run.client = saved.run.client.clone();
        run.seed = saved.run.seed;
        run.strict = saved.run.strict;
        run.transport = saved.run.info(0, Vec::new()).transport.to_owned();
        run.replay_arguments.clone_from(&saved.run.replay_arguments);
    }
    run.suite = env!("CARGO_PKG_VERSION").to_owned();
    let took_ms = told.summary.as_ref().map_or(0, |line| line.summary.took_ms);
    Ok(Record::whole(run, cases, took_ms))
}

/// What is not the same in two records, in words.
fn different(told: &Record, right: &Record) -> Vec<String> {
    let mut parts = Vec::new();
    if told.run != right.run {
        parts.push("what is said of the run".to_owned());
    }
    if told.summary != right.summary {
        parts.push("its counts".to_owned());
    }
    let ids = |record: &Record| -> BTreeSet<String> {
        record.cases.iter().map(|case| case.id.clone()).collect()
    };
    let (are, should) = (ids(told), ids(right));
    parts.extend(
        are.difference(&should)
            .map(|id| format!("`{id}` has no trial")),
    );
    parts.extend(
        should
            .difference(&are)
            .map(|id| format!("`{id}` is missing")),
    );
    let by_id: BTreeMap<&str, _> = (right.cases.iter())
        .map(|case| (case.id.as_str(), case))
        .collect();
    let changed = told.cases.iter().filter(|case| {
        by_id
            .get(case.id.as_str())
            .is_some_and(|right| right != case)
    });
    parts.extend(changed.map(|case| format!("`{}` is told otherwise", case.id)));
    if parts.is_empty() && told != right {
        parts.push("the order of its cases".to_owned());
    }
    parts
}

/// The files that are made of a record and its certificate; none for what can't be made.
#[must_use]
pub fn reports(record: &Record, certificate: &Certificate) -> Vec<(&'static str, Option<String>)> {
    let records = std::slice::from_ref(record);
    vec![
        ("junit.xml", junit::report(records).ok()),
        ("report.html", Some(html::report(records))),
        ("summary.txt", Some(certificate.summary())),
        ("badge.svg", Some(badge(certificate.verdict))),
    ]
}
