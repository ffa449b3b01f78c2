//! Choices, drawn one after the other from proptest's generator.

use proptest::{prelude::Rng as _, test_runner::TestRng};

/// Draws.
pub(super) struct Dice<'a> {
    rng: &'a mut TestRng,
}

impl<'a> Dice<'a> {
    pub(super) const fn new(rng: &'a mut TestRng) -> Self {
        Self { rng }
    }

    /// A number below `n`; 0 for 0.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        let drawn = u128::from(self.rng.next_u64());
        // The high half of a product: without a loop, and even enough for any `n` that is drawn here.
        u64::try_from((drawn * u128::from(n)) >> 64).unwrap_or(0)
    }

    /// A number of the range, both ends included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low).saturating_add(1))
    }

    /// As [`Self::between`], for lengths.
    pub(super) fn length(&mut self, low: usize, high: usize) -> usize {
        usize::try_from(self.between(low as u64, high as u64)).unwrap_or(low)
    }

    /// Whether something happens that happens `percent` times in a hundred.
    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these, each as often. The list is not empty.
    pub(super) fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        let at = self.below(list.len() as u64);
        list[usize::try_from(at).unwrap_or(0)]
    }

    /// One of these, as often as its weight says. The list is not empty.
    pub(super) fn weighted<T: Copy>(&mut self, list: &[(u64, T)]) -> T {
        let sum = list.iter().map(|(weight, _)| weight).sum();
        let mut at = self.below(sum);
        for (weight, value) in list {
            if at < *weight {
                return *value;
            }
            at -= weight;
        }
        list[0].1
    }

    /// So many bytes of any kind.
    pub(super) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.rng.fill_bytes(&mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;
    use proptest::test_runner::{RngAlgorithm, TestRng};

    #[test]
    fn choices_keep_to_their_bounds_and_reach_them() {
        let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
        let mut dice = Dice::new(&mut rng);
        let mut seen = [0_u32; 5];
        for _ in 0..500 {
            seen[dice.length(1, 4)] += 1;
        }
        assert_eq!(seen[0], 0);
        assert!(seen[1..].iter().all(|count| *count > 80), "{seen:?}");
        assert_eq!(dice.below(0), 0);
        assert_eq!(dice.between(9, 9), 9);
        let ones = (0..1000).filter(|_| dice.percent(10)).count();
        assert!((60..140).contains(&ones), "{ones}");
        let heavy = (0..1000)
            .filter(|_| dice.weighted(&[(9, true), (1, false)]))
            .count();
        assert!((860..940).contains(&heavy), "{heavy}");
    }
}
