//! Any client, behind one set of questions.

use super::{
    Answer,
    adapter::{Adapter, Limits, StartError},
    command::CommandLine,
    job::{JobRequest, Live},
    manifest::{KnownFailure, Manifest, Mode},
    process,
    reference::Reference,
};
use crate::{machine::MachineSecrets, observed::Reply, profile::Promises, summary::ClientInfo};
use fake_server::net::Connector;
use std::{process::Stdio, sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

/// How long a `version-command` may take.
const VERSION_TIME: Duration = Duration::from_secs(10);

/// A client under test. Dropping it kills what it started.
#[expect(clippy::large_enum_variant, reason = "there is one in a run")]
#[derive(Debug)]
pub enum Client {
    /// A program that speaks the adapter protocol.
    Adapter(Started<Adapter>),
    /// A program run a job.
    Command(Started<CommandLine>),
    /// The client that is built in, right or wrong on purpose.
    Reference(Reference),
}

/// A client with the manifest that it was started from.
#[derive(Debug)]
pub struct Started<T> {
    /// The manifest.
    pub manifest: Arc<Manifest>,
    /// What its `version-command` printed.
    pub version: Option<String>,
    /// Why there is no version although its manifest says how to ask for it.
    pub note: Option<String>,
    /// What its programs inherit and must not be told to anybody, if they should say it.
    pub secrets: MachineSecrets,
    /// The client.
    pub client: T,
}

impl Client {
    /// Starts the client of a manifest.
    ///
    /// # Errors
    /// When an adapter can't be started or says no right hello in time.
    pub async fn start(manifest: Manifest, limits: Limits) -> Result<Self, StartError> {
        let manifest = Arc::new(manifest);
        let secrets = MachineSecrets::of_this_process();
        let (version, note) = match version(&manifest).await {
            Ok(version) => (version, None),
            Err(why) => (
                None,
                Some(format!("the manifest's `version-command` failed: {why}")),
            ),
        };
        Ok(match manifest.mode {
            Mode::Adapter => Self::Adapter(Started {
                client: Adapter::start(Arc::clone(&manifest), limits).await?,
                manifest,
                version,
                note,
                secrets,
            }),
            Mode::Command => Self::Command(Started {
                client: CommandLine::new(Arc::clone(&manifest)),
                manifest,
                version,
                note,
                secrets,
            }),
        })
    }

    /// Asks one job and waits for its end, at the latest until `deadline`. What it hands over on the way
    /// goes to `live`, without times: the receiver knows when the trial began. `cancel` becomes true when
    /// it is to be asked to stop.
    pub async fn run(
        &self,
        job: JobRequest,
        connector: &Connector,
        live: mpsc::UnboundedSender<Live>,
        cancel: watch::Receiver<bool>,
        deadline: Instant,
    ) -> Answer {
        match (self, connector) {
            (Self::Reference(reference), _) => {
                let asked = reference.run(&job, connector, &live, cancel);
                match tokio::time::timeout_at(deadline, asked).await {
                    Ok(result) => Answer::from(Reply::Result(result)),
                    Err(_) => Answer::from(Reply::Silent),
                }
            }
            (Self::Adapter(started), Connector::Tcp) => {
                started.client.run(&job, live, cancel, deadline).await
            }
            (Self::Command(started), Connector::Tcp) => {
                started.client.run(&job, live, cancel, deadline).await
            }
            (_, Connector::Memory(_)) => Answer::from(Reply::HarnessError(
                "a program of its own can only be reached over sockets".to_owned(),
            )),
        }
    }

    /// Gives a job up before its deadline. A program that may go on with it is ended as soon as it has no other.
    /// The call that asked the job is to be dropped then.
    #[must_use]
    pub fn abandon(&self, job: &str) -> Answer {
        let (stderr, leaks) = match self {
            Self::Adapter(started) => started.client.abandon(job),
            // With the call that asked it ends what was asked.
            Self::Command(_) | Self::Reference(_) => (String::new(), Vec::new()),
        };
        Answer {
            reply: Reply::Silent,
            stderr,
            leaks,
        }
    }

    /// What it promises.
    #[must_use]
    pub const fn promises(&self) -> &Promises {
        match self {
            Self::Adapter(started) => started.client.promises(),
            Self::Command(started) => started.client.promises(),
            Self::Reference(reference) => &reference.promises,
        }
    }

    /// Secrets of this machine that it may have come across. The built-in client looks at no environment.
    #[must_use]
    pub const fn secrets(&self) -> &MachineSecrets {
        const NONE: &MachineSecrets = &MachineSecrets::NONE;
        match self {
            Self::Adapter(started) => &started.secrets,
            Self::Command(started) => &started.secrets,
            Self::Reference(_) => NONE,
        }
    }

    /// Who it is, for what is said about a run.
    #[must_use]
    pub fn info(&self) -> ClientInfo {
        let told = |said: &str| self.secrets().hide(said).into_owned();
        ClientInfo {
            name: self.name().to_owned(),
            version: self.version().map(told),
            language: self.language().map(told),
        }
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Adapter(started) => &started.manifest.name,
            Self::Command(started) => &started.manifest.name,
            Self::Reference(_) => "reference client",
        }
    }

    /// Its version: of the manifest's `version-command`, else of its hello; of the built-in client the bug that it has.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        match self {
            Self::Adapter(started) => {
                let (_, said, _) = started.client.about();
                started.version.as_deref().or(said)
            }
            Self::Command(started) => started.version.as_deref(),
            Self::Reference(Reference { bug: None, .. }) => Some(env!("CARGO_PKG_VERSION")),
            Self::Reference(Reference { bug: Some(bug), .. }) => Some(bug.name()),
        }
    }

    /// What it is written in, as far as it says.
    #[must_use]
    pub fn language(&self) -> Option<&str> {
        match self {
            Self::Adapter(started) => started.client.about().2,
            Self::Command(_) => None,
            Self::Reference(_) => Some("rust"),
        }
    }

    /// Cases that are known to fail, in the manifest's order.
    #[must_use]
    pub fn known_failures(&self) -> &[KnownFailure] {
        match self {
            Self::Adapter(started) => &started.manifest.known_failures,
            Self::Command(started) => &started.manifest.known_failures,
            Self::Reference(_) => &[],
        }
    }

    /// Takes what was wrong with a job after its reply: a second result, output after its end. Ask when
    /// the trial is settled.
    pub async fn take_late(&self, job: &str) -> Vec<String> {
        match self {
            Self::Adapter(started) => started.client.take_late(job).await,
            Self::Command(_) | Self::Reference(_) => Vec::new(),
        }
    }

    /// Takes what was wrong with the client and no job's fault. Ask at the end of a run.
    pub async fn take_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        match self {
            Self::Adapter(started) => {
                notes.extend(started.note.clone());
                notes.extend(started.client.take_notes().await);
            }
            Self::Command(started) => notes.extend(started.note.clone()),
            Self::Reference(_) => {}
        }
        let secrets = self.secrets();
        notes
            .iter()
            .map(|note| secrets.hide(note).into_owned())
            .collect()
    }

    /// Ends it: an adapter's stdin is closed; what is still there 2 s later is killed.
    pub async fn shutdown(self) {
        match self {
            Self::Adapter(started) => started.client.shutdown().await,
            Self::Command(_) | Self::Reference(_) => {}
        }
    }
}

/// The first line that the manifest's `version-command` prints; none where the manifest has no such command.
///
/// # Errors
/// When it fails, hangs or prints nothing: a version is a nicety, so that is told and no more.
async fn version(manifest: &Manifest) -> Result<Option<String>, String> {
    let Some(line) = &manifest.version_command else {
        return Ok(None);
    };
    let program = line.first().map_or("", String::as_str);
    let mut command = process::program(line, &manifest.folder);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| {
            let hint = process::start_hint(program, &manifest.folder, &error)
                .map_or_else(String::new, |hint| format!(" ({hint})"));
            format!("can't start {program:?}: {error}{hint}")
        })?;
    let _group = process::Group::led_by(&child);
    let output = tokio::time::timeout(VERSION_TIME, child.wait_with_output())
        .await
        .map_err(|_| format!("no end within {VERSION_TIME:?}"))?
        .map_err(|error| format!("its end could not be told: {error}"))?;
    let first_line = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines().map(str::trim);
        lines.find(|line| !line.is_empty()).map(str::to_owned)
    };
    if !output.status.success() {
        let words = process::words(output.status);
        return Err(match first_line(&output.stderr) {
            Some(said) => format!("{words}; its stderr: {said}"),
            None => words,
        });
    }
    match first_line(&output.stdout) {
        Some(version) => Ok(Some(version)),
        None => Err("it printed nothing".to_owned()),
    }
}
