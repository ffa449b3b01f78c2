//! A run divided among machines. [`Shard`] says whose a case is, the same on every machine and in every version; [`merge`]
//! joins the events of the shards into those of one run, and refuses what is not all of one run, once.

mod merge;

pub use merge::{MergeError, merge};

use crate::suite::hex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::{fmt, str::FromStr};

/// More shards than anybody has machines.
pub const MOST: u32 = 1_000;

/// One of several parts of a run, as in `2/8`.
///
/// A case belongs to the shard `h % of + 1`, where `h` are the first eight bytes of the SHA-256 of its id, big end
/// first; a generated case of number `n` to `n % of + 1`. Both are promises: shards of one run may be played by machines
/// that know nothing of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    number: u32,
    of: u32,
}

/// Why a text names no shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a shard is a number from 1 and how many there are, at most {MOST}, as in 2/8")]
pub struct NoShard;

impl Shard {
    /// All of it.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// The shard of this number, from 1.
    ///
    /// # Errors
    /// If there is no such one.
    pub fn new(number: u32, of: u32) -> Result<Self, NoShard> {
        if number == 0 || number > of || of > MOST {
            return Err(NoShard);
        }
        Ok(Self { number, of })
    }

    /// Its number, from 1.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }

    /// How many there are.
    #[must_use]
    pub const fn of(self) -> u32 {
        self.of
    }

    /// Whether the case with this id is its.
    #[must_use]
    pub fn holds(self, id: &str) -> bool {
        let mut first = [0; 8];
        for (to, from) in first.iter_mut().zip(Sha256::digest(id)) {
            *to = from;
        }
        self.holds_number(u64::from_be_bytes(first))
    }

    /// Whether the generated case of this number is its.
    #[must_use]
    pub fn holds_number(self, number: u64) -> bool {
        number % u64::from(self.of) == u64::from(self.number - 1)
    }

    /// The nth number, from 0, that is not below `start` and its; `None` beyond the last number there is.
    #[must_use]
    pub fn nth_from(self, start: u64, nth: u64) -> Option<u64> {
        let of = u64::from(self.of);
        let ahead = (u64::from(self.number - 1) + of - start % of) % of;
        start.checked_add(ahead)?.checked_add(nth.checked_mul(of)?)
    }
}

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let (number, of) = text.split_once('/').ok_or(NoShard)?;
        let plain = |word: &str| {
            // `+2` is a number to Rust, and nobody's shard.
            let digits = word.bytes().all(|byte| byte.is_ascii_digit());
            word.parse().ok().filter(|_| digits).ok_or(NoShard)
        };
        Self::new(plain(number)?, plain(of)?)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// What the events of a shard say about the whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// The shard's number, from 1.
    pub number: u32,
    /// How many shards there are.
    pub of: u32,
    /// How many cases all of them have.
    pub cases: usize,
    /// SHA-256 over the ids of all of them in their order, each with a line end, in hex.
    pub selection: String,
    /// Places of the shard's own cases among all, from 0, in their order.
    #[serde(skip)]
    pub places: Vec<usize>,
}

impl Part {
    /// A shard's part of the cases with these ids.
    #[must_use]
    pub fn new(shard: Shard, ids: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for id in ids {
            hash.update(id);
            hash.update("\n");
        }
        Self {
            number: shard.number,
            of: shard.of,
            cases: ids.len(),
            selection: hex(&hash.finalize()),
            places: (0..ids.len()).filter(|at| shard.holds(ids[*at])).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The promise: whoever changes these numbers breaks runs whose shards are played by two versions.
    #[test]
    fn a_case_is_of_the_same_shard_on_every_machine() {
        let shard_of = |id: &str| {
            (1..=8)
                .filter(|number| Shard::new(*number, 8).is_ok_and(|shard| shard.holds(id)))
                .collect::<Vec<u32>>()
        };
        let told: Vec<Vec<u32>> = GOLDEN.iter().map(|(id, _)| shard_of(id)).collect();
        let golden: Vec<Vec<u32>> = GOLDEN.iter().map(|(_, number)| vec![*number]).collect();
        assert_eq!(told, golden);
    }

    const GOLDEN: &[(&str, u32)] = &[
        ("stream/healthy-follow", 6),
        ("stream/drop-and-resume[how=fin]", 4),
        ("exit/code-7", 5),
        ("raw/é", 1),
        ("", 5),
    ];

    #[test]
    fn generated_cases_go_by_number() {
        let second: Shard = "2/3".parse().unwrap();
        let numbers = |start| -> Vec<u64> {
            (0..4)
                .map(|nth| second.nth_from(start, nth).unwrap())
                .collect()
        };
        assert_eq!(numbers(0), [1, 4, 7, 10]);
        assert_eq!(numbers(1), [1, 4, 7, 10]);
        assert_eq!(numbers(2), [4, 7, 10, 13]);
        assert!(
            numbers(5)
                .into_iter()
                .all(|number| second.holds_number(number))
        );
        assert_eq!(Shard::WHOLE.nth_from(5, 2), Some(7));
        assert_eq!(second.nth_from(u64::MAX, 1), None);
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        for text in [
            "", "2", "0/3", "4/3", "1/0", "a/3", "1/1001", "+1/2", "1/2/3", " 1/2", "-1/2",
        ] {
            assert_eq!(text.parse::<Shard>(), Err(NoShard), "{text}");
        }
        assert_eq!("8/8".parse::<Shard>().unwrap().to_string(), "8/8");
    }
}
