//! What a right client may do next, and how it may end, after what was said so far. The oracle follows it, and real
//! clients are held against it.

use super::{acquire::Acquire, change::Change, release::Release, said::Said};
use crate::profile::Promises;
use fake_server::{
    script::model::Plan,
    wire::{Call, Op},
    wirelog::Exchange,
};

/// Why something failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    /// Kinds of error that are right, the usual one first.
    pub(crate) kinds: Vec<&'static str>,
    /// The status of the answer, if there was one.
    pub(crate) status: Option<u16>,
    /// The connection failed.
    pub(crate) broken: bool,
    /// An answer about another sandbox.
    pub(crate) foreign: bool,
}

/// Statuses of a create that another try may mend.
const TRANSIENT: &[u16] = &[408, 425, 429, 500, 502, 503, 504];

impl Cause {
    pub(super) fn new(kinds: &[&'static str]) -> Self {
        Self {
            kinds: kinds.to_vec(),
            status: None,
            broken: false,
            foreign: false,
        }
    }

    pub(super) fn status(kinds: &[&'static str], status: u16) -> Self {
        Self {
            status: Some(status),
            ..Self::new(kinds)
        }
    }

    /// A sandbox in a state from which nothing leads on.
    pub(super) fn state() -> Self {
        Self::new(&["state-failed"])
    }

    /// An answer about another sandbox.
    pub(super) fn foreign() -> Self {
        Self {
            foreign: true,
            ..Self::new(&["invalid-response"])
        }
    }

    /// What is wrong with an answer that says nothing of the sandbox.
    pub(super) fn of(said: &Said) -> Self {
        match said {
            Said::Refused(status @ 300..=399) => {
                Self::status(&["http-error", "transport"], *status)
            }
            // Some libraries let a number that is no status pass, others call the answer broken.
            Said::Refused(status @ 600..) => Self {
                broken: true,
                ..Self::status(&["http-error", "transport"], *status)
            },
            Said::Refused(status) => Self::status(&["http-error"], *status),
            Said::Unproven { status, broken } => Self {
                broken: *broken,
                ..Self::status(
                    if *broken {
                        &["transport", "invalid-response"]
                    } else {
                        &["invalid-response", "http-error"]
                    },
                    *status,
                )
            },
            Said::Sandbox { status, .. } => Self::status(&["invalid-response"], *status),
            Said::Broken | Said::Open => Self {
                broken: true,
                ..Self::new(&["transport", "connection-failed"])
            },
        }
    }

    /// It may also be told so.
    pub(super) fn or(mut self, kind: &'static str) -> Self {
        self.kinds.push(kind);
        self
    }

    /// It is told so first.
    pub(super) fn rather(mut self, kind: &'static str) -> Self {
        self.kinds.insert(0, kind);
        self
    }

    /// Whether another try may mend it; `None` where a client cannot tell for sure: not every end of a connection has an
    /// errno.
    pub(crate) fn is_transient(&self) -> Option<bool> {
        match self.status {
            Some(600..) => None,
            Some(status) if status >= 300 => Some(TRANSIENT.contains(&status)),
            // A body that broke off: with an errno or without one.
            Some(_) if self.broken => None,
            Some(_) => Some(false),
            None => None,
        }
    }
}

/// A way to end that is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It is done; an acquisition with this sandbox.
    Done(Option<String>),
    /// It fails.
    Failed(Failed),
    /// It was stopped from outside.
    Stopped,
}

/// A failure that is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    /// What went wrong; its kinds are those that may be told.
    pub(crate) cause: Cause,
    /// How the create failed, if it did.
    pub(crate) create: Option<Cause>,
    /// The sandbox that it has to name.
    pub(crate) sandbox: Option<String>,
    /// The policy allows another try, which may mend it.
    pub(crate) early: bool,
}

impl Failed {
    pub(super) const fn new(cause: Cause) -> Self {
        Self {
            cause,
            create: None,
            sandbox: None,
            early: false,
        }
    }
}

/// What a right client may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choices {
    /// Calls, the usual one first. Reading is always free and stands here only where it leads on.
    pub(crate) calls: Vec<Call>,
    /// Ends, the usual one first.
    pub(crate) ends: Vec<End>,
}

/// What is known so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Facts {
    /// Of an acquisition.
    Acquire(Acquire),
    /// Of a release.
    Release(Release),
    /// Of a pause or a resume.
    Change(Change),
}

impl Facts {
    /// Nothing was asked yet; `None` for ops that are not about leases.
    pub(crate) fn new(plan: &Plan, promises: &Promises, sandbox: &str) -> Option<Self> {
        Some(match plan.op {
            Op::Acquire => Self::Acquire(Acquire::new(plan, promises)),
            Op::Release => Self::Release(Release::new(sandbox)),
            Op::Pause | Op::Resume => Self::Change(Change::new(plan.op, sandbox)),
            _ => return None,
        })
    }

    /// After an answer.
    pub(crate) fn after(&self, exchange: &Exchange, said: &Said) -> Vec<Self> {
        let Some(call) = exchange.call else {
            return vec![self.clone()];
        };
        match self {
            Self::Acquire(facts) => {
                let all = facts.after(call, super::said::target(exchange), said);
                all.into_iter().map(Self::Acquire).collect()
            }
            Self::Release(facts) => vec![Self::Release(facts.after(call, said))],
            Self::Change(facts) => vec![Self::Change(facts.after(call, said))],
        }
    }

    /// After a call whose connection was refused or cut unread.
    pub(crate) fn after_unseen(&self, call: Call) -> Vec<Self> {
        match self {
            Self::Acquire(facts) => {
                let id = facts.made().map(str::to_owned);
                let all = facts.after(call, id.as_deref(), &Said::Broken);
                all.into_iter().map(Self::Acquire).collect()
            }
            Self::Release(facts) => vec![Self::Release(facts.after(call, &Said::Broken))],
            Self::Change(facts) => vec![Self::Change(facts.after(call, &Said::Broken))],
        }
    }

    /// What a right client may do now; `stopped`: its deadline has passed, or it was cancelled.
    pub(crate) fn choices(&self, stopped: bool) -> Choices {
        match self {
            Self::Acquire(facts) => facts.choices(stopped),
            Self::Release(facts) => facts.choices(stopped),
            Self::Change(facts) => facts.choices(stopped),
        }
    }

    /// The sandbox that the next call is about.
    pub(crate) fn sandbox(&self) -> Option<&str> {
        match self {
            Self::Acquire(facts) => facts.made(),
            Self::Release(facts) => Some(facts.sandbox()),
            Self::Change(facts) => Some(facts.sandbox()),
        }
    }

    /// Requirements that a wrong end counts under, the best first.
    pub(super) fn blame(&self, outcome: &str) -> Vec<&'static str> {
        match self {
            Self::Acquire(facts) => facts.blame(outcome),
            Self::Release(facts) => facts.blame(),
            Self::Change(facts) => facts.blame(),
        }
    }
}

/// Calls by which a client looks whether a sandbox is any good. They are free.
pub(super) const fn is_housekeeping(call: Call) -> bool {
    !matches!(
        call,
        Call::CreateSandbox
            | Call::GetSandbox
            | Call::ListSandboxes
            | Call::DeleteSandbox
            | Call::Pause
            | Call::Resume
    )
}
