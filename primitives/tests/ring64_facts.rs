//! What one thread sees of a `Ring64`.
#![cfg(not(corelane_loom))]

use corelane_primitives::{ClaimError, Consumer64, PushError, Ring64, RingError};

fn drain(consumer: &mut Consumer64) -> Vec<u64> {
    let mut all = Vec::new();
    consumer.pop_batch(&mut all, usize::MAX);
    all
}

// proves: F-1
#[test]
fn pushed_value_is_popped() {
    let (ring, mut consumer) = Ring64::new(1024);
    assert_eq!(ring.capacity(), 1024);
    assert_eq!(ring.push(42), Ok(()));
    assert_eq!(consumer.pop(), Some(42));
    assert_eq!(consumer.pop(), None);
}

// proves: F-1
#[test]
fn capacity_is_a_power_of_two_or_a_typed_error() {
    for capacity in [0, 3, 6, 1000, usize::MAX] {
        let refused = Ring64::try_new(capacity).err();
        assert_eq!(refused, Some(RingError::Capacity(capacity)));
    }
    for capacity in [1, 2, 64] {
        let (ring, _consumer) = Ring64::try_new(capacity).expect("a power of two");
        assert_eq!(ring.capacity(), capacity);
    }
}

// proves: F-2
// proves: F-12
#[test]
fn refused_push_leaves_the_cursor_alone() {
    let (ring, mut consumer) = Ring64::new(8);
    for value in 0..8 {
        assert_eq!(ring.push(value), Ok(()));
    }
    for value in 0..1_000 {
        assert_eq!(ring.push(value), Err(PushError::Full(value)));
    }
    assert_eq!(ring.push_batch(&[1, 2, 3]), Err(PushError::Full(())));
    assert_eq!(ring.claim(1).err(), Some(PushError::Full(())));
    assert_eq!((ring.pushed(), ring.refused()), (8, 1_004));
    // The very next push takes the ninth position: nothing has to be waited for or passed.
    assert_eq!(consumer.pop(), Some(0));
    assert_eq!(ring.push(8), Ok(()));
    assert_eq!((ring.pushed(), ring.popped(), ring.skipped()), (9, 1, 0));
    assert_eq!(drain(&mut consumer), (1..=8).collect::<Vec<_>>());
}

// proves: F-4
#[test]
fn fold_carries_the_accumulator_and_stops_at_its_maximum() {
    let (ring, mut consumer) = Ring64::new(1024);
    let values = (0..1_000).collect::<Vec<_>>();
    assert_eq!(ring.push_batch(&values), Ok(1_000));
    let mut next = 0;
    let mut acc = 0;
    for max in [0, 1, 255, 256, 257, 10_000] {
        let folded = consumer.fold(max, acc, |acc, value| {
            assert_eq!(value, next);
            next += 1;
            acc + value
        });
        acc = folded.acc;
        assert_eq!(
            folded.consumed,
            max.min(1_000 - (ring.popped() as usize - folded.consumed))
        );
    }
    assert_eq!((acc, ring.popped()), (499_500, 1_000));
}

#[test]
fn value_at_which_a_fold_panics_is_taken_and_no_other() {
    let (ring, mut consumer) = Ring64::new(8);
    assert_eq!(ring.push_batch(&[1, 2, 3, 4]), Ok(4));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        consumer.fold(8, (), |(), value| assert_ne!(value, 2, "as planned"))
    }));
    assert!(panicked.is_err());
    assert_eq!((ring.popped(), ring.occupancy()), (2, 2));
    assert_eq!(drain(&mut consumer), [3, 4]);
}

/// At the end of the array and behind a hole, too.
// proves: F-6
#[test]
fn value_at_which_a_fold_panics_is_taken_wherever_it_stands() {
    for start in 0..8 {
        for panics_at in 0..6 {
            let (ring, mut consumer) = Ring64::with_start_sequence(8, start);
            assert_eq!(ring.push_batch(&[0, 1]), Ok(2));
            drop(ring.claim(1));
            assert_eq!(ring.push_batch(&[2, 3, 4, 5]), Ok(4));
            let mut given = Vec::new();
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                consumer.fold(9, (), |(), value| {
                    given.push(value);
                    assert_ne!(value, panics_at, "as planned");
                })
            }));
            assert!(panicked.is_err());
            assert_eq!(given, (0..=panics_at).collect::<Vec<_>>());
            let skipped = u64::from(panics_at > 1);
            let counts = (ring.popped(), ring.skipped(), ring.occupancy() as u64);
            assert_eq!(counts, (panics_at + 1, skipped, 6 - panics_at - skipped));
            let rest = (panics_at + 1..6).collect::<Vec<_>>();
            assert_eq!(drain(&mut consumer), rest);
            assert_eq!((ring.skipped(), ring.occupancy()), (1, 0));
        }
    }
}

/// Also where such a batch goes over the end of the array.
// proves: W-5
#[test]
fn fold_hands_256_slots_back_as_one() {
    let (ring, mut consumer) = Ring64::with_start_sequence(1_024, 900);
    assert_eq!(ring.push_batch(&[7; 1_024]), Ok(1_024));
    let mut left = Vec::new();
    consumer.fold(usize::MAX, (), |(), _| left.push(ring.occupancy()));
    assert_eq!(left.len(), 1_024);
    assert!((0..1_024).all(|index| left[index] == 1_024 - index / 256 * 256));
}

// proves: F-9
#[test]
fn sequences_wrap_also_in_the_middle_of_a_batch() {
    for top in [1 << 59, 1 << 61, 0_u64] {
        for before in [1_u64, 3, 5, 16, 17, 40] {
            let (ring, mut consumer) = Ring64::with_start_sequence(16, top.wrapping_sub(before));
            let (mut pushed, mut popped) = (0_u64, 0_u64);
            for turn in 0..20 {
                let batch = (pushed..pushed + 7).collect::<Vec<_>>();
                pushed += ring.push_batch(&batch).expect("there is room") as u64;
                if turn % 3 == 0 {
                    assert_eq!(ring.push(pushed), Ok(()));
                    pushed += 1;
                }
                assert_eq!(ring.pushed(), pushed);
                assert_eq!(ring.occupancy() as u64, pushed - popped);
                popped = consumer
                    .fold(9, popped, |next, value| {
                        assert_eq!(value, next);
                        next + 1
                    })
                    .acc;
                assert_eq!(ring.popped(), popped);
            }
            while ring.push(pushed).is_ok() {
                pushed += 1;
            }
            assert_eq!((ring.occupancy(), ring.peak()), (16, 16));
            assert_eq!(drain(&mut consumer), (popped..pushed).collect::<Vec<_>>());
        }
    }
}

// proves: F-13
#[test]
fn eighty_offered_to_64_slots_leave_a_gap_of_exactly_16() {
    let (ring, mut consumer) = Ring64::new(64);
    let refused = (0..80).filter(|value| ring.push(*value).is_err()).count();
    assert_eq!((refused, ring.refused(), ring.pushed()), (16, 16, 64));
    let mut check = SequenceCheck::default();
    drain(&mut consumer)
        .into_iter()
        .for_each(|value| check.see(value));
    assert_eq!((check.seen, check.gaps.len()), (64, 0));
    assert_eq!(ring.push(80), Ok(()));
    check.see(consumer.pop().expect("it was pushed"));
    assert_eq!((check.seen, check.gaps), (65, vec![16]));
}

/// What a consumer can tell from the values alone.
#[derive(Default)]
struct SequenceCheck {
    seen: u64,
    next: u64,
    gaps: Vec<u64>,
}

impl SequenceCheck {
    fn see(&mut self, value: u64) {
        self.seen += 1;
        if value != self.next {
            self.gaps.push(value - self.next);
        }
        self.next = value + 1;
    }
}

// proves: F-14
#[test]
fn occupancy_and_its_peak_are_told_and_never_pass_the_capacity() {
    let (ring, mut consumer) = Ring64::new(8);
    assert_eq!((ring.occupancy(), ring.peak()), (0, 0));
    assert_eq!(ring.push_batch(&[1, 2, 3]), Ok(3));
    assert_eq!((ring.occupancy(), ring.peak()), (3, 3));
    assert_eq!(consumer.pop(), Some(1));
    assert_eq!((ring.occupancy(), ring.peak()), (2, 3));
    drain(&mut consumer);
    assert_eq!(ring.push_batch(&[1, 2, 3, 4, 5]), Ok(5));
    drain(&mut consumer);
    assert_eq!((ring.occupancy(), ring.peak()), (0, 5));
    assert_eq!(ring.push_batch(&[0; 100]), Ok(8));
    drain(&mut consumer);
    assert_eq!(ring.push(1), Ok(()));
    assert_eq!((ring.occupancy(), ring.peak()), (1, 8));
}

// proves: F-15
#[test]
fn every_64_bit_value_passes() {
    let (ring, mut consumer) = Ring64::new(64);
    for bit in 0..64 {
        for value in [1 << bit, !(1_u64 << bit), u64::MAX >> bit, 0] {
            assert_eq!(ring.push(value), Ok(()));
            assert_eq!(consumer.pop(), Some(value));
        }
    }
}

#[test]
fn batch_takes_what_room_there_is_and_counts_the_rest_as_refused() {
    let (ring, mut consumer) = Ring64::new(4);
    assert_eq!(ring.push_batch(&[]), Ok(0));
    assert_eq!(ring.push(0), Ok(()));
    assert_eq!(ring.push_batch(&[1, 2, 3, 4, 5]), Ok(3));
    assert_eq!(ring.refused(), 2);
    assert_eq!(drain(&mut consumer), [0, 1, 2, 3]);
    ring.close();
    assert_eq!(ring.push_batch(&[1]), Err(PushError::Closed(())));
    assert_eq!(ring.push_batch(&[]), Ok(0));
}

#[test]
fn closed_ring_hands_values_back_and_is_drained_first() {
    let (ring, mut consumer) = Ring64::new(4);
    assert_eq!(ring.push(1), Ok(()));
    ring.close();
    assert!(ring.is_closed());
    assert_eq!(ring.push(2), Err(PushError::Closed(2)));
    assert_eq!(ring.claim(1).err(), Some(PushError::Closed(())));
    assert!(!consumer.is_finished());
    assert_eq!(consumer.pop(), Some(1));
    assert!(consumer.is_finished());
}

#[test]
fn either_side_gone_is_seen_by_the_other() {
    let (ring, mut consumer) = Ring64::new(4);
    let other = ring.clone();
    assert_eq!(other.push(1), Ok(()));
    drop(ring);
    assert_eq!(other.push(2), Ok(()));
    drop(other);
    assert_eq!(drain(&mut consumer), [1, 2]);
    assert!(consumer.is_finished());

    let (ring, consumer) = Ring64::new(4);
    assert_eq!(ring.push(1), Ok(()));
    drop(consumer);
    assert_eq!(ring.push(7), Err(PushError::Closed(7)));
    assert_eq!(ring.refused(), 0, "only a full ring refuses");
}

// proves: F-7
#[test]
fn only_the_contiguous_published_prefix_is_delivered() {
    let (ring, mut consumer) = Ring64::new(8);
    let mut first = ring.claim(2).expect("eight slots are free");
    assert_eq!(ring.push(30), Ok(()));
    let mut second = ring.claim(1).expect("five slots are free");
    assert_eq!(ring.push(50), Ok(()));
    assert_eq!(second.push(40), Ok(()));
    assert_eq!(consumer.pop(), None);
    assert_eq!(first.push(10), Ok(()));
    assert_eq!(drain(&mut consumer), [10]);
    assert_eq!(first.push(20), Ok(()));
    assert_eq!(first.push(21), Err(ClaimError::Filled(21)));
    assert_eq!(drain(&mut consumer), [20, 30, 40, 50]);
}

// proves: F-8
#[test]
fn claim_that_is_dropped_or_unwound_is_passed_and_counted() {
    let (ring, mut consumer) = Ring64::new(4);
    for turn in 0..10_u64 {
        let mut claim = ring.claim(3).expect("all slots are free");
        assert_eq!((claim.slots(), ring.occupancy()), (3, 3));
        assert_eq!(claim.push(turn), Ok(()));
        assert_eq!(ring.push(100), Ok(()));
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _claim = claim;
            assert_ne!(turn, turn, "as planned");
        }));
        assert!(unwound.is_err());
        let folded = consumer.fold(9, vec![], |mut all, value| {
            all.push(value);
            all
        });
        assert_eq!(
            (folded.acc, folded.consumed, folded.skipped),
            (vec![turn, 100], 2, 2)
        );
        assert_eq!(ring.skipped(), 2 * (turn + 1));
        assert_eq!(ring.pushed(), ring.popped() + ring.skipped());
    }
}

#[test]
fn claim_of_more_than_all_slots_or_of_none_is_a_fault() {
    let (ring, _consumer) = Ring64::new(4);
    for slots in [0, 5] {
        let claim = std::panic::AssertUnwindSafe(|| ring.claim(slots).is_ok());
        assert!(std::panic::catch_unwind(claim).is_err());
    }
    let claim = ring.claim(4).expect("all slots are free");
    assert_eq!(ring.claim(1).err(), Some(PushError::Full(())));
    drop(claim);
}
