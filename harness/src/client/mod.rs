//! Clients under test: adapters, command-line programs, and the reference client that is built in.
//!
//! A [`manifest::Manifest`] says how a client is started; [`Client::start`] starts it, [`Client::run`]
//! asks it one job and tells what it said. [`smoke`] finds out whether it can be asked at all.

#[cfg(feature = "run")]
pub mod adapter;
#[cfg(feature = "run")]
pub mod command;
pub mod errors;
pub mod job;
pub mod manifest;
#[cfg(feature = "run")]
mod process;
#[cfg(feature = "run")]
pub mod reference;
#[cfg(feature = "run")]
pub mod setup;
#[cfg(feature = "run")]
pub mod smoke;
#[cfg(feature = "run")]
mod tail;

use crate::observed::Reply;
#[cfg(feature = "run")]
pub use any::Client;

#[cfg(feature = "run")]
mod any;

/// What came of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// How it ended.
    pub reply: Reply,
    /// What the program printed on stderr while it had the job, secrets redacted, at most 64 KiB. A program
    /// with many jobs at once mixes them there.
    pub stderr: String,
    /// Secrets of the job that were printed: `stderr: {api-key}`.
    pub leaks: Vec<String>,
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self {
            reply,
            stderr: String::new(),
            leaks: Vec::new(),
        }
    }
}

/// Resolves with true when a cancel is asked for; never if that can't happen any more.
#[cfg(feature = "run")]
async fn asked_to_cancel(cancel: &mut tokio::sync::watch::Receiver<bool>) -> bool {
    // The guard that a match would hold over the wait makes the future unfit for other threads.
    let asked = cancel.wait_for(|asked| *asked).await.is_ok();
    if asked {
        return true;
    }
    std::future::pending().await
}
