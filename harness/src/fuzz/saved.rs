//! Failing trials in a folder: written as they are found, whole or not at all, and read again to be tried first.
//!
//! A failure is a `.json` with everything that was known of it: the plan itself, since a later version draws another
//! one from the same seed, and what crossed the wire. Once it is shrunk, a scenario `.toml` of the same name stands
//! beside it, and then that is what is played.

use super::found::Signature;
use crate::{
    generate::Profile,
    report::json::case_line,
    summary::{ClientInfo, Judged, RunInfo},
};
use fake_server::script::model::Plan;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// A file or folder that can't be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The system refuses.
    #[error("can't {action} {}: {error}", path.display())]
    Io {
        /// `read`, `write`, `create`.
        action: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is no failure that was saved here.
    #[error("{} holds no generated case: {reason}", path.display())]
    Foreign {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// Where a saved case comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Version of the suite that drew it.
    pub suite: String,
    /// Seed.
    pub seed: u64,
    /// Number.
    pub case: u64,
    /// Profile.
    pub profile: String,
    /// The command that draws and plays it again.
    pub replay: String,
}

impl Source {
    /// That of a case of this version.
    #[must_use]
    pub fn new(seed: u64, case: u64, profile: Profile, replay: String) -> Self {
        Self {
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            seed,
            case,
            profile: profile.name().to_owned(),
            replay,
        }
    }
}

/// A folder of regressions.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

/// What is in a folder.
#[derive(Debug, Default)]
pub struct Contents {
    /// Scenario files, in the order of their names.
    pub scenarios: Vec<PathBuf>,
    /// Plans that are not shrunk yet, with their files.
    pub plans: Vec<(PathBuf, Plan)>,
    /// Files that can't be used, and why.
    pub unusable: Vec<String>,
}

impl Folder {
    /// This folder, which need not be there yet.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// What is in it. A folder that is not there holds nothing.
    ///
    /// # Errors
    /// When the folder can't be listed. A file that can't be used is no error: it is told.
    pub fn read(&self) -> Result<Contents, SaveError> {
        let failed = |error| SaveError::Io {
            action: "read",
            path: self.0.clone(),
            error,
        };
        let listed = match fs::read_dir(&self.0) {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Contents::default());
            }
            Err(error) => return Err(failed(error)),
        };
        let mut paths = Vec::new();
        for entry in listed {
            paths.push(entry.map_err(failed)?.path());
        }
        paths.sort();
        let has = |path: &PathBuf, end: &str| path.extension().is_some_and(|is| is == end);
        let scenarios: Vec<PathBuf> = paths
            .iter()
            .filter(|path| has(path, "toml"))
            .cloned()
            .collect();
        let shrunk: BTreeSet<PathBuf> = scenarios
            .iter()
            .map(|path| path.with_extension("json"))
            .collect();
        let mut contents = Contents {
            scenarios,
            ..Contents::default()
        };
        for path in paths
            .into_iter()
            .filter(|path| has(path, "json") && !shrunk.contains(path))
        {
            match read_plan(&path) {
                Ok(plan) => contents.plans.push((path, plan)),
                Err(error) => contents.unusable.push(error.to_string()),
            }
        }
        Ok(contents)
    }

    /// Keeps a failing case; its path.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn keep(
        &self,
        judged: &Judged,
        signature: &Signature,
        source: &Source,
        info: &RunInfo,
    ) -> Result<PathBuf, SaveError> {
        let line = case_line(judged, None, info, true);
        let case: Value = serde_json::from_str(&line).unwrap_or(Value::String(line));
        let client: &ClientInfo = &info.client;
        let whole = json!({
            "generated": source,
            "signature": signature,
            "client": client,
            "transport": info.transport,
            // The plan stands apart, as it was played: nothing is redacted in it.
            "plan": *judged.case.plan,
            "case": case,
        });
        let suffix = if source.profile == Profile::Quick.name() {
            String::new()
        } else {
            format!("-{}", source.profile)
        };
        let name = format!(
            "{}-{}-{}{suffix}.json",
            signature.slug(),
            source.seed,
            source.case
        );
        self.write(&name, &format!("{whole:#}\n"))
    }

    /// Writes a file of the folder, whole or not at all; its path.
    ///
    /// # Errors
    /// When the folder can't be made or the file can't be written.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, SaveError> {
        let at = |action, path: &Path| {
            let path = path.to_owned();
            move |error| SaveError::Io {
                action,
                path,
                error,
            }
        };
        fs::create_dir_all(&self.0).map_err(at("create", &self.0))?;
        let path = self.0.join(name);
        // Written beside its place and then moved there: whoever looks sees nothing or all of it.
        let draft = self.0.join(format!(".{name}.{}", std::process::id()));
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the edge at which failures are kept"
        )]
        fs::write(&draft, text).map_err(at("write", &draft))?;
        fs::rename(&draft, &path).map_err(at("write", &path))?;
        Ok(path)
    }
}

fn read_plan(path: &Path) -> Result<Plan, SaveError> {
    #[derive(Deserialize)]
    struct Saved {
        plan: Plan,
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the edge at which kept failures are read"
    )]
    let text = fs::read_to_string(path).map_err(|error| SaveError::Io {
        action: "read",
        path: path.to_owned(),
        error,
    })?;
    let saved: Saved = serde_json::from_str(&text).map_err(|error| SaveError::Foreign {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    Ok(saved.plan)
}
