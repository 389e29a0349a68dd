//! What one thread sees of a lane.
#![cfg(not(corelane_loom))]

use corelane_primitives::{Full, LaneError, lane, lane_with_start, try_lane};

#[test]
fn capacity_is_a_power_of_two() {
    for capacity in [0, 3, 6, (1 << 31) + 1, 1 << 32, usize::MAX] {
        assert_eq!(
            try_lane::<u8>(capacity).err(),
            Some(LaneError::Capacity(capacity))
        );
    }
    for capacity in [1, 2, 1024] {
        assert_eq!(lane::<u8>(capacity).0.capacity(), capacity);
    }
}

#[test]
fn slots_without_memory_are_an_error() {
    let slots = 1 << 31;
    let lane = try_lane::<[u64; 1 << 40]>(slots);
    assert_eq!(lane.err(), Some(LaneError::Memory(slots)));
}

#[test]
fn full_lane_hands_the_value_back() {
    let (mut producer, mut consumer) = lane(2);
    assert_eq!(producer.push(1), Ok(()));
    assert_eq!(producer.push(2), Ok(()));
    assert_eq!(producer.push(3), Err(Full(3)));
    assert_eq!(consumer.pop(), Some(1));
    assert_eq!(producer.push(3), Ok(()));
    assert_eq!(consumer.read_chunk(9).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn positions_wrap() {
    for capacity in [1, 2, 8] {
        for before in 0..12 {
            let start = usize::MAX - before;
            let (mut producer, mut consumer) =
                lane_with_start(capacity, start).expect("the capacity is a power of two");
            let mut next = 0;
            for round in 0..40 {
                let pushed = producer.push_batch(&mut (round * 8..).take(1 + round % capacity));
                assert_eq!(consumer.len(), pushed);
                assert_eq!(producer.slots(), capacity - pushed);
                for (offset, value) in consumer.read_chunk(pushed).enumerate() {
                    assert_eq!(value, round * 8 + offset);
                    next += 1;
                }
            }
            assert!(next >= 40);
        }
    }
}
