//! A small seeded generator of random numbers.

/// PCG-XSH-RR with 64 bits of state (O'Neill, "PCG: A Family of Simple Fast Space-Efficient
/// Statistically Good Algorithms for Random Number Generation", section 6.3), written here so that
/// a seed means the same feed in every version of every dependency.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1_442_695_040_888_963_407;

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self {
            state: seed.wrapping_add(INCREMENT),
        };
        random.next_u32();
        random
    }

    fn next_u32(&mut self) -> u32 {
        let before = self.state;
        self.state = before.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        let mixed = (((before >> 18) ^ before) >> 27) as u32;
        mixed.rotate_right((before >> 59) as u32)
    }

    /// A number below `bound`, by multiplication: uneven by less than `bound` / 2^32.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.next_u32()) * u64::from(bound)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_below_the_bound_comes_about_equally_often() {
        let mut random = Random::new(7);
        let mut seen = [0_u32; 10];
        for _ in 0..100_000 {
            seen[random.below(10) as usize] += 1;
        }
        assert!(
            seen.iter().all(|count| (9_500..10_500).contains(count)),
            "{seen:?}"
        );
    }

    #[test]
    fn a_seed_always_means_the_same_numbers() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            [random.next_u32(), random.next_u32(), random.next_u32()]
        };
        assert_eq!(draw(42), draw(42));
        assert_ne!(draw(42), draw(43));
    }
}
