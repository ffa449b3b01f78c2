//! The response writer for everything that an HTTP library would not write: streams with waits,
//! lying framing, cut and reset connections. It owns the wire while it writes.

mod coding;
mod head;
mod out;

pub(super) use head::Asked;

use super::{
    later,
    recorder::Note,
    trial::{Arrived, FORCED_EXIT, Trial},
    wire::{Drained, Left, Wire},
};
use crate::{
    script::{
        expand::{Piece, may_hold_placeholders, substitute},
        framing::part_of,
        model::{Break, BreakPlace, Chunks, Cut, End, FrameRef, Segments, Until},
    },
    session::{Follow, RawAnswer, RawBody},
    wire::frame::HEARTBEAT_LINE,
    wirelog::{AnswerEnd, Names, Payload},
};
use coding::Coder;
use head::Head;
use out::{BATCH_BYTES, Delimited, Out, note};
use std::{borrow::Cow, sync::Arc, time::Duration};
use tokio::{sync::watch, time::Instant};

/// How long a reset, and each segment, waits for what came before to be acknowledged. A reader that
/// does not read keeps a window's worth unacknowledged for ever.
pub(super) const ACK_BOUND: Duration = Duration::from_secs(2);
/// How long a close waits for the peer's own, so that no reset of ours overtakes the last bytes.
pub(super) const CLOSE_BOUND: Duration = Duration::from_secs(2);
/// An endless body ends here all the same, where a client goes on reading.
const ENDLESS_BYTES: u64 = 64 << 20;
/// A later wait is measured from the plan, not from the last wake-up, while it is late by no more
/// than this: pauses do not drift, and a held-up stream does not catch up in a burst.
const JITTER: Duration = Duration::from_millis(20);

/// Why the rest of an answer is not written.
enum Stop {
    /// The client left.
    Left,
    /// The process was ended by force; its last line.
    Forced(Vec<u8>),
}

impl From<Left> for Stop {
    fn from(_: Left) -> Self {
        Self::Left
    }
}

/// Writes an answer. Gives the wire back if the connection may be used again; else it is closed.
pub(super) async fn play(
    trial: &Trial,
    connection: u32,
    arrived: &Arrived,
    asked: Asked,
    answer: RawAnswer,
    wire: Wire,
) -> Option<Wire> {
    let names = Arc::clone(trial.names());
    let mut total = measure(&answer, &names);
    let mut payload_room = None;
    if let Some(Break {
        at: BreakPlace::Payload(payload),
        ..
    }) = answer.break_at
    {
        total = total.min(payload);
        payload_room = Some(payload);
    }
    let asked = Asked {
        keep_alive: asked.keep_alive && !trial.closes_after(arrived),
        ..asked
    };
    let head = Head::new(&answer, asked, total);
    let follows = answer.follows.clone();
    let changes = follows.is_some().then(|| trial.changes());
    let mut player = Player {
        trial,
        connection,
        arrived,
        wire,
        out: Out::new(
            head.delimited,
            answer.chunks.clone(),
            usize::try_from(total).unwrap_or(usize::MAX),
        ),
        coder: answer.encoding.map(Coder::new),
        coded_notes: Vec::new(),
        segments: answer.segments.clone(),
        round: 0,
        names,
        heartbeat: Duration::from_millis(answer.heartbeat_ms),
        follows,
        changes,
        quiet_since: Instant::now(),
        clock: Instant::now(),
        keep: head.keep,
        said_end: false,
        break_at: answer.break_at,
        payload_room,
        body_from: 0,
        broken: None,
    };
    let result = player.answer(&head, answer.body).await;
    if result.is_err() {
        trial.abandoned(arrived.exchange, connection);
    }
    player.look_at_acks();
    let refusing = trial.ending(arrived).await;
    let Player { mut wire, .. } = player;
    match result {
        Ok(Close::Keep) if !refusing => Some(wire),
        Ok(Close::Keep | Close::Fin) => {
            close(trial, connection, &mut wire).await;
            None
        }
        Ok(Close::Reset) => {
            wire.reset();
            None
        }
        Err(Left) => None,
    }
}

/// Ends the connection of a request without an answer.
pub(super) async fn cut(trial: &Trial, connection: u32, arrived: &Arrived, cut: Cut, wire: Wire) {
    trial.ending(arrived).await;
    let place = wire.gauge().written();
    trial.ended(
        arrived.exchange,
        AnswerEnd::Cut(cut),
        place,
        Some(true),
        None,
    );
    end_unread(trial, connection, cut.reset, wire).await;
}

/// Ends a connection, by RST or by FIN.
pub(super) async fn end_unread(trial: &Trial, connection: u32, reset: bool, mut wire: Wire) {
    if reset {
        wire.reset();
    } else {
        close(trial, connection, &mut wire).await;
    }
}

/// Says nothing for a while, then closes.
pub(super) async fn hold(
    trial: &Trial,
    connection: u32,
    arrived: &Arrived,
    ms: u64,
    mut wire: Wire,
) {
    let over = later(Instant::now(), ms);
    let left = tokio::time::timeout_at(over, wire.until_left())
        .await
        .is_ok();
    trial.ending(arrived).await;
    if left {
        trial.abandoned(arrived.exchange, connection);
        return;
    }
    let place = wire.gauge().written();
    trial.ended(arrived.exchange, AnswerEnd::Held, place, Some(true), None);
    close(trial, connection, &mut wire).await;
}

/// Closes by FIN, then reads to the peer's own end, within bounds: closing with unread bytes would be
/// a reset that overtakes what was sent.
pub(super) async fn close(trial: &Trial, connection: u32, wire: &mut Wire) {
    wire.finish().await;
    let over = Instant::now() + CLOSE_BOUND;
    let mut pause = Duration::from_millis(2);
    loop {
        trial.acked(connection, wire.acked());
        if wire.left() {
            trial.client_left(connection);
            return;
        }
        if Instant::now() >= over {
            return;
        }
        wire.look(Some(over), &mut pause).await;
    }
}

/// What becomes of the connection after an answer.
enum Close {
    Keep,
    Fin,
    Reset,
}

struct Player<'a> {
    trial: &'a Trial,
    connection: u32,
    arrived: &'a Arrived,
    wire: Wire,
    out: Out,
    coder: Option<Coder>,
    /// What lies in the coder.
    coded_notes: Vec<Note>,
    segments: Segments,
    /// Which of the segments' sizes is next.
    round: usize,
    names: Arc<Names>,
    heartbeat: Duration,
    follows: Option<Follow>,
    changes: Option<watch::Receiver<u64>>,
    /// When something last left.
    quiet_since: Instant,
    /// When the last wait was over by plan.
    clock: Instant,
    keep: bool,
    /// The end stands in the log.
    said_end: bool,
    /// Where the body is to break off.
    break_at: Option<Break>,
    /// Bytes of payload that may still leave before that, where they are what is counted.
    payload_room: Option<u64>,
    /// The connection's place at which the body begins.
    body_from: u64,
    /// The body has broken off.
    broken: Option<Break>,
}

impl Player<'_> {
    async fn answer(&mut self, head: &Head, body: RawBody) -> Result<Close, Left> {
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

    fn log_head(&self, head: &Head) {
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

    async fn pieces(&mut self, pieces: impl Iterator<Item = Piece>) -> Result<Close, Stop> {
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
    async fn piece(&mut self, piece: Piece, truncated: bool) -> Result<(), Stop> {
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

    /// Takes payload. It leaves at once, or with what follows it without a wait.
    async fn send(
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
            self.out.put(bytes);
            self.out.note(note(what, bytes, true, false));
        } else {
            self.plain(step, what, bytes).await?;
        }
        self.flush_full().await
    }

    /// Sends what was gathered if it is enough for a write. What stands between two waits of the
    /// script leaves together, so that a client that stops at some line does not decide by its speed
    /// how much of the rest was sent.
    async fn flush_full(&mut self) -> Result<(), Left> {
        let is_full = match self.segments {
            Segments::Frame => self.out.len() >= BATCH_BYTES,
            Segments::All => false,
            Segments::Byte | Segments::Sizes(_) => true,
        };
        if is_full { self.flush().await } else { Ok(()) }
    }

    /// Payload without a coding, in slices when it is long.
    async fn plain(&mut self, step: usize, what: Payload, bytes: &[u8]) -> Result<(), Left> {
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

    async fn trickle(
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
    async fn portion(
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

    async fn endless(&mut self, byte: u8) -> Result<Close, Left> {
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

    async fn until(&mut self, until: Until) -> Result<(), Stop> {
        self.out.release();
        self.flush().await?;
        if self.out.is_broken() {
            return Ok(());
        }
        match until {
            Until::Acked => {
                let drained = self.wire.drained(ACK_BOUND).await;
                self.look_at_acks();
                match drained {
                    Drained::Yes => self.waited(until),
                    Drained::NotYet => {}
                    Drained::Left => return Err(Stop::Left),
                }
            }
            Until::Delivered(seq) => {
                let mut deliveries = self.trial.deliveries();
                while *deliveries.borrow_and_update() < seq {
                    tokio::select! {
                        biased;
                        stop = self.rest(None, false) => stop?,
                        heard = deliveries.changed() => if heard.is_err() {
                            // Nobody is left who could deliver: only the client's leaving ends this.
                            self.rest(None, false).await?;
                        }
                    }
                }
                self.waited(until);
            }
            Until::Closed => {
                let stop = self.rest(None, false).await;
                if matches!(stop, Err(Stop::Left)) {
                    self.waited(until);
                }
                stop?;
            }
        }
        self.clock = Instant::now();
        Ok(())
    }

    fn waited(&self, until: Until) {
        let exchange = self.arrived.exchange;
        self.trial
            .record(|recorder, _| recorder.waited(exchange, until));
    }

    /// Nothing leaves for so long (for ever if not said), but heartbeats where they are wanted.
    async fn rest(&mut self, ms: Option<u64>, heartbeats: bool) -> Result<(), Stop> {
        self.out.release();
        self.flush().await?;
        if self.out.is_broken() && self.broken.is_none() {
            return Ok(());
        }
        let now = Instant::now();
        if now.saturating_duration_since(self.clock) > JITTER {
            self.clock = now;
        }
        let over = ms.map(|ms| later(self.clock, ms));
        let mut pause = Duration::from_millis(2);
        loop {
            self.look_at_acks();
            if let Some(follow) = &self.follows
                && let Some(line) = self.trial.exit_line(follow)
            {
                // Who ended the process may have hung up here before: the kernel knows, we were not told yet.
                if self.wire.has_just_left() {
                    return Err(Stop::Left);
                }
                return Err(Stop::Forced(line));
            }
            let now = Instant::now();
            if let Some(over) = over
                && now >= over
            {
                self.clock = over;
                return Ok(());
            }
            let beat = heartbeats
                .then(|| self.quiet_since + self.heartbeat)
                .filter(|beat| over.is_none_or(|over| *beat < over) && !self.heartbeat.is_zero());
            if beat.is_some_and(|beat| now >= beat) {
                self.send(usize::MAX, Payload::Heartbeat, HEARTBEAT_LINE, false)
                    .await?;
                self.out.release();
                self.flush().await?;
                continue;
            }
            let wake = beat.or(over);
            match &mut self.changes {
                None => self.wire.look(wake, &mut pause).await,
                Some(changes) => {
                    tokio::select! {
                        biased;
                        heard = changes.changed() => if heard.is_err() {
                            self.changes = None;
                        },
                        () = self.wire.look(wake, &mut pause) => {}
                    }
                }
            }
            if self.wire.left() {
                return Err(Stop::Left);
            }
        }
    }

    async fn end(&mut self, mut end: End) -> Result<Close, Left> {
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
    async fn complete(&mut self, is_whole: bool) -> Result<Close, Left> {
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

    async fn scripted(&mut self, end: End) -> Result<Close, Left> {
        self.trial.ending(self.arrived).await;
        self.flush().await?;
        self.say_end(AnswerEnd::Scripted(end), None);
        Ok(Close::Fin)
    }

    fn say_end(&mut self, how: AnswerEnd, acked: Option<bool>) {
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

    const fn is_segmented(&self) -> bool {
        matches!(self.segments, Segments::Byte | Segments::Sizes(_))
    }

    /// Sends what was gathered, cut as the scenario says.
    async fn flush(&mut self) -> Result<(), Left> {
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

    fn next_segment(&mut self) -> usize {
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
    async fn flush_whole(&mut self) -> Result<(), Left> {
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
    fn log(&self, notes: Vec<(usize, Note)>, before: u64) {
        let written = self.wire.gauge().written();
        // usize is at most 64 bits wide.
        let placed = notes
            .into_iter()
            .map(|(end, note)| (before + end as u64, note));
        self.trial
            .sent(self.arrived.exchange, out::left(placed, written));
        self.look_at_acks();
    }

    fn look_at_acks(&self) {
        self.trial.acked(self.connection, self.wire.acked());
    }

    /// Everything before the place where the body breaks off has been gathered.
    fn is_broken(&self) -> bool {
        self.out.is_broken() || self.payload_room == Some(0)
    }

    /// As much of a payload as may leave before the body breaks off.
    fn within_break<'b>(&mut self, what: Payload, bytes: &'b [u8]) -> (Payload, &'b [u8]) {
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
    fn count(&mut self, bytes: usize) {
        self.out.within_length(bytes);
    }

    /// The payload with the trial's names in the place of placeholders.
    fn named<'b>(&self, what: Payload, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        named(what, bytes, &self.names)
    }
}

fn named<'b>(what: Payload, bytes: &'b [u8], names: &Names) -> Cow<'b, [u8]> {
    if may_hold_placeholders(what) && bytes.contains(&b'{') {
        Cow::Owned(substitute(bytes, names))
    } else {
        Cow::Borrowed(bytes)
    }
}

/// The length of the payload as it leaves, as far as it can be known beforehand. Only looked at where
/// the framing needs it.
fn measure(answer: &RawAnswer, names: &Names) -> u64 {
    let is_needed = answer.content_length.is_some()
        || answer.transfer_encoding_also
        || answer.chunks == Chunks::One
        || matches!(answer.body, RawBody::Bytes(_));
    if !is_needed {
        return 0;
    }
    let mut coder = answer.encoding.map(Coder::new);
    let mut total = 0;
    let mut count = |what: Payload, bytes: &[u8]| {
        let bytes = named(what, bytes, names);
        let length = coder
            .as_mut()
            .map_or(bytes.len(), |coder| coder.push(&bytes).len());
        // usize is at most 64 bits wide.
        total += length as u64;
    };
    let mut is_complete = true;
    match &answer.body {
        RawBody::Bytes(bytes) => count(Payload::Plain, bytes),
        RawBody::Endless(_) => {}
        body @ (RawBody::Pieces(_) | RawBody::Faithful(_)) => {
            for piece in body.clone().into_pieces() {
                match &piece {
                    Piece::Bytes { what, bytes, .. } => count(*what, bytes),
                    Piece::Trickle {
                        what,
                        bytes,
                        portion,
                        ..
                    } => {
                        for slice in bytes.chunks((*portion).max(1)) {
                            count(*what, slice);
                        }
                    }
                    Piece::End(end) => is_complete = *end == End::Chunk,
                    Piece::Pause { .. } | Piece::Until(_) | Piece::Every { .. } => {}
                }
            }
        }
    }
    let rest = coder.map_or(0, |mut coder| coder.finish(is_complete).len());
    total + rest as u64
}
