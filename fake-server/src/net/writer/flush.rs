//! Sends what was gathered, in the writes that the scenario asks for, and logs what really left.

use super::{
    ACK_BOUND,
    out::{BATCH_BYTES, left},
    player::Player,
};
use crate::{
    net::{
        recorder::Note,
        wire::{Drained, Left},
    },
    script::model::Segments,
};
use tokio::time::Instant;

impl Player<'_> {
    pub(super) const fn is_segmented(&self) -> bool {
        matches!(self.segments, Segments::Byte | Segments::Sizes(_))
    }

    /// Sends what was gathered, cut as the scenario says.
    pub(super) async fn flush(&mut self) -> Result<(), Left> {
        if !self.is_segmented() {
            return self.flush_whole().await;
        }
        let (bytes, notes) = self.out.take();
        let before = self.wire.gauge().written();
        let mut rest = bytes.as_slice();
        let (mut writes, mut alone) = (0, 0);
        let mut result = Ok(());
        while !rest.is_empty() && result.is_ok() {
            let size = self.next_segment().min(rest.len());
            let (now, later) = rest.split_at(size);
            rest = later;
            result = self.wire.send(now).await.1;
            match self.wire.drained(ACK_BOUND).await {
                Drained::Yes => {
                    writes += 1;
                    alone += 1;
                }
                Drained::NotYet => writes += 1,
                // Nobody was there to read it, together with others or alone.
                Drained::Left => result = Err(Left),
            }
            self.wire.let_read().await;
        }
        self.quiet_since = Instant::now();
        let exchange = self.arrived.exchange;
        if writes > 0 {
            self.trial
                .record(|recorder, _| recorder.segmented(exchange, writes, alone));
        }
        self.log(notes, before);
        result
    }

    pub(super) fn next_segment(&mut self) -> usize {
        match &self.segments {
            Segments::Sizes(sizes) if !sizes.is_empty() => {
                let size = sizes[self.round % sizes.len()].max(1);
                self.round += 1;
                size
            }
            _ => 1,
        }
    }

    /// Sends what was gathered in one write.
    pub(super) async fn flush_whole(&mut self) -> Result<(), Left> {
        if self.out.len() == 0 {
            return Ok(());
        }
        let (bytes, notes) = self.out.take();
        let before = self.wire.gauge().written();
        let (_, result) = self.wire.send(&bytes).await;
        self.quiet_since = Instant::now();
        self.log(notes, before);
        if bytes.len() >= BATCH_BYTES {
            self.out.reuse(bytes);
        }
        result
    }

    /// Logs what really left of a batch that began there.
    pub(super) fn log(&self, notes: Vec<(usize, Note)>, before: u64) {
        let written = self.wire.gauge().written();
        // usize is at most 64 bits wide.
        let placed = notes
            .into_iter()
            .map(|(end, note)| (before + end as u64, note));
        self.trial
            .sent(self.arrived.exchange, left(placed, written));
        self.look_at_acks();
    }

    pub(super) fn look_at_acks(&self) {
        self.trial.acked(self.connection, self.wire.acked());
    }
}
