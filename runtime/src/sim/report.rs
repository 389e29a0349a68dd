//! What a simulation was.

use std::fmt;
use std::time::Duration;

/// What a simulated run did, in a few numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimReport {
    pub(super) seed: u64,
    pub(super) trace_hash: u64,
    pub(super) turns: u64,
    pub(super) elapsed: Duration,
}

impl SimReport {
    /// The seed of the run.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// All that happened, as one number: each choice of a shard, each packet with its bytes, each
    /// step of the clock, in their order. Equal for equal runs; different runs have the same one by
    /// accident alone (once in 2^64).
    #[must_use]
    pub fn trace_hash(&self) -> u64 {
        self.trace_hash
    }

    /// Turns that the shards ran, all together.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// The virtual time that passed.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }
}

impl fmt::Display for SimReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seed,
            trace_hash,
            turns,
            elapsed,
        } = self;
        write!(
            f,
            "seed {seed}: trace {trace_hash:016x}, {turns} turns, {elapsed:?} of virtual time"
        )
    }
}
