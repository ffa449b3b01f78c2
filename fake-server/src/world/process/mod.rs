//! A managed process as a state machine. Nothing runs: it writes and ends as its truth says, unless
//! somebody ends it.

mod view;

use super::told::Told;
use crate::{
    journal::Journal,
    script::model::{Truth, TruthExit},
    wire::{
        Problem, ProcessKind,
        requests::{CreateProcess, Size},
    },
};
use std::sync::Arc;
use view::{Facts, Shown};

/// A process and all that is remembered of it.
#[derive(Clone, Debug)]
pub struct Process {
    facts: Told<Facts, Shown>,
    truth: Arc<Truth>,
    /// When a live truth begins to be written.
    started_ms: u64,
    size: Option<Size>,
    stdin: Stdin,
    input_seq: u64,
    leader: Leader,
    children: Children,
    journal: Journal,
    /// Frames of the truth that are in the journal.
    written: usize,
    /// Index of the exchange that made it.
    pub(super) made_by: Option<usize>,
    /// Index of the exchange that deleted it, or ended it by a signal.
    pub(super) deleted_by: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stdin {
    /// Left by `stdin/close`.
    Open,
    Closed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Leader {
    /// Writes and exits as the truth says. Left by a signal or a delete.
    AsTruth,
    /// Ended by force.
    Ended { at_ms: u64, signal: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Children {
    /// Descendants that outlive the leader, as the truth says (none if 0). Left by a delete.
    AsTruth,
    /// A delete has asked them to go; at this time they are killed.
    Terminating { until_ms: u64 },
}

/// How a leader ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Code.
    pub code: Option<i64>,
    /// Signal name.
    pub signal: Option<String>,
    /// When, in milliseconds since the trial began.
    pub at_ms: u64,
}

/// Whether a delete is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deleting {
    /// The whole tree is gone.
    Done,
    /// Descendants are given until then.
    Grace {
        /// Milliseconds since the trial began.
        until_ms: u64,
    },
}

impl Process {
    /// A process that begins now.
    #[must_use]
    pub fn new(
        id: String,
        pid: u32,
        truth: Arc<Truth>,
        request: CreateProcess,
        made_by: Option<usize>,
        now_ms: u64,
    ) -> Self {
        Self {
            journal: Journal::new(truth.journal_bytes),
            facts: Told::new(Facts {
                id,
                kind: truth.kind,
                pid,
                created_ms: now_ms,
                cmd: request.cmd,
                args: request.args,
                cwd: request.cwd,
            }),
            truth,
            started_ms: now_ms,
            size: request.pty,
            stdin: Stdin::Open,
            input_seq: 0,
            leader: Leader::AsTruth,
            children: Children::AsTruth,
            written: 0,
            made_by,
            deleted_by: None,
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.facts.id
    }

    /// How its leader ended, if it has by now.
    #[must_use]
    pub fn exit(&self, now_ms: u64) -> Option<Exit> {
        if let Leader::Ended { at_ms, signal } = &self.leader {
            return Some(Exit {
                code: None,
                signal: Some(signal.clone()),
                at_ms: *at_ms,
            });
        }
        let at_ms = self.natural_exit_ms().filter(|at| *at <= now_ms)?;
        match &self.truth.exit {
            TruthExit::Status { code, signal, .. } => Some(Exit {
                code: *code,
                signal: signal.clone(),
                at_ms,
            }),
            TruthExit::Never => None,
        }
    }

    /// When its leader exits by itself, if it ever does.
    #[must_use]
    pub fn natural_exit_ms(&self) -> Option<u64> {
        match &self.truth.exit {
            TruthExit::Never => None,
            TruthExit::Status { .. } if !self.truth.live => Some(self.facts.created_ms),
            TruthExit::Status { pause_ms, .. } => {
                let quiet = self.truth.frames.iter().map(|frame| frame.pause_ms);
                Some(self.started_ms + quiet.sum::<u64>() + pause_ms)
            }
        }
    }

    /// Whether its leader and all descendants have exited by now.
    #[must_use]
    pub fn tree_exited(&self, now_ms: u64) -> bool {
        let children_gone = match self.children {
            Children::AsTruth => self.truth.children == 0,
            Children::Terminating { until_ms } => until_ms <= now_ms,
        };
        children_gone && self.exit(now_ms).is_some()
    }

    /// Whether its leader has exited and descendants run on that nobody deletes.
    #[must_use]
    pub fn leaves_descendants(&self, now_ms: u64) -> bool {
        self.children == Children::AsTruth && self.truth.children > 0 && self.exit(now_ms).is_some()
    }

    /// Whether somebody ended it before it ended by itself.
    #[must_use]
    pub const fn ended_by_force(&self) -> bool {
        matches!(self.leader, Leader::Ended { .. })
    }

    /// State in the protocol's words.
    #[must_use]
    pub fn state(&self, now_ms: u64) -> &'static str {
        match self.children {
            Children::Terminating { until_ms } if until_ms > now_ms => "terminating",
            _ if self.exit(now_ms).is_some() => "exited",
            _ => "running",
        }
    }

    /// A client watches for the first time: a live truth that nobody waited for begins now.
    pub fn watched(&mut self, now_ms: u64) {
        self.write_until(now_ms);
        if self.truth.live && self.written == 0 && self.exit(now_ms).is_none() {
            self.started_ms = now_ms;
        }
    }

    /// Whether a stream may begin after this cursor.
    ///
    /// # Errors
    /// `Evicted` if the journal has lost a frame after it.
    pub fn check_cursor(&mut self, after: u64, now_ms: u64) -> Result<(), Problem> {
        self.write_until(now_ms);
        match self.journal.replay(after) {
            Ok(_) => Ok(()),
            Err(lost) => Err(Problem::Evicted {
                after: lost.after,
                oldest: lost.oldest,
            }),
        }
    }

    /// Takes input; its number.
    ///
    /// # Errors
    /// `Conflict` if stdin is closed or the process has exited.
    pub fn input(&mut self, now_ms: u64) -> Result<u64, Problem> {
        self.check_open(now_ms)?;
        self.input_seq += 1;
        Ok(self.input_seq)
    }

    /// Closes stdin.
    ///
    /// # Errors
    /// `Conflict` if it is closed already or the process has exited.
    pub fn close_stdin(&mut self, now_ms: u64) -> Result<(), Problem> {
        self.check_open(now_ms)?;
        self.stdin = Stdin::Closed;
        Ok(())
    }

    /// Gives its terminal another size.
    ///
    /// # Errors
    /// `Invalid` for a pipe process, `Conflict` if it has exited.
    pub fn resize(&mut self, size: Size, now_ms: u64) -> Result<(), Problem> {
        if self.truth.kind != ProcessKind::Pty {
            return Err(Problem::invalid("process", "has no terminal to resize"));
        }
        self.check_running(now_ms)?;
        self.size = Some(size);
        Ok(())
    }

    /// Sends a signal. It ends a process that never ends by itself; a scripted end stays as it is.
    ///
    /// # Errors
    /// `Conflict` if it has exited.
    pub fn signal(&mut self, name: &str, by: Option<usize>, now_ms: u64) -> Result<(), Problem> {
        self.check_running(now_ms)?;
        if name != "SIGWINCH" && self.truth.exit == TruthExit::Never {
            self.deleted_by = self.deleted_by.or(by);
            self.end(name, now_ms);
        }
        Ok(())
    }

    /// Ends the whole tree: TERM to the leader, `grace_ms` for its descendants, then KILL.
    pub fn delete(&mut self, grace_ms: u64, by: Option<usize>, now_ms: u64) -> Deleting {
        self.deleted_by = self.deleted_by.or(by);
        if self.exit(now_ms).is_none() {
            self.end("SIGTERM", now_ms);
        }
        self.give_back(now_ms);
        if self.tree_exited(now_ms) {
            return Deleting::Done;
        }
        let until_ms = now_ms.saturating_add(grace_ms);
        // A second delete may shorten the grace of the first, never lengthen it.
        let until_ms = match self.children {
            Children::Terminating { until_ms: earlier } => earlier.min(until_ms),
            _ => until_ms,
        };
        self.children = Children::Terminating { until_ms };
        self.deleting(now_ms)
    }

    /// Whether the delete is over; without one there is nothing to wait for.
    #[must_use]
    pub const fn deleting(&self, now_ms: u64) -> Deleting {
        match self.children {
            Children::Terminating { until_ms } if until_ms > now_ms => Deleting::Grace { until_ms },
            _ => Deleting::Done,
        }
    }

    /// A leader that has exited writes nothing more: what was only there for that, and what was kept to be told again,
    /// is given back. What answers say stays.
    fn give_back(&mut self, now_ms: u64) {
        self.write_until(now_ms);
        self.journal.close();
        let _ = self.facts.change();
    }

    /// Entries of its journal that are held in memory.
    #[must_use]
    pub fn journal_entries(&self) -> usize {
        self.journal.entries()
    }

    fn end(&mut self, signal: &str, now_ms: u64) {
        self.write_until(now_ms);
        self.leader = Leader::Ended {
            at_ms: now_ms,
            signal: signal.to_owned(),
        };
    }

    /// A truth that is all there from the beginning has a process that has long exited, but its client
    /// need not know: until stdin is closed it takes calls as a live one.
    fn answers_as_live(&self) -> bool {
        !self.truth.live && self.leader == Leader::AsTruth && self.stdin == Stdin::Open
    }

    fn check_running(&self, now_ms: u64) -> Result<(), Problem> {
        if self.exit(now_ms).is_some() && !self.answers_as_live() {
            return Err(Problem::Conflict("the process has exited".to_owned()));
        }
        Ok(())
    }

    fn check_open(&self, now_ms: u64) -> Result<(), Problem> {
        if self.stdin == Stdin::Closed {
            return Err(Problem::Conflict("stdin is closed already".to_owned()));
        }
        self.check_running(now_ms)
    }

    /// Brings the journal up to date.
    fn write_until(&mut self, now_ms: u64) {
        if self.ended_by_force() {
            return;
        }
        let truth = Arc::clone(&self.truth);
        let mut at_ms = self.started_ms;
        if truth.live {
            let written = truth.frames.iter().take(self.written);
            at_ms += written.map(|frame| frame.pause_ms).sum::<u64>();
        }
        for frame in truth.frames.iter().skip(self.written) {
            if truth.live {
                at_ms += frame.pause_ms;
                if at_ms > now_ms {
                    break;
                }
            }
            // Seqs of a truth rise without holes; one that did not would be left out here and only here.
            let _ = self.journal.append(frame.seq, frame.data.len() as u64);
            self.written += 1;
        }
    }
}

#[cfg(test)]
mod tests;
