//! Bytes to lines. A line ends at 0x0A and nowhere else, however the bytes were cut on their way; its
//! length is bounded, whether its end comes or not.

use super::bug::{Bug, Quirk};

/// A line grew over the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Collects bytes and gives lines back.
#[derive(Debug)]
pub(super) struct Lines {
    buffer: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Up to here no LF was found, so that a slow line is not searched again and again.
    searched: usize,
    /// Bytes between two LF at the most.
    limit: usize,
    quirk: Quirk,
}

impl Lines {
    pub(super) fn new(limit: u64, quirk: Quirk) -> Self {
        let mut limit = usize::try_from(limit).unwrap_or(usize::MAX);
        if quirk.is(Bug::LinesUnlimited) {
            limit = usize::MAX;
        }
        Self {
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            limit,
            quirk,
        }
    }

    /// Forgets what was left of a body.
    pub(super) fn clear(&mut self) {
        self.buffer.clear();
        self.start = 0;
        self.searched = 0;
    }

    /// Adds bytes as they arrived.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        if self.quirk.is(Bug::ReadIsAFrame) {
            let one = bytes.iter().map(|&b| if b == b'\n' { b' ' } else { b });
            self.buffer.extend(one.chain([b'\n']));
        } else if self.quirk.is(Bug::UnicodeLineBreaks) {
            self.buffer.extend_from_slice(bytes);
            break_everywhere(&mut self.buffer);
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// The next whole line, without its LF.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, TooLong> {
        let end = self.buffer[self.searched..]
            .iter()
            .position(|&byte| byte == b'\n')
            .map(|at| self.searched + at);
        let length = end.unwrap_or(self.buffer.len()) - self.start;
        if self.quirk.is(Bug::LinesCut) && length > CUT {
            return Ok(self.cut(end));
        }
        if length > self.limit {
            return Err(TooLong);
        }
        let Some(end) = end else {
            self.searched = self.buffer.len();
            return Ok(None);
        };
        let line = self.start..end;
        self.start = end + 1;
        self.searched = self.start;
        Ok(Some(&self.buffer[line]))
    }

    /// What stands after the last LF.
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// [`Bug::LinesCut`]: the line's beginning, once its end is there; else the middle is thrown away.
    fn cut(&mut self, end: Option<usize>) -> Option<&[u8]> {
        let Some(end) = end else {
            self.buffer.truncate(self.start + CUT + 1);
            self.searched = self.buffer.len();
            return None;
        };
        let line = self.start..self.start + CUT;
        self.start = end + 1;
        self.searched = self.start;
        Some(&self.buffer[line])
    }
}

/// Where [`Bug::LinesCut`] cuts, in bytes.
const CUT: usize = 64 << 10;

/// [`Bug::UnicodeLineBreaks`]: every line break of Unicode becomes LF.
fn break_everywhere(buffer: &mut Vec<u8>) {
    for mark in ["\u{2028}", "\u{2029}", "\u{85}"] {
        let mark = mark.as_bytes();
        while let Some(at) = buffer.windows(mark.len()).position(|window| window == mark) {
            buffer.splice(at..at + mark.len(), [b'\n']);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines_of(pieces: &[&[u8]], limit: u64) -> (Vec<Vec<u8>>, Result<Vec<u8>, TooLong>) {
        let mut lines = Lines::new(limit, Quirk::default());
        let mut all = Vec::new();
        for piece in pieces {
            lines.push(piece);
            loop {
                match lines.next() {
                    Ok(Some(line)) => all.push(line.to_vec()),
                    Ok(None) => break,
                    Err(error) => return (all, Err(error)),
                }
            }
        }
        (all, Ok(lines.rest().to_vec()))
    }

    #[test]
    fn only_lf_ends_a_line() {
        let text = "a\r\n\nb\u{2028}\u{2029}\u{85}\u{b}\u{c}c\nrest";
        let (lines, rest) = lines_of(&[text.as_bytes()], 100);
        let expected = ["a\r", "", "b\u{2028}\u{2029}\u{85}\u{b}\u{c}c"];
        assert_eq!(lines, expected.map(|line| line.as_bytes().to_vec()));
        assert_eq!(rest, Ok(b"rest".to_vec()));
    }

    #[test]
    fn the_limit_counts_what_stands_between_two_lf() {
        assert_eq!(lines_of(&[b"12345\n"], 5).0.len(), 1);
        assert_eq!(lines_of(&[b"123456\n"], 5).1, Err(TooLong));
        assert_eq!(lines_of(&[b"1\n", b"12345", b"\r"], 5).1, Err(TooLong));
        assert_eq!(lines_of(&[b"12345"], 5).1, Ok(b"12345".to_vec()));
    }

    #[test]
    fn a_cut_line_keeps_its_beginning_only() {
        let mut lines = Lines::new(1 << 20, Quirk(Some(Bug::LinesCut)));
        for _ in 0..3 {
            lines.push(&vec![b'x'; CUT]);
            assert_eq!(lines.next(), Ok(None));
        }
        lines.push(b"\nnext\n");
        assert_eq!(lines.next().unwrap().map(<[u8]>::len), Some(CUT));
        assert_eq!(lines.next(), Ok(Some(&b"next"[..])));
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_lines(
            text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'a'), any::<u8>()], 0..200),
            cuts in proptest::collection::vec(0usize..200, 0..20),
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            prop_assert_eq!(lines_of(&pieces, 1000), lines_of(&[&text], 1000));
        }
    }
}
