//! An acquisition: one create, polls until the sandbox runs, and its end if that fails; all of it once more where a
//! policy says so.

use super::{
    facts::{Cause, Choices, End, Failed, is_housekeeping},
    said::{Id, Said},
};
use crate::profile::Promises;
use fake_server::{script::model::Plan, wire::Call, world::State};
use serde_json::Value;

/// What is known of an acquisition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Acquire {
    /// Acquisitions at the most.
    attempts: u64,
    /// Acquisitions begun.
    begun: u64,
    /// Statuses on which the create is repeated.
    repeat_on: Vec<u16>,
    /// Why nobody knows what the create of an acquisition before this one came to.
    unknown_before: Option<Cause>,
    lease: Lease,
}

/// What is known of the sandbox of the acquisition that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Lease {
    /// Nothing was asked.
    Nothing,
    /// The create is not answered.
    Open,
    /// The create was refused.
    Refused(Cause),
    /// One may have been made, and its id is not known.
    Unknown(Cause),
    /// One was made.
    Made(Made),
    /// It is gone again; why, if there was a reason, and how its create had failed.
    Gone {
        why: Option<Cause>,
        create: Option<Cause>,
    },
    /// It may be left.
    Left {
        id: String,
        why: Option<Cause>,
        create: Option<Cause>,
    },
}

/// A sandbox with a known id.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Made {
    id: String,
    runs: bool,
    /// What went wrong since.
    trouble: Option<Cause>,
    /// Nothing heals it.
    fatal: bool,
    /// The server says that it is gone.
    told_gone: bool,
}

impl Acquire {
    pub(super) fn new(plan: &Plan, promises: &Promises) -> Self {
        Self {
            attempts: attempts(plan),
            begun: 0,
            repeat_on: promises.profile.retry_create_on.clone(),
            unknown_before: None,
            lease: Lease::Nothing,
        }
    }

    /// The sandbox that was made and is not known to be gone.
    pub(super) fn made(&self) -> Option<&str> {
        match &self.lease {
            Lease::Made(made) => Some(&made.id),
            Lease::Left { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Whether a create may be a repetition of the one before, as the client promises.
    pub(super) fn repeats(&self) -> bool {
        let (Lease::Refused(cause) | Lease::Unknown(cause)) = &self.lease else {
            return false;
        };
        cause
            .status
            .is_some_and(|status| self.repeat_on.contains(&status))
    }

    /// Whether this is the last acquisition that the policy allows.
    pub(super) const fn is_last(&self) -> bool {
        self.begun >= self.attempts
    }

    /// Whether what the create came to is not known.
    pub(super) const fn is_unknown(&self) -> bool {
        matches!(self.lease, Lease::Open | Lease::Unknown(_))
    }

    /// Whether the sandbox was had.
    pub(super) const fn has_one(&self) -> bool {
        matches!(
            &self.lease,
            Lease::Made(Made {
                runs: true,
                trouble: None,
                ..
            })
        )
    }

    pub(super) fn after(&self, call: Call, target: Option<&str>, said: &Said) -> Vec<Self> {
        let with = |lease| Self {
            lease,
            ..self.clone()
        };
        match call {
            Call::CreateSandbox => {
                let begun = self.begun + u64::from(!self.repeats());
                let unknown_before = match &self.lease {
                    Lease::Unknown(cause) => Some(cause.clone()),
                    _ => self.unknown_before.clone(),
                };
                let created = created(said).into_iter();
                created
                    .map(|lease| Self {
                        begun,
                        lease,
                        unknown_before: unknown_before.clone(),
                        ..self.clone()
                    })
                    .collect()
            }
            Call::GetSandbox => vec![with(self.looked(target, said))],
            Call::DeleteSandbox => vec![with(self.deleted(target, said))],
            call if is_housekeeping(call) => vec![with(self.tried(target, said))],
            _ => vec![self.clone()],
        }
    }

    fn looked(&self, target: Option<&str>, said: &Said) -> Lease {
        match self.lease.clone() {
            Lease::Made(made) if target == Some(made.id.as_str()) => Lease::Made(made.seen(said)),
            Lease::Left { id, why, create } if target == Some(id.as_str()) => {
                if is_proof(&id, said) {
                    Lease::Gone { why, create }
                } else {
                    Lease::Left { id, why, create }
                }
            }
            lease => lease,
        }
    }

    fn deleted(&self, target: Option<&str>, said: &Said) -> Lease {
        let Some(target) = target else {
            return self.lease.clone();
        };
        let (why, create) = match self.lease.clone() {
            // Found by its name, say.
            Lease::Open => {
                let cause = Cause::new(&["creation-unconfirmed"]);
                (Some(cause), None)
            }
            Lease::Unknown(cause) => (Some(cause.clone()), Some(cause)),
            Lease::Made(made) if made.id == target => (made.trouble, None),
            Lease::Left { id, why, create } if id == target => (why, create),
            lease => return lease,
        };
        if is_proof(target, said) {
            return Lease::Gone { why, create };
        }
        Lease::Left {
            id: target.to_owned(),
            why,
            create,
        }
    }

    /// A first use of the sandbox, by which a client makes sure of it.
    fn tried(&self, target: Option<&str>, said: &Said) -> Lease {
        let mut lease = self.lease.clone();
        if let Lease::Made(made) = &mut lease
            && target == Some(made.id.as_str())
            && !matches!(said, Said::Sandbox { .. })
            && made.trouble.is_none()
        {
            let ok = matches!(said, Said::Unproven { status, broken: false } if status / 100 == 2);
            if !ok {
                made.trouble = Some(Cause::of(said).or("state-failed"));
            }
        }
        lease
    }

    pub(super) fn choices(&self, stopped: bool) -> Choices {
        let mut choices = Choices::default();
        let more = !self.is_last() && !stopped;
        let failed = |cause: &Cause, create: Option<&Cause>, choices: &mut Choices| {
            if more || self.repeats() {
                choices.calls.push(Call::CreateSandbox);
            }
            let is_transient = create.unwrap_or(cause).is_transient() == Some(true);
            choices.ends.push(End::Failed(Failed {
                create: create.cloned(),
                early: more && is_transient,
                ..Failed::new(cause.clone())
            }));
        };
        match &self.lease {
            Lease::Nothing => choices.calls.push(Call::CreateSandbox),
            Lease::Open => {
                let cause = Cause::new(&["creation-unconfirmed"]);
                if stopped {
                    choices.ends.push(End::Failed(Failed::new(cause)));
                }
            }
            Lease::Refused(cause) => failed(cause, Some(cause), &mut choices),
            Lease::Unknown(cause) => {
                failed(cause, Some(cause), &mut choices);
                choices.calls.push(Call::ListSandboxes);
            }
            Lease::Made(made) => made.choices(stopped, &mut choices),
            Lease::Gone { why, create } => {
                if let Some(cause) = why {
                    failed(cause, create.as_ref(), &mut choices);
                }
            }
            Lease::Left { id, create, .. } => {
                choices.ends.push(End::Failed(Failed {
                    create: create.clone(),
                    sandbox: Some(id.clone()),
                    ..Failed::new(Cause::new(&["cleanup-unconfirmed"]))
                }));
                choices.calls.push(Call::DeleteSandbox);
            }
        }
        let nothing_is_left = matches!(
            self.lease,
            Lease::Nothing | Lease::Gone { .. } | Lease::Refused(_)
        );
        if stopped && nothing_is_left {
            choices.ends.push(End::Stopped);
            // What an earlier one may have left is worth more than what ended this one.
            if let Some(cause) = &self.unknown_before {
                choices.ends.push(End::Failed(Failed {
                    create: Some(cause.clone()),
                    ..Failed::new(cause.clone())
                }));
            }
        }
        choices
    }

    pub(super) fn blame(&self, outcome: &str) -> Vec<&'static str> {
        match &self.lease {
            Lease::Nothing => vec!["lease/create-once", "lease/no-leak"],
            Lease::Open | Lease::Unknown(_) => {
                vec!["lease/create-once", "lease/no-leak", "lease/identity"]
            }
            Lease::Refused(_) => vec!["lease/diagnostic", "lease/create-once"],
            Lease::Gone { .. } => vec!["lease/diagnostic", "lease/cleanup"],
            Lease::Left { .. } => vec!["lease/cleanup", "lease/no-leak"],
            Lease::Made(made) if made.trouble.as_ref().is_some_and(|cause| cause.foreign) => {
                vec!["lease/identity", "lease/cleanup"]
            }
            Lease::Made(_) if outcome == "ok" => vec!["lease/async-state", "lease/identity"],
            Lease::Made(_) => vec!["lease/cleanup", "lease/no-leak"],
        }
    }
}

impl Made {
    fn new(id: &str, state: Option<State>) -> Self {
        Self {
            id: id.to_owned(),
            runs: false,
            trouble: None,
            fatal: false,
            told_gone: false,
        }
        .shown(state)
    }

    /// The server told its state.
    fn shown(mut self, state: Option<State>) -> Self {
        self.runs = state == Some(State::Running);
        match state {
            Some(State::Failed | State::Destroying | State::Destroyed) => {
                self.trouble = Some(Cause::state());
                self.fatal = true;
                self.told_gone = state != Some(State::Failed);
            }
            Some(State::Error | State::Pausing | State::Paused) => {
                self.trouble = Some(Cause::state());
            }
            _ if !self.fatal => self.trouble = None,
            _ => {}
        }
        self
    }

    fn seen(mut self, said: &Said) -> Self {
        match said {
            Said::Sandbox {
                id: Id::Is(other), ..
            } if *other != self.id => {
                self.trouble = Some(Cause::foreign());
                self.fatal = true;
            }
            Said::Sandbox { id: Id::Bad, .. } => {
                self.trouble = Some(Cause::foreign());
                self.fatal = true;
            }
            Said::Sandbox { state, .. } if !self.fatal => return self.shown(*state),
            _ if self.fatal => {}
            said => {
                self.told_gone = *said == Said::Refused(404);
                let cause = Cause::of(said);
                self.trouble = Some(match said {
                    Said::Refused(404) => cause.or("state-failed"),
                    _ => cause,
                });
            }
        }
        self
    }

    fn choices(&self, stopped: bool, choices: &mut Choices) {
        match &self.trouble {
            None if self.runs => {
                choices.ends.push(End::Done(Some(self.id.clone())));
                choices.calls.push(Call::GetSandbox);
            }
            None => choices.calls.push(Call::GetSandbox),
            Some(cause) => {
                if self.told_gone {
                    choices.ends.push(End::Failed(Failed::new(cause.clone())));
                }
                if !self.fatal {
                    choices.calls.push(Call::GetSandbox);
                }
                choices.calls.push(Call::DeleteSandbox);
            }
        }
        if stopped {
            choices.calls = vec![Call::DeleteSandbox];
        }
    }
}

/// What an answer to a create leaves.
fn created(said: &Said) -> Vec<Lease> {
    let unknown = |cause: Cause| vec![Lease::Unknown(cause)];
    match said {
        Said::Open => vec![Lease::Open],
        Said::Sandbox {
            id: Id::Is(id),
            state,
            ..
        } => {
            let made = Lease::Made(Made::new(id, *state));
            // A create without a state answers when the sandbox runs, some say.
            match state {
                Some(_) => vec![made],
                None => vec![Lease::Made(Made::new(id, Some(State::Running))), made],
            }
        }
        Said::Sandbox { .. } => unknown(Cause::of(said).rather("creation-unconfirmed")),
        // Whether a proxy's redirect or its word that it took too long comes before or after the create, nobody knows.
        Said::Refused(300..=399 | 408 | 500..) | Said::Unproven { .. } | Said::Broken => {
            unknown(Cause::of(said).rather("creation-unconfirmed"))
        }
        Said::Refused(_) => vec![Lease::Refused(Cause::of(said))],
    }
}

/// Whether an answer proves that the sandbox is gone, or goes.
pub(super) fn is_proof(sandbox: &str, said: &Said) -> bool {
    match said {
        Said::Refused(404) => true,
        Said::Sandbox { id, state, .. } => {
            let own = match id {
                Id::Is(id) => id == sandbox,
                Id::Missing => true,
                Id::Bad => false,
            };
            own && matches!(state, Some(State::Destroying | State::Destroyed))
        }
        _ => false,
    }
}

/// Acquisitions that the job's policy allows.
pub(crate) fn attempts(plan: &Plan) -> u64 {
    policy(plan, "attempts").unwrap_or(1)
}

/// Milliseconds between two of them at least.
pub(crate) fn min_delay_ms(plan: &Plan) -> u64 {
    policy(plan, "min_delay_ms").unwrap_or(0)
}

fn policy(plan: &Plan, field: &str) -> Option<u64> {
    let policy = plan.job.extra.get("policy")?;
    policy.get(field).and_then(Value::as_u64)
}
