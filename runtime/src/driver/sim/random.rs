//! The random numbers of a simulation.
//!
//! SplitMix64, from G. Steele, D. Lea and C. Flood, "Fast Splittable Pseudorandom Number
//! Generators" (2014), figure 17: a counter that goes on by an odd constant, and a mix of it. It is
//! part of what a seed means: another generator would give every seed another run.

use std::cell::Cell;

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of numbers that its seed determines.
#[derive(Debug)]
pub(super) struct Random(Cell<u64>);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    fn next(&self) -> u64 {
        let state = self.0.get().wrapping_add(STEP);
        self.0.set(state);
        mix(state)
    }

    /// A number from 0 to `end - 1`; 0 when `end` is 0. Uneven by at most `end` in 2^64.
    pub(super) fn below(&self, end: u64) -> u64 {
        let product = u128::from(self.next()) * u128::from(end);
        (product >> 64) as u64
    }

    /// True once in `times`, on average.
    pub(super) fn once_in(&self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// Spreads every bit of the state over the number (variant 13 of D. Stafford's mixers).
pub(super) fn mix(state: u64) -> u64 {
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_paper() {
        // From the generator's reference code (S. Vigna, splitmix64.c), seed 1234567.
        let random = Random::new(1_234_567);
        let numbers = [random.next(), random.next(), random.next()];
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(numbers, expected);
    }

    #[test]
    fn numbers_stay_below_their_end_and_reach_it() {
        let random = Random::new(1);
        let mut seen = [0_u32; 7];
        for _ in 0..7_000 {
            seen[random.below(7) as usize] += 1;
        }
        assert!(
            seen.iter().all(|&count| (800..1_200).contains(&count)),
            "{seen:?}"
        );
        assert_eq!(random.below(0), 0);
    }
}
