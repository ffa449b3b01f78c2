//! A process's output as the server keeps it: a window over a numbered sequence of frames, bounded by
//! raw bytes. The oldest frames give way; the newest stays, however large it is.
//!
//! The journal keeps numbers and sizes only. The bytes are the truth's.

use std::collections::VecDeque;
use thiserror::Error;

/// The window.
#[derive(Clone, Debug)]
pub struct Journal {
    limit: u64,
    kept: VecDeque<Entry>,
    bytes: u64,
    newest: u64,
    evicted: bool,
    /// The window of a journal that takes nothing in any more: its entries are given back.
    closed: Option<(u64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    seq: u64,
    bytes: u64,
}

/// A cursor lies behind the window: frames after it are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("frames after {after} were evicted, the oldest kept is {oldest}")]
pub struct Evicted {
    /// The cursor.
    pub after: u64,
    /// Oldest seq kept.
    pub oldest: u64,
}

/// A frame that cannot be appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("frame {seq} does not follow frame {newest}")]
pub struct OutOfOrder {
    /// Its seq.
    pub seq: u64,
    /// The newest seq.
    pub newest: u64,
}

impl Journal {
    /// An empty journal that keeps at most `limit` raw bytes.
    #[must_use]
    pub const fn new(limit: u64) -> Self {
        Self {
            limit,
            kept: VecDeque::new(),
            bytes: 0,
            newest: 0,
            evicted: false,
            closed: None,
        }
    }

    /// Takes nothing in any more and gives its entries back; what it says stays, since a window has no holes.
    pub fn close(&mut self) {
        if self.closed.is_none() && !self.kept.is_empty() {
            self.closed = Some((self.oldest(), self.newest));
            self.kept = VecDeque::new();
        }
    }

    /// Entries held in memory.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.kept.len()
    }

    /// Takes a frame of so many raw bytes in and evicts what no longer fits.
    ///
    /// # Errors
    /// If its seq is not above the newest, or the journal is closed.
    pub fn append(&mut self, seq: u64, bytes: u64) -> Result<(), OutOfOrder> {
        if seq <= self.newest || self.closed.is_some() {
            return Err(OutOfOrder {
                seq,
                newest: self.newest,
            });
        }
        self.newest = seq;
        self.bytes += bytes;
        self.kept.push_back(Entry { seq, bytes });
        while self.bytes > self.limit && self.kept.len() > 1 {
            if let Some(oldest) = self.kept.pop_front() {
                self.bytes -= oldest.bytes;
                self.evicted = true;
            }
        }
        Ok(())
    }

    /// Seqs after a cursor, oldest first.
    ///
    /// # Errors
    /// `Evicted` if a frame after the cursor is no longer kept.
    pub fn replay(&self, after: u64) -> Result<impl Iterator<Item = u64>, Evicted> {
        let oldest = self.oldest();
        if self.evicted && after.saturating_add(1) < oldest {
            return Err(Evicted { after, oldest });
        }
        let from = self.kept.partition_point(|entry| entry.seq <= after);
        let closed = self.closed.into_iter();
        let closed =
            closed.flat_map(move |(oldest, newest)| oldest.max(after.saturating_add(1))..=newest);
        Ok(self.kept.range(from..).map(|entry| entry.seq).chain(closed))
    }

    /// Oldest seq kept, 0 while nothing was written.
    #[must_use]
    pub fn oldest(&self) -> u64 {
        match self.closed {
            Some((oldest, _)) => oldest,
            None => self.kept.front().map_or(0, |entry| entry.seq),
        }
    }

    /// Newest seq, 0 while nothing was written.
    #[must_use]
    pub const fn newest(&self) -> u64 {
        self.newest
    }

    /// Raw bytes kept.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filled(limit: u64, sizes: &[u64]) -> Journal {
        let mut journal = Journal::new(limit);
        for (seq, bytes) in (1..).zip(sizes) {
            journal.append(seq, *bytes).unwrap();
        }
        journal
    }

    fn replayed(journal: &Journal, after: u64) -> Result<Vec<u64>, Evicted> {
        journal.replay(after).map(Iterator::collect)
    }

    #[test]
    fn a_frame_larger_than_the_journal_stays_as_the_newest() {
        let journal = filled(10, &[3, 3, 50]);
        assert_eq!((journal.oldest(), journal.newest()), (3, 3));
        assert_eq!(journal.bytes(), 50);
    }

    #[test]
    fn the_boundary_is_oldest_minus_one() {
        let journal = filled(10, &[5, 5, 5]);
        assert_eq!(replayed(&journal, 1), Ok(vec![2, 3]));
        assert_eq!(
            replayed(&journal, 0),
            Err(Evicted {
                after: 0,
                oldest: 2
            })
        );
    }

    #[test]
    fn a_first_seq_above_one_is_no_eviction() {
        let mut journal = Journal::new(10);
        journal.append(5, 1).unwrap();
        assert_eq!(replayed(&journal, 0), Ok(vec![5]));
    }

    #[test]
    fn numbers_only_rise() {
        let mut journal = filled(10, &[1, 1]);
        assert_eq!(journal.append(2, 1), Err(OutOfOrder { seq: 2, newest: 2 }));
    }

    #[test]
    fn a_closed_journal_says_what_it_said_and_holds_nothing() {
        let mut journal = filled(10, &[5, 5, 5]);
        let said = |journal: &Journal| {
            let replays: Vec<_> = (0..5).map(|after| replayed(journal, after)).collect();
            (journal.oldest(), journal.newest(), journal.bytes(), replays)
        };
        let before = said(&journal);
        journal.close();
        assert_eq!(said(&journal), before);
        assert_eq!(journal.entries(), 0);
        assert!(journal.append(4, 1).is_err());
    }

    #[test]
    fn an_empty_journal_says_zero() {
        let journal = Journal::new(10);
        assert_eq!(
            (journal.oldest(), journal.newest(), journal.bytes()),
            (0, 0, 0)
        );
        assert_eq!(replayed(&journal, 7), Ok(vec![]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Against the plainest model: keep all, then drop from the front while the sum is too large.
        #[test]
        fn replay_gives_exactly_the_kept_seqs_after_the_cursor(
            first in 1_u64..1000,
            limit in 0_u64..200,
            sizes in prop::collection::vec(0_u64..80, 0..40),
            after in 0_u64..1100,
        ) {
            let mut journal = Journal::new(limit);
            let mut model: Vec<(u64, u64)> = Vec::new();
            for (seq, bytes) in (first..).zip(&sizes) {
                prop_assert!(journal.append(seq, *bytes).is_ok());
                model.push((seq, *bytes));
                while model.len() > 1 && model.iter().map(|(_, bytes)| bytes).sum::<u64>() > limit {
                    model.remove(0);
                }
                let kept: Vec<u64> = model.iter().map(|(seq, _)| *seq).collect();
                prop_assert_eq!(journal.oldest(), kept[0]);
                prop_assert_eq!(journal.newest(), seq);
                prop_assert_eq!(journal.bytes(), model.iter().map(|(_, bytes)| bytes).sum::<u64>());
                let lost = kept[0] > first && after + 1 < kept[0];
                match replayed(&journal, after) {
                    Ok(seqs) => {
                        prop_assert!(!lost);
                        let right: Vec<u64> = kept.into_iter().filter(|seq| *seq > after).collect();
                        prop_assert_eq!(seqs, right);
                    }
                    Err(evicted) => {
                        prop_assert!(lost);
                        prop_assert_eq!(evicted, Evicted { after, oldest: kept[0] });
                    }
                }
            }
        }

        #[test]
        fn the_kept_window_has_no_holes_and_fits(
            limit in 1_u64..200,
            sizes in prop::collection::vec(0_u64..300, 1..60),
        ) {
            let journal = filled(limit, &sizes);
            let kept = replayed(&journal, journal.oldest() - 1).unwrap();
            prop_assert_eq!(kept, (journal.oldest()..=journal.newest()).collect::<Vec<_>>());
            prop_assert!(journal.bytes() <= limit || journal.oldest() == journal.newest());
        }
    }
}
