//! The reference client: the contract kept line by line, in Rust, for ops `execute`, `follow`, `connect`,
//! `terminal`, `exec`, `exec-stream`, `upload`, `download`, `acquire`, `release`, `pause` and `resume`. It is the default client of `run`, the second opinion on the oracle (with which it shares
//! no code), and, with one [`Bug`] switched on, the wrong clients that test the suite itself.
//!
//! From the inside out:
//! - `lines`, `object`, `frame`, `values`: bytes to lines to frames to values; pure.
//! - `follower`: what moves the cursor, what ends a stream; pure. `budget`: what is asked again; pure.
//! - `http`: one connection at a time over anything that can be dialled; `envelope`, `calls`: the single calls.
//! - `follow`, `raw`: the two ways to read a stream. `stop`: deadline and cancel. `capture`: what was read.
//! - `files`: a file, there and back. `exec`: a command that runs once.
//! - `sandbox`, `lease`: a sandbox, got and given back.
//! - `execute`: the steps of a whole run, with the cleanup that every failure owes.
//! - this file: one job from its fields to its result.

mod budget;
mod bug;
mod calls;
mod capture;
mod envelope;
mod exec;
mod execute;
mod failure;
mod fields;
mod files;
mod follow;
mod follower;
mod frame;
mod http;
mod lease;
mod lines;
mod object;
mod raw;
mod sandbox;
mod stop;
#[cfg(test)]
mod tests;
mod values;

pub use bug::{Bug, Exempt};

use super::job::{JobRequest, Live};
use crate::{
    observed::JobResult,
    profile::{Profile, Promises},
};
use bug::Quirk;
use capture::Capture;
use failure::Failure;
use fake_server::{
    net::Connector,
    wire::{Op, call::Capability},
};
use follow::Following;
use http::{Dial, Http};
use serde_json::Value;
use stop::{Stop, Stopped};
use tokio::sync::{mpsc::UnboundedSender, watch};
use values::Status;

/// The built-in client. It keeps every promise of the profile but `max-capture-chars` and the capabilities
/// `recover-exit`, `tolerates-unknown-events`, `http2` and `tls`, which it does not make.
#[derive(Clone, Debug)]
pub struct Reference {
    /// What it promises.
    pub promises: Promises,
    /// What it does wrong on purpose.
    pub bug: Option<Bug>,
}

/// Streams of a process on pipes.
const PIPES: &[&str] = &["stdout", "stderr"];
/// Streams of a process on a terminal.
const TERMINAL: &[&str] = &["pty"];

/// How the steps of a job ended, if not with an exit.
#[derive(Debug)]
enum Ending {
    Failed(Failure),
    Stopped(Stopped),
}

impl Reference {
    /// The client as it should be.
    #[must_use]
    pub fn conformant() -> Self {
        Self {
            promises: Promises {
                ops: [
                    Op::Execute,
                    Op::Follow,
                    Op::Connect,
                    Op::Terminal,
                    Op::Exec,
                    Op::ExecStream,
                    Op::Acquire,
                    Op::Release,
                    Op::Pause,
                    Op::Resume,
                    Op::Upload,
                    Op::Download,
                ]
                .into(),
                capabilities: [
                    Capability::LiveOutput,
                    Capability::Cancel,
                    Capability::Timeout,
                    Capability::ResumeStream,
                    Capability::ClassifiesTransient,
                    Capability::LeasePolicy,
                ]
                .into(),
                profile: Profile {
                    cleanup_timeout_ms: 1000,
                    ..Profile::default()
                },
            },
            bug: None,
        }
    }

    /// Does one job over connections that `connector` makes. Output and events are handed over on `live` as
    /// they come; `cancel` becoming true stops the job. Time is tokio's, so it may be paused.
    pub async fn run(
        &self,
        job: &JobRequest,
        connector: &Connector,
        live: &UnboundedSender<Live>,
        cancel: watch::Receiver<bool>,
    ) -> JobResult {
        self.run_over(job, connector, live, cancel).await
    }

    async fn run_over<D: Dial>(
        &self,
        job: &JobRequest,
        dial: &D,
        live: &UnboundedSender<Live>,
        cancel: watch::Receiver<bool>,
    ) -> JobResult {
        let quirk = Quirk(self.bug);
        let stop = Stop::new(job.timeout_ms, cancel, quirk);
        let http = Http::new(dial, &job.base_url, &job.api_key, quirk);
        let mut result = match http {
            Err(failure) => failed(&failure),
            Ok(mut http) => match job.op {
                Op::Execute | Op::Terminal => self.start(job, &mut http, live, &stop).await,
                Op::Follow => self.follow(job, &mut http, live, &stop).await,
                Op::Connect => self.connect(job, &mut http, live, &stop).await,
                Op::Exec | Op::ExecStream => self.exec(job, &mut http, live, &stop).await,
                Op::Upload => self.upload(job, &mut http, &stop).await,
                Op::Download => self.download(job, &mut http, &stop).await,
                Op::Acquire => self.acquire(job, &mut http, &stop).await,
                Op::Release => self.release(job, &mut http, &stop).await,
                Op::Pause | Op::Resume => self.change(job, &mut http, &stop).await,
            },
        };
        if quirk.is(Bug::ErrorQuotesKey)
            && let Some(error) = &mut result.error
        {
            error.message = format!("{} (X-Api-Key: {})", error.message, job.api_key);
        }
        if quirk.is(Bug::LeaseQuotesUrl)
            && job.op == Op::Acquire
            && let Some(error) = &mut result.error
        {
            error.message = format!("{} ({}/v1/sandboxes)", error.message, job.base_url);
        }
        result
    }

    async fn connect<D: Dial>(
        &self,
        job: &JobRequest,
        http: &mut Http<'_, D>,
        live: &UnboundedSender<Live>,
        stop: &Stop,
    ) -> JobResult {
        let quirk = Quirk(self.bug);
        let limit = self.promises.profile.max_line_bytes;
        let read = async {
            let existing = fields::existing(job)?;
            raw::hand_over(http, &existing.process, existing.after, limit, live, quirk).await
        };
        match stopped(stop, read).await {
            Ok(()) => JobResult {
                outcome: "ended".to_owned(),
                ..JobResult::default()
            },
            Err(ending) => ended(&ending),
        }
    }

    async fn exec<D: Dial>(
        &self,
        job: &JobRequest,
        http: &mut Http<'_, D>,
        live: &UnboundedSender<Live>,
        stop: &Stop,
    ) -> JobResult {
        let mut capture = self.capture(live, PIPES);
        let profile = &self.promises.profile;
        let run = async {
            let command = fields::command(job)?;
            exec::run(http, &command, profile, &mut capture, Quirk(self.bug)).await
        };
        let status = stopped(stop, run).await;
        told(status, capture)
    }

    async fn upload<D: Dial>(
        &self,
        job: &JobRequest,
        http: &mut Http<'_, D>,
        stop: &Stop,
    ) -> JobResult {
        let profile = &self.promises.profile;
        let store = async {
            let file = fields::file(job)?;
            files::upload(http, &file, profile, Quirk(self.bug)).await
        };
        match stopped(stop, store).await {
            Ok(()) => done(),
            Err(ending) => ended(&ending),
        }
    }

    async fn download<D: Dial>(
        &self,
        job: &JobRequest,
        http: &mut Http<'_, D>,
        stop: &Stop,
    ) -> JobResult {
        let mut file = Vec::new();
        let fetch = async {
            let asked = fields::file(job)?;
            files::download(http, &asked, &mut file, Quirk(self.bug)).await
        };
        match stopped(stop, fetch).await {
            Ok(()) => JobResult {
                data: Some(file.into()),
                ..done()
            },
            Err(ending) => JobResult {
                data: (self.bug == Some(Bug::PartialFileLeft)).then(|| file.into()),
                ..ended(&ending)
            },
        }
    }

    async fn follow<D: Dial>(
        &self,
        job: &JobRequest,
        http: &mut Http<'_, D>,
        live: &UnboundedSender<Live>,
        stop: &Stop,
    ) -> JobResult {
        let mut capture = self.capture(live, PIPES);
        let mut waiting = false;
        let existing = match fields::existing(job) {
            Ok(existing) => existing,
            Err(failure) => return failed(&failure),
        };
        let following = Following {
            http: &mut *http,
            promises: &self.promises,
            stop,
            capture: &mut capture,
            waiting: &mut waiting,
            process: &existing.process,
            streams: PIPES,
            after: existing.after,
            quirk: Quirk(self.bug),
        };
        let status = stopped(stop, following.run()).await;
        self.deaf(waiting, http, &existing.process).await;
        told(status, capture)
    }

    /// [`Bug::BackOffIgnoresCancel`]: a stop in the back-off is heard only after the next connect.
    async fn deaf<D: Dial>(&self, waiting: bool, http: &mut Http<'_, D>, process: &str) {
        if waiting && self.bug == Some(Bug::BackOffIgnoresCancel) {
            let delay = budget::delay(&self.promises.profile, None, Quirk::default());
            tokio::time::sleep(delay).await;
            drop(http.send(&follow::connect(process, Some(0))).await);
        }
    }

    fn capture(&self, live: &UnboundedSender<Live>, streams: &'static [&'static str]) -> Capture {
        let form = self.promises.profile.output;
        Capture::new(live.clone(), form, streams, Quirk(self.bug))
    }
}

/// Runs the steps until a stop. A stop drops them where they are, and with them every connection in use.
async fn stopped<T>(
    stop: &Stop,
    steps: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Ending> {
    tokio::select! {
        biased;
        stopped = stop.reached() => Err(Ending::Stopped(stopped)),
        done = steps => done.map_err(Ending::Failed),
    }
}

/// The result of reading a process's output.
fn told(status: Result<Status, Ending>, mut capture: Capture) -> JobResult {
    capture.finish(status.is_ok());
    let mut result = match status {
        Ok(status) => JobResult {
            outcome: "exited".to_owned(),
            exit_code: Some(status.code.map_or(Value::Null, Value::from)),
            signal: Some(status.signal.map_or(Value::Null, Value::from)),
            ..JobResult::default()
        },
        Err(ending) => ended(&ending),
    };
    capture.tell(&mut result);
    result
}

fn done() -> JobResult {
    JobResult {
        outcome: "ok".to_owned(),
        ..JobResult::default()
    }
}

fn ended(ending: &Ending) -> JobResult {
    match ending {
        Ending::Failed(failure) => failed(failure),
        Ending::Stopped(stopped) => JobResult {
            outcome: stopped.outcome().to_owned(),
            ..JobResult::default()
        },
    }
}

fn failed(failure: &Failure) -> JobResult {
    JobResult {
        outcome: "error".to_owned(),
        error: Some(failure.report()),
        ..JobResult::default()
    }
}
