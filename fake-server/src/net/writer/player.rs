//! Plays an answer piece by piece: the head, then what the script says, in order.

use super::{Close, Stop, coding::Coder, head::Head, out::Out};
use crate::{
    net::{
        recorder::Note,
        trial::{Arrived, FORCED_EXIT, Trial},
        wire::{Left, Wire},
    },
    script::{
        expand::Piece,
        model::{Break, BreakPlace, End, Segments},
    },
    session::{Follow, RawBody},
    wirelog::{Names, Payload},
};
use std::{sync::Arc, time::Duration};
use tokio::{sync::watch, time::Instant};

/// An answer being written.
pub(super) struct Player<'a> {
    pub(super) trial: &'a Trial,
    pub(super) connection: u32,
    pub(super) arrived: &'a Arrived,
    pub(super) wire: Wire,
    pub(super) out: Out,
    pub(super) coder: Option<Coder>,
    /// What lies in the coder.
    pub(super) coded_notes: Vec<Note>,
    pub(super) segments: Segments,
    /// Which of the segments' sizes is next.
    pub(super) round: usize,
    pub(super) names: Arc<Names>,
    pub(super) heartbeat: Duration,
    pub(super) follows: Option<Follow>,
    pub(super) changes: Option<watch::Receiver<u64>>,
    /// When something last left.
    pub(super) quiet_since: Instant,
    /// When the last wait was over by plan.
    pub(super) clock: Instant,
    pub(super) keep: bool,
    /// The end stands in the log.
    pub(super) said_end: bool,
    /// Where the body is to break off.
    pub(super) break_at: Option<Break>,
    /// Bytes of payload that may still leave before that, where they are what is counted.
    pub(super) payload_room: Option<u64>,
    /// The connection's place at which the body begins.
    pub(super) body_from: u64,
    /// The body has broken off.
    pub(super) broken: Option<Break>,
}

impl Player<'_> {
    pub(super) async fn answer(&mut self, head: &Head, body: RawBody) -> Result<Close, Left> {
        let text = head.text();
        self.out.verbatim(text.as_bytes());
        // usize is at most 64 bits wide.
        self.body_from = self.wire.gauge().written() + text.len() as u64;
        if let Some(Break {
            at: BreakPlace::Wire(bytes),
            ..
        }) = self.break_at
        {
            self.out.break_after(bytes);
        }
        self.log_head(head);
        if !head.has_body {
            self.flush_whole().await?;
            return self.complete(true).await;
        }
        match body {
            RawBody::Bytes(bytes) => {
                if self.is_segmented() {
                    self.flush_whole().await?;
                }
                self.send(0, Payload::Plain, &bytes, false).await?;
                self.end(End::Chunk).await
            }
            RawBody::Endless(byte) => {
                self.flush_whole().await?;
                self.endless(byte).await
            }
            body @ (RawBody::Pieces(_) | RawBody::Faithful(_)) => {
                if self.is_segmented() {
                    self.flush_whole().await?;
                }
                match self.pieces(body.into_pieces()).await {
                    Ok(close) => Ok(close),
                    Err(Stop::Left) => Err(Left),
                    Err(Stop::Forced(line)) => {
                        self.send(usize::MAX, FORCED_EXIT, &line, false).await?;
                        self.end(End::Chunk).await
                    }
                }
            }
        }
    }

    pub(super) fn log_head(&self, head: &Head) {
        let Head {
            http10,
            status,
            reason,
            headers,
            ..
        } = head;
        self.trial.head(
            self.arrived.exchange,
            *http10,
            *status,
            reason.clone(),
            headers.clone(),
        );
    }

    pub(super) async fn pieces(
        &mut self,
        pieces: impl Iterator<Item = Piece>,
    ) -> Result<Close, Stop> {
        let mut pieces = pieces.peekable();
        while let Some(piece) = pieces.next() {
            if self.is_broken() {
                break;
            }
            let truncated = matches!(pieces.peek(), Some(Piece::End(End::TruncatedChunk)));
            match piece {
                Piece::End(end) => return Ok(self.end(end).await?),
                Piece::Every { every_ms, pieces } => {
                    // It ends only by a stop, or where the body breaks off.
                    loop {
                        for piece in &pieces {
                            self.piece(piece.clone(), false).await?;
                        }
                        if self.is_broken() {
                            return Ok(self.end(End::Hold).await?);
                        }
                        self.rest(Some(every_ms), false).await?;
                    }
                }
                other => self.piece(other, truncated).await?,
            }
        }
        // A list without an end says no more, and a body that breaks off ends in its own way.
        Ok(self.end(End::Hold).await?)
    }

    /// Plays one piece that is no end and no repetition.
    pub(super) async fn piece(&mut self, piece: Piece, truncated: bool) -> Result<(), Stop> {
        match piece {
            Piece::Bytes { step, what, bytes } => {
                self.send(step, what, &bytes, truncated).await?;
            }
            Piece::Trickle {
                step,
                what,
                bytes,
                portion,
                every_ms,
            } => self.trickle(step, what, &bytes, portion, every_ms).await?,
            Piece::Pause { ms, heartbeats } => self.rest(Some(ms), heartbeats).await?,
            Piece::Until(until) => self.until(until).await?,
            // The expansion puts neither inside a repetition; there they end the round.
            Piece::Every { .. } | Piece::End(_) => {}
        }
        Ok(())
    }

    /// Everything before the place where the body breaks off has been gathered.
    pub(super) fn is_broken(&self) -> bool {
        self.out.is_broken() || self.payload_room == Some(0)
    }
}
