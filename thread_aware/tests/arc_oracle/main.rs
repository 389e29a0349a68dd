//! The `Arc` against an oracle: random sequences of everything that one thread can do to some
//! lineages, compared after each step with a model that is plain maps.
//!
//! A release run takes 10^6 sequences, a debug run 4,000, and Miri 80. A failure names its seed,
//! and `CORELANE_SEED=n` runs that one alone.
#![cfg(feature = "std")]

mod model;
mod run;

use std::num::NonZero;

use thread_aware::{PerCore, PerNuma, PerProcess, affinity::Affinity, storage::Strategy};

/// Sequences a strategy.
const SEQUENCES: u64 = if cfg!(miri) {
    20
} else if cfg!(debug_assertions) {
    1_000
} else {
    250_000
};

/// One partition for two processors in a row.
struct PerPair;

impl Strategy for PerPair {
    fn index(affinity: Affinity) -> usize {
        affinity.processor_index() / 2
    }

    fn count(affinity: Affinity) -> NonZero<usize> {
        NonZero::new(affinity.processor_count().div_ceil(2)).unwrap_or(NonZero::<usize>::MIN)
    }
}

fn seeds() -> std::ops::Range<u64> {
    match std::env::var("CORELANE_SEED") {
        Ok(seed) => {
            let seed = seed.parse().expect("a seed is a number");
            seed..seed + 1
        }
        Err(_) => 0..SEQUENCES,
    }
}

// proves: TA-1, TA-3, TA-7, TA-8, TA-10, TA-11, TA-12, TA-13
#[test]
fn per_core_answers_as_its_oracle() {
    seeds().for_each(run::sequence::<PerCore>);
}

// proves: TA-1, TA-3, TA-7, TA-8, TA-10, TA-11, TA-12, TA-13
#[test]
fn per_numa_answers_as_its_oracle() {
    seeds().for_each(run::sequence::<PerNuma>);
}

// proves: TA-1, TA-3, TA-7, TA-8, TA-10, TA-11, TA-12, TA-13
#[test]
fn per_pair_answers_as_its_oracle() {
    seeds().for_each(run::sequence::<PerPair>);
}

// proves: TA-7, TA-9, TA-10, TA-12, TA-13
#[test]
fn per_process_answers_as_its_oracle() {
    seeds().for_each(run::sequence::<PerProcess>);
}
