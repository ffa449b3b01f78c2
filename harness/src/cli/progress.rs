//! The progress bar, on a terminal's standard error only.

use crate::{
    events::{RunEvent, Sink},
    standing::Standing,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows how far a run is. It draws nothing where standard error is no terminal.
pub(super) struct Progress {
    bar: ProgressBar,
    failed: usize,
    /// Runs that are still to come, this one included.
    runs: u64,
}

impl Progress {
    /// For so many runs over the same cases.
    pub(super) fn new(runs: u64) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg}") {
            bar.set_style(style.progress_chars("━╸─"));
        }
        Self {
            bar,
            failed: 0,
            runs,
        }
    }

    /// Makes room for what is printed now.
    pub(super) fn clear(&self) {
        if self.bar.length() == Some(self.bar.position()) {
            self.bar.finish_and_clear();
        } else {
            self.bar.suspend(|| ());
        }
    }
}

impl Sink for Progress {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(info) => self
                .bar
                .set_length(self.bar.position() + info.cases as u64 * self.runs),
            RunEvent::CaseStarted { .. } | RunEvent::CaseRevised { .. } => {}
            RunEvent::CaseFinished { judged, .. } => {
                self.bar.inc(1);
                if !matches!(
                    judged.standing,
                    Standing::Passed | Standing::KnownFailure { .. } | Standing::NotApplicable
                ) {
                    self.failed += 1;
                }
                let failed = match self.failed {
                    0 => String::new(),
                    failed => format!("{failed} failed  "),
                };
                self.bar
                    .set_message(format!("{failed}{}", judged.case.id()));
            }
            RunEvent::Finished { summary, .. } => {
                self.runs = self.runs.saturating_sub(1);
                if self.runs == 0 || summary.stopped.is_some() {
                    self.bar.finish_and_clear();
                }
            }
        }
    }
}
