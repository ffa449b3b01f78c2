//! Reading a saved trial, from a file that may be anything.

use super::{FORMAT, Saved, VERSION};
use crate::client::manifest::ProfileKeys;
use fake_server::{script::print::can_say, wirelog::Sent};
use serde::Deserialize;

/// Why a text is no trial that can be judged again. The words follow the file's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SavedError {
    /// It can't be parsed.
    #[error("is no whole JSON ({0}): save the trial again with `run --save`")]
    NotJson(String),
    /// It is something else.
    #[error(
        "is no saved trial: its `format` is not \"{FORMAT}\"; `run --save DIR` writes such files"
    )]
    Foreign,
    /// A later suite wrote it.
    #[error(
        "has format {version}, written by suite {suite}; this is {}, which reads format {VERSION}: judge it with the suite that wrote it, or save it again with this one",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// Its format's version.
        version: u64,
        /// The suite that wrote it.
        suite: String,
    },
    /// It is one, but not a whole or a sound one.
    #[error(
        "is a saved trial with a mistake in it ({0}): undo what was edited, or save it again with `run --save`"
    )]
    Mistake(String),
}

/// What every version has.
#[derive(Deserialize)]
struct Head {
    format: Option<String>,
    version: Option<u64>,
    suite: Option<String>,
}

/// Of a trial of any version, as far as it has this.
#[derive(Deserialize)]
struct Owner {
    format: Option<String>,
    run: Option<OwnerRun>,
}

#[derive(Deserialize)]
struct OwnerRun {
    client: Option<OwnerClient>,
}

#[derive(Deserialize)]
struct OwnerClient {
    name: Option<String>,
}

/// Whose trial a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// No saved trial's, of no version: somebody else's file.
    Foreign,
    /// This client's.
    Client(String),
    /// A saved trial that does not say so, or not where this version looks for it.
    Unknown,
}

/// Whose trial this is, whatever version wrote it, and however broken the rest of it is.
#[must_use]
pub fn whose(text: &[u8]) -> Whose {
    match serde_json::from_slice::<Owner>(text) {
        Ok(Owner { format, run }) if format.as_deref() == Some(FORMAT) => run
            .and_then(|run| run.client)
            .and_then(|client| client.name)
            .map_or(Whose::Unknown, Whose::Client),
        _ => Whose::Foreign,
    }
}

/// A saved trial from its text.
///
/// # Errors
/// If it is none, of another version, or does not hold together.
pub fn read(text: &str) -> Result<Saved, SavedError> {
    let head: Head = match serde_json::from_str(text) {
        Ok(head) => head,
        Err(error) if error.is_data() => return Err(SavedError::Foreign),
        Err(error) => return Err(SavedError::NotJson(error.to_string())),
    };
    if head.format.as_deref() != Some(FORMAT) {
        return Err(SavedError::Foreign);
    }
    match head.version {
        None => return Err(SavedError::Mistake("it has no `version`".to_owned())),
        Some(version) if version != u64::from(VERSION) => {
            let suite = head.suite.unwrap_or_else(|| "unknown".to_owned());
            return Err(SavedError::Version { version, suite });
        }
        Some(_) => {}
    }
    let saved: Saved =
        serde_json::from_str(text).map_err(|error| SavedError::Mistake(error.to_string()))?;
    if saved.id != saved.plan.id {
        return Err(SavedError::Mistake(format!(
            "it is called `{}`, its plan `{}`",
            saved.id, saved.plan.id
        )));
    }
    if let Some(mistake) = promised_too_much(&saved) {
        return Err(SavedError::Mistake(mistake));
    }
    // What no scenario file says has none of the bounds that the oracle and the judge rely on.
    if !can_say(&saved.plan) {
        return Err(SavedError::Mistake(
            "no scenario file says its `plan`".to_owned(),
        ));
    }
    if let Some(mistake) = sent_too_much(&saved) {
        return Err(SavedError::Mistake(mistake));
    }
    Ok(saved)
}

/// A run of frames that the plan does not have, in words. A run is written short, and judging makes it long again: two
/// edited digits would ask for more memory than there is.
fn sent_too_much(saved: &Saved) -> Option<String> {
    let most = saved.plan.truth.frames.len() as u64;
    let exchanges = &saved.trial.as_ref()?.log.exchanges;
    exchanges
        .iter()
        .flat_map(|exchange| &exchange.answer)
        .find_map(|sent| match sent {
            Sent::Frames { from, to, .. } if to.saturating_sub(*from) >= most.max(1) => Some(
                format!("its log has frames {from} to {to}, its plan {most} in all"),
            ),
            _ => None,
        })
}

/// A promise that no manifest may hold, in words.
fn promised_too_much(saved: &Saved) -> Option<String> {
    serde_json::to_value(&saved.promises.profile)
        .and_then(serde_json::from_value::<ProfileKeys>)
        .map_or_else(|error| Some(error.to_string()), |keys| keys.mistake())
}
