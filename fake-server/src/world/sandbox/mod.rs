//! A sandbox as a state machine. An accepted change is shown late: for `lag` polls a GET still says
//! the old state, as the real control plane does.

mod view;

use super::{process::Process, state::State, told::Told};
use crate::wire::{
    Problem,
    requests::{CreateSandbox, PatchSandbox},
};
use std::collections::BTreeMap;

/// Milliseconds for which a destroyed sandbox still answers as `destroyed`; then it is not found.
const DESTROYED_IS_SHOWN_MS: u64 = 60_000;

/// Where it is and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It stays.
    Settled(State),
    /// It was told to become `to`; so many polls still show `shown`.
    Changing { shown: State, to: State, polls: u32 },
}

/// An accepted or needless change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// 202: it has begun.
    Begun(State),
    /// 200: it is there, or on its way, already.
    Already(State),
}

/// What answers show of a sandbox, its state aside, which is shown late.
#[derive(Clone, Debug)]
struct Facts {
    id: String,
    made: CreateSandbox,
    number: u32,
    phase: Phase,
    created_ms: u64,
    running_ms: Option<u64>,
    paused_ms: Option<u64>,
    resumed_ms: Option<u64>,
    destroyed_ms: Option<u64>,
    forked_from: Option<String>,
}

/// A sandbox with its processes and files.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// Told in a state.
    facts: Told<Facts, State>,
    lag: u32,
    pub(super) processes: Vec<Process>,
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) made_by: Option<usize>,
    pub(super) deleted_by: Option<usize>,
}

impl Facts {
    fn declared(&self) -> Vec<String> {
        self.made.envs.iter().map(|(key, _)| key.clone()).collect()
    }
}

impl Sandbox {
    /// A sandbox in this state. From a state on the way somewhere it arrives after `lag` polls.
    #[must_use]
    pub fn new(
        id: String,
        number: u32,
        made: CreateSandbox,
        state: State,
        lag: u32,
        made_by: Option<usize>,
        now_ms: u64,
    ) -> Self {
        let to = state.settled();
        let phase = if state == to {
            Phase::Settled(state)
        } else {
            Phase::Changing {
                shown: state,
                to,
                polls: lag,
            }
        };
        Self {
            facts: Told::new(Facts {
                id,
                made,
                number,
                phase,
                created_ms: now_ms,
                running_ms: (state == State::Running).then_some(now_ms),
                paused_ms: (state == State::Paused).then_some(now_ms),
                resumed_ms: None,
                destroyed_ms: (state == State::Destroyed).then_some(now_ms),
                forked_from: None,
            }),
            lag,
            processes: Vec::new(),
            files: BTreeMap::new(),
            made_by,
            deleted_by: None,
        }
    }

    /// A child of this sandbox.
    #[must_use]
    pub fn fork(
        &self,
        id: String,
        number: u32,
        made: CreateSandbox,
        paused: bool,
        made_by: Option<usize>,
        now_ms: u64,
    ) -> Self {
        let mut child = Self::new(id, number, made, State::Forking, self.lag, made_by, now_ms);
        let facts = child.facts.change();
        facts.forked_from = Some(self.facts.id.clone());
        if paused {
            facts.phase = Phase::Changing {
                shown: State::Forking,
                to: State::Paused,
                polls: self.lag,
            };
        }
        child.files.clone_from(&self.files);
        child
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.facts.id
    }

    /// How it was asked for.
    #[must_use]
    pub fn made(&self) -> &CreateSandbox {
        &self.facts.made
    }

    /// Names of the variables it was made with.
    #[must_use]
    pub fn declared(&self) -> Vec<String> {
        self.facts.declared()
    }

    /// The state that answers show, without counting as a poll.
    #[must_use]
    pub fn shown(&self) -> State {
        match self.facts.phase {
            Phase::Settled(state) => state,
            Phase::Changing { shown, .. } => shown,
        }
    }

    /// A poll: what it shows, and one step nearer to where it goes.
    pub fn poll(&mut self, now_ms: u64) -> State {
        match self.facts.phase {
            Phase::Changing { shown, to, polls } if polls > 0 => {
                let polls = polls - 1;
                self.facts.change().phase = Phase::Changing { shown, to, polls };
                shown
            }
            Phase::Changing { to, .. } => {
                self.arrive(to, now_ms);
                to
            }
            Phase::Settled(state) => state,
        }
    }

    fn arrive(&mut self, to: State, now_ms: u64) {
        let facts = self.facts.change();
        facts.phase = Phase::Settled(to);
        match to {
            State::Running if facts.paused_ms.is_some() => facts.resumed_ms = Some(now_ms),
            State::Running => facts.running_ms = Some(now_ms),
            State::Paused => facts.paused_ms = Some(now_ms),
            State::Destroyed => facts.destroyed_ms = Some(now_ms),
            _ => {}
        }
    }

    /// What it really is: a change that was accepted has happened, only its showing lags. A boot is
    /// not over before it is shown.
    #[must_use]
    pub fn really(&self) -> State {
        match self.facts.phase {
            Phase::Settled(state)
            | Phase::Changing {
                shown: state @ (State::Creating | State::Forking),
                ..
            } => state,
            Phase::Changing { to, .. } => to,
        }
    }

    /// Whether it is no longer found.
    #[must_use]
    pub fn is_gone(&self, now_ms: u64) -> bool {
        self.facts
            .destroyed_ms
            .is_some_and(|at| now_ms.saturating_sub(at) >= DESTROYED_IS_SHOWN_MS)
    }

    /// Whether its name is taken by it.
    #[must_use]
    pub fn holds_name(&self, name: &str) -> bool {
        self.facts.made.name.as_deref() == Some(name) && !self.really().is_terminal()
    }

    /// Nothing but a running sandbox runs processes and reads files.
    ///
    /// # Errors
    /// `Conflict` in any other state.
    pub fn check_running(&self) -> Result<(), Problem> {
        match self.really() {
            State::Running => Ok(()),
            state => Err(Problem::Conflict(format!(
                "the sandbox is {state}, not running"
            ))),
        }
    }

    /// Pauses it.
    ///
    /// # Errors
    /// `Conflict` from a state that cannot be paused.
    pub fn pause(&mut self) -> Result<Accepted, Problem> {
        match self.really() {
            State::Paused => Ok(Accepted::Already(self.on_the_way(State::Pausing))),
            State::Running => Ok(self.begin(State::Pausing)),
            state => Err(Problem::Conflict(format!(
                "the sandbox is {state} and cannot be paused"
            ))),
        }
    }

    /// Resumes it.
    ///
    /// # Errors
    /// `Conflict` from a state that cannot be resumed.
    pub fn resume(&mut self) -> Result<Accepted, Problem> {
        match self.really() {
            State::Running => Ok(Accepted::Already(self.on_the_way(State::Resuming))),
            State::Paused | State::Error => Ok(self.begin(State::Resuming)),
            state => Err(Problem::Conflict(format!(
                "the sandbox is {state} and cannot be resumed"
            ))),
        }
    }

    /// Destroys it with all its processes. On a terminal one it does nothing.
    pub fn delete(&mut self, by: Option<usize>, now_ms: u64) -> Accepted {
        self.deleted_by = self.deleted_by.or(by);
        match self.really() {
            state if state.is_terminal() => Accepted::Already(self.on_the_way(State::Destroying)),
            _ => {
                for process in &mut self.processes {
                    let _ = process.delete(0, by, now_ms);
                }
                // Nothing but a running sandbox reads files, and none is forked.
                self.files = BTreeMap::new();
                self.begin(State::Destroying)
            }
        }
    }

    /// The state to tell about a change that needs no second one.
    fn on_the_way(&self, via: State) -> State {
        match self.facts.phase {
            Phase::Settled(state) => state,
            Phase::Changing { .. } => via,
        }
    }

    fn begin(&mut self, via: State) -> Accepted {
        let shown = self.shown();
        self.facts.change().phase = Phase::Changing {
            shown,
            to: via.settled(),
            polls: self.lag,
        };
        Accepted::Begun(via)
    }

    /// Changes what a PATCH may change.
    pub fn patch(&mut self, patch: PatchSandbox) {
        let made = &mut self.facts.change().made;
        if let Some(enabled) = patch.ingress_enabled {
            made.ingress_enabled = enabled;
        }
        if let Some(seconds) = patch.auto_pause_after_seconds {
            made.auto_pause_after_seconds = seconds;
        }
    }

    /// Grows its disk.
    ///
    /// # Errors
    /// `Invalid` if it would shrink.
    pub fn grow(&mut self, disk_mib: u64) -> Result<(), Problem> {
        if disk_mib < self.facts.made.disk_mib {
            return Err(Problem::invalid(
                "disk_mib",
                format!(
                    "must not be below {}: a disk only grows",
                    self.facts.made.disk_mib
                ),
            ));
        }
        self.facts.change().made.disk_mib = disk_mib;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
