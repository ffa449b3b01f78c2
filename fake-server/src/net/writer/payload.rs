//! Takes payload and frames it: as it is, coded, in slices or portions, up to where a body breaks off.

use super::{
    Close, Stop,
    measure::named,
    out::{BATCH_BYTES, Delimited, note},
    player::Player,
};
use crate::{
    net::wire::Left,
    script::{
        framing::part_of,
        model::{End, FrameRef, Segments},
    },
    wirelog::Payload,
};
use std::borrow::Cow;

/// An endless body ends here all the same, where a client goes on reading.
const ENDLESS_BYTES: u64 = 64 << 20;

impl Player<'_> {
    /// Takes payload. It leaves at once, or with what follows it without a wait.
    pub(super) async fn send(
        &mut self,
        step: usize,
        what: Payload,
        bytes: &[u8],
        truncated: bool,
    ) -> Result<(), Left> {
        let bytes = self.named(what, bytes);
        let (what, bytes) = self.within_break(what, bytes.as_ref());
        if self.coder.is_none()
            && let Payload::True(FrameRef::Seq(seq)) = what
            && self.out.frame(seq, bytes)
        {
            return self.flush_full().await;
        }
        if let Some(coder) = &mut self.coder {
            let coded = coder.push(bytes);
            self.coded_notes.push(note(what, bytes, true, false));
            if !coded.is_empty() {
                let notes = std::mem::take(&mut self.coded_notes);
                self.count(coded.len());
                self.out.payload(step, &coded, notes);
            }
        } else if truncated
            && self.payload_room != Some(0)
            && self.out.delimited() == Delimited::Chunked
        {
            self.out.release();
            self.out.begin_truncated(bytes.len());
            self.out
                .put_lines(bytes, vec![note(what, bytes, true, false)]);
        } else {
            self.plain(step, what, bytes).await?;
        }
        self.flush_full().await
    }

    /// Sends what was gathered if it is enough for a write. What stands between two waits of the
    /// script leaves together, so that a client that stops at some line does not decide by its speed
    /// how much of the rest was sent.
    pub(super) async fn flush_full(&mut self) -> Result<(), Left> {
        let is_full = match self.segments {
            Segments::Frame => self.out.len() >= BATCH_BYTES,
            Segments::All => false,
            Segments::Byte | Segments::Sizes(_) => true,
        };
        if is_full { self.flush().await } else { Ok(()) }
    }

    /// Payload without a coding, in slices when it is long.
    pub(super) async fn plain(
        &mut self,
        step: usize,
        what: Payload,
        bytes: &[u8],
    ) -> Result<(), Left> {
        let within = self.out.within_length(bytes.len());
        let is_whole = within == bytes.len();
        let (framed, beyond) = bytes.split_at(within);
        let what = if is_whole { what } else { part_of(what) };
        if framed.len() <= BATCH_BYTES || matches!(what, Payload::True(_)) {
            if is_whole || !framed.is_empty() {
                let notes = vec![note(what, framed, true, false)];
                self.out.payload(step, framed, notes);
            }
        } else {
            if self.out.delimited() == Delimited::Chunked {
                self.out.release();
                self.out.begin(framed.len());
            }
            for (index, slice) in framed.chunks(BATCH_BYTES).enumerate() {
                self.out.put(slice);
                self.out.note(note(what, slice, true, index > 0));
                self.flush_full().await?;
            }
        }
        for (index, slice) in beyond.chunks(BATCH_BYTES).enumerate() {
            self.out.put(slice);
            self.out.note(note(what, slice, false, index > 0));
        }
        Ok(())
    }

    pub(super) async fn trickle(
        &mut self,
        step: usize,
        what: Payload,
        bytes: &[u8],
        portion: usize,
        every_ms: u64,
    ) -> Result<(), Stop> {
        let bytes = self.named(what, bytes).into_owned();
        let (what, bytes) = self.within_break(what, &bytes);
        if self.coder.is_none() && self.out.delimited() == Delimited::Chunked {
            self.out.release();
            self.out.begin(bytes.len());
        }
        let mut gone = 0;
        for slice in bytes.chunks(portion.max(1)) {
            let result = self.portion(step, slice, gone, bytes, what, every_ms).await;
            let gone_now = gone + slice.len();
            if self.out.is_broken() && result.is_ok() && gone_now < bytes.len() {
                let beginning = note(part_of(what), &bytes[..gone_now], true, false);
                self.out.note(beginning);
                let (_, notes) = self.out.take();
                self.log(notes, self.wire.gauge().written());
                return Ok(());
            }
            if let Err(stop) = result {
                if gone > 0 {
                    self.out.take();
                    self.out
                        .note(note(part_of(what), &bytes[..gone], true, false));
                    let (_, notes) = self.out.take();
                    self.log(notes, self.wire.gauge().written());
                }
                return Err(stop);
            }
            gone += slice.len();
        }
        Ok(())
    }

    /// Waits and sends one portion of a payload of which so many bytes have gone.
    pub(super) async fn portion(
        &mut self,
        step: usize,
        slice: &[u8],
        gone: usize,
        all: &[u8],
        what: Payload,
        every_ms: u64,
    ) -> Result<(), Stop> {
        if gone > 0 {
            self.rest(Some(every_ms), false).await?;
        }
        if let Some(coder) = &mut self.coder {
            let coded = coder.push(slice);
            self.count(coded.len());
            self.out.payload(step, &coded, Vec::new());
        } else {
            self.count(slice.len());
            self.out.put(slice);
        }
        if gone + slice.len() == all.len() {
            self.out.note(note(what, all, true, false));
        }
        Ok(self.flush_whole().await?)
    }

    pub(super) async fn endless(&mut self, byte: u8) -> Result<Close, Left> {
        let block = vec![byte; 16 << 10];
        let mut gone = 0;
        while gone < ENDLESS_BYTES {
            self.count(block.len());
            self.out.put(&block);
            self.out.note(note(Payload::Plain, &block, true, gone > 0));
            self.flush().await?;
            if self.is_broken() {
                break;
            }
            // usize is at most 64 bits wide.
            gone += block.len() as u64;
        }
        self.end(End::Chunk).await
    }

    /// As much of a payload as may leave before the body breaks off.
    pub(super) fn within_break<'b>(
        &mut self,
        what: Payload,
        bytes: &'b [u8],
    ) -> (Payload, &'b [u8]) {
        let Some(room) = &mut self.payload_room else {
            return (what, bytes);
        };
        let fit = bytes
            .len()
            .min(usize::try_from(*room).unwrap_or(usize::MAX));
        // usize is at most 64 bits wide.
        *room -= fit as u64;
        if fit < bytes.len() {
            (part_of(what), &bytes[..fit])
        } else {
            (what, bytes)
        }
    }

    /// Counts coded payload against the announced length.
    pub(super) fn count(&mut self, bytes: usize) {
        self.out.within_length(bytes);
    }

    /// The payload with the trial's names in the place of placeholders.
    pub(super) fn named<'b>(&self, what: Payload, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        named(what, bytes, &self.names)
    }
}
