//! The contract as data and as functions.
//!
//! - [`registry`]: every requirement with its id, level, sentence and source; one file an area.
//! - [`applicable`]: whether a client's promises let a plan be judged at all.
//! - [`oracle`]: what a right client with these promises does with a plan.
//! - [`mod@line`]: what one line of a stream means to a right client, every leniency an alternative.
//!
//! No IO, no clock; nothing here is shared with the reference client.

pub mod line;
pub mod oracle;
mod registry;

pub use registry::{AREAS, Area, Requirement, area_of, registry, requirement};

use crate::profile::Promises;
use fake_server::script::model::Plan;

/// How binding a requirement is.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Recorded.
    May,
    /// Reported; fails only with `--strict`.
    Should,
    /// Breaking it fails the certification.
    Must,
}

impl Level {
    /// The word of the reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::May => "may",
            Self::Should => "should",
            Self::Must => "must",
        }
    }
}

/// Whether a client with these promises can be judged by this plan.
///
/// # Errors
/// Why not, in words that name the missing capability or the promise that rules a fault out.
pub fn applicable(plan: &Plan, promises: &Promises) -> Result<(), String> {
    claimed(plan, promises)?;
    oracle::reachable(plan, promises)
}

/// Whether the client claims what the plan asks for: the part of [`applicable`] that needs no oracle.
///
/// # Errors
/// The op or the capability that it does not claim, in words.
pub fn claimed(plan: &Plan, promises: &Promises) -> Result<(), String> {
    if !promises.ops.contains(&plan.op) {
        return Err(format!("the client does not claim op `{}`", plan.op));
    }
    if let Some(missing) = plan.needs.iter().find(|need| !promises.can(**need)) {
        return Err(format!("the client does not claim capability `{missing}`"));
    }
    Ok(())
}
