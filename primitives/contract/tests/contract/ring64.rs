//! The contract of rings of 64-bit integers: two producers at one place, the consumer at the other.

use std::time::Duration;

use corelane_primitives::{Consumer64, Ring64, RingChannel, Shards64};

use crate::futures::{both, give_up_after, give_way};
use crate::hosts::Host;
use crate::random::Random;

on_every_host!(
    facts::values_arrive_once_in_each_producers_order,
    facts::shards_keep_each_producers_order,
    facts::cancelled_pushes_and_receives_of_integers_lose_nothing,
    facts::ring_channel_handles_every_value,
);

/// The facts, as the macro names them.
mod facts {
    pub(super) use super::{
        cancelled_pushes_and_receives_of_integers_lose_nothing, ring_channel_handles_every_value,
        shards_keep_each_producers_order, values_arrive_once_in_each_producers_order,
    };
}

const CAPACITIES: [usize; 3] = [1, 2, 64];
const FOREVER: Duration = Duration::MAX;

async fn push_all(ring: Ring64, producer: u64, count: u64) {
    for number in 0..count {
        let value = producer << 32 | number;
        ring.push_wait(value, FOREVER).await.unwrap();
    }
}

/// Each producer's values in their turn.
#[derive(Default)]
struct Check([u64; 2]);

impl Check {
    fn see(&mut self, value: u64) {
        let next = &mut self.0[usize::try_from(value >> 32).unwrap()];
        assert_eq!(value & 0xffff_ffff, *next);
        *next += 1;
    }
}

/// Takes batches until the ring is over; tells how many values of each producer came.
async fn take_all(mut consumer: Consumer64) -> [u64; 2] {
    let mut check = Check::default();
    while consumer.ready().await {
        consumer.fold(256, (), |(), value| check.see(value));
    }
    check.0
}

fn values_arrive_once_in_each_producers_order<H: Host>(host: &H) {
    for capacity in CAPACITIES {
        let count = host.count(5_000);
        let (ring, consumer) = Ring64::new(capacity);
        let push = move || async move {
            both(push_all(ring.clone(), 0, count), push_all(ring, 1, count)).await;
        };
        let ((), received) = host.pair(push, move || take_all(consumer));
        assert_eq!(received, [count; 2]);
    }
}

async fn push_to_shard(ring: Shards64, producer: u64, count: u64) {
    for number in 0..count {
        let value = producer << 32 | number;
        ring.push_wait(value, FOREVER).await.unwrap();
    }
}

fn shards_keep_each_producers_order<H: Host>(host: &H) {
    for capacity in CAPACITIES {
        let count = host.count(5_000);
        let (ring, consumer) = Shards64::new(4, capacity);
        let push = move || async move {
            let other = ring.clone();
            both(
                push_to_shard(other, 0, count),
                push_to_shard(ring, 1, count),
            )
            .await;
        };
        let ((), received) = host.pair(push, move || take_all(consumer));
        assert_eq!(received, [count; 2]);
    }
}

/// Pushes each number until a push was not given up.
async fn push_giving_up(ring: Ring64, producer: u64, count: u64, seed: u64) {
    let mut random = Random::new(seed);
    for number in 0..count {
        loop {
            let push = ring.push_wait(producer << 32 | number, FOREVER);
            match give_up_after(random.below(4), push).await {
                Some(pushed) => break pushed.unwrap(),
                None => give_way().await,
            }
        }
    }
}

/// Receives one by one, giving many receives up.
async fn receive_giving_up(mut consumer: Consumer64, seed: u64) -> [u64; 2] {
    let mut random = Random::new(seed);
    let mut check = Check::default();
    loop {
        match give_up_after(random.below(4), consumer.recv()).await {
            Some(Some(value)) => check.see(value),
            Some(None) => return check.0,
            None => give_way().await,
        }
    }
}

fn cancelled_pushes_and_receives_of_integers_lose_nothing<H: Host>(host: &H) {
    for seed in 0..4 {
        for capacity in CAPACITIES {
            let count = host.count(1_000);
            let (ring, consumer) = Ring64::new(capacity);
            let push = move || async move {
                let left = push_giving_up(ring.clone(), 0, count, 3 * seed);
                both(left, push_giving_up(ring, 1, count, 3 * seed + 1)).await;
            };
            let receive = move || receive_giving_up(consumer, 3 * seed + 2);
            let ((), received) = host.pair(push, receive);
            assert_eq!(received, [count; 2]);
        }
    }
}

fn ring_channel_handles_every_value<H: Host>(host: &H) {
    let count = host.count(5_000);
    let task = RingChannel::builder().capacity(64);
    let task = task.fold(Check::default(), |mut check, value| {
        check.see(value);
        check
    });
    let (channel, run) = task.run().unwrap();
    let ring = channel.ring();
    drop(channel);
    let push = move || async move {
        both(push_all(ring.clone(), 0, count), push_all(ring, 1, count)).await;
    };
    let ((), handled) = host.pair(push, move || async move { run.await.unwrap().0 });
    assert_eq!(handled, [count; 2]);
}
