//! What a client promises about itself: its capabilities and the numbers it is held to.

use fake_server::wire::{Op, call::Capability};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A client's promises, from its manifest and hello (manifest above hello, key by key), defaults filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Promises {
    /// Ops it can be asked.
    pub ops: BTreeSet<Op>,
    /// What else it can do.
    pub capabilities: BTreeSet<Capability>,
    /// Numbers.
    pub profile: Profile,
}

impl Promises {
    /// Whether it has the capability.
    #[must_use]
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// Connects without progress that its budget allows: 1 + max-reconnects, 1 without `resume-stream`.
    #[must_use]
    pub fn connect_budget(&self) -> u32 {
        if self.can(Capability::ResumeStream) {
            self.profile.max_reconnects.saturating_add(1)
        } else {
            1
        }
    }
}

/// The numbers a client is held to (`adapter-protocol`, `[profile]`). Defaults: the reference behaviour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Profile {
    /// Reconnects in all without progress.
    pub max_reconnects: u32,
    /// Milliseconds between two connects at least.
    pub reconnect_delay_ms: u64,
    /// Statuses of connect that are tried again: `5xx`, `429`, exact numbers.
    pub retry_statuses: Vec<String>,
    /// Whether accepted data renews the budget.
    pub budget_renewal: BudgetRenewal,
    /// Statuses on which a create is repeated (429 and 503 may stand here).
    pub retry_create_on: Vec<u16>,
    /// Whether a Retry-After lengthens the wait.
    pub honours_retry_after: bool,
    /// Bytes between two LF that work.
    pub max_line_bytes: u64,
    /// Milliseconds the client's own clean-up may take.
    pub cleanup_timeout_ms: u64,
    /// A mute stream is closed after this many milliseconds; absent: never.
    pub silence_limit_ms: Option<u64>,
    /// How output is handed over.
    pub output: OutputForm,
    /// The result keeps this many characters of the tail.
    pub max_capture_chars: Option<u64>,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            max_reconnects: 3,
            reconnect_delay_ms: 250,
            retry_statuses: vec!["5xx".to_owned(), "429".to_owned()],
            budget_renewal: BudgetRenewal::Never,
            retry_create_on: Vec::new(),
            honours_retry_after: false,
            max_line_bytes: 1 << 20,
            cleanup_timeout_ms: 5_000,
            silence_limit_ms: None,
            output: OutputForm::Bytes,
            max_capture_chars: None,
        }
    }
}

impl Profile {
    /// Whether a connect answered with this status is tried again.
    #[must_use]
    pub fn retries_status(&self, status: u16) -> bool {
        self.retry_statuses
            .iter()
            .any(|pattern| match pattern.strip_suffix("xx") {
                Some(class) => class
                    .parse::<u16>()
                    .is_ok_and(|class| status / 100 == class),
                None => pattern.parse::<u16>().is_ok_and(|exact| exact == status),
            })
    }
}

/// Whether accepted data renews the retry budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetRenewal {
    /// Never.
    Never,
    /// Each connection that brought new data.
    Progress,
}

/// How output is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputForm {
    /// As bytes.
    Bytes,
    /// As decoded text.
    Text,
}
