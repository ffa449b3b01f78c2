//! Ends an answer as the script or the framing says, and says so in the log.

use super::{ACK_BOUND, Close, Stop, out::Delimited, player::Player};
use crate::{
    net::wire::{Drained, Left},
    script::model::{Break, BreakPlace, End},
    wirelog::AnswerEnd,
};

impl Player<'_> {
    pub(super) async fn end(&mut self, mut end: End) -> Result<Close, Left> {
        if let Some(coder) = &mut self.coder
            && end != End::Hold
        {
            let coded = coder.finish(end == End::Chunk);
            self.count(coded.len());
            let notes = std::mem::take(&mut self.coded_notes);
            self.out.payload(usize::MAX, &coded, notes);
        }
        let mut is_whole = false;
        if !self.is_broken() {
            match end {
                End::Chunk => is_whole = self.out.end(),
                End::TruncatedChunk => self.out.end_truncated(),
                End::BadChunk => self.out.end_bad(),
                End::Fin | End::Reset | End::ResetNow | End::Hold => self.out.release(),
            }
        }
        if let Some(broken) = self.break_at
            && self.is_broken()
        {
            self.out.end_broken();
            self.broken = Some(broken);
            end = broken.by;
            is_whole = end == End::Chunk && self.out.end();
        }
        match end {
            End::Chunk => self.complete(is_whole).await,
            End::Fin | End::TruncatedChunk | End::BadChunk => self.scripted(end).await,
            End::Reset => {
                self.flush().await?;
                self.trial.ending(self.arrived).await;
                let drained = self.wire.drained(ACK_BOUND).await;
                self.look_at_acks();
                if drained == Drained::Left {
                    return Err(Left);
                }
                self.say_end(AnswerEnd::Scripted(end), Some(drained == Drained::Yes));
                Ok(Close::Reset)
            }
            End::ResetNow => {
                self.flush().await?;
                self.trial.ending(self.arrived).await;
                let acked = self.wire.acked() == self.wire.gauge().written();
                self.look_at_acks();
                self.say_end(AnswerEnd::Scripted(end), Some(acked));
                Ok(Close::Reset)
            }
            End::Hold => {
                self.flush().await?;
                self.say_end(AnswerEnd::Scripted(end), None);
                match self.rest(None, false).await {
                    Err(Stop::Forced(_)) | Ok(()) => Ok(Close::Fin),
                    Err(Stop::Left) => Err(Left),
                }
            }
        }
    }

    /// The end as the framing promised, or as near to it as the announced length lets it be.
    pub(super) async fn complete(&mut self, is_whole: bool) -> Result<Close, Left> {
        let refusing = self.trial.ending(self.arrived).await;
        self.flush().await?;
        let how = match self.out.delimited() {
            Delimited::Close => AnswerEnd::CloseDelimited,
            Delimited::Length(_) if !is_whole => AnswerEnd::Short,
            Delimited::Chunked if !is_whole => AnswerEnd::Scripted(End::Fin),
            Delimited::Length(_) | Delimited::Chunked => AnswerEnd::Complete,
        };
        self.say_end(how, None);
        let keeps = self.keep && how == AnswerEnd::Complete && !self.out.overran() && !refusing;
        Ok(if keeps { Close::Keep } else { Close::Fin })
    }

    pub(super) async fn scripted(&mut self, end: End) -> Result<Close, Left> {
        self.trial.ending(self.arrived).await;
        self.flush().await?;
        self.say_end(AnswerEnd::Scripted(end), None);
        Ok(Close::Fin)
    }

    pub(super) fn say_end(&mut self, how: AnswerEnd, acked: Option<bool>) {
        if !std::mem::replace(&mut self.said_end, true) {
            let place = self.wire.gauge().written();
            // What the peer sees by the last bytes alone has ended with them; all else by what follows now.
            let by_bytes = matches!(
                how,
                AnswerEnd::Complete | AnswerEnd::Scripted(End::Chunk | End::BadChunk)
            );
            let left_at = by_bytes.then(|| self.wire.gauge().last_write());
            if let Some(broken) = self.broken {
                let at = match broken.at {
                    BreakPlace::Wire(_) => BreakPlace::Wire(place - self.body_from),
                    BreakPlace::Payload(wanted) => {
                        BreakPlace::Payload(wanted - self.payload_room.unwrap_or(0))
                    }
                };
                let exchange = self.arrived.exchange;
                self.trial
                    .record(|recorder, _| recorder.broke_off(exchange, Break { at, ..broken }));
            }
            self.trial
                .ended(self.arrived.exchange, how, place, acked, left_at);
        }
    }
}
