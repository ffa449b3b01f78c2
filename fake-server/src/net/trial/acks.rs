//! What the peers have acknowledged, and waits for moments of the trial. Nobody looks at a socket after
//! an answer: whoever wants to know looks then.

use super::{
    super::{recorder::Recorder, server::Held},
    State, Trial,
};
use crate::wirelog::WireLog;
use std::time::Duration;
use tokio::time::sleep;

/// When acknowledgements are looked for again over TCP, and how far apart looks become. A delayed
/// acknowledgement takes 40 ms.
const FIRST_LOOK: Duration = Duration::from_millis(2);
const LAST_LOOK: Duration = Duration::from_millis(20);

impl State {
    /// Asks every open connection what its peer has acknowledged. Says whether something is
    /// outstanding where only looking tells.
    fn look(&mut self) -> bool {
        let mut outstanding = false;
        for (connection, gauge) in &self.alive {
            if let Some((acked, written)) = gauge.acked() {
                self.recorder.acked(*connection, acked);
                outstanding |= acked < written && gauge.tells_nothing();
            }
        }
        outstanding
    }

    fn is_idle(&self) -> bool {
        self.alive
            .keys()
            .all(|connection| self.recorder.is_idle(*connection))
    }

    fn is_drained(&self) -> bool {
        self.alive.values().all(|gauge| {
            // One that is gone is about to be taken out.
            gauge
                .acked()
                .is_some_and(|(acked, written)| acked >= written)
        })
    }
}

impl Trial {
    /// The peer has acknowledged so many bytes of a connection.
    pub(in super::super) fn acked(&self, connection: u32, bytes: u64) {
        let mut state = self.state();
        let news = state.recorder.acked(connection, bytes);
        // Somebody may have looked before us, and not be the one who waits for it to settle.
        let may_be_settled = state.recorder.is_idle(connection);
        drop(state);
        if news || may_be_settled {
            self.heard.notify_waiters();
        }
    }

    /// Whether an answer on the connection broke off, and the client has not closed it yet.
    pub(in super::super) fn awaits_close(&self, connection: u32) -> bool {
        self.state().recorder.awaits_close(connection)
    }

    /// What is held in memory.
    pub(in super::super) fn held(&self) -> Held {
        let now_ms = self.now_ms();
        let state = self.state();
        let connections = state.alive.len();
        state.recorder.held(state.session.held(now_ms), connections)
    }

    /// The log so far.
    pub(in super::super) fn log(&self) -> WireLog {
        let now_ms = self.now_ms();
        let mut state = self.state();
        state.look();
        let ledger = state.session.ledger(now_ms);
        state.recorder.log(ledger)
    }

    /// Everything still open ends with the trial.
    pub(in super::super) fn is_over(&self) {
        self.state().look();
        self.record(Recorder::trial_over);
    }

    /// Waits until the check holds; it is made again whenever something was logged.
    pub(in super::super) async fn until(&self, holds: impl Fn(&Recorder) -> bool) {
        self.wait(|state| (holds(&state.recorder), false)).await;
    }

    /// The same for a check that depends on what was acknowledged.
    pub(in super::super) async fn until_acked(&self, holds: impl Fn(&Recorder) -> bool) {
        self.wait(|state| {
            let outstanding = state.look();
            (holds(&state.recorder), outstanding)
        })
        .await;
    }

    /// Waits until every connection is closed, by the client where an answer on it broke off, or idle with all it sent
    /// acknowledged.
    pub(in super::super) async fn settled(&self) {
        self.wait(|state| match state.is_idle() {
            true => {
                let outstanding = state.look();
                (state.is_drained(), outstanding)
            }
            false => (false, false),
        })
        .await;
    }

    /// Waits until the check says so. It is made again whenever something was logged, and from time to
    /// time if it says that too.
    async fn wait(&self, mut check: impl FnMut(&mut State) -> (bool, bool)) {
        let mut pause = FIRST_LOOK;
        loop {
            let heard = self.heard.notified();
            let mut heard = std::pin::pin!(heard);
            heard.as_mut().enable();
            let (holds, looks) = check(&mut self.state());
            if holds {
                return;
            }
            tokio::select! {
                biased;
                () = heard => {}
                () = sleep(pause), if looks => pause = (pause * 2).min(LAST_LOOK),
            }
        }
    }
}
