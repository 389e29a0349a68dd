//! Capacities, counts, and what the ring tells of itself.

use crate::clock::{ByHand, ms, ring_by_hand};
use corelane_primitives::{PushError, Ring, RingError};
use std::sync::Arc;
use std::time::Duration;

// proves: F-1
#[test]
fn capacity_is_a_power_of_two_and_anything_else_a_typed_error() {
    for capacity in [0, 3, 6, 1_000, usize::MAX, (1 << 31) + 1, 1 << 32] {
        let error = Ring::<u8>::try_new(capacity).err();
        assert_eq!(error, Some(RingError::Capacity(capacity)));
    }
    for capacity in [1, 2, 64, 1_024] {
        let (ring, _consumer) = Ring::<u8>::new(capacity);
        assert_eq!(ring.capacity(), capacity);
    }
}

#[test]
#[should_panic(expected = "ring capacity 3 is not a power of two")]
fn new_panics_where_try_new_errs() {
    let _ = Ring::<u8>::new(3);
}

// proves: F-2
#[test]
fn refused_push_leaves_the_cursor_alone() {
    let (ring, mut consumer) = Ring::new(64);
    let refused: Vec<u64> = (0..80)
        .filter_map(|value| match ring.push(value) {
            Err(PushError::Full(value)) => Some(value),
            _ => None,
        })
        .collect();
    assert_eq!(refused, (64..80).collect::<Vec<_>>());
    assert_eq!((ring.pushed(), ring.refused()), (64, 16));
    assert_eq!(ring.claim().err(), Some(PushError::Full(())));
    assert_eq!((ring.pushed(), ring.refused()), (64, 17));
    let mut out = Vec::new();
    assert_eq!(consumer.pop_batch(&mut out, 100), 64);
    // The next one stands directly behind the last accepted one.
    assert_eq!(ring.push(80), Ok(()));
    assert_eq!(consumer.pop(), Some(80));
    assert_eq!((ring.pushed(), ring.popped(), ring.skipped()), (65, 65, 0));
}

// proves: F-12
#[test]
fn counts_follow_the_cursors() {
    let (ring, mut consumer) = Ring::new(4);
    let mut popped = 0;
    for pushed in 1..=100 {
        assert_eq!(ring.push(pushed), Ok(()));
        assert_eq!(ring.pushed(), pushed);
        assert_eq!(ring.occupancy() as u64, pushed - popped);
        if pushed % 3 == 0 {
            popped += consumer.fold(9, 0, |count, _| count + 1).acc;
        }
        assert_eq!(
            (ring.popped(), consumer.occupancy()),
            (popped, ring.occupancy())
        );
    }
}

// proves: F-14
#[test]
fn peak_is_the_highest_occupancy_and_never_above_the_capacity() {
    let (ring, mut consumer) = Ring::new(8);
    assert_eq!(ring.peak(), 0);
    for (pushes, peak) in [(1, 1), (5, 5), (2, 5), (20, 8), (3, 8)] {
        for value in 0..pushes {
            let _full_or_not = ring.push(value);
        }
        assert_eq!(ring.peak(), peak);
        assert!(ring.occupancy() <= 8);
        while consumer.pop().is_some() {}
        assert_eq!(
            (ring.peak(), consumer.peak(), ring.occupancy()),
            (peak, peak, 0)
        );
    }
}

// proves: F-14
#[test]
fn age_of_the_oldest_value_is_bounded_by_capacity_and_drain_time() {
    let (clock, ring, mut consumer) = ring_by_hand(4);
    assert_eq!((ring.drain_ns(), ring.age_bound()), (None, None));
    // Each value takes the consumer 3 ms, and the ring is never empty.
    let mut pushed_at = std::collections::VecDeque::new();
    let mut oldest = Duration::ZERO;
    let mut now = Duration::ZERO;
    for value in 0..100_u64 {
        while ring.push(value).is_ok() {
            pushed_at.push_back(now);
        }
        assert!(consumer.pop().is_some());
        clock.advance(ms(3));
        now += ms(3);
        oldest = oldest.max(now - pushed_at.pop_front().expect("it was pushed"));
    }
    assert_eq!(ring.drain_ns(), Some(3e6));
    assert_eq!(ring.age_bound(), Some(ms(12)));
    assert_eq!(consumer.age_bound(), Some(oldest));
    assert_eq!((ring.peak(), consumer.drain_ns()), (4, Some(3e6)));
}

// proves: F-9
#[test]
fn positions_wrap_in_the_middle_of_a_batch() {
    for last in [1_u64 << 59, 1 << 61, 1 << 62, 1 << 63, 0] {
        let (ring, mut consumer) = Ring::builder(8)
            .start_sequence(last.wrapping_sub(5))
            .build()
            .expect("a power of two");
        for lap in 0..4 {
            for value in 0..8 {
                assert_eq!(ring.push(lap * 8 + value), Ok(()));
            }
            assert_eq!(ring.push(99), Err(PushError::Full(99)));
            assert_eq!(ring.occupancy(), 8);
            let mut out = Vec::new();
            assert_eq!(consumer.pop_batch(&mut out, 9), 8);
            assert_eq!(out, (lap * 8..lap * 8 + 8).collect::<Vec<_>>());
        }
        assert_eq!((ring.pushed(), ring.popped(), ring.peak()), (32, 32, 8));
    }
}

// proves: F-9
#[test]
fn claims_are_stepped_over_across_the_wrap() {
    let clock = Arc::new(ByHand::default());
    let (ring, mut consumer) = Ring::builder(2)
        .timers(clock.clone())
        .start_sequence(u64::MAX)
        .build()
        .expect("a power of two");
    let late = [ring.claim(), ring.claim()];
    assert_eq!(ring.push(1), Err(PushError::Full(1)));
    clock.advance(ms(50));
    assert_eq!(ring.push(1), Err(PushError::Full(1)));
    assert_eq!((ring.stepped_over(), ring.occupancy()), (1, 2));
    // The first was stepped over by the producer; the second is the consumer's.
    assert_eq!(consumer.pop(), None);
    assert_eq!((ring.skipped(), ring.occupancy()), (1, 1));
    clock.advance(ms(50));
    assert_eq!(consumer.pop(), None);
    for claim in late {
        assert!(claim.expect("there was room").publish(0).is_err());
    }
    assert_eq!((ring.push(3), consumer.pop()), (Ok(()), Some(3)));
    assert_eq!((ring.stepped_over(), ring.pushed()), (2, 3));
}

// proves: F-4
#[test]
fn fold_carries_the_accumulator_and_pop_batch_may_grow_its_vector() {
    let (ring, mut consumer) = Ring::new(8);
    for value in 0..8_u64 {
        assert_eq!(ring.push(value), Ok(()));
    }
    let folded = consumer.fold(3, 100, |acc, value| acc * 2 + value);
    assert_eq!(
        (folded.acc, folded.consumed),
        (((100 * 2) * 2 + 1) * 2 + 2, 3)
    );
    let folded = consumer.fold(0, folded.acc, |acc, value| acc * 2 + value);
    assert_eq!((folded.acc, folded.consumed), (804, 0));
    let mut out = Vec::new();
    assert_eq!(consumer.pop_batch(&mut out, 9), 5);
    assert_eq!(out, [3, 4, 5, 6, 7]);
}
