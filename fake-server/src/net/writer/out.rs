//! Framing: payload in, bytes for the wire out, each with the note that tells the log what it was.
//! Pure, so that every shape of chunk can be tested by its bytes.

use super::super::recorder::Note;
use crate::{
    script::{
        framing::part_of,
        model::{Chunks, FrameRef},
    },
    wirelog::Payload,
};

/// Bytes that are gathered before they leave, and the most of one entry that one note covers.
pub(super) const BATCH_BYTES: usize = 64 << 10;
/// How many bytes a truncated chunk announces beyond those that come.
const MISSING: usize = 64;

/// How the end of the body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delimited {
    /// Chunks.
    Chunked,
    /// A `Content-Length`; the bytes of it that are still to come.
    Length(u64),
    /// The end of the connection.
    Close,
}

/// Bytes on their way out.
#[derive(Debug)]
pub(super) struct Out {
    delimited: Delimited,
    chunks: Chunks,
    bytes: Vec<u8>,
    /// Where the last payload ends, before the chunk's own line end: what a client needs to act on it.
    payload_end: usize,
    /// What the bytes up to there were.
    notes: Vec<(usize, Note)>,
    /// Bytes that the open chunk still announces.
    open: usize,
    /// Payload that waits for its chunk to fill.
    held: Vec<u8>,
    held_notes: Vec<(usize, Note)>,
    held_step: usize,
    /// Which of the sizes is next.
    round: usize,
    /// For one chunk: its size, until it is begun.
    one: Option<usize>,
    /// Payload came beyond the announced length.
    overran: bool,
    /// Where the body breaks off: bytes of it that may still leave.
    room: Option<u64>,
    /// With a break: payload since the last note.
    unnoted: Vec<u8>,
    /// Payload did not fit before the break.
    short: bool,
}

impl Out {
    /// `total` is the length of the whole payload as it leaves, needed for one chunk.
    pub(super) fn new(delimited: Delimited, chunks: Chunks, total: usize) -> Self {
        let one = (chunks == Chunks::One).then_some(total);
        Self {
            delimited,
            chunks,
            bytes: Vec::new(),
            payload_end: 0,
            notes: Vec::new(),
            open: 0,
            held: Vec::new(),
            held_notes: Vec::new(),
            held_step: 0,
            round: 0,
            one,
            overran: false,
            room: None,
            unnoted: Vec::new(),
            short: false,
        }
    }

    /// From here on only so many bytes leave; the rest is swallowed.
    pub(super) const fn break_after(&mut self, bytes: u64) {
        self.room = Some(bytes);
    }

    /// All bytes before the break have been gathered.
    pub(super) fn is_broken(&self) -> bool {
        self.room == Some(0)
    }

    pub(super) const fn delimited(&self) -> Delimited {
        self.delimited
    }

    /// Bytes gathered.
    pub(super) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Takes what was gathered.
    pub(super) fn take(&mut self) -> (Vec<u8>, Vec<(usize, Note)>) {
        self.payload_end = 0;
        (
            std::mem::take(&mut self.bytes),
            std::mem::take(&mut self.notes),
        )
    }

    /// Gives a buffer back to be filled again, emptied.
    pub(super) fn reuse(&mut self, mut bytes: Vec<u8>) {
        if self.bytes.is_empty() {
            bytes.clear();
            self.bytes = bytes;
        }
    }

    /// Bytes that are no payload.
    pub(super) fn verbatim(&mut self, bytes: &[u8]) {
        self.push(bytes);
    }

    /// Adds bytes as far as they stand before the break; how many.
    fn push(&mut self, bytes: &[u8]) -> usize {
        let fit = self.room.map_or(bytes.len(), |room| {
            bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX))
        });
        self.bytes.extend_from_slice(&bytes[..fit]);
        if let Some(room) = &mut self.room {
            // usize is at most 64 bits wide.
            *room -= fit as u64;
        }
        fit
    }

    /// Adds payload.
    fn push_payload(&mut self, bytes: &[u8]) {
        let fit = self.push(bytes);
        if self.room.is_some() {
            self.unnoted.extend_from_slice(&bytes[..fit]);
            self.short |= fit < bytes.len();
        }
        if fit > 0 {
            self.payload_end = self.bytes.len();
        }
    }

    /// Payload of one step, with what it was: as it is, or coded and then `notes` tell what is done with it.
    pub(super) fn payload(&mut self, step: usize, bytes: &[u8], notes: Vec<Note>) {
        if self.delimited != Delimited::Chunked {
            self.put_lines(bytes, notes);
            return;
        }
        match &self.chunks {
            Chunks::Frame | Chunks::One => {
                self.begin(bytes.len());
                self.put_lines(bytes, notes);
            }
            Chunks::Step => {
                if self.held_step != step {
                    self.release();
                    self.held_step = step;
                }
                self.hold_lines(bytes, notes);
            }
            Chunks::Sizes(sizes) => {
                let sizes = sizes.clone();
                self.hold_lines(bytes, notes);
                while let Some(size) = next_size(&sizes, self.round)
                    && self.held.len() >= size
                {
                    self.round += 1;
                    self.chunk_of_held(size);
                }
            }
        }
    }

    /// A whole true frame, the shortest way. Says whether it was taken.
    pub(super) fn frame(&mut self, seq: u64, line: &[u8]) -> bool {
        if self.delimited != Delimited::Chunked || self.chunks != Chunks::Frame || self.open > 0 {
            return false;
        }
        self.begin(line.len());
        self.put(line);
        self.note(Note::Frames { from: seq, to: seq });
        true
    }

    /// What is held back leaves as a chunk of its own.
    pub(super) fn release(&mut self) {
        if !self.held.is_empty() {
            self.round += 1;
            self.chunk_of_held(self.held.len());
        }
    }

    /// Payload into the open chunk, noted line by line.
    pub(super) fn put_lines(&mut self, bytes: &[u8], notes: Vec<Note>) {
        for (line, notes) in lines(bytes, notes) {
            self.put(line);
            self.note_all(notes);
        }
    }

    fn hold_lines(&mut self, bytes: &[u8], notes: Vec<Note>) {
        for (line, notes) in lines(bytes, notes) {
            self.hold(line, notes);
        }
    }

    fn hold(&mut self, bytes: &[u8], notes: Vec<Note>) {
        self.held.extend_from_slice(bytes);
        let end = self.held.len();
        self.held_notes
            .extend(notes.into_iter().map(|note| (end, note)));
    }

    fn chunk_of_held(&mut self, size: usize) {
        let rest = self.held.split_off(size);
        let chunk = std::mem::replace(&mut self.held, rest);
        self.begin(size);
        let notes = std::mem::take(&mut self.held_notes);
        let mut put = 0;
        for (end, note) in notes {
            if end <= size {
                self.put(&chunk[put..end]);
                put = end;
                self.note(note);
            } else {
                self.held_notes.push((end - size, note));
            }
        }
        self.put(&chunk[put..]);
    }

    /// Announces a chunk.
    pub(super) fn begin(&mut self, size: usize) {
        if size == 0 || self.open > 0 {
            return;
        }
        // One chunk for the whole body announces all of it, whatever comes first.
        let size = self.one.take().filter(|total| *total > 0).unwrap_or(size);
        self.push(format!("{size:x}\r\n").as_bytes());
        self.open = size;
    }

    /// Announces a chunk larger than what comes.
    pub(super) fn begin_truncated(&mut self, size: usize) {
        self.begin(size + MISSING);
    }

    /// Payload into the open chunk; where none is open, or it is full, a further one is made.
    pub(super) fn put(&mut self, mut bytes: &[u8]) {
        if self.delimited != Delimited::Chunked {
            self.push_payload(bytes);
            return;
        }
        while !bytes.is_empty() {
            self.begin(bytes.len());
            let (now, later) = bytes.split_at(self.open.min(bytes.len()));
            self.push_payload(now);
            self.open -= now.len();
            if self.open == 0 {
                self.push(b"\r\n");
            }
            bytes = later;
        }
    }

    /// The bytes so far were this.
    pub(super) fn note(&mut self, note: Note) {
        let end = self.payload_end;
        if self.short {
            self.note_beginning(what_of(&note));
            return;
        }
        self.unnoted.clear();
        self.notes.push((end, note));
    }

    /// What left of a payload before the break.
    fn note_beginning(&mut self, what: Payload) {
        if !self.unnoted.is_empty() {
            let bytes = std::mem::take(&mut self.unnoted);
            let note = note(part_of(what), &bytes, true, false);
            self.notes.push((self.payload_end, note));
        }
    }

    /// The body breaks off: what is held leaves as far as it stands before that.
    pub(super) fn end_broken(&mut self) {
        self.release();
        if let Some((_, note)) = self.held_notes.first() {
            let what = what_of(note);
            self.note_beginning(what);
        }
    }

    fn note_all(&mut self, notes: Vec<Note>) {
        for note in notes {
            self.note(note);
        }
    }

    /// Counts payload against the announced length: how many of so many bytes lie within it.
    pub(super) fn within_length(&mut self, bytes: usize) -> usize {
        match &mut self.delimited {
            Delimited::Length(left) => {
                let within = bytes.min(usize::try_from(*left).unwrap_or(usize::MAX));
                // usize is at most 64 bits wide.
                *left -= within as u64;
                self.overran |= within < bytes;
                within
            }
            Delimited::Chunked | Delimited::Close => bytes,
        }
    }

    /// Whether payload came beyond the announced length, where a peer would read it as the next answer.
    pub(super) const fn overran(&self) -> bool {
        self.overran
    }

    /// The end of the body. Says whether it is complete by its framing.
    pub(super) fn end(&mut self) -> bool {
        self.release();
        match self.delimited {
            Delimited::Chunked if self.open == 0 => {
                self.push(b"0\r\n\r\n");
                true
            }
            Delimited::Length(left) => left == 0,
            Delimited::Chunked | Delimited::Close => false,
        }
    }

    /// A chunk that announces more than comes, unless one is open already.
    pub(super) fn end_truncated(&mut self) {
        self.release();
        if self.delimited == Delimited::Chunked {
            self.begin(MISSING);
        }
    }

    /// A chunk header that is no number.
    pub(super) fn end_bad(&mut self) {
        self.release();
        self.push(b"xyz\r\n");
    }
}

/// The size of the next chunk; none if the list says nothing.
fn next_size(sizes: &[usize], round: usize) -> Option<usize> {
    if sizes.is_empty() {
        return None;
    }
    Some(sizes[round % sizes.len()].max(1))
}

/// What a note is about.
const fn what_of(note: &Note) -> Payload {
    match note {
        Note::Frames { from, .. } => Payload::True(FrameRef::Seq(*from)),
        Note::Bytes { what, .. } => *what,
    }
}

/// A payload of several lines, line by line: a client that leaves at one of them had those before.
fn lines(bytes: &[u8], notes: Vec<Note>) -> Vec<(&[u8], Vec<Note>)> {
    let inner = bytes.len().saturating_sub(1);
    match notes.as_slice() {
        [
            Note::Bytes {
                what,
                bytes: noted,
                framed,
                continues,
            },
        ] if noted == bytes && bytes[..inner].contains(&b'\n') => bytes
            .split_inclusive(|byte| *byte == b'\n')
            .enumerate()
            .map(|(index, line)| {
                let note = Note::Bytes {
                    what: *what,
                    bytes: line.to_vec(),
                    framed: *framed,
                    continues: *continues || index > 0,
                };
                (line, vec![note])
            })
            .collect(),
        _ => vec![(bytes, notes)],
    }
}

/// Frames of a run share a note up to so many bytes. A client may read the first of them and leave at what it says:
/// where a large one follows, that the first arrived has to be known by itself.
const RUN_BYTES: u64 = 4 << 10;

/// What has left of these notes by a place, runs of frames as one note. They are joined only here: a client that
/// leaves in the middle of a run had the frames before.
pub(super) fn left(notes: impl IntoIterator<Item = (u64, Note)>, written: u64) -> Vec<(u64, Note)> {
    let mut left: Vec<(u64, Note)> = Vec::new();
    let mut run_from = 0;
    for (end, note) in notes.into_iter().take_while(|(end, _)| *end <= written) {
        if let (Note::Frames { from, to }, Some((last_end, Note::Frames { to: last, .. }))) =
            (&note, left.last_mut())
            && *last + 1 == *from
            && end.saturating_sub(run_from) <= RUN_BYTES
        {
            *last = *to;
            *last_end = end;
            continue;
        }
        run_from = end;
        left.push((end, note));
    }
    left
}

/// The note for a payload.
pub(super) fn note(what: Payload, bytes: &[u8], framed: bool, continues: bool) -> Note {
    match what {
        Payload::True(FrameRef::Seq(seq)) if framed => Note::Frames { from: seq, to: seq },
        _ => Note::Bytes {
            what,
            bytes: bytes.to_vec(),
            framed,
            continues,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(bytes: &[u8]) -> Vec<Note> {
        vec![note(Payload::Raw(None), bytes, true, false)]
    }

    fn text(out: &mut Out) -> String {
        String::from_utf8(out.take().0).unwrap()
    }

    #[test]
    fn a_chunk_a_frame_and_runs_of_frames_that_left_are_one_note() {
        let mut out = Out::new(Delimited::Chunked, Chunks::Frame, 0);
        assert!(out.frame(1, b"one\n"));
        assert!(out.frame(2, b"twotwotwotwotwo\n"));
        let (bytes, notes) = out.take();
        assert_eq!(bytes, b"4\r\none\n\r\n10\r\ntwotwotwotwotwo\n\r\n");
        // What a client acts on is there before the chunk's own line end.
        let ends: Vec<usize> = notes.iter().map(|(end, _)| *end).collect();
        assert_eq!(ends, [7, bytes.len() - 2]);
        let notes: Vec<(u64, Note)> = (notes.into_iter())
            .map(|(end, note)| (end as u64, note))
            .collect();
        let whole = bytes.len() as u64 - 2;
        let both = Note::Frames { from: 1, to: 2 };
        assert_eq!(left(notes.clone(), whole), [(whole, both)]);
        // A client that left inside of the second frame had the first.
        let one = Note::Frames { from: 1, to: 1 };
        assert_eq!(left(notes, whole - 1), [(7, one)]);
    }

    #[test]
    fn a_large_frame_does_not_share_a_note_with_those_before_it() {
        let frame = |seq| Note::Frames { from: seq, to: seq };
        let run = |from, to| Note::Frames { from, to };
        let notes = [
            (10, frame(1)),
            (20, frame(2)),
            (20_000, frame(3)),
            (20_010, frame(4)),
        ];
        assert_eq!(left(notes, 30_000), [(20, run(1, 2)), (20_010, run(3, 4))]);
    }

    #[test]
    fn sizes_cut_across_payloads_and_the_rest_leaves_when_released() {
        let mut out = Out::new(Delimited::Chunked, Chunks::Sizes(vec![3, 1]), 0);
        out.payload(0, b"ab", raw(b"ab"));
        assert_eq!(out.len(), 0);
        out.payload(1, b"cdefg", raw(b"cdefg"));
        let (bytes, notes) = out.take();
        assert_eq!(bytes, b"3\r\nabc\r\n1\r\nd\r\n3\r\nefg\r\n");
        let ends: Vec<usize> = notes.iter().map(|(end, _)| *end).collect();
        assert_eq!(ends, [5, 20]);
        assert!(out.end());
        assert_eq!(text(&mut out), "0\r\n\r\n");
    }

    #[test]
    fn frames_that_share_chunks_have_a_note_each() {
        let mut out = Out::new(Delimited::Chunked, Chunks::Sizes(vec![3]), 0);
        for seq in 1..=2 {
            let frame = Note::Frames { from: seq, to: seq };
            out.payload(0, b"ab\n", vec![frame]);
        }
        assert_eq!(out.take().1.len(), 2);
    }

    #[test]
    fn one_chunk_a_step_and_one_for_all() {
        let mut out = Out::new(Delimited::Chunked, Chunks::Step, 0);
        out.payload(0, b"a", raw(b"a"));
        out.payload(0, b"b", raw(b"b"));
        out.payload(1, b"c", raw(b"c"));
        assert!(out.end());
        assert_eq!(text(&mut out), "2\r\nab\r\n1\r\nc\r\n0\r\n\r\n");
        let mut out = Out::new(Delimited::Chunked, Chunks::One, 3);
        out.payload(0, b"a", raw(b"a"));
        out.payload(1, b"bc", raw(b"bc"));
        out.payload(2, b"more", raw(b"more"));
        assert_eq!(text(&mut out), "3\r\nabc\r\n4\r\nmore\r\n");
    }

    #[test]
    fn truncated_and_bad_chunks() {
        let mut out = Out::new(Delimited::Chunked, Chunks::Frame, 0);
        out.begin_truncated(4);
        out.put(b"half");
        out.end_truncated();
        assert_eq!(text(&mut out), "44\r\nhalf");
        let mut out = Out::new(Delimited::Chunked, Chunks::Frame, 0);
        out.end_truncated();
        assert_eq!(text(&mut out), "40\r\n");
        let mut out = Out::new(Delimited::Chunked, Chunks::Frame, 0);
        out.end_bad();
        assert_eq!(text(&mut out), "xyz\r\n");
    }

    #[test]
    fn a_length_counts_what_lies_beyond_it() {
        let mut out = Out::new(Delimited::Length(5), Chunks::Frame, 0);
        assert_eq!(out.within_length(3), 3);
        assert!(!out.end());
        assert_eq!(out.within_length(4), 2);
        assert!(out.end());
        assert_eq!(out.within_length(1), 0);
    }
}
