//! What answers and streams show of a process.

use super::{Exit, Leader, Process};
use crate::{
    script::model::{Truth, TruthExit},
    wire::{
        ProcessKind,
        envelope::Success,
        ids::rfc3339,
        view::{Foreground, OutputView, ProcessView},
    },
};
use std::sync::Arc;

/// What answers show of a process that never changes.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) id: String,
    pub(super) kind: ProcessKind,
    pub(super) pid: u32,
    pub(super) created_ms: u64,
    pub(super) cmd: Option<String>,
    pub(super) args: Vec<String>,
    pub(super) cwd: Option<String>,
}

/// What answers show of it that does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    state: &'static str,
    exit: Option<Exit>,
    tree_exited: bool,
    output: OutputView,
}

impl Process {
    /// As answers show it.
    #[must_use]
    pub fn view(&mut self, now_ms: u64) -> ProcessView {
        let shown = self.shown_at(now_ms);
        self.facts.view(&shown)
    }

    /// The answer that shows it.
    pub fn told(&mut self, now_ms: u64) -> Success {
        let shown = self.shown_at(now_ms);
        if self.deleted_by.is_some() {
            // Hardly anybody asks for it again: nothing is kept for that.
            return Success::of(&self.facts.view(&shown));
        }
        self.facts
            .say(shown.clone(), |facts| Success::of(&facts.view(&shown)))
    }

    /// The answer to its creation: just started, nothing written, whatever the truth is.
    pub fn told_at_creation(&mut self) -> Success {
        let shown = Shown {
            state: "running",
            exit: None,
            tree_exited: false,
            output: OutputView::default(),
        };
        self.facts
            .say(shown.clone(), |facts| Success::of(&facts.view(&shown)))
    }

    fn shown_at(&mut self, now_ms: u64) -> Shown {
        self.write_until(now_ms);
        Shown {
            state: self.state(now_ms),
            exit: self.exit(now_ms),
            tree_exited: self.tree_exited(now_ms),
            output: OutputView {
                oldest_seq: self.journal.oldest(),
                newest_seq: self.journal.newest(),
                bytes: self.journal.bytes(),
            },
        }
    }

    /// What a stream shows: the truth, or what was written of it before the process was ended by force.
    #[must_use]
    pub fn shown(&self) -> Arc<Truth> {
        let Leader::Ended { signal, .. } = &self.leader else {
            return Arc::clone(&self.truth);
        };
        let mut truth = Truth::clone(&self.truth);
        truth.frames.truncate(self.written);
        truth.live = false;
        truth.exit = TruthExit::Status {
            code: None,
            signal: Some(signal.clone()),
            pause_ms: 0,
        };
        Arc::new(truth)
    }
}

impl Facts {
    fn view(&self, shown: &Shown) -> ProcessView {
        let running = shown.exit.is_none();
        let (exit_code, signal) = shown
            .exit
            .as_ref()
            .map_or((None, None), |exit| (exit.code, exit.signal.clone()));
        ProcessView {
            process_id: self.id.clone(),
            kind: self.kind,
            pid: self.pid,
            state: shown.state,
            leader_exited: !running,
            tree_exited: shown.tree_exited,
            created_at: rfc3339(self.created_ms),
            finished_at: shown.exit.as_ref().map(|exit| rfc3339(exit.at_ms)),
            exit_code,
            signal,
            cmd: self.cmd.clone(),
            args: self.args.clone(),
            cwd: self.cwd.clone(),
            foreground: (self.kind == ProcessKind::Pty && running).then(|| Foreground {
                pid: self.pid,
                cmd: self.cmd.clone().unwrap_or_else(|| "sh".to_owned()),
                args: self.args.clone(),
            }),
            output: shown.output,
        }
    }
}
