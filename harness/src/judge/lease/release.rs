//! A release: a destroy that is proven, or reported.

use super::{
    acquire::is_proof,
    facts::{Cause, Choices, End, Failed},
    said::{Id, Said},
};
use fake_server::wire::Call;

/// What is known of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    sandbox: String,
    at: At,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum At {
    Nothing,
    /// The destroy is not answered.
    Open,
    /// It is gone, or goes.
    Gone,
    /// It may still be there.
    Trouble(Cause),
}

impl Release {
    pub(super) fn new(sandbox: &str) -> Self {
        Self {
            sandbox: sandbox.to_owned(),
            at: At::Nothing,
        }
    }

    pub(super) fn sandbox(&self) -> &str {
        &self.sandbox
    }

    pub(super) fn after(&self, call: Call, said: &Said) -> Self {
        let gone = is_proof(&self.sandbox, said);
        let at = match (call, &self.at) {
            (Call::DeleteSandbox, _) if *said == Said::Open => At::Open,
            (Call::DeleteSandbox | Call::GetSandbox, _) if gone => At::Gone,
            (Call::DeleteSandbox, _) => At::Trouble(unproven(&self.sandbox, said)),
            (_, at) => at.clone(),
        };
        Self { at, ..self.clone() }
    }

    pub(super) fn choices(&self, stopped: bool) -> Choices {
        let mut choices = Choices::default();
        match &self.at {
            At::Nothing => choices.calls.push(Call::DeleteSandbox),
            At::Open if stopped => {
                choices.ends.push(End::Stopped);
                let cause = Cause::new(&["cleanup-unconfirmed"]);
                choices.ends.push(End::Failed(Failed::new(cause)));
            }
            At::Open => {}
            At::Gone => choices.ends.push(End::Done(None)),
            At::Trouble(cause) => {
                choices.ends.push(End::Failed(Failed::new(cause.clone())));
                if !stopped {
                    choices.calls.push(Call::DeleteSandbox);
                }
            }
        }
        if stopped && !matches!(self.at, At::Open | At::Gone) {
            choices.ends.push(End::Stopped);
        }
        choices
    }

    pub(super) fn blame(&self) -> Vec<&'static str> {
        match &self.at {
            At::Trouble(cause) if cause.foreign => vec!["lease/identity", "lease/released"],
            _ => vec!["lease/released"],
        }
    }
}

fn unproven(sandbox: &str, said: &Said) -> Cause {
    let cause = match said {
        Said::Sandbox {
            id: Id::Is(other), ..
        } if other != sandbox => Cause::foreign(),
        Said::Sandbox { .. } => Cause::of(said).or("state-failed"),
        said => Cause::of(said),
    };
    cause.or("cleanup-unconfirmed")
}
