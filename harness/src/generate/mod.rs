//! Generated schedules: plans that nobody wrote a scenario for, and what becomes of the ones that fail.
//!
//! - [`strategy`]: proptest strategies over plans, for `fuzz` and for tests of your own.
//! - [`case`]: the nth plan of a seed, always the same one.
//! - [`settle`]: what a plan that was drawn or changed needs to be judged: which of its faults a right client
//!   meets, and no silence that nothing would end.
//! - [`shrink`]: from a plan that fails to the smallest that fails in the same way ([`Failure`]).
//! - [`words`]: what stands above it when it is printed as a scenario file.
//! - [`sweep`]: every byte at which the streams of one scenario can be cut, and the plan of each cut.
//!
//! proptest's generator draws the choices (`dice`, `draw`); the oracle says what is right; a failing plan is made
//! smaller until a person can read it. Pure: no IO, no clock, no randomness but what the seed gives.

mod dice;
mod draw;
mod failure;
mod settle;
pub mod shrink;
pub mod strategy;
pub mod sweep;
#[cfg(test)]
mod tests;
pub mod words;

pub use failure::Failure;
pub use settle::{settle, settle_for};

use dice::Dice;
use fake_server::script::model::Plan;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// How far the generated schedules go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Little output, a few deviations in a plan: many plans a second.
    #[default]
    Quick,
    /// More output, more drops before the end, frames as large as buffers.
    Deep,
}

impl Profile {
    /// Both.
    pub const ALL: &[Self] = &[Self::Quick, Self::Deep];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Deep => "deep",
        }
    }
}

/// Which case a plan is, as its id says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The seed.
    pub seed: u64,
    /// The number.
    pub number: u64,
    /// The profile.
    pub profile: Profile,
}

impl Drawn {
    /// From the id of a plan; nothing for one that was not drawn by [`case`].
    #[must_use]
    pub fn of(id: &str) -> Option<Self> {
        let rest = id.strip_prefix("generated/")?;
        let (rest, profile) = match rest.strip_suffix("-deep") {
            Some(rest) => (rest, Profile::Deep),
            None => (rest, Profile::Quick),
        };
        let (seed, number) = rest.split_once('-')?;
        Some(Self {
            seed: seed.parse().ok()?,
            number: number.parse().ok()?,
            profile,
        })
    }

    /// The id of its plan.
    #[must_use]
    pub fn id(self) -> String {
        let suffix = match self.profile {
            Profile::Quick => "",
            Profile::Deep => "-deep",
        };
        format!("generated/{}-{}{suffix}", self.seed, self.number)
    }

    /// What makes `fuzz` play it alone, each option with its value.
    #[must_use]
    pub fn words(self) -> Vec<String> {
        let mut words = vec![
            format!("--seed {}", self.seed),
            format!("--case {}", self.number),
        ];
        if self.profile != Profile::default() {
            words.push(format!("--profile {}", self.profile.name()));
        }
        words
    }
}

/// The nth plan of a seed: a pure function of this crate's version, the seed, the number and the profile.
///
/// Its id is `generated/SEED-NUMBER`, with `-deep` for the deep profile.
///
/// ```
/// use harness::generate::{Profile, case};
///
/// assert_eq!(case(17, 4, Profile::Quick), case(17, 4, Profile::Quick));
/// assert_eq!(case(17, 4, Profile::Quick).id, "generated/17-4");
/// ```
#[must_use]
pub fn case(seed: u64, number: u64, profile: Profile) -> Plan {
    // ChaCha's key: keys that differ in a bit have nothing to do with each other, so no hash is needed.
    let mut key = *b"createos-generated-schedule-v1..";
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&number.to_le_bytes());
    key[31] = profile as u8;
    let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &key);
    let mut plan = draw::plan(&mut Dice::new(&mut rng), profile, None);
    let drawn = Drawn {
        seed,
        number,
        profile,
    };
    plan.id = drawn.id();
    plan.title = format!("Generated case {number} of seed {seed}");
    plan.seed = seed;
    settle(&mut plan);
    plan
}
