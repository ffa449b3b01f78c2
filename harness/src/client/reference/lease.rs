//! Ops `acquire`, `release`, `pause` and `resume`: a sandbox that runs, or the reason why there is none and what may be
//! left of it.

use super::{
    Ending, Reference,
    bug::{Bug, Quirk},
    done, ended, failed,
    failure::{Failure, Kind},
    fields::{self, Change, Lease},
    http::{Dial, Http},
    sandbox::{self, POLL, Told},
    stop::Stop,
    stopped,
};
use crate::{client::job::JobRequest, observed::JobResult};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// What is known of the sandbox that an acquisition makes. It outlives the steps, which a stop cuts off anywhere.
#[derive(Debug)]
enum Creation {
    /// Nothing was asked, or it was refused.
    None,
    /// The POST may have left; nobody knows what it came to.
    Unknown,
    /// It is there; its id.
    Known(String),
}

/// A lost acquisition, and the sandbox that may be left of it.
struct Lost {
    ending: Ending,
    left: Option<String>,
}

/// States from which nothing leads on.
const DEAD: &[&str] = &["failed", "destroying", "destroyed", "error"];

impl Reference {
    pub(super) async fn acquire<D: Dial>(
        &self,
        job: &JobRequest,
        http: &mut Http<'_, D>,
        stop: &Stop,
    ) -> JobResult {
        let lease = match fields::lease(job) {
            Ok(lease) => lease,
            Err(failure) => return failed(&failure),
        };
        let mut first: Option<Failure> = None;
        let mut unclear_before: Option<Failure> = None;
        let attempts = match self.bug {
            Some(Bug::LeasePolicyOverrun) if lease.attempts > 1 => lease.attempts + 1,
            Some(Bug::LeasePolicyGivesUp) => 1,
            _ => lease.attempts,
        };
        let mut attempt = 1;
        loop {
            let number = if self.bug == Some(Bug::LeaseNameReused) {
                1
            } else {
                attempt
            };
            let tried = self.acquire_once(&lease, number, http, stop).await;
            let lost = match tried {
                Ok(id) => {
                    if self.bug == Some(Bug::LeasePolicyGreedy) && attempt < attempts {
                        attempt += 1;
                        continue;
                    }
                    return JobResult {
                        sandbox_id: Some(id),
                        ..done()
                    };
                }
                Err(lost) => lost,
            };
            let failure = match &lost.ending {
                // That an earlier create may have made something stands above what ended this one.
                Ending::Stopped(_) => {
                    return unclear_before.map_or_else(|| ended(&lost.ending), |it| failed(&it));
                }
                Ending::Failed(failure) => failure.clone(),
            };
            let failure = self.told(failure, &mut first);
            if failure.kind == Kind::CreationUnconfirmed {
                unclear_before.get_or_insert_with(|| failure.clone());
            }
            if attempt < attempts && lost.left.is_none() && is_transient(&failure) {
                attempt += 1;
                let delay = Duration::from_millis(lease.min_delay_ms);
                let wait = async {
                    if self.bug != Some(Bug::LeasePolicyImpatient) {
                        sleep(delay).await;
                    }
                    Ok(())
                };
                match stopped(stop, wait).await {
                    Ok(()) => continue,
                    // That a create may have made something stands above what ended the wait.
                    Err(_) if failure.kind == Kind::CreationUnconfirmed => {
                        return failed(&failure);
                    }
                    Err(ending) => return ended(&ending),
                }
            }
            let mut result = failed(&failure);
            if self.bug != Some(Bug::LeaseLeftUnnamed) {
                result.sandbox_id = lost.left;
            }
            return result;
        }
    }

    /// The failure as it is told: with its classification.
    fn told(&self, failure: Failure, first: &mut Option<Failure>) -> Failure {
        let mut told = if self.bug == Some(Bug::LeaseTellsFirstCause) {
            first.get_or_insert(failure).clone()
        } else {
            failure
        };
        if self.bug == Some(Bug::LeaseTellsNothing) {
            told.http_status = None;
            told.cause = None;
        }
        let transient = match self.bug {
            Some(Bug::LeaseUnclassified) => None,
            Some(Bug::LeaseAllTransient) => Some(true),
            Some(Bug::LeaseOnlyGatewaysTransient) => {
                Some(matches!(told.http_status, Some(502..=504)))
            }
            Some(Bug::LeaseErrnoPermanent) => {
                Some(told.http_status.is_some() && is_transient(&told))
            }
            _ => Some(told.transient.unwrap_or_else(|| is_transient(&told))),
        };
        told.transient = transient;
        told
    }

    /// One whole acquisition, with what its failure owes.
    async fn acquire_once<D: Dial>(
        &self,
        lease: &Lease,
        number: u64,
        http: &mut Http<'_, D>,
        stop: &Stop,
    ) -> Result<String, Lost> {
        let name = lease.name(number);
        let mut creation = Creation::None;
        let steps = self.steps_to_run(lease, &name, http, &mut creation);
        match stopped(stop, steps).await {
            Ok(id) => Ok(id),
            Err(ending) => Err(self.give_back(ending, creation, &name, http).await),
        }
    }

    async fn steps_to_run<D: Dial>(
        &self,
        lease: &Lease,
        name: &str,
        http: &mut Http<'_, D>,
        creation: &mut Creation,
    ) -> Result<String, Failure> {
        let quirk = Quirk(self.bug);
        let profile = &self.promises.profile;
        *creation = Creation::Unknown;
        let created = sandbox::create(http, &lease.body(name), profile, quirk).await;
        let Told { id, mut state } = match created {
            Ok(told) => told,
            Err(failure) => {
                if failure.kind != Kind::CreationUnconfirmed {
                    *creation = Creation::None;
                }
                return Err(failure);
            }
        };
        *creation = Creation::Known(id.clone());
        if self.bug == Some(Bug::CreatingIsRunning) {
            return Ok(id);
        }
        loop {
            match state.as_str() {
                "running" => return Ok(id),
                dead if DEAD.contains(&dead) && self.bug != Some(Bug::DeadStatesPolled) => {
                    return Err(state_failed());
                }
                _ => {}
            }
            sleep(POLL).await;
            state = match sandbox::look(http, &id, profile, quirk).await {
                Err(_) if self.bug == Some(Bug::LeaseReplaced) => {
                    let body = lease.body(&format!("{name}x"));
                    let other = sandbox::create(http, &body, profile, quirk).await?;
                    return Ok(other.id);
                }
                looked => looked?,
            };
        }
    }

    /// What a lost acquisition owes: the sandbox's end, confirmed, or the admission that it may be left.
    async fn give_back<D: Dial>(
        &self,
        ending: Ending,
        creation: Creation,
        name: &str,
        http: &mut Http<'_, D>,
    ) -> Lost {
        let was_stopped = matches!(ending, Ending::Stopped(_));
        let cause = match &ending {
            Ending::Failed(failure) => failure.clone(),
            Ending::Stopped(stopped) => Failure::new(Kind::Other, stopped.words()),
        };
        let kept = |ending| Lost { ending, left: None };
        let (id, was_unknown) = match creation {
            Creation::None => return kept(ending),
            Creation::Unknown if was_stopped && self.bug == Some(Bug::LeaseUnclearUntold) => {
                return kept(ending);
            }
            Creation::Unknown => match self.found(name, http).await {
                Ok(Some(id)) => (id, true),
                Ok(None) => return kept(Ending::Failed(unclear(cause))),
                Err(lookup) => {
                    let mut failure = unclear(cause);
                    if self.bug == Some(Bug::LeaseTellsLookup) {
                        failure.http_status = lookup.http_status;
                        failure.cause = None;
                    }
                    return kept(Ending::Failed(failure));
                }
            },
            Creation::Known(id) => (id, false),
        };
        let forgets = match self.bug {
            Some(Bug::LeaseNotCleaned) => !was_stopped,
            Some(Bug::LeaseStopForgets) => was_stopped,
            _ => false,
        };
        if forgets {
            return kept(ending);
        }
        let profile = &self.promises.profile;
        let target = match self.bug {
            Some(Bug::OtherSandboxDestroyed) if cause.kind == Kind::InvalidResponse => "sb-other",
            _ => &id,
        };
        let gone = sandbox::destroy(http, target, profile, Quirk(self.bug)).await;
        match gone {
            // What was unknown is known now, and gone.
            Ok(()) if was_unknown && !was_stopped => kept(Ending::Failed(
                cause.cause.clone().map_or(cause, |first| *first),
            )),
            Ok(()) => kept(ending),
            Err(_) if self.bug == Some(Bug::LeaseCleanupUnchecked) => kept(ending),
            Err(failure) => {
                let mut told = Failure {
                    kind: Kind::CleanupUnconfirmed,
                    message: format!("the sandbox may be left: {}", failure.message),
                    cause: Some(Box::new(cause)),
                    ..failure
                };
                if self.bug == Some(Bug::LeaseTellsDelete) {
                    told.cause = None;
                }
                Lost {
                    ending: Ending::Failed(told),
                    left: Some(id),
                }
            }
        }
    }

    /// The sandbox of a create that nobody knows the end of, by its name.
    async fn found<D: Dial>(
        &self,
        name: &str,
        http: &mut Http<'_, D>,
    ) -> Result<Option<String>, Failure> {
        let limit = Duration::from_millis(self.promises.profile.cleanup_timeout_ms);
        let found = timeout(limit, sandbox::find(http, name, Quirk(self.bug))).await;
        found.unwrap_or_else(|_| {
            Err(Failure::new(
                Kind::Transport,
                "looking for the sandbox was not answered in time",
            ))
        })
    }

    pub(super) async fn release<D: Dial>(
        &self,
        job: &JobRequest,
        http: &mut Http<'_, D>,
        stop: &Stop,
    ) -> JobResult {
        let profile = &self.promises.profile;
        let release = async {
            let id = fields::sandbox(job)?;
            sandbox::destroy(http, id, profile, Quirk(self.bug)).await
        };
        match stopped(stop, release).await {
            Ok(()) => done(),
            Err(ending) => ended(&ending),
        }
    }

    pub(super) async fn change<D: Dial>(
        &self,
        job: &JobRequest,
        http: &mut Http<'_, D>,
        stop: &Stop,
    ) -> JobResult {
        let change = async {
            let id = fields::sandbox(job)?;
            let change = Change::of(job.op);
            let changed = self.steps_of_change(id, &change, http).await;
            if changed.is_err() {
                self.overdo(id, job, http).await;
            }
            changed
        };
        match stopped(stop, change).await {
            Ok(()) => done(),
            Err(ending) => ended(&ending),
        }
    }

    async fn steps_of_change<D: Dial>(
        &self,
        id: &str,
        change: &Change,
        http: &mut Http<'_, D>,
    ) -> Result<(), Failure> {
        let quirk = Quirk(self.bug);
        let profile = &self.promises.profile;
        let state = sandbox::look(http, id, profile, quirk).await?;
        if state == change.wanted {
            return if self.bug == Some(Bug::AlreadyThereFails) {
                Err(state_failed())
            } else {
                Ok(())
            };
        }
        let resumable = change.wanted == "running" && self.bug != Some(Bug::ErrorNotResumed);
        if DEAD.contains(&state.as_str()) && !(state == "error" && resumable) {
            return Err(state_failed());
        }
        let before = state;
        match sandbox::submit(http, id, change.verb, quirk).await {
            Ok(_) if self.bug == Some(Bug::AcceptedIsDone) => return Ok(()),
            Ok((state, 200)) if state == change.wanted => return Ok(()),
            Ok((state, _)) if DEAD.contains(&state.as_str()) => return Err(state_failed()),
            Ok(_) => {}
            Err(failure) => {
                let unclear = failure.kind == Kind::Transport
                    || failure.http_status.is_some_and(|status| {
                        status >= 500 || (status == 409 && self.bug != Some(Bug::ConflictIsFinal))
                    });
                if !unclear {
                    return Err(failure);
                }
                let now = sandbox::look(http, id, profile, quirk).await?;
                if now == change.wanted {
                    return Ok(());
                }
                if DEAD.contains(&now.as_str()) {
                    return Err(state_failed());
                }
                if now != change.via {
                    return Err(failure);
                }
            }
        }
        self.settled(id, change, &before, http).await
    }

    /// Polls until the wanted state is there. One that lags behind is waited out.
    async fn settled<D: Dial>(
        &self,
        id: &str,
        change: &Change,
        before: &str,
        http: &mut Http<'_, D>,
    ) -> Result<(), Failure> {
        let quirk = Quirk(self.bug);
        let profile = &self.promises.profile;
        loop {
            let state = sandbox::look(http, id, profile, quirk).await?;
            if state == change.wanted {
                return Ok(());
            }
            if DEAD.contains(&state.as_str()) && self.bug != Some(Bug::DeadStatesPolled) {
                return Err(state_failed());
            }
            if state == before {
                match self.bug {
                    Some(Bug::LagIsFailure) => return Err(state_failed()),
                    Some(Bug::LagAskedAgain) => {
                        sandbox::submit(http, id, change.verb, quirk).await?;
                    }
                    _ => {}
                }
            }
            sleep(POLL).await;
        }
    }

    /// What wrong clients do after a change that failed.
    async fn overdo<D: Dial>(&self, id: &str, job: &JobRequest, http: &mut Http<'_, D>) {
        let profile = &self.promises.profile;
        match self.bug {
            Some(Bug::FailedChangeDestroys) => {
                drop(sandbox::destroy(http, id, profile, Quirk(self.bug)).await);
            }
            Some(Bug::FailedChangeReplaces) => {
                let body = serde_json::json!({ "shape": "s-1vcpu-1gb", "name": job.id.get(..8) });
                let body = body.to_string();
                drop(sandbox::create(http, &body, profile, Quirk(self.bug)).await);
            }
            _ => {}
        }
    }
}

/// A create whose result is not known; a stop cut it off, or it said so itself.
fn unclear(cause: Failure) -> Failure {
    if cause.kind == Kind::CreationUnconfirmed {
        cause
    } else {
        sandbox::unconfirmed(&cause)
    }
}

fn state_failed() -> Failure {
    Failure::new(
        Kind::StateFailed,
        "the sandbox is in a state from which nothing leads on",
    )
}

/// Whether another try may mend it: by the status or the broken connection, never by any text.
fn is_transient(failure: &Failure) -> bool {
    let of_cause = || {
        let cause = failure.cause.as_ref();
        cause.is_some_and(|cause| is_transient(cause))
    };
    match failure.http_status {
        // That of the cleanup says nothing.
        _ if failure.kind == Kind::CleanupUnconfirmed => of_cause(),
        Some(status) => matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504),
        None => failure.kind == Kind::Transport || of_cause(),
    }
}
