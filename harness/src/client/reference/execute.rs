//! Ops `execute` and `terminal`: create, feed, close, follow; and the cleanup if that ends in anything but
//! an exit.

use super::{
    Ending, PIPES, Reference, TERMINAL,
    bug::{Bug, Quirk},
    calls,
    capture::Capture,
    failed,
    failure::{Failure, Kind},
    fields::{self, Input, Start},
    follow::Following,
    http::{Dial, Http},
    stop::Stop,
    stopped, told,
    values::Status,
};
use crate::{
    client::job::{JobRequest, Live},
    observed::JobResult,
};
use tokio::sync::mpsc::UnboundedSender;

/// What is known of the process that a job starts. It outlives the steps, which a stop cuts off anywhere.
#[derive(Debug, Default)]
enum Creation {
    /// Nothing was asked.
    #[default]
    None,
    /// The POST may have left, its answer was not read.
    Asked,
    /// It runs; its path.
    Known(String),
}

/// What is sent, as a wrong client would.
fn quirky(mut inputs: Vec<Input>, quirk: Quirk) -> Vec<Input> {
    let is_size = |input: &Input| matches!(input, Input::Size { .. });
    if quirk.is(Bug::InputReversed) {
        inputs.reverse();
    }
    if quirk.is(Bug::ResizeFirst) {
        inputs.sort_by_key(|input| !is_size(input));
    }
    if quirk.is(Bug::ResizeDropped) {
        inputs.retain(|input| !is_size(input));
    }
    for input in &mut inputs {
        match input {
            Input::Bytes(bytes) if quirk.is(Bug::InputTranslated) => {
                for byte in bytes.iter_mut().filter(|byte| **byte == b'\n') {
                    *byte = b'\r';
                }
            }
            Input::Size { rows, cols } if quirk.is(Bug::SizeTransposed) => {
                std::mem::swap(rows, cols);
            }
            _ => {}
        }
    }
    inputs
}

impl Reference {
    /// `execute` and `terminal`: the steps, and the cleanup if they end in anything but an exit.
    pub(super) async fn start<D: Dial>(
        &self,
        job: &JobRequest,
        http: &mut Http<'_, D>,
        live: &UnboundedSender<Live>,
        stop: &Stop,
    ) -> JobResult {
        let start = match fields::start(job, Quirk(self.bug)) {
            Ok(start) => start,
            Err(failure) => return failed(&failure),
        };
        let streams = if start.terminal { TERMINAL } else { PIPES };
        let mut capture = self.capture(live, streams);
        let mut creation = Creation::None;
        let mut waiting = false;
        let steps = self.steps(
            &start,
            http,
            stop,
            &mut capture,
            &mut creation,
            &mut waiting,
        );
        let status = match stopped(stop, steps).await {
            Ok(status) => Ok(status),
            Err(ending) => {
                if let Creation::Known(process) = &creation {
                    self.deaf(waiting, http, process).await;
                }
                Err(self.clean_up(ending, &creation, http).await)
            }
        };
        told(status, capture)
    }

    async fn steps<D: Dial>(
        &self,
        start: &Start,
        http: &mut Http<'_, D>,
        stop: &Stop,
        capture: &mut Capture,
        creation: &mut Creation,
        waiting: &mut bool,
    ) -> Result<Status, Failure> {
        let quirk = Quirk(self.bug);
        let profile = &self.promises.profile;
        *creation = Creation::Asked;
        let created = calls::create(http, &start.processes, &start.body, profile, quirk).await;
        let process = match created {
            Ok(id) => format!("{}/{id}", start.processes),
            Err(failure) => {
                *creation = Creation::None;
                return Err(failure);
            }
        };
        *creation = Creation::Known(process.clone());
        for input in &quirky(start.inputs.clone(), quirk) {
            calls::input(http, &process, input, quirk).await?;
        }
        if !start.terminal {
            calls::close_stdin(http, &process, quirk).await?;
        }
        let following = Following {
            http,
            promises: &self.promises,
            stop,
            capture,
            waiting,
            process: &process,
            streams: if start.terminal { TERMINAL } else { PIPES },
            after: 0,
            quirk,
        };
        following.run().await
    }

    /// What a failure owes: the process tree's end, confirmed, or the admission that it is not.
    async fn clean_up<D: Dial>(
        &self,
        ending: Ending,
        creation: &Creation,
        http: &mut Http<'_, D>,
    ) -> Ending {
        let cause = match &ending {
            Ending::Failed(failure) => failure.clone(),
            Ending::Stopped(stopped) => Failure::new(Kind::Other, stopped.words()),
        };
        let process = match creation {
            Creation::None => return ending,
            Creation::Asked => return Ending::Failed(calls::unconfirmed(&cause)),
            Creation::Known(process) => process,
        };
        let forgotten = match self.bug {
            Some(Bug::CleanupUnderSpentDeadline) => matches!(ending, Ending::Stopped(_)),
            Some(Bug::NoCleanupAfterGap) => cause.kind == Kind::SequenceGap,
            Some(Bug::NoCleanupAfterGone) => cause.http_status == Some(410),
            _ => false,
        };
        if forgotten {
            return ending;
        }
        let profile = &self.promises.profile;
        match calls::delete(http, process, profile, Quirk(self.bug)).await {
            Ok(()) => ending,
            Err(failure) if self.bug == Some(Bug::CleanupHidesCause) => Ending::Failed(failure),
            Err(failure) => Ending::Failed(failure.because(cause)),
        }
    }
}
