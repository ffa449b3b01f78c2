//! Following a process over as many connections as the budget has: open, read, and after a drop wait and
//! ask again after the cursor.

use super::{
    budget::{self, Budget, Meaning},
    bug::{Bug, Quirk},
    capture::Capture,
    failure::{Broken, Failure, Kind, Phase},
    follower::{Follower, Step},
    http::{Answer, Ask, Body, Dial, Http, Wire},
    stop::Stop,
    values::Status,
};
use crate::profile::Promises;
use hyper::{Method, body::Bytes, header};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Everything that following one process needs.
pub(super) struct Following<'a, 'd, D: Dial> {
    pub(super) http: &'a mut Http<'d, D>,
    pub(super) promises: &'a Promises,
    pub(super) stop: &'a Stop,
    pub(super) capture: &'a mut Capture,
    /// Set while the client waits between two connects.
    pub(super) waiting: &'a mut bool,
    /// `/v1/sandboxes/{id}/processes/{id}`
    pub(super) process: &'a str,
    /// Names of the streams that this kind of process has.
    pub(super) streams: &'static [&'static str],
    /// The cursor to start from.
    pub(super) after: u64,
    pub(super) quirk: Quirk,
}

/// How one connection went.
enum Attempt {
    Exited(Status),
    Failed(Failure),
    /// No exit; asking again may help. With what to say if there is no again, and a Retry-After.
    Lost(Failure, Option<String>),
}

impl<D: Dial> Following<'_, '_, D> {
    /// Follows to the exit.
    ///
    /// # Errors
    /// Anything against the protocol at once; a lost stream when the budget is gone.
    pub(super) async fn run(mut self) -> Result<Status, Failure> {
        let limit = self.promises.profile.max_line_bytes;
        let mut follower = Follower::new(self.after, limit, self.streams, self.quirk);
        let mut budget = Budget::new(self.promises, self.quirk);
        let mut kept = Vec::new();
        let mut before = None;
        loop {
            let ask = self.ask(&follower, before);
            before = Some(follower.cursor());
            let (failure, retry_after) = match self
                .attempt(&ask, &mut follower, &mut budget, &mut kept)
                .await
            {
                Attempt::Exited(status) => return Ok(status),
                Attempt::Failed(failure) => return Err(failure),
                Attempt::Lost(failure, retry_after) => (failure, retry_after),
            };
            if !budget.spend() {
                return Err(failure);
            }
            *self.waiting = true;
            let profile = &self.promises.profile;
            sleep(budget::delay(profile, retry_after.as_deref(), self.quirk)).await;
            *self.waiting = false;
        }
    }

    /// The next connect; `before` is the cursor of the one before, if there was one.
    fn ask(&self, follower: &Follower, before: Option<u64>) -> Ask {
        let cursor = follower.cursor();
        let after = match (self.quirk.0, before) {
            (Some(Bug::ZeroCursorOmitted), _) if cursor == 0 => None,
            (Some(Bug::ReconnectWithoutCursor), Some(_)) => None,
            (Some(Bug::ReconnectAtFirstCursor), Some(_)) => Some(self.after),
            (Some(Bug::ReconnectOneLate), Some(_)) => Some(cursor + 1),
            (Some(Bug::ReconnectOneEarly), Some(_)) => Some(cursor.saturating_sub(1)),
            (Some(Bug::EmptyConnectionLosesCursor), Some(before)) if before == cursor => Some(0),
            _ => Some(cursor),
        };
        Ask {
            keyless: before.is_some() && self.quirk.is(Bug::ReconnectWithoutKey),
            ..connect(self.process, after)
        }
    }

    async fn attempt(
        &mut self,
        ask: &Ask,
        follower: &mut Follower,
        budget: &mut Budget,
        kept: &mut Vec<Body<D::Socket>>,
    ) -> Attempt {
        let mut answer = match self.http.send(ask).await {
            Ok(answer) => answer,
            Err(broken) => {
                let failure =
                    Failure::broken(Kind::ConnectionFailed, "opening the output stream", &broken);
                return Attempt::Lost(failure, None);
            }
        };
        match self.opened(&answer, follower) {
            Ok(()) => {}
            Err(Attempt::Failed(failure)) => {
                return Attempt::Failed(quote(failure, &mut answer, self.quirk).await);
            }
            Err(attempt) => return attempt,
        }
        budget.opened();
        follower.begin();
        let mut body = answer.body;
        let attempt = self.read(&mut body, follower, budget).await;
        match attempt {
            // Read to its end: the connection is as good as new.
            Attempt::Lost(..) if body.is_over() => self.http.keep(body),
            Attempt::Lost(..) if self.quirk.is(Bug::SecondReader) => kept.push(body),
            Attempt::Failed(_) if self.quirk.is(Bug::ResponseLeftOpen) => leave_open(body),
            // Everything else is closed before anything else is asked.
            _ => drop(body),
        }
        attempt
    }

    /// Judges the head; `Ok` means that the body is to be read.
    fn opened(&self, answer: &Answer<D::Socket>, follower: &mut Follower) -> Result<(), Attempt> {
        const DOING: &str = "opening the output stream";
        let status = answer.status;
        let retry_after = || answer.header(header::RETRY_AFTER).map(str::to_owned);
        let lost = |kind| Attempt::Lost(Failure::status(kind, DOING, status), retry_after());
        let refused = |kind| Attempt::Failed(Failure::status(kind, DOING, status));
        Err(
            match budget::meaning(status, &self.promises.profile, self.quirk) {
                Meaning::Stream if answer.is_coded() => {
                    let coded = Broken::new(Phase::Coded);
                    Attempt::Lost(
                        Failure::broken(Kind::StreamEnded, "reading the output stream", &coded),
                        None,
                    )
                }
                Meaning::Stream if self.quirk.is(Bug::MediaTypeExact) && !is_exact(answer) => {
                    refused(Kind::HttpError)
                }
                Meaning::Stream => return Ok(()),
                Meaning::Again => lost(Kind::ConnectionFailed),
                Meaning::Evicted => refused(Kind::OutputEvicted),
                Meaning::Final => refused(Kind::HttpError),
                Meaning::Success => Attempt::Exited(zero()),
                Meaning::StartAgain => {
                    follower.reset_cursor();
                    lost(Kind::ConnectionFailed)
                }
            },
        )
    }

    /// Reads one stream to its exit, its failure or its end.
    async fn read(
        &mut self,
        body: &mut Body<D::Socket>,
        follower: &mut Follower,
        budget: &mut Budget,
    ) -> Attempt {
        let mut first_failure = None;
        loop {
            let chunk = self.chunk(body).await;
            let (end, mut step) = match &chunk {
                Ok(Some(bytes)) => {
                    self.stop.read();
                    follower.feed(bytes);
                    (None, follower.next())
                }
                Ok(None) => (Some(None), follower.finish(true)),
                Err(broken) => (Some(Some(*broken)), follower.finish(false)),
            };
            loop {
                match step {
                    Ok(None) => break,
                    Ok(Some(Step::Output(output))) => {
                        budget.progress();
                        self.capture.take(output);
                    }
                    Ok(Some(Step::Nothing)) => {
                        budget.nothing_new();
                        self.stop.heartbeat();
                    }
                    Ok(Some(Step::Exit(status))) => {
                        return self.after_exit(status, body, follower, end.is_some()).await;
                    }
                    Ok(Some(Step::Leave)) => {
                        return Attempt::Lost(
                            Failure::new(Kind::StreamEnded, "left the stream"),
                            None,
                        );
                    }
                    // Behind a line that is too long there is no next one.
                    Err(failure)
                        if self.quirk.is(Bug::LateExitRescues)
                            && failure.kind != Kind::FrameTooLarge =>
                    {
                        first_failure.get_or_insert(failure);
                    }
                    Err(failure) => return Attempt::Failed(failure),
                }
                if end.is_some() {
                    break;
                }
                step = follower.next();
            }
            if let Some(broken) = end {
                return match first_failure {
                    Some(failure) => Attempt::Failed(failure),
                    None => self.dropped(broken),
                };
            }
        }
    }

    /// The stream ended without an exit, cleanly or not: a drop.
    fn dropped(&self, broken: Option<Broken>) -> Attempt {
        match (self.quirk.0, broken) {
            (Some(Bug::EndIsSuccess), None) | (Some(Bug::BrokenBodyIsSuccess), Some(_)) => {
                return Attempt::Exited(zero());
            }
            (Some(Bug::CleanEndIsFatal), None) | (Some(Bug::BreakIsFatal), Some(_)) => {
                return Attempt::Failed(Failure::new(Kind::Transport, "the output stream broke"));
            }
            _ => {}
        }
        let failure = match broken {
            None => Failure::new(
                Kind::StreamEnded,
                "the output stream ended without an exit status",
            ),
            Some(broken) => {
                Failure::broken(Kind::StreamEnded, "reading the output stream", &broken)
            }
        };
        Attempt::Lost(failure, None)
    }

    /// The next bytes; a stream that is mute for longer than the profile says is over.
    async fn chunk(&self, body: &mut Body<D::Socket>) -> Result<Option<Bytes>, Broken> {
        let mut limit = self.promises.profile.silence_limit_ms;
        if self
            .quirk
            .any(&[Bug::ImpatientWithSilence, Bug::SecondReader])
        {
            limit = Some(1000);
        }
        if self.quirk.is(Bug::BodyBuffered) {
            return whole(body).await;
        }
        match limit {
            None => body.chunk().await,
            Some(limit) => timeout(Duration::from_millis(limit), body.chunk())
                .await
                .unwrap_or(Err(Broken::new(Phase::Body))),
        }
    }

    /// An exit was accepted: that is all, whatever the transport does now. The rest is for wrong clients.
    async fn after_exit(
        &mut self,
        mut status: Status,
        body: &mut Body<D::Socket>,
        follower: &mut Follower,
        over: bool,
    ) -> Attempt {
        let goes_on = [
            Bug::WaitsForEnd,
            Bug::BreakAfterExitFails,
            Bug::FramesAfterExit,
        ];
        if over || !self.quirk.any(&goes_on) {
            return Attempt::Exited(status);
        }
        loop {
            if self.quirk.is(Bug::FramesAfterExit) {
                while let Ok(Some(step)) = follower.next() {
                    match step {
                        Step::Output(output) => self.capture.take(output),
                        Step::Exit(later) => status = later,
                        Step::Nothing | Step::Leave => {}
                    }
                }
            }
            match body.chunk().await {
                Ok(Some(bytes)) => follower.feed(&bytes),
                Err(broken) if self.quirk.is(Bug::BreakAfterExitFails) => {
                    return Attempt::Failed(Failure::broken(Kind::Transport, "reading", &broken));
                }
                Ok(None) | Err(_) => return Attempt::Exited(status),
            }
        }
    }
}

/// The connect call.
pub(super) fn connect(process: &str, after: Option<u64>) -> Ask {
    let mut target = format!("{process}/connect");
    if let Some(after) = after {
        target.push_str(&format!("?after={after}"));
    }
    Ask::new(Method::GET, target)
}

/// [`Bug::ErrorQuotesBody`]: a refusal in the provider's words.
pub(super) async fn quote<S: Wire>(
    mut failure: Failure,
    answer: &mut Answer<S>,
    quirk: Quirk,
) -> Failure {
    if quirk.is(Bug::ErrorQuotesBody)
        && let Ok(Some(text)) = answer.body.chunk().await
    {
        let text = &text[..text.len().min(1024)];
        failure.message = format!("{}: {}", failure.message, String::from_utf8_lossy(text));
    }
    failure
}

/// [`Bug::BodyBuffered`].
async fn whole<S: Wire>(body: &mut Body<S>) -> Result<Option<Bytes>, Broken> {
    let mut all = Vec::new();
    while let Some(chunk) = body.chunk().await? {
        all.extend_from_slice(&chunk);
    }
    Ok((!all.is_empty()).then(|| all.into()))
}

/// [`Bug::ResponseLeftOpen`]: a minute of nothing.
pub(super) fn leave_open<T: Send + 'static>(body: T) {
    tokio::spawn(async move {
        sleep(Duration::from_secs(60)).await;
        drop(body);
    });
}

/// [`Bug::MediaTypeExact`].
fn is_exact<S: Wire>(answer: &Answer<S>) -> bool {
    answer.header(header::CONTENT_TYPE) == Some("application/x-ndjson")
}

/// What a wrong client takes an end for.
const fn zero() -> Status {
    Status {
        code: Some(0),
        signal: None,
    }
}
