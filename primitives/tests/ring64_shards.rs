//! What a `Shards64` promises beyond its single rings.
#![cfg(not(corelane_loom))]

use corelane_primitives::{PushError, RingError, Shards64};

// proves: F-11
#[test]
fn producer_sticks_to_its_shard_and_keeps_its_own_order() {
    let (first, mut consumer) = Shards64::new(4, 4096);
    assert_eq!((first.shards(), first.capacity()), (4, 4 * 4096));
    let producers = (0..8).map(|_| first.clone()).collect::<Vec<_>>();
    drop(first);
    for value in 0..1_000 {
        for (id, producer) in (0_u64..).zip(&producers) {
            assert_eq!(producer.push(id << 32 | value), Ok(()));
        }
    }
    // Eight producers on four shards: two each, so no shard refuses before 2,048 turns.
    let mut next = [0; 8];
    let folded = consumer.fold(usize::MAX, (), |(), value| {
        let id = (value >> 32) as usize;
        assert_eq!(value & 0xffff_ffff, next[id]);
        next[id] += 1;
    });
    assert_eq!((folded.consumed, next), (8_000, [1_000; 8]));
    assert_eq!(
        (producers[0].pushed(), producers[0].popped()),
        (8_000, 8_000)
    );
}

// proves: F-11
#[test]
fn start_of_the_consumer_rotates() {
    let (first, mut consumer) = Shards64::new(3, 8);
    let producers = [first.clone(), first.clone(), first];
    for value in 0..4 {
        for (id, producer) in (0_u64..).zip(&producers) {
            assert_eq!(producer.push(id << 32 | value), Ok(()));
        }
    }
    let mut order = Vec::new();
    while let Some(value) = consumer.pop() {
        order.push((value & 0xffff_ffff, value >> 32));
    }
    assert_eq!(order.len(), 12);
    assert!(order.is_sorted(), "shard by shard, by turns: {order:?}");
    for producer in &producers {
        assert_eq!(producer.push_batch(&[9, 9]), Ok(2));
    }
    // Each fold could be filled by one shard; by turns all of them are served.
    for _ in 0..3 {
        assert_eq!(consumer.fold(2, (), |(), _| ()).consumed, 2);
    }
    assert_eq!(producers[0].occupancy(), 0);
}

/// Shards that are full again before each fold have their turns all the same, and those without a
/// producer have none.
// proves: F-11
#[test]
fn each_fold_starts_behind_the_shard_where_the_last_one_did() {
    let (first, mut consumer) = Shards64::new(5, 8);
    let producers = [first.clone(), first.clone(), first];
    let mut order = Vec::new();
    for _ in 0..9 {
        for (id, producer) in (0_u64..).zip(&producers) {
            while producer.push(id).is_ok() {}
        }
        let folded = consumer.fold(8, Vec::new(), |mut ids, id| {
            ids.push(id);
            ids
        });
        assert_eq!(folded.acc, [folded.acc[0]; 8]);
        order.push(folded.acc[0]);
    }
    assert_eq!(order, [0, 1, 2].repeat(3));
}

// proves: F-11
#[test]
fn capacity_is_each_shards_own() {
    let (first, mut consumer) = Shards64::new(2, 4);
    let second = first.clone();
    assert_eq!(first.push_batch(&[0, 1, 2, 3, 4]), Ok(4));
    assert_eq!(first.push(9), Err(PushError::Full(9)));
    assert_eq!(second.push(5), Ok(()), "the other shard is empty");
    assert_eq!(
        (first.occupancy(), first.peak(), first.refused()),
        (5, 5, 2)
    );
    assert_eq!(consumer.fold(9, 0, |sum, value| sum + value).acc, 11);
    assert_eq!(first.occupancy(), 0);
}

#[test]
fn producer_takes_the_shard_that_the_fewest_use() {
    let (first, mut consumer) = Shards64::new(2, 1);
    let kept = first.clone();
    assert_eq!(kept.push(1), Ok(()));
    for value in 0..10 {
        // Each comes, takes the shard that is free again, and goes.
        let guest = first.clone();
        assert_eq!(guest.push(value), Ok(()), "its shard is empty");
        assert_eq!(
            consumer.fold(9, 0, |_, value| value).consumed,
            1 + usize::from(value == 0)
        );
    }
}

#[test]
fn last_producer_closes_all_shards() {
    let (first, mut consumer) = Shards64::new(3, 8);
    let second = first.clone();
    assert_eq!(second.push(1), Ok(()));
    drop(first);
    assert!(!second.is_closed());
    drop(second);
    assert!(!consumer.is_finished());
    assert_eq!(consumer.pop(), Some(1));
    assert!(consumer.is_finished());

    let (producer, consumer) = Shards64::new(3, 8);
    drop(consumer);
    assert_eq!(producer.push(3), Err(PushError::Closed(3)));
}

#[test]
fn shards_that_cannot_be_are_typed_errors() {
    for shards in [0, (1 << 16) + 1] {
        assert_eq!(
            Shards64::try_new(shards, 8).err(),
            Some(RingError::Shards(shards))
        );
    }
    assert_eq!(Shards64::try_new(2, 7).err(), Some(RingError::Capacity(7)));
}
