//! Every state that claim, step-over and late publication can reach, on small rings that are full
//! and whose positions wrap; and proof that a broken protocol would be found.
//!
//! The model is plain: one step is one access to shared memory, any party may take the next one,
//! and any claim may be old. What the memory model adds is explored by `loom_claim.rs`, on the
//! production types.
#![cfg(not(corelane_loom))]

mod explore;
mod protocol;

use explore::{Explored, explore};
use protocol::{Fault, Setup};

/// Rings of one, two and four slots; producers that do one to three things; positions that wrap.
const SETUPS: [Setup; 5] = [
    Setup::new(1, 0, [2, 2]),
    Setup::new(1, 15, [3, 1]),
    Setup::new(2, 15, [2, 2]),
    Setup::new(2, 14, [3, 1]),
    Setup::new(4, 13, [2, 2]),
];

fn run(fault: Fault) -> Vec<Explored> {
    SETUPS.iter().map(|setup| explore(*setup, fault)).collect()
}

// proves: F-8
#[test]
fn protocol_keeps_every_promise_in_every_state() {
    for (setup, explored) in SETUPS.iter().zip(run(Fault::None)) {
        assert_eq!(explored.broken, None, "{setup:?}");
        // Each setup meets what it is there for.
        assert!(explored.states > 1_000, "{} states", explored.states);
        assert!(explored.ends > 10, "{} ends", explored.ends);
        let met = explored.met;
        assert!(met.late && met.tombstone && met.stepped_over, "{met:?}");
        assert!(met.reclaimed, "{met:?}");
        // Four slots are never full of claims while somebody still has something to do.
        let full = met.full && met.stepped_over_by_a_producer;
        assert!(full || setup.capacity == 4, "{met:?}");
    }
}

/// A model that misses broken protocols would prove nothing.
#[test]
fn every_broken_protocol_is_found() {
    for fault in Fault::BROKEN {
        let found: Vec<_> = run(fault)
            .into_iter()
            .filter_map(|explored| explored.broken)
            .collect();
        println!("{fault:?}: {found:?}");
        assert!(!found.is_empty(), "{fault:?} breaks nothing");
    }
}
