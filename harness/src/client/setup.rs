//! Prepares a client: runs the `setup` commands of its manifest. Only ever when asked.

use super::{manifest::Manifest, process};
use std::{io, process::Stdio};

/// Why a client is not set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A command can't be started.
    #[error("can't start `{command}`: {source}")]
    NotStarted {
        /// The command.
        command: String,
        /// What the system says.
        source: io::Error,
    },
    /// A command failed; what it said, it has printed itself.
    #[error("`{command}` failed ({status}); the commands after it were not run")]
    Failed {
        /// The command.
        command: String,
        /// How.
        status: String,
    },
}

/// Runs the commands in order, in the manifest's folder, with our own stdout and stderr. Each is told to `begin`
/// first. The first that fails ends it.
///
/// # Errors
/// When a command can't be started or fails.
pub async fn setup(manifest: &Manifest, mut begin: impl FnMut(&str)) -> Result<(), SetupError> {
    for line in &manifest.setup {
        let words = line.join(" ");
        begin(&words);
        let status = async {
            let mut command = process::program(line, &manifest.folder);
            command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
            let mut child = command.spawn()?;
            let _group = process::Group::led_by(&child);
            child.wait().await
        };
        let status = status.await.map_err(|source| SetupError::NotStarted {
            command: words.clone(),
            source,
        })?;
        if !status.success() {
            return Err(SetupError::Failed {
                command: words,
                status: process::words(status),
            });
        }
    }
    Ok(())
}
