//! What the calls of a ring allocate, counted by a program of its own.
#![cfg(not(corelane_loom))]

use corelane_primitives::{Ring, Ring64};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Each round is counted by itself: the counts are the whole process's, so another thread's may
/// come in between; what a round itself does is in each of them.
// proves: F-4
#[test]
fn fold_push_claim_and_pop_allocate_nothing() {
    let (ring, mut consumer) = Ring::new(512);
    let mut fewest = usize::MAX;
    for round in 0..10_u64 {
        let region = Region::new(ALLOCATOR);
        for value in 0..512 {
            assert_eq!(ring.push(value), Ok(()));
        }
        assert!(ring.push(round).is_err());
        let mut sum = consumer.fold(300, 0, |sum, value| sum + value).acc;
        while let Some(value) = consumer.pop() {
            sum += value;
        }
        let claim = ring.claim().expect("it is empty");
        assert_eq!(claim.publish(round), Ok(()));
        drop(ring.claim());
        sum = consumer.fold(usize::MAX, sum, |sum, value| sum + value).acc;
        let change = region.change();
        fewest = fewest.min(change.allocations + change.reallocations);
        assert_eq!(sum, 511 * 512 / 2 + round);
    }
    assert_eq!(fewest, 0);
}

// proves: F-4
#[test]
fn ring64_allocates_nothing_for_a_value() {
    let (ring, mut consumer) = Ring64::new(512);
    let mut fewest = usize::MAX;
    for round in 0..10_u64 {
        let region = Region::new(ALLOCATOR);
        for value in 0..500 {
            assert_eq!(ring.push(value), Ok(()));
        }
        assert_eq!(ring.push_batch(&[1; 20]), Ok(12));
        let mut sum = consumer.fold(300, 0, |sum, value| sum + value).acc;
        while let Some(value) = consumer.pop() {
            sum += value;
        }
        let mut claim = ring.claim(2).expect("it is empty");
        assert_eq!(claim.push(round), Ok(()));
        drop(claim);
        let folded = consumer.fold(usize::MAX, sum, |sum, value| sum + value);
        let change = region.change();
        fewest = fewest.min(change.allocations + change.reallocations);
        assert_eq!(
            (folded.acc, folded.skipped),
            (499 * 500 / 2 + 12 + round, 1)
        );
    }
    assert_eq!(fewest, 0);
}
