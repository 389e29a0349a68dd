//! What a lane holds, refuses and hands back, seen from one thread.
#![cfg(not(corelane_loom))]

use corelane_primitives::{Full, LaneError, lane, lane_with_start, try_lane};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn capacity_is_a_power_of_two() {
    for capacity in [0, 3, 6, (1 << 31) + 1, 1 << 32, usize::MAX] {
        assert_eq!(
            try_lane::<u8>(capacity).err(),
            Some(LaneError::Capacity(capacity))
        );
        assert!(catch_unwind(|| lane::<u8>(capacity)).is_err());
    }
    for capacity in [1, 2, 1024] {
        let (producer, consumer) = lane::<u8>(capacity);
        assert_eq!(
            (producer.capacity(), consumer.capacity()),
            (capacity, capacity)
        );
    }
}

#[test]
fn full_lane_hands_the_value_back() {
    let (mut producer, mut consumer) = lane(2);
    assert_eq!(producer.push(1), Ok(()));
    assert_eq!(producer.push(2), Ok(()));
    assert_eq!(producer.push(3), Err(Full(3)));
    assert_eq!(producer.write_chunk(2).push(4), Err(Full(4)));
    assert_eq!(consumer.pop(), Some(1));
    assert_eq!(producer.push(3), Ok(()));
    assert_eq!(consumer.read_chunk(9).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn batch_takes_nothing_from_the_iterator_that_it_cannot_hold() {
    let (mut producer, mut consumer) = lane(4);
    let mut values = 0..10;
    assert_eq!(producer.push_batch(&mut values), 4);
    assert_eq!(producer.push_batch(&mut values), 0);
    assert_eq!(values, 4..10);
    assert_eq!(consumer.read_chunk(3).sum::<i32>(), 3);
    assert_eq!(producer.push_batch(&mut values), 3);
    assert_eq!(consumer.read_chunk(9).collect::<Vec<_>>(), [3, 4, 5, 6]);
}

#[test]
fn batch_publishes_what_it_took_before_the_iterator_panicked() {
    let (mut producer, mut consumer) = lane(4);
    let mut values = [1, 2]
        .into_iter()
        .chain(std::iter::once_with(|| panic!("as planned")));
    let pushed = catch_unwind(AssertUnwindSafe(|| producer.push_batch(&mut values)));
    assert!(pushed.is_err());
    assert_eq!(consumer.read_chunk(4).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(producer.push_batch(&mut (5..)), 4);
}

#[test]
fn chunk_shows_nothing_before_its_commit() {
    let (mut producer, mut consumer) = lane(4);
    let mut chunk = producer.write_chunk(3);
    assert_eq!((chunk.slots(), chunk.len(), chunk.is_empty()), (3, 0, true));
    assert_eq!(chunk.push(1), Ok(()));
    assert_eq!(chunk.push(2), Ok(()));
    assert_eq!(
        (chunk.slots(), chunk.len(), chunk.is_empty()),
        (1, 2, false)
    );
    assert!(consumer.is_empty());
    assert_eq!(chunk.commit(), 2);
    assert_eq!(consumer.len(), 2);
    assert_eq!(consumer.read_chunk(4).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn read_chunk_leaves_what_it_did_not_yield() {
    let (mut producer, mut consumer) = lane(4);
    assert_eq!(producer.push_batch(&mut (0..4)), 4);
    let mut chunk = consumer.read_chunk(3);
    assert_eq!((chunk.len(), chunk.next()), (3, Some(0)));
    assert_eq!(
        producer.push(4),
        Err(Full(4)),
        "the slot comes back when the chunk is dropped"
    );
    drop(chunk);
    assert_eq!(producer.push(4), Ok(()));
    assert_eq!(consumer.read_chunk(9).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[test]
fn positions_wrap() {
    for capacity in [1, 2, 8] {
        for before in 0..12 {
            let start = usize::MAX - before;
            let (mut producer, mut consumer) =
                lane_with_start(capacity, start).expect("the capacity is a power of two");
            for round in 0..40 {
                let pushed = producer.push_batch(&mut (round * 8..).take(1 + round % capacity));
                assert_eq!(
                    (consumer.len(), producer.slots()),
                    (pushed, capacity - pushed)
                );
                for (offset, value) in consumer.read_chunk(pushed).enumerate() {
                    assert_eq!(value, round * 8 + offset);
                }
                assert!(consumer.is_empty());
            }
        }
    }
}

#[test]
fn errors_speak_without_the_value() {
    struct Mute;
    let full = Full(Mute);
    assert_eq!(format!("{full} {full:?}"), "every slot is taken Full(..)");
    let closed = corelane_primitives::Closed(Mute);
    assert_eq!(
        format!("{closed} {closed:?}"),
        "it is closed, or the other end is gone Closed(..)"
    );
    let Full(Mute) = full;
    let Mute = closed.into_inner();
    assert!(
        LaneError::Capacity(3)
            .to_string()
            .contains("3 is not a power of two")
    );
    assert!(LaneError::Memory(4).to_string().contains("4 slots"));
}
