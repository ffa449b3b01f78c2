//! The client manifest: how a client under test is started and what it promises (`adapter-protocol`).

mod read;

pub use read::ManifestError;

use super::errors::Patterns;
use crate::profile::{BudgetRenewal, OutputForm, Profile, Promises};
use fake_server::wire::{Op, call::Capability};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, ops::RangeInclusive, path::PathBuf};

/// A client manifest, checked.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The file it was read from, as it was named.
    pub file: String,
    /// Its folder, absolute: every command runs there.
    pub folder: PathBuf,
    /// What the client is called.
    pub name: String,
    /// How it is driven.
    pub mode: Mode,
    /// Program and arguments; in [`Mode::Command`] with placeholders.
    pub command: Vec<String>,
    /// Commands that prepare it, run in order and only when asked.
    pub setup: Vec<Vec<String>>,
    /// Prints the client's version on its first line.
    pub version_command: Option<Vec<String>>,
    /// What it can do, if the manifest says.
    pub capabilities: Option<Abilities>,
    /// What it promises, key by key, as far as the manifest says.
    pub profile: ProfileKeys,
    /// What its messages mean.
    pub errors: Patterns,
    /// Exit statuses that are the client's own failure.
    pub exit: Vec<ExitMeaning>,
    /// Cases that are known to fail, in the file's order.
    pub known_failures: Vec<KnownFailure>,
    /// How it is made quicker where only many cases count, if it can be.
    pub speed: Option<Speed>,
    /// What its programs find in their environment; nothing unless it was made quicker.
    pub env: Vec<(String, String)>,
}

/// `[speed]`: how a client waits less between its attempts, for generated cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Speed {
    /// Environment of its programs, by name.
    pub env: Vec<(String, String)>,
    /// What it promises then instead of the profile's `reconnect-delay-ms`, unless its hello says so itself.
    pub reconnect_delay_ms: Option<u64>,
}

/// How a client is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One long-lived program that speaks the adapter protocol.
    Adapter,
    /// One program run a job.
    Command,
}

/// A list of capabilities, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Ops it can be asked.
    pub ops: BTreeSet<Op>,
    /// What else it can do.
    pub capabilities: BTreeSet<Capability>,
}

/// What a range of exit statuses means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitMeaning {
    /// The statuses.
    pub statuses: RangeInclusive<i32>,
    /// What they say.
    pub meaning: Meaning,
}

/// The client's own failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// An error of this kind, unless a pattern of `[errors]` knows better.
    Error(String),
    /// Its deadline passed.
    TimedOut,
    /// It was cancelled.
    Cancelled,
}

/// An entry of `[known-failures]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFailure {
    /// Scenario id or pattern.
    pub pattern: String,
    /// Only this requirement of it.
    pub requirement: Option<String>,
    /// Why, with a link.
    pub reason: String,
    /// Line of the manifest, from 1.
    pub line: usize,
}

/// The keys of a `[profile]` that were said; the others have defaults, or the hello says them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct ProfileKeys {
    /// `max-reconnects`
    pub max_reconnects: Option<u32>,
    /// `reconnect-delay-ms`
    pub reconnect_delay_ms: Option<u64>,
    /// `retry-statuses`
    pub retry_statuses: Option<Vec<String>>,
    /// `budget-renewal`
    pub budget_renewal: Option<BudgetRenewal>,
    /// `retry-create-on`
    pub retry_create_on: Option<Vec<u16>>,
    /// `honours-retry-after`
    pub honours_retry_after: Option<bool>,
    /// `max-line-bytes`
    pub max_line_bytes: Option<u64>,
    /// `cleanup-timeout-ms`
    pub cleanup_timeout_ms: Option<u64>,
    /// `silence-limit-ms`
    pub silence_limit_ms: Option<u64>,
    /// `output`
    pub output: Option<OutputForm>,
    /// `max-capture-chars`
    pub max_capture_chars: Option<u64>,
}

impl ProfileKeys {
    /// These keys, and for those not said the other's.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            max_reconnects: self.max_reconnects.or(other.max_reconnects),
            reconnect_delay_ms: self.reconnect_delay_ms.or(other.reconnect_delay_ms),
            retry_statuses: self.retry_statuses.or(other.retry_statuses),
            budget_renewal: self.budget_renewal.or(other.budget_renewal),
            retry_create_on: self.retry_create_on.or(other.retry_create_on),
            honours_retry_after: self.honours_retry_after.or(other.honours_retry_after),
            max_line_bytes: self.max_line_bytes.or(other.max_line_bytes),
            cleanup_timeout_ms: self.cleanup_timeout_ms.or(other.cleanup_timeout_ms),
            silence_limit_ms: self.silence_limit_ms.or(other.silence_limit_ms),
            output: self.output.or(other.output),
            max_capture_chars: self.max_capture_chars.or(other.max_capture_chars),
        }
    }

    /// The whole profile, defaults filled in.
    #[must_use]
    pub fn filled(self) -> Profile {
        let defaults = Profile::default();
        Profile {
            max_reconnects: self.max_reconnects.unwrap_or(defaults.max_reconnects),
            reconnect_delay_ms: self
                .reconnect_delay_ms
                .unwrap_or(defaults.reconnect_delay_ms),
            retry_statuses: self.retry_statuses.unwrap_or(defaults.retry_statuses),
            budget_renewal: self.budget_renewal.unwrap_or(defaults.budget_renewal),
            retry_create_on: self.retry_create_on.unwrap_or(defaults.retry_create_on),
            honours_retry_after: self
                .honours_retry_after
                .unwrap_or(defaults.honours_retry_after),
            max_line_bytes: self.max_line_bytes.unwrap_or(defaults.max_line_bytes),
            cleanup_timeout_ms: self
                .cleanup_timeout_ms
                .unwrap_or(defaults.cleanup_timeout_ms),
            silence_limit_ms: self.silence_limit_ms.or(defaults.silence_limit_ms),
            output: self.output.unwrap_or(defaults.output),
            max_capture_chars: self.max_capture_chars.or(defaults.max_capture_chars),
        }
    }
}

impl Abilities {
    /// Takes a list of names apart; the names that are neither an op nor a capability come second.
    #[must_use]
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> (Self, Vec<String>) {
        let mut abilities = Self::default();
        let mut unknown = Vec::new();
        for name in names {
            if let Some(op) = Op::from_name(name) {
                abilities.ops.insert(op);
            } else if let Some(capability) = Capability::from_name(name) {
                abilities.capabilities.insert(capability);
            } else {
                unknown.push(name.to_owned());
            }
        }
        (abilities, unknown)
    }
}

impl Manifest {
    /// Makes the client quicker, as its `[speed]` says; whether it says anything. Before it is started.
    pub fn hurry(&mut self) -> bool {
        let Some(speed) = &self.speed else {
            return false;
        };
        self.env.clone_from(&speed.env);
        if speed.reconnect_delay_ms.is_some() {
            self.profile.reconnect_delay_ms = speed.reconnect_delay_ms;
        }
        true
    }

    /// What the client promises: the manifest stands above its hello, key by key.
    #[must_use]
    pub fn promises(&self, hello: Option<Abilities>, profile: ProfileKeys) -> Promises {
        let abilities = self.capabilities.clone().or(hello).unwrap_or_default();
        Promises {
            ops: abilities.ops,
            capabilities: abilities.capabilities,
            profile: self.profile.clone().or(profile).filled(),
        }
    }
}
