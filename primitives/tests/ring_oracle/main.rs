//! The ring by claim against an oracle: random sequences of everything that one thread can do to a
//! ring, compared after each step with a model that is plain queues.
//!
//! A release run takes 10^6 sequences, a debug run 4,000. A failure names its seed, and
//! `CORELANE_SEED=n` runs that one alone.
#![cfg(not(corelane_loom))]

#[path = "../support/bell.rs"]
mod bell;
mod model;
mod run;
#[path = "../support/settle.rs"]
mod settle;

use run::run;

const SEQUENCES: u64 = if cfg!(debug_assertions) {
    4_000
} else {
    1_000_000
};

fn seeds() -> std::ops::Range<u64> {
    match std::env::var("CORELANE_SEED") {
        Ok(seed) => {
            let seed = seed.parse().expect("a seed is a number");
            seed..seed + 1
        }
        Err(_) => 0..SEQUENCES,
    }
}

// proves: F-2, F-6, F-7, F-8, F-9, F-12, F-14, W-1
#[test]
fn ring_answers_as_its_oracle() {
    for seed in seeds() {
        if let Err(panic) = std::panic::catch_unwind(|| run(seed)) {
            println!("the sequence of CORELANE_SEED={seed}");
            std::panic::resume_unwind(panic);
        }
    }
}
