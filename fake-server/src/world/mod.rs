//! Sandboxes, processes and files as the fake server holds them: state machines, no IO, time as an
//! argument (milliseconds since the trial began). Nothing is ever executed.

pub mod process;
pub mod sandbox;
mod state;
mod told;

pub use state::State;

use crate::{
    script::model::{Plan, Truth, TruthExit, TruthFrame},
    wire::{
        Op, Problem, ProcessKind, StreamName, catalog, ids, limits,
        requests::{CreateProcess, CreateSandbox, Fork},
    },
    wirelog::{LedgerEntry, Names},
};
use process::Process;
use sandbox::Sandbox;
use std::sync::Arc;

/// Who owns everything here.
pub const USER: &str = "user_conformance";

/// What a world holds in memory, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Sandboxes that are not in a terminal state.
    pub sandboxes: usize,
    /// Processes that run.
    pub processes: usize,
    /// Entries of all journals, one a frame.
    pub journal_entries: usize,
    /// Bytes of all files.
    pub file_bytes: usize,
    /// Sandboxes and processes that are remembered, those that are gone among them: the ledger tells of all.
    pub records: usize,
}

/// Everything that exists.
#[derive(Clone, Debug)]
pub struct World {
    names: Names,
    /// What the scenario says a process does.
    truth: Arc<Truth>,
    /// What all others do: with pipes, and on a terminal.
    healthy: [Arc<Truth>; 2],
    lag: u32,
    sandboxes: Vec<Sandbox>,
    made_sandboxes: u32,
    made_processes: u32,
    /// Every new process does what the scenario says, not the first alone.
    all_scripted: bool,
    /// The scenario is about exec: exec does what it says.
    exec_scripted: bool,
}

impl World {
    /// The world when a trial begins: one sandbox, and its process if the op needs one to exist.
    #[must_use]
    pub fn new(plan: &Plan, names: &Names) -> Self {
        let made = CreateSandbox {
            shape: "s-1vcpu-1gb".to_owned(),
            rootfs: catalog::ROOTFS[0].to_owned(),
            name: Some("conformance".to_owned()),
            disk_mib: catalog::DISK_MIB,
            egress: Vec::new(),
            envs: plan.job.env.clone(),
            ssh_pubkeys: Vec::new(),
            ingress_enabled: false,
            auto_pause_after_seconds: None,
        };
        // The parser checks the name; whoever builds a plan by hand gets a usable sandbox.
        let state = State::from_name(&plan.sandbox.state).unwrap_or(State::Running);
        let mut sandbox = Sandbox::new(
            names.sandbox_id.clone(),
            0,
            made,
            state,
            plan.sandbox.lag,
            None,
            0,
        );
        let files = plan.sandbox.files.iter();
        sandbox.files = files
            .map(|file| (file.path.clone(), file.data.to_vec()))
            .collect();
        let mut world = Self {
            names: names.clone(),
            truth: Arc::new(plan.truth.clone()),
            healthy: [false, true].map(|pty| Arc::new(healthy(pty))),
            lag: plan.sandbox.lag,
            sandboxes: vec![sandbox],
            made_sandboxes: 0,
            made_processes: 0,
            all_scripted: false,
            exec_scripted: matches!(plan.op, Op::Exec | Op::ExecStream)
                && plan.truth.exit != TruthExit::Never,
        };
        if matches!(plan.op, Op::Follow | Op::Connect) {
            let request = CreateProcess {
                cmd: Some(
                    plan.job
                        .command
                        .first()
                        .cloned()
                        .unwrap_or_else(|| "scripted".to_owned()),
                ),
                ..CreateProcess::default()
            };
            let process = world.new_process(request, None, 0);
            world.sandboxes[0].processes.push(process);
        }
        world
    }

    /// From now on every new process does what the scenario says, not the first alone.
    pub const fn script_all(&mut self) {
        self.all_scripted = true;
    }

    /// What exec does, if the scenario says it.
    #[must_use]
    pub fn exec_truth(&self) -> Option<&Truth> {
        self.exec_scripted.then_some(&*self.truth)
    }

    /// All sandboxes that are still found.
    pub fn sandboxes(&self, now_ms: u64) -> impl Iterator<Item = &Sandbox> {
        self.sandboxes
            .iter()
            .filter(move |sandbox| !sandbox.is_gone(now_ms))
    }

    /// A sandbox by id.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn sandbox(&mut self, id: &str, now_ms: u64) -> Result<&mut Sandbox, Problem> {
        self.sandboxes
            .iter_mut()
            .find(|sandbox| sandbox.id() == id && !sandbox.is_gone(now_ms))
            .ok_or(Problem::NotFound("sandbox"))
    }

    /// A process by its sandbox's id and its own.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn process(
        &mut self,
        sandbox: &str,
        id: &str,
        now_ms: u64,
    ) -> Result<&mut Process, Problem> {
        self.sandbox(sandbox, now_ms)?
            .processes
            .iter_mut()
            .find(|process| process.id() == id)
            .ok_or(Problem::NotFound("process"))
    }

    /// Makes a sandbox.
    ///
    /// # Errors
    /// `Conflict` if the name is taken.
    pub fn create_sandbox(
        &mut self,
        request: CreateSandbox,
        by: Option<usize>,
        now_ms: u64,
    ) -> Result<&mut Sandbox, Problem> {
        if let Some(name) = &request.name
            && self.sandboxes.iter().any(|other| other.holds_name(name))
        {
            return Err(Problem::Conflict(format!("the name {name:?} is taken")));
        }
        let state = if self.lag == 0 {
            State::Running
        } else {
            State::Creating
        };
        let (id, number) = self.next_sandbox();
        let sandbox = Sandbox::new(id, number, request, state, self.lag, by, now_ms);
        Ok(self.add(sandbox))
    }

    /// Forks a paused sandbox.
    ///
    /// # Errors
    /// `NotFound`, or `Conflict` if it is not paused.
    pub fn fork(
        &mut self,
        id: &str,
        request: Fork,
        by: Option<usize>,
        now_ms: u64,
    ) -> Result<&mut Sandbox, Problem> {
        let source = self.sandbox(id, now_ms)?.clone();
        if source.really() != State::Paused {
            return Err(Problem::Conflict(format!(
                "the sandbox is {}: only a paused one is forked",
                source.really()
            )));
        }
        let from = source.made();
        let made = CreateSandbox {
            name: None,
            egress: request.egress.unwrap_or_else(|| from.egress.clone()),
            ssh_pubkeys: request
                .ssh_pubkeys
                .unwrap_or_else(|| from.ssh_pubkeys.clone()),
            ingress_enabled: request.ingress_enabled.unwrap_or(from.ingress_enabled),
            envs: request.envs.unwrap_or_else(|| from.envs.clone()),
            ..from.clone()
        };
        let (id, number) = self.next_sandbox();
        let child = source.fork(id, number, made, request.start_paused, by, now_ms);
        Ok(self.add(child))
    }

    fn next_sandbox(&mut self) -> (String, u32) {
        self.made_sandboxes += 1;
        let number = self.made_sandboxes;
        (
            ids::derived("sb-", &self.names.sandbox_id, u64::from(number)),
            number,
        )
    }

    fn add(&mut self, sandbox: Sandbox) -> &mut Sandbox {
        let at = self.sandboxes.len();
        self.sandboxes.push(sandbox);
        &mut self.sandboxes[at]
    }

    /// Makes a process.
    ///
    /// # Errors
    /// `NotFound`, or `Conflict` if the sandbox does not run.
    pub fn create_process(
        &mut self,
        sandbox: &str,
        request: CreateProcess,
        by: Option<usize>,
        now_ms: u64,
    ) -> Result<&mut Process, Problem> {
        self.sandbox(sandbox, now_ms)?.check_running()?;
        let process = self.new_process(request, by, now_ms);
        let processes = &mut self.sandbox(sandbox, now_ms)?.processes;
        let at = processes.len();
        processes.push(process);
        Ok(&mut processes[at])
    }

    fn new_process(&mut self, request: CreateProcess, by: Option<usize>, now_ms: u64) -> Process {
        let number = self.made_processes;
        self.made_processes += 1;
        let (id, scripted) = if number == 0 {
            (self.names.process_id.clone(), true)
        } else {
            let id = ids::derived("proc_", &self.names.process_id, u64::from(number));
            (id, self.all_scripted)
        };
        let truth = if scripted {
            Arc::clone(&self.truth)
        } else {
            Arc::clone(&self.healthy[usize::from(request.pty.is_some())])
        };
        Process::new(id, 100 + number, truth, request, by, now_ms)
    }

    /// Files of a running sandbox.
    ///
    /// # Errors
    /// `NotFound`, or `Conflict` if the sandbox does not run.
    pub fn files(
        &mut self,
        sandbox: &str,
        now_ms: u64,
    ) -> Result<&mut std::collections::BTreeMap<String, Vec<u8>>, Problem> {
        let sandbox = self.sandbox(sandbox, now_ms)?;
        sandbox.check_running()?;
        Ok(&mut sandbox.files)
    }

    /// Processes of a sandbox, in order of creation.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn processes(&mut self, sandbox: &str, now_ms: u64) -> Result<&mut [Process], Problem> {
        Ok(&mut self.sandbox(sandbox, now_ms)?.processes)
    }

    /// What all this holds in memory.
    #[must_use]
    pub fn held(&self, now_ms: u64) -> Held {
        let mut held = Held::default();
        for sandbox in &self.sandboxes {
            held.records += 1;
            held.sandboxes += usize::from(!sandbox.really().is_terminal());
            held.file_bytes += sandbox.files.values().map(Vec::len).sum::<usize>();
            for process in &sandbox.processes {
                held.records += 1;
                held.processes += usize::from(process.state(now_ms) == "running");
                held.journal_entries += process.journal_entries();
            }
        }
        held
    }

    /// What exists, or existed.
    #[must_use]
    pub fn ledger(&self, now_ms: u64) -> Vec<LedgerEntry> {
        let mut ledger = Vec::new();
        for sandbox in &self.sandboxes {
            ledger.push(LedgerEntry {
                kind: "sandbox".to_owned(),
                id: sandbox.id().to_owned(),
                state: sandbox.really().name().to_owned(),
                made_by: sandbox.made_by,
                deleted_by: sandbox.deleted_by,
                descendants: false,
            });
            for process in &sandbox.processes {
                ledger.push(LedgerEntry {
                    kind: "process".to_owned(),
                    id: process.id().to_owned(),
                    state: process.state(now_ms).to_owned(),
                    made_by: process.made_by,
                    deleted_by: process.deleted_by,
                    descendants: process.leaves_descendants(now_ms),
                });
            }
        }
        ledger
    }
}

/// What a process does that no scenario describes: one line, and success.
#[must_use]
pub fn healthy(pty: bool) -> Truth {
    let (kind, stream, line) = if pty {
        (ProcessKind::Pty, StreamName::Pty, "hello\r\n")
    } else {
        (ProcessKind::Pipe, StreamName::Stdout, "hello\n")
    };
    Truth {
        kind,
        first_seq: 1,
        frames: vec![TruthFrame {
            seq: 1,
            stream,
            data: line.into(),
            pause_ms: 0,
        }],
        exit: TruthExit::Status {
            code: Some(0),
            signal: None,
            pause_ms: 0,
        },
        heartbeat_ms: limits::HEARTBEAT_MS,
        journal_bytes: limits::JOURNAL_BYTES,
        children: 0,
        live: false,
    }
}

#[cfg(test)]
pub(crate) mod tests;
