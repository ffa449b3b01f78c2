//! A pause or a resume: asked for once, then waited for.

use super::{
    facts::{Cause, Choices, End, Failed, is_housekeeping},
    said::{Id, Said},
};
use fake_server::{
    wire::{Call, Op},
    world::State,
};

/// What is known of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    sandbox: String,
    /// The call that asks for it.
    submit: Call,
    wanted: State,
    submitted: Submitted,
    /// The state that was told last.
    shown: Option<State>,
    /// Why it could not be read since.
    trouble: Option<Cause>,
    /// Nothing leads to the wanted state any more.
    dead: Option<Cause>,
    /// A first use failed; the client may have dropped the sandbox for it.
    unusable: Option<Cause>,
    /// A call is not answered.
    open: bool,
}

/// Whether the change was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Submitted {
    No,
    /// It has begun.
    Accepted,
    /// It may have begun.
    Unclear(Cause),
    /// 409; whether the state was read again since.
    Conflict {
        read: bool,
    },
}

impl Change {
    pub(super) fn new(op: Op, sandbox: &str) -> Self {
        let (submit, wanted) = if op == Op::Pause {
            (Call::Pause, State::Paused)
        } else {
            (Call::Resume, State::Running)
        };
        Self {
            sandbox: sandbox.to_owned(),
            submit,
            wanted,
            submitted: Submitted::No,
            shown: None,
            trouble: None,
            dead: None,
            unusable: None,
            open: false,
        }
    }

    pub(super) fn sandbox(&self) -> &str {
        &self.sandbox
    }

    /// The call that asks for the change.
    pub(super) const fn submit(&self) -> Call {
        self.submit
    }

    /// Whether it was accepted before, or 409 was not looked into.
    pub(super) const fn why_not_again(&self) -> &'static str {
        match self.submitted {
            Submitted::Accepted => "an accepted change is waited for, not asked for again",
            Submitted::Conflict { read: false } => "after 409 the state is read again first",
            _ => "nothing is asked for after a state from which nothing leads on",
        }
    }

    pub(super) fn after(&self, call: Call, said: &Said) -> Self {
        let mut after = self.clone();
        if call == self.submit {
            after.open = *said == Said::Open;
            after.asked(said);
        } else if call == Call::GetSandbox {
            after.open = *said == Said::Open;
            after.looked(said);
        } else if is_housekeeping(call) {
            let fine = matches!(said, Said::Sandbox { .. })
                || matches!(said, Said::Unproven { status, broken: false } if status / 100 == 2);
            if !fine {
                let cause = Cause::of(said).rather("state-failed");
                after.unusable = Some(cause.or("invalid-response").or("other"));
            }
        }
        after
    }

    fn asked(&mut self, said: &Said) {
        self.trouble = None;
        match said {
            Said::Open => {}
            Said::Sandbox { .. } if self.is_foreign(said) => self.dead = Some(Cause::foreign()),
            Said::Sandbox { state, .. } => {
                self.submitted = Submitted::Accepted;
                self.show(*state);
            }
            Said::Refused(409) => {
                self.submitted = Submitted::Conflict { read: false };
                self.shown = None;
            }
            Said::Refused(408 | 425 | 429 | 500..) | Said::Unproven { .. } | Said::Broken => {
                self.submitted = Submitted::Unclear(Cause::of(said));
            }
            Said::Refused(404) => self.dead = Some(Cause::of(said).or("state-failed")),
            Said::Refused(_) => self.dead = Some(Cause::of(said)),
        }
    }

    fn looked(&mut self, said: &Said) {
        match said {
            Said::Open => {}
            Said::Sandbox { .. } if self.is_foreign(said) => self.dead = Some(Cause::foreign()),
            Said::Sandbox { state, .. } => {
                self.trouble = None;
                if let Submitted::Conflict { read } = &mut self.submitted {
                    *read = true;
                }
                self.show(*state);
            }
            Said::Refused(404) => self.trouble = Some(Cause::of(said).or("state-failed")),
            said => self.trouble = Some(Cause::of(said)),
        }
    }

    fn is_foreign(&self, said: &Said) -> bool {
        match said {
            Said::Sandbox {
                id: Id::Is(other), ..
            } => *other != self.sandbox,
            Said::Sandbox { id: Id::Bad, .. } => true,
            _ => false,
        }
    }

    fn show(&mut self, state: Option<State>) {
        self.shown = state;
        let ends_it = match state {
            Some(State::Failed | State::Destroying | State::Destroyed) => true,
            Some(State::Error) => self.wanted == State::Paused || self.submitted != Submitted::No,
            _ => false,
        };
        if ends_it {
            self.dead = Some(Cause::state());
        }
    }

    /// Whether the wanted state was told, and nothing since that speaks against it.
    fn is_there(&self) -> bool {
        self.shown == Some(self.wanted) && self.trouble.is_none() && self.dead.is_none()
    }

    fn is_on_the_way(&self) -> bool {
        let via = if self.wanted == State::Paused {
            State::Pausing
        } else {
            State::Resuming
        };
        self.shown == Some(via)
    }

    pub(super) fn choices(&self, stopped: bool) -> Choices {
        let mut choices = Choices::default();
        let fails = |cause: &Cause| End::Failed(Failed::new(cause.clone()));
        if let Some(cause) = &self.dead {
            choices.ends.push(fails(cause));
        } else if self.is_there() {
            choices.ends.push(End::Done(None));
        } else if self.open {
            // Nothing to do but wait.
        } else {
            match &self.submitted {
                Submitted::No => {
                    choices.calls.push(self.submit);
                    choices.calls.push(Call::GetSandbox);
                }
                Submitted::Accepted => choices.calls.push(Call::GetSandbox),
                Submitted::Unclear(cause) => {
                    choices.ends.push(fails(cause));
                    choices.calls.push(Call::GetSandbox);
                    choices.calls.push(self.submit);
                }
                Submitted::Conflict { read } => {
                    if *read && !self.is_on_the_way() {
                        let conflict = Cause::status(&["http-error", "state-failed"], 409);
                        choices.ends.push(fails(&conflict));
                        choices.calls.push(self.submit);
                    }
                    choices.calls.push(Call::GetSandbox);
                }
            }
            if let Some(cause) = &self.trouble {
                choices.ends.push(fails(cause));
            }
        }
        if let Some(cause) = &self.unusable {
            choices.ends.push(fails(cause));
        }
        if stopped && !self.is_there() {
            choices.ends.push(End::Stopped);
            choices.calls.clear();
        }
        choices
    }

    pub(super) fn blame(&self) -> Vec<&'static str> {
        match &self.dead {
            Some(cause) if cause.foreign => vec!["lease/identity", "lease/async-state"],
            _ => vec!["lease/async-state"],
        }
    }
}
