//! Following one process's output: bytes of one connection after the other in, output and the exit out.
//! No IO and no clock; the cursor, and what may move it, lives here.

use super::{
    bug::{Bug, Quirk},
    failure::{Failure, Kind},
    frame::{self, Frame, NoFrame},
    lines::{Lines, TooLong},
    values::{self, Status},
};
use std::collections::{BTreeMap, VecDeque};

/// Something the stream brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// New output; the cursor has moved past it.
    Output(Output),
    /// A heartbeat or an old frame: nothing new.
    Nothing,
    /// The process ended.
    Exit(Status),
    /// Leave this connection and ask again (wrong clients only).
    Leave,
}

/// Output of one frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) stream: &'static str,
    pub(super) data: Vec<u8>,
}

/// The reader of one process's streams.
#[derive(Debug)]
pub(super) struct Follower {
    /// Seq of the last accepted data frame.
    cursor: u64,
    lines: Lines,
    streams: &'static [&'static str],
    quirk: Quirk,
    odd: Odd,
}

/// What only the wrong clients remember.
#[derive(Debug, Default)]
struct Odd {
    /// No data frame was accepted on this connection yet.
    first_frame: bool,
    /// Output steps since the last read.
    in_read: usize,
    /// Seq up to which a connection's frames count as seen.
    seen: u64,
    /// Payload text of the last accepted frame.
    last_payload: String,
    /// Frames out of order.
    early: BTreeMap<u64, Output>,
    /// Steps that come before the next line.
    ready: VecDeque<Step>,
}

impl Follower {
    /// Starts after `cursor`; `streams` are the names that this kind of process has.
    pub(super) fn new(
        cursor: u64,
        max_line_bytes: u64,
        streams: &'static [&'static str],
        quirk: Quirk,
    ) -> Self {
        Self {
            cursor,
            lines: Lines::new(max_line_bytes, quirk),
            streams,
            quirk,
            odd: Odd::default(),
        }
    }

    /// Seq of the last accepted data frame; the next connect asks for what comes after it.
    pub(super) const fn cursor(&self) -> u64 {
        self.cursor
    }

    /// A new connection begins; what the last one left unfinished is forgotten.
    pub(super) fn begin(&mut self) {
        self.lines.clear();
        self.odd.first_frame = true;
        self.odd.seen = if self.quirk.is(Bug::DuplicatesForgottenOnReconnect) {
            0
        } else {
            self.cursor
        };
    }

    /// Bytes arrived. Ask [`Self::next`] until it has nothing more.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.odd.in_read = 0;
        if self.quirk.is(Bug::ExitDiscardsBuffered) && discard_before_exit(&mut self.lines, bytes) {
            return;
        }
        self.lines.push(bytes);
    }

    /// The next thing that the bytes so far say.
    ///
    /// # Errors
    /// A line or frame against the protocol; the stream is not to be read further.
    pub(super) fn next(&mut self) -> Result<Option<Step>, Failure> {
        loop {
            if let Some(step) = self.odd.ready.pop_front() {
                return Ok(Some(step));
            }
            let line = match self.lines.next() {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(None),
                Err(TooLong) => {
                    return Err(Failure::new(
                        Kind::FrameTooLarge,
                        "the output stream has a line over the limit",
                    ));
                }
            };
            // The line is copied so that the rules below may move the cursor; a frame's payload is
            // decoded into a copy anyway.
            let line = line.to_vec();
            if let Some(frame) = frame::read(&line, self.quirk).map_err(NoFrame::failure)?
                && let Some(step) = self.accept(&frame)?
            {
                return Ok(Some(step));
            }
        }
    }

    /// The body is over. A whole last line counts even without LF, if the end was a clean one; after any
    /// other end it is left to be sent again, as a partial line is.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub(super) fn finish(&mut self, clean: bool) -> Result<Option<Step>, Failure> {
        let rest = self.lines.rest().to_vec();
        if self.quirk.is(Bug::CursorFromPartialLine)
            && let Some(seq) = seq_in(&rest)
        {
            self.cursor = seq;
        }
        if self.quirk.is(Bug::PartialLineUsed)
            && let Some(mended) = mend(&rest)
            && let Ok(Some(frame)) = frame::read(&mended, self.quirk)
        {
            return self.accept(&frame);
        }
        if !clean {
            return Ok(None);
        }
        if self.quirk.is(Bug::LastLineLost) && !rest.is_empty() {
            return Ok(Some(Step::Exit(Status {
                code: Some(0),
                signal: None,
            })));
        }
        match frame::read(&rest, self.quirk) {
            Ok(Some(frame)) => self.accept(&frame),
            Ok(None) | Err(NoFrame::Unfinished) => Ok(None),
            Err(reason) => Err(reason.failure()),
        }
    }

    /// Judges one frame. `None` is only for wrong clients, who skip what they should not.
    fn accept(&mut self, frame: &Frame<'_>) -> Result<Option<Step>, Failure> {
        match *frame {
            Frame::Data {
                seq,
                stream,
                payload,
            } => self.accept_data(seq, stream, payload),
            Frame::Heartbeat { seq } => {
                self.poison(seq);
                Ok(Some(Step::Nothing))
            }
            Frame::Error { code, oldest } => self.error(code, oldest),
            Frame::Exit { code, signal } => {
                values::status(code, signal, self.quirk).map(|status| Some(Step::Exit(status)))
            }
            Frame::Unknown if self.quirk.is(Bug::UnknownTypeSkipped) => Ok(None),
            Frame::Unknown => Err(Failure::new(
                Kind::UnknownEvent,
                "the output stream has an event of an unknown type",
            )),
        }
    }

    fn accept_data(
        &mut self,
        seq: Option<&str>,
        stream: Option<&str>,
        payload: Option<&str>,
    ) -> Result<Option<Step>, Failure> {
        let seq = values::seq(seq, self.quirk)?;
        match self.place(seq, payload) {
            Place::Old => return Ok(Some(Step::Nothing)),
            Place::Gap if self.quirk.is(Bug::FramesSorted) => {
                let early = self.output(stream, payload)?;
                self.odd.early.insert(seq, early);
                return Ok(None);
            }
            Place::Gap => {
                return Err(Failure::new(
                    Kind::SequenceGap,
                    format!(
                        "output is missing: frame {} came after frame {}",
                        seq, self.cursor
                    ),
                ));
            }
            Place::Next => {}
        }
        let output = match self.output(stream, payload) {
            Err(_) if self.quirk.is(Bug::CursorBeforeCheck) => {
                self.cursor = seq;
                return Ok(Some(Step::Leave));
            }
            output => output?,
        };
        self.cursor = seq;
        self.odd.seen = seq;
        self.odd.first_frame = false;
        payload
            .unwrap_or_default()
            .clone_into(&mut self.odd.last_payload);
        while let Some(next) = self.odd.early.remove(&(self.cursor + 1)) {
            self.cursor += 1;
            self.odd.ready.push_back(Step::Output(next));
        }
        self.odd.in_read += 1;
        if self.quirk.is(Bug::DropsWhenFull) && self.odd.in_read > 4 {
            return Ok(None);
        }
        Ok(Some(Step::Output(output)))
    }

    fn output(&self, stream: Option<&str>, payload: Option<&str>) -> Result<Output, Failure> {
        Ok(Output {
            stream: values::stream(stream, self.streams, self.quirk)?,
            data: values::payload(payload, self.quirk)?,
        })
    }

    /// Where a frame stands: seen already, the next one, or past a hole.
    fn place(&self, seq: u64, payload: Option<&str>) -> Place {
        let quirk = self.quirk;
        let known = match quirk.0 {
            Some(Bug::NoDuplicateCheck) => false,
            Some(Bug::DuplicatesForgottenOnReconnect) => seq <= self.odd.seen,
            Some(Bug::DuplicatesByPayload) => payload == Some(self.odd.last_payload.as_str()),
            _ => seq <= self.cursor,
        };
        if known {
            return Place::Old;
        }
        let tolerated = match quirk.0 {
            Some(Bug::NoGapCheck) => u64::MAX,
            Some(Bug::NoGapCheckAtStart) if self.odd.first_frame => u64::MAX,
            Some(Bug::SmallGapsTolerated) => 2,
            _ => 0,
        };
        if seq > self.cursor.saturating_add(1).saturating_add(tolerated) {
            Place::Gap
        } else {
            Place::Next
        }
    }

    /// The server's error frame ends the call.
    fn error(&mut self, code: Option<&str>, oldest: Option<&str>) -> Result<Option<Step>, Failure> {
        if self.quirk.is(Bug::ErrorFrameSkipped) {
            return Ok(None);
        }
        let failure = error_frame(code);
        if self.quirk.is(Bug::ResumesAtOldest)
            && failure.kind == Kind::OutputEvicted
            && let Some(oldest) = oldest.and_then(|oldest| oldest.parse::<u64>().ok())
        {
            self.cursor = oldest.saturating_sub(1);
            return Ok(Some(Step::Leave));
        }
        Err(failure)
    }

    /// [`Bug::CursorFromAnyFrame`].
    fn poison(&mut self, seq: Option<&str>) {
        if self.quirk.is(Bug::CursorFromAnyFrame)
            && let Some(seq) = seq.and_then(|seq| seq.parse().ok())
        {
            self.cursor = seq;
        }
    }

    /// [`Bug::BadRequestResetsCursor`].
    pub(super) const fn reset_cursor(&mut self) {
        self.cursor = 0;
    }
}

/// Where a data frame stands against the cursor.
enum Place {
    Old,
    Next,
    Gap,
}

/// The failure that an error frame is.
pub(super) fn error_frame(code: Option<&str>) -> Failure {
    match values::error_code(code) {
        Some(code) if code == "output_offset_expired" => Failure::new(
            Kind::OutputEvicted,
            "output was evicted before it could be read (output_offset_expired)",
        ),
        Some(code) => Failure::new(
            Kind::StreamError,
            format!("the server ended the output stream with an error ({code})"),
        ),
        None => Failure::new(
            Kind::StreamError,
            "the server ended the output stream with an error",
        ),
    }
}

/// [`Bug::CursorFromPartialLine`]: the digits after `"seq":`.
fn seq_in(rest: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(rest).ok()?;
    let (_, after) = text.split_once("\"seq\":")?;
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    after[..digits].parse().ok()
}

/// [`Bug::PartialLineUsed`]: a data line cut in its payload, closed again.
fn mend(rest: &[u8]) -> Option<Vec<u8>> {
    const KEY: &[u8] = b"\"data_base64\":\"";
    let at = rest.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
    let letters = rest[at..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
        .count();
    let mut mended = rest[..at + letters / 4 * 4].to_vec();
    mended.extend_from_slice(b"\"}");
    Some(mended)
}

/// [`Bug::ExitDiscardsBuffered`]: whether the read holds an exit; then only that is kept.
fn discard_before_exit(lines: &mut Lines, bytes: &[u8]) -> bool {
    const EXIT: &[u8] = b"{\"type\":\"exit\"";
    match bytes.windows(EXIT.len()).position(|window| window == EXIT) {
        Some(at) => {
            lines.clear();
            lines.push(&bytes[at..]);
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Everything that bytes cut like this say, and the failure that ended it.
    fn told(pieces: &[&[u8]]) -> (Vec<Step>, Option<Kind>, u64) {
        let mut follower = Follower::new(0, 300, &["stdout", "stderr"], Quirk::default());
        follower.begin();
        let mut steps = Vec::new();
        for piece in pieces {
            follower.feed(piece);
            loop {
                match follower.next() {
                    Ok(Some(step)) => steps.push(step),
                    Ok(None) => break,
                    Err(failure) => return (steps, Some(failure.kind), follower.cursor()),
                }
            }
        }
        let last = follower.finish(true);
        let kind = last.as_ref().err().map(|failure| failure.kind);
        steps.extend(last.ok().flatten());
        (steps, kind, follower.cursor())
    }

    fn line() -> impl Strategy<Value = String> {
        let data = (1u64..6, prop_oneof![Just("stdout"), Just("stderr"), Just("pty")]).prop_map(
            |(seq, stream)| {
                format!("{{\"type\":\"data\",\"seq\":{seq},\"stream\":\"{stream}\",\"data_base64\":\"4oKs\"}}")
            },
        );
        prop_oneof![
            6 => data,
            2 => Just("{\"type\":\"heartbeat\",\"x\":\"\u{20ac}\u{2028}\"}".to_owned()),
            1 => Just("{\"type\":\"exit\",\"exit_code\":3}\r".to_owned()),
            1 => Just(" \t".to_owned()),
            1 => Just("{\"type\":\"error\",\"error\":\"x\"}".to_owned()),
            1 => Just("rubbish".to_owned()),
            1 => Just("{".repeat(400)),
        ]
    }

    proptest! {
        #[test]
        fn any_split_says_the_same(
            lines in proptest::collection::vec(line(), 0..8),
            last in any::<bool>(),
            cuts in proptest::collection::vec(0usize..1000, 0..30),
        ) {
            let mut text = lines.join("\n");
            if last {
                text.push('\n');
            }
            let text = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            let bytes: Vec<&[u8]> = text.chunks(1).collect();
            let whole = told(&[text]);
            prop_assert_eq!(&told(&pieces), &whole);
            prop_assert_eq!(&told(&bytes), &whole);
        }
    }

    #[test]
    fn only_accepted_data_moves_the_cursor() {
        let mut follower = Follower::new(0, 300, &["stdout"], Quirk::default());
        let good = "{\"type\":\"data\",\"seq\":1,\"stream\":\"stdout\",\"data_base64\":\"\"}\n";
        for (text, moved) in [
            ("{\"type\":\"heartbeat\",\"seq\":9}\n", 0),
            (good, 1),
            ("{\"type\":\"error\",\"error\":\"x\",\"seq\":2}\n", 1),
            ("{\"type\":\"exit\",\"exit_code\":0,\"seq\":2}\n", 1),
            (&good.replace('1', "2").replace("\"\"", "\"!\""), 1),
            (&good.replace('1', "2").replace("stdout", "pty"), 1),
            (&good.replace('1', "3"), 1),
            (good, 1),
        ] {
            follower.begin();
            follower.feed(text.as_bytes());
            let _ = follower.next();
            assert_eq!(follower.cursor(), moved, "{text}");
        }
    }

    #[test]
    fn a_partial_line_moves_nothing_and_is_forgotten() {
        let mut follower = Follower::new(0, 300, &["stdout"], Quirk::default());
        follower.begin();
        follower.feed(b"{\"type\":\"data\",\"seq\":1,");
        assert_eq!(follower.next(), Ok(None));
        assert_eq!(follower.finish(false), Ok(None));
        follower.begin();
        follower.feed(b"{\"type\":\"heartbeat\"}\n");
        assert_eq!(follower.next(), Ok(Some(Step::Nothing)));
        assert_eq!(follower.cursor(), 0);
    }
}
