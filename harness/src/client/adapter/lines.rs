//! Splits what an adapter writes into lines, at 0x0A only, with bounded memory.

use std::io::BufRead as _;

/// Bytes of a line at the most; a result may carry megabytes of output.
pub(super) const LINE_BYTES: usize = 16 << 20;

/// Bytes of a line that is too long of which the beginning is kept, to tell whose it is.
const BEGINNING_BYTES: usize = 4 << 10;

/// A line, without its LF.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// All of it.
    Whole(Vec<u8>),
    /// It went over [`LINE_BYTES`]; its beginning. The rest of it is thrown away as it comes.
    TooLong(Vec<u8>),
}

/// Collects bytes until a line is whole.
#[derive(Debug, Default)]
pub(super) struct Lines {
    state: State,
}

#[derive(Debug)]
enum State {
    /// The beginning of a line, without a LF in it. Left for `Skipping` when it grows too long.
    Collecting(Vec<u8>),
    /// Inside a line that was too long. Left at its LF.
    Skipping,
}

impl Default for State {
    fn default() -> Self {
        Self::Collecting(Vec::new())
    }
}

impl Lines {
    /// Takes bytes and gives the lines that they made whole, in order.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some((end, rest)) = split_at_lf(bytes) {
            self.append(end, &mut lines);
            if let State::Collecting(line) = std::mem::take(&mut self.state) {
                lines.push(Line::Whole(line));
            }
            bytes = rest;
        }
        self.append(bytes, &mut lines);
        lines
    }

    /// The program ended: what came after the last LF.
    pub(super) fn rest(&mut self) -> Option<Vec<u8>> {
        match std::mem::take(&mut self.state) {
            State::Collecting(line) if !line.is_empty() => Some(line),
            _ => None,
        }
    }

    fn append(&mut self, bytes: &[u8], lines: &mut Vec<Line>) {
        let State::Collecting(line) = &mut self.state else {
            return;
        };
        if line.len() + bytes.len() <= LINE_BYTES {
            line.extend_from_slice(bytes);
            return;
        }
        let missing = BEGINNING_BYTES.saturating_sub(line.len()).min(bytes.len());
        line.extend_from_slice(&bytes[..missing]);
        line.truncate(BEGINNING_BYTES);
        lines.push(Line::TooLong(std::mem::take(line)));
        self.state = State::Skipping;
    }
}

/// What stands before the first LF, and what after it.
fn split_at_lf(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    // The standard library searches fast here, also in a dev build, where a loop of ours takes
    // a second for a line of 100 MB. Reading from a slice cannot fail.
    let mut rest = bytes;
    let taken = rest.skip_until(b'\n').ok()?;
    bytes[..taken].strip_suffix(b"\n").map(|line| (line, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_end_at_lf_wherever_the_bytes_are_cut() {
        let text = "{\"a\":\"\u{2028}\u{85}\"}\n\nx\r\ny";
        for cut in 0..=text.len() {
            let mut lines = Lines::default();
            let mut all = lines.push(&text.as_bytes()[..cut]);
            all.extend(lines.push(&text.as_bytes()[cut..]));
            assert_eq!(
                all,
                [whole("{\"a\":\"\u{2028}\u{85}\"}"), whole(""), whole("x\r")]
            );
            assert_eq!(lines.rest(), Some(b"y".to_vec()));
        }
    }

    #[test]
    fn a_line_that_never_ends_is_told_once_and_not_kept() {
        let mut lines = Lines::default();
        let piece = vec![b'z'; 1 << 20];
        let mut told = Vec::new();
        for _ in 0..100 {
            told.extend(lines.push(&piece));
        }
        assert_eq!(told, [Line::TooLong(vec![b'z'; BEGINNING_BYTES])]);
        assert!(matches!(lines.state, State::Skipping));
        assert_eq!(lines.push(b"zz\nnext\n"), [whole("next")]);
    }

    #[test]
    fn the_longest_line_that_is_allowed_passes() {
        let mut lines = Lines::default();
        let mut line = vec![b'z'; LINE_BYTES];
        line.push(b'\n');
        assert!(
            matches!(&lines.push(&line)[..], [Line::Whole(whole)] if whole.len() == LINE_BYTES)
        );
        line.insert(0, b'z');
        assert!(matches!(&lines.push(&line)[..], [Line::TooLong(_)]));
    }
}
