//! What answers and streams show of a process.

use super::{Exit, Leader, Process};
use crate::{
    script::model::{Truth, TruthExit},
    wire::{
        ProcessKind,
        ids::rfc3339,
        view::{Foreground, OutputView, ProcessView},
    },
};
use std::sync::Arc;

impl Process {
    /// As answers show it.
    #[must_use]
    pub fn view(&mut self, now_ms: u64) -> ProcessView {
        self.write_until(now_ms);
        let exit = self.exit(now_ms);
        let output = OutputView {
            oldest_seq: self.journal.oldest(),
            newest_seq: self.journal.newest(),
            bytes: self.journal.bytes(),
        };
        self.view_with(self.state(now_ms), exit, self.tree_exited(now_ms), output)
    }

    /// As the answer to its creation shows it: just started, nothing written, whatever the truth is.
    #[must_use]
    pub fn view_of_creation(&self) -> ProcessView {
        self.view_with("running", None, false, OutputView::default())
    }

    fn view_with(
        &self,
        state: &'static str,
        exit: Option<Exit>,
        tree_exited: bool,
        output: OutputView,
    ) -> ProcessView {
        let kind = self.truth.kind;
        let running = exit.is_none();
        let finished_at = exit.as_ref().map(|exit| rfc3339(exit.at_ms));
        let (exit_code, signal) = exit.map_or((None, None), |exit| (exit.code, exit.signal));
        ProcessView {
            process_id: self.id.clone(),
            kind,
            pid: self.pid,
            state,
            leader_exited: !running,
            tree_exited,
            created_at: rfc3339(self.created_ms),
            finished_at,
            exit_code,
            signal,
            cmd: self.cmd.clone(),
            args: self.args.clone(),
            cwd: self.cwd.clone(),
            foreground: (kind == ProcessKind::Pty && running).then(|| Foreground {
                pid: self.pid,
                cmd: self.cmd.clone().unwrap_or_else(|| "sh".to_owned()),
                args: self.args.clone(),
            }),
            output,
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
