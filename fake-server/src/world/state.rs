//! The states of a sandbox.

use crate::wire::call::named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

named! {
    /// A sandbox's status.
    State {
        /// Booting; then running or failed.
        Creating = "creating",
        /// Usable.
        Running = "running",
        /// On the way to paused.
        Pausing = "pausing",
        /// Kept on disk; resume brings it back.
        Paused = "paused",
        /// On the way to running.
        Resuming = "resuming",
        /// A child of a fork on its way to running or paused.
        Forking = "forking",
        /// A change failed; resume may be tried again.
        Error = "error",
        /// On the way to destroyed.
        Destroying = "destroying",
        /// Gone; terminal.
        Destroyed = "destroyed",
        /// Never came up; terminal.
        Failed = "failed",
    }
}

impl State {
    /// Where a state leads by itself; settled states stay.
    pub(super) const fn settled(self) -> Self {
        match self {
            Self::Creating | Self::Resuming | Self::Forking => Self::Running,
            Self::Pausing => Self::Paused,
            Self::Destroying => Self::Destroyed,
            other => other,
        }
    }

    pub(super) const fn is_terminal(self) -> bool {
        matches!(self, Self::Destroyed | Self::Failed)
    }
}
