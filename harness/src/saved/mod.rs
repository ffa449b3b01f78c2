//! Saved trials: all that a verdict follows from, in one JSON file a case, and the verdict that followed.
//!
//! [`Keeper`] makes the text of a file, [`read`] reads it back, [`Saved::again`] judges it again. Pure: whoever calls
//! them writes and reads the files, under the names that [`file_name`] gives.
//!
//! The trial's own key, canary and addresses stand in the file as they were, for the rules about secrets are judged by
//! them; they were made for one trial and open nothing. Secrets of the machine were taken out before it was judged
//! ([`crate::machine`]).

mod name;
mod read;

pub use name::file_name;
pub use read::{SavedError, Whose, read, whose};

use crate::{
    case::{Case, Trial},
    client::manifest::KnownFailure,
    contract,
    judge::{Account, CheckStatus, Verdict, judge},
    profile::Promises,
    stability::first_difference,
    standing::{KnownFailures, Standing},
    summary::{ClientInfo, Judged, RunInfo},
};
use fake_server::script::model::Plan;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// What stands in `format`.
pub const FORMAT: &str = "createos-conformance trial";
/// The version of the format that is written, and the only one that is read.
pub const VERSION: u32 = 1;

/// One case: what was planned, seen, said and promised, and how it was judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The version of the suite that judged it.
    pub suite: String,
    /// The case's id.
    pub id: String,
    /// The run that it was a part of.
    pub run: About,
    /// Where it stood.
    #[serde(flatten)]
    pub standing: Standing,
    /// How it was judged.
    pub verdict: Verdict,
    /// What its requests made and ended, and what of it is left: for the reader, since it follows from the trial.
    #[serde(default)]
    pub ledger: Account,
    /// Milliseconds it took, on the clock of its transport.
    pub took_ms: u64,
    /// The failures of this case that the client's manifest admits.
    pub known_failures: Vec<KnownFailure>,
    /// What the client promises.
    pub promises: Promises,
    /// What was seen and said; null where the case was not played.
    pub trial: Option<Trial>,
    /// What was done to the client.
    pub plan: Plan,
}

/// The run that a trial was a part of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The client.
    pub client: ClientInfo,
    /// Everything random follows from it.
    pub seed: u64,
    /// Shoulds count too.
    pub strict: bool,
    /// Over sockets, or in memory.
    pub transport: Transport,
    /// What to add to the command that plays it again.
    pub replay_arguments: Vec<String>,
    /// The single files among its scenarios: id and path.
    pub files: BTreeMap<String, String>,
}

/// Over what a trial was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// The kernel's sockets.
    Sockets,
    /// A network in memory.
    Memory,
}

impl Transport {
    const fn name(self) -> &'static str {
        match self {
            Self::Sockets => "sockets",
            Self::Memory => "memory",
        }
    }
}

impl About {
    /// What is said about these trials when they are judged again, by this suite. `program` are the words that call it.
    #[must_use]
    pub fn info(&self, cases: usize, program: Vec<String>) -> RunInfo {
        RunInfo {
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            digest: String::new(),
            client: self.client.clone(),
            seed: self.seed,
            strict: self.strict,
            transport: self.transport.name(),
            shard: None,
            cases,
            program,
            replay_arguments: self.replay_arguments.clone(),
            files: self.files.clone(),
        }
    }
}

/// Makes the files of a run.
#[derive(Clone, Debug)]
pub struct Keeper {
    run: About,
    suite: String,
    promises: Promises,
    known: KnownFailures,
}

impl Keeper {
    /// For the trials of this run.
    #[must_use]
    pub fn new(info: &RunInfo, promises: Promises, known: KnownFailures) -> Self {
        let transport = match info.transport {
            "memory" => Transport::Memory,
            _ => Transport::Sockets,
        };
        Self {
            run: About {
                client: info.client.clone(),
                seed: info.seed,
                strict: info.strict,
                transport,
                replay_arguments: info.replay_arguments.clone(),
                files: info.files.clone(),
            },
            suite: info.suite.clone(),
            promises,
            known,
        }
    }

    /// The client of this run.
    #[must_use]
    pub fn client(&self) -> &str {
        &self.run.client.name
    }

    /// The text of a case's file. The verdict in it is that of what stands in it.
    ///
    /// # Errors
    /// If the case has no JSON, which would be a mistake of ours.
    pub fn text(&self, judged: &Judged) -> Result<String, serde_json::Error> {
        let case = &judged.case;
        let saved = Saved {
            format: FORMAT.to_owned(),
            version: VERSION,
            suite: self.suite.clone(),
            id: case.id().to_owned(),
            run: self.run.clone(),
            standing: judged.standing.clone(),
            verdict: case.verdict.clone(),
            ledger: case.account(),
            took_ms: judged.took_ms,
            known_failures: self.known.entries_of(case.id()),
            promises: self.promises.clone(),
            trial: case.trial.clone(),
            plan: (*case.plan).clone(),
        };
        let text = written(&saved)?;
        // What is read back is what will be judged, to the last digit of a number that a client said.
        let mut saved: Saved = serde_json::from_str(&text)?;
        let again = saved.again().judged;
        if again.case.verdict == saved.verdict && again.standing == saved.standing {
            return Ok(text);
        }
        saved.verdict = again.case.verdict.clone();
        saved.standing = again.standing;
        written(&saved)
    }
}

fn written(saved: &Saved) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(saved).map(|text| text + "\n")
}

/// A trial that was judged again.
#[derive(Clone, Debug)]
pub struct Again {
    /// The result.
    pub judged: Judged,
    /// The first difference from the saved verdict, as a unified diff; `None` if there is none at all.
    pub change: Option<String>,
}

impl Saved {
    /// Judges it again, by the rules of this suite.
    #[must_use]
    pub fn again(&self) -> Again {
        let plan = Arc::new(self.plan.clone());
        let case = match (
            contract::applicable(&self.plan, &self.promises),
            &self.trial,
        ) {
            (Err(reason), None) => Case::unplayed(plan, CheckStatus::NotApplicable, &reason),
            // Played, or not for a fault of the harness: there is nothing else to go by.
            (Ok(()), None) => Case {
                plan,
                trial: None,
                verdict: self.verdict.clone(),
            },
            (_, Some(trial)) => {
                let expected = contract::oracle::expected(&self.plan, &self.promises);
                let verdict = judge(
                    &self.plan,
                    &self.promises,
                    &expected,
                    &trial.log,
                    &trial.observed,
                );
                Case {
                    plan,
                    trial: Some(trial.clone()),
                    verdict,
                }
            }
        };
        let requirements: Vec<&str> = contract::registry().iter().map(|known| known.id).collect();
        // An entry that means nothing any more admits nothing.
        let known = KnownFailures::find(&self.known_failures, &[case.id()], &requirements)
            .unwrap_or_default();
        let standing = known.standing(&case, self.run.strict);
        let change = self.change(&case.verdict, &standing);
        Again {
            judged: Judged {
                case: Arc::new(case),
                standing,
                took_ms: self.took_ms,
            },
            change,
        }
    }

    /// Where the saved verdict and this one part.
    fn change(&self, verdict: &Verdict, standing: &Standing) -> Option<String> {
        if self.verdict == *verdict && self.standing == *standing {
            return None;
        }
        let told = first_difference(
            &told(&self.verdict, &self.standing),
            &told(verdict, standing),
        );
        if !told.is_empty() {
            return Some(told);
        }
        // What people read is the same: it is a detail, such as a place.
        let whole = |verdict: &Verdict| serde_json::to_string_pretty(verdict).unwrap_or_default();
        Some(first_difference(&whole(&self.verdict), &whole(verdict)))
    }
}

/// A verdict as people read it, whole.
fn told(verdict: &Verdict, standing: &Standing) -> String {
    format!("{}\n{}", standing_words(standing), verdict.told())
}

fn standing_words(standing: &Standing) -> String {
    let words = standing.words();
    match standing {
        Standing::KnownFailure { reasons: listed } | Standing::Fixed { keys: listed } => {
            format!("a {words}: {}", listed.join("; "))
        }
        _ => words.to_owned(),
    }
}
