//! Command mode: one program run a job. What it prints is the process's output, its exit status the
//! process's, unless the manifest's `[exit]` says that the status is the client's own failure.

mod line;
mod outcome;

use super::{
    Answer,
    job::{JobRequest, Live},
    manifest::{Manifest, ProfileKeys},
    process::{self, Group},
    tail::Tail,
};
use crate::{
    observed::{LiveOutput, Reply},
    profile::Promises,
};
use fake_server::wire::{Blob, call::Capability};
use std::{
    io,
    path::Path,
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, ChildStdin},
    sync::{mpsc, watch},
    time::Instant,
};

/// Bytes of output that are kept of one run. The largest truth of a scenario is a few megabytes.
const OUTPUT_BYTES: usize = 64 << 20;

/// From the program's end to the end of its pipes. They end with it, unless a descendant that left
/// the process group holds them.
const DRAIN: Duration = Duration::from_secs(1);

/// A client that is a command-line program.
#[derive(Debug)]
pub struct CommandLine {
    manifest: Arc<Manifest>,
    promises: Promises,
}

impl CommandLine {
    /// The client of a manifest. Nothing is started yet.
    #[must_use]
    pub fn new(manifest: Arc<Manifest>) -> Self {
        let promises = manifest.promises(None, ProfileKeys::default());
        Self { manifest, promises }
    }

    /// What the client promises.
    #[must_use]
    pub const fn promises(&self) -> &Promises {
        &self.promises
    }

    /// Runs the program for one job, at the latest until `deadline`; then its process group is killed.
    /// A cancel is a SIGTERM to the group; a program that stays is killed at the deadline as well.
    pub async fn run(
        &self,
        job: &JobRequest,
        live: mpsc::UnboundedSender<Live>,
        mut cancel: watch::Receiver<bool>,
        deadline: Instant,
    ) -> Answer {
        let live = self.promises.can(Capability::LiveOutput).then_some(live);
        let mut run = match Run::start(&self.manifest, job, live) {
            Ok(run) => run,
            Err(reply) => return Answer::from(reply),
        };
        let mut cancelled = false;
        let ended = loop {
            tokio::select! {
                ended = run.next() => if let Some(ended) = ended {
                    break ended;
                },
                () = tokio::time::sleep_until(deadline) => {
                    run.group.kill();
                    break Ended::Silent;
                }
                true = super::asked_to_cancel(&mut cancel), if !cancelled => {
                    cancelled = true;
                    run.group.terminate();
                }
            }
        };
        run.answer(&self.manifest, job, ended, cancelled)
    }
}

/// How a run ended.
enum Ended {
    /// By itself.
    Exited(ExitStatus),
    /// Not by the deadline.
    Silent,
    /// Not in a way we could follow.
    Lost(String),
}

/// A program that runs.
struct Run {
    child: Child,
    group: Group,
    stdout: Output,
    stderr: Output,
    live: Option<mpsc::UnboundedSender<Live>>,
    exited: Option<(ExitStatus, Instant)>,
    feeder: Option<tokio::task::JoinHandle<()>>,
}

/// One pipe from the program.
struct Output {
    name: &'static str,
    pipe: Option<Box<dyn AsyncRead + Send + Unpin>>,
    bytes: Vec<u8>,
    /// It printed more than is kept.
    overflow: bool,
}

impl Output {
    fn new(name: &'static str, pipe: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self {
            name,
            pipe: Some(Box::new(pipe)),
            bytes: Vec::new(),
            overflow: false,
        }
    }

    /// Bytes that came; none at the end.
    async fn read(&mut self) -> Vec<u8> {
        let Some(pipe) = &mut self.pipe else {
            return std::future::pending().await;
        };
        let mut buffer = vec![0; 64 << 10];
        match pipe.read(&mut buffer).await {
            Ok(count) if count > 0 => {
                buffer.truncate(count);
                buffer
            }
            // A pipe that can't be read is at its end.
            _ => {
                self.pipe = None;
                Vec::new()
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = OUTPUT_BYTES - self.bytes.len();
        self.overflow |= bytes.len() > room;
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl Run {
    #[expect(
        clippy::result_large_err,
        reason = "the error is the reply itself, once a job"
    )]
    fn start(
        manifest: &Manifest,
        job: &JobRequest,
        live: Option<mpsc::UnboundedSender<Live>>,
    ) -> Result<Self, Reply> {
        let value = line::job_value(job).map_err(Reply::HarnessError)?;
        let line = line::expand(&manifest.command, job, &value);
        let stdin = line::stdin(&value);
        let mut command = process::program(&line, &manifest.folder);
        command
            .envs(manifest.env.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env("CREATEOS_BASE_URL", &job.base_url)
            .env("CREATEOS_API_KEY", &job.api_key)
            .env("CREATEOS_SANDBOX_ID", &job.sandbox_id)
            .env("CONFORMANCE_JOB", value.to_string());
        if stdin.is_some() {
            command.stdin(Stdio::piped());
        }
        let mut child = command
            .spawn()
            .map_err(|error| not_started(&line, &manifest.folder, &error))?;
        let missing = || Reply::HarnessError("a pipe of the new process is missing".to_owned());
        let group = Group::led_by(&child).ok_or_else(missing)?;
        let stdout = Output::new("stdout", child.stdout.take().ok_or_else(missing)?);
        let stderr = Output::new("stderr", child.stderr.take().ok_or_else(missing)?);
        let feeder = stdin
            .zip(child.stdin.take())
            .map(|(bytes, pipe)| tokio::spawn(feed(pipe, bytes)));
        Ok(Self {
            child,
            group,
            stdout,
            stderr,
            live,
            exited: None,
            feeder,
        })
    }

    /// Waits for the next thing to happen, and keeps it; tells the end.
    async fn next(&mut self) -> Option<Ended> {
        if let Some((status, _)) = self.exited
            && self.stdout.pipe.is_none()
            && self.stderr.pipe.is_none()
        {
            return Some(Ended::Exited(status));
        }
        let drained = self.exited.map_or_else(Instant::now, |(_, at)| at + DRAIN);
        let (bytes, output) = tokio::select! {
            bytes = self.stdout.read(), if self.stdout.pipe.is_some() => (bytes, &mut self.stdout),
            bytes = self.stderr.read(), if self.stderr.pipe.is_some() => (bytes, &mut self.stderr),
            status = self.child.wait(), if self.exited.is_none() => {
                // What it left behind goes too, and with it the last writers of the pipes.
                self.group.kill();
                return match status {
                    Ok(status) => {
                        self.exited = Some((status, Instant::now()));
                        None
                    }
                    Err(error) => Some(Ended::Lost(format!("its end could not be told: {error}"))),
                };
            }
            () = tokio::time::sleep_until(drained), if self.exited.is_some() => {
                return self.exited.map(|(status, _)| Ended::Exited(status));
            }
        };
        output.keep(&bytes);
        if let Some(live) = &self.live
            && !bytes.is_empty()
        {
            let output = LiveOutput {
                stream: output.name.to_owned(),
                data: Blob(bytes),
                at_us: 0,
            };
            // Nobody listens: the caller has gone.
            drop(live.send(Live::Output(output)));
        }
        None
    }

    fn answer(
        self,
        manifest: &Manifest,
        job: &JobRequest,
        ended: Ended,
        cancelled: bool,
    ) -> Answer {
        if let Some(feeder) = self.feeder {
            feeder.abort();
        }
        let mut tail = Tail::default();
        tail.watch(&job.id, &job.secrets);
        tail.push(&self.stderr.bytes);
        let (words, leaks) = tail.finish(&job.id);
        let reply = match ended {
            Ended::Silent => Reply::Silent,
            Ended::Lost(words) => Reply::HarnessError(words),
            Ended::Exited(_) if self.stdout.overflow || self.stderr.overflow => {
                let mib = OUTPUT_BYTES >> 20;
                Reply::AdapterFault(format!("it printed more than {mib} MiB"))
            }
            Ended::Exited(status) => outcome::outcome(
                manifest,
                status,
                cancelled,
                self.stdout.bytes,
                self.stderr.bytes,
            ),
        };
        // What a process printed is judged against the truth; only the client's own words can leak.
        let own_words = !matches!(&reply, Reply::Result(result) if result.outcome == "exited");
        Answer {
            reply,
            stderr: words,
            leaks: if own_words { leaks } else { Vec::new() },
        }
    }
}

fn not_started(line: &[String], folder: &Path, error: &io::Error) -> Reply {
    let program = line.first().map_or("", String::as_str);
    match error.kind() {
        // The job is an environment variable, and those are bounded (128 KiB each on Linux).
        io::ErrorKind::ArgumentListTooLong => Reply::HarnessError(format!(
            "the job is too large for an argument or an environment variable of {program:?}: {error}"
        )),
        _ => {
            let hint = process::start_hint(program, folder, error)
                .map_or_else(String::new, |hint| format!(" ({hint})"));
            Reply::AdapterDied(format!("can't start {program:?}: {error}{hint}"))
        }
    }
}

/// Writes the job's stdin and closes it. A program that does not read it to the end is within its rights.
async fn feed(mut pipe: ChildStdin, bytes: Vec<u8>) {
    drop(pipe.write_all(&bytes).await);
}
