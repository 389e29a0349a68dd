//! The contract of the ring by claim: two producers at one place, the consumer at the other.

use std::time::Duration;

use corelane_primitives::{PushError, Ring, RingConsumer};

use crate::futures::{both, count_polls, give_up_after, give_way};
use crate::hosts::Host;
use crate::random::Random;

on_every_host!(
    facts::every_value_arrives_once_in_each_producers_order,
    facts::cancelled_pushes_and_receives_lose_nothing,
    facts::claims_that_are_given_up_lose_nothing_else,
    facts::an_idle_ring_causes_no_polls,
    facts::a_full_ring_causes_no_polls,
    facts::a_dropped_consumer_hands_the_value_back,
);

/// The facts, as the macro names them.
mod facts {
    pub(super) use super::{
        a_dropped_consumer_hands_the_value_back, a_full_ring_causes_no_polls,
        an_idle_ring_causes_no_polls, cancelled_pushes_and_receives_lose_nothing,
        claims_that_are_given_up_lose_nothing_else,
        every_value_arrives_once_in_each_producers_order,
    };
}

const CAPACITIES: [usize; 3] = [1, 2, 64];
const FOREVER: Duration = Duration::MAX;
/// A poll that finds nothing, one that finds it, and one of a waker that was under way.
const POLLS_MAX: u64 = 3;
/// Polls that a consumer which has just had a value adds to that, before it sleeps.
const LOOKS: u64 = 16;
/// Turns that the busy end takes while the other one waits.
const TURNS: usize = 50;

/// A producer and the number of its value.
type Value = (u8, u64);

async fn push_all(ring: Ring<Value>, producer: u8, count: u64) {
    for number in 0..count {
        ring.push_wait((producer, number), FOREVER).await.unwrap();
    }
}

/// Receives until the ring is over, each producer's values in their turn; tells how many of each.
async fn receive_all(mut consumer: RingConsumer<Value>) -> [u64; 2] {
    let mut next = [0; 2];
    while let Some((producer, number)) = consumer.recv().await {
        assert_eq!(number, next[usize::from(producer)]);
        next[usize::from(producer)] += 1;
    }
    next
}

async fn be_busy() {
    for _ in 0..TURNS {
        give_way().await;
    }
}

fn every_value_arrives_once_in_each_producers_order<H: Host>(host: &H) {
    for capacity in CAPACITIES {
        let count = host.count(5_000);
        let (ring, consumer) = Ring::new(capacity);
        let push = move || async move {
            both(push_all(ring.clone(), 0, count), push_all(ring, 1, count)).await;
        };
        let ((), received) = host.pair(push, move || receive_all(consumer));
        assert_eq!(received, [count; 2]);
    }
}

/// Pushes each number until a push was not given up.
async fn push_giving_up(ring: Ring<Value>, producer: u8, count: u64, seed: u64) {
    let mut random = Random::new(seed);
    for number in 0..count {
        loop {
            let push = ring.push_wait((producer, number), FOREVER);
            match give_up_after(random.below(4), push).await {
                Some(pushed) => break pushed.unwrap(),
                None => give_way().await,
            }
        }
    }
}

/// Receives as `receive_all`, giving many receives up.
async fn receive_giving_up(mut consumer: RingConsumer<Value>, seed: u64) -> [u64; 2] {
    let mut random = Random::new(seed);
    let mut next = [0; 2];
    loop {
        match give_up_after(random.below(4), consumer.recv()).await {
            Some(Some((producer, number))) => {
                assert_eq!(number, next[usize::from(producer)]);
                next[usize::from(producer)] += 1;
            }
            Some(None) => return next,
            None => give_way().await,
        }
    }
}

fn cancelled_pushes_and_receives_lose_nothing<H: Host>(host: &H) {
    for seed in 0..4 {
        for capacity in CAPACITIES {
            let count = host.count(1_000);
            let (ring, consumer) = Ring::new(capacity);
            let push = move || async move {
                let other = ring.clone();
                let left = push_giving_up(other, 0, count, 3 * seed);
                both(left, push_giving_up(ring, 1, count, 3 * seed + 1)).await;
            };
            let receive = move || receive_giving_up(consumer, 3 * seed + 2);
            let ((), received) = host.pair(push, receive);
            assert_eq!(received, [count; 2]);
        }
    }
}

/// Every third claim is dropped; what is pushed behind it arrives all the same.
fn claims_that_are_given_up_lose_nothing_else<H: Host>(host: &H) {
    let count = host.count(3_000);
    let (ring, consumer) = Ring::new(4);
    let push = move || async move {
        for number in 0..count {
            if let Ok(claim) = ring.claim()
                && !number.is_multiple_of(3)
            {
                claim.publish((0, number)).unwrap();
            } else {
                ring.push_wait((0, number), FOREVER).await.unwrap();
            }
        }
        ring.tombstones()
    };
    let (tombstones, received) = host.pair(push, move || receive_all(consumer));
    assert_eq!(received, [count, 0]);
    assert!(tombstones <= count.div_ceil(3));
}

/// The pushes seldom wait, and wake the consumer each time.
fn an_idle_ring_causes_no_polls<H: Host>(host: &H) {
    let rounds = host.count(1_000);
    let (ring, mut consumer) = Ring::new(16);
    let push = move || async move {
        for value in 0..rounds {
            be_busy().await;
            ring.push_wait(value, FOREVER).await.unwrap();
        }
    };
    let receive = move || async move {
        for expected in 0..rounds {
            let (value, polls) = count_polls(consumer.recv()).await;
            assert_eq!(value, Some(expected));
            let polls_max = POLLS_MAX + LOOKS;
            assert!(polls <= polls_max, "{polls} polls for value {expected}");
        }
    };
    host.pair(push, receive);
}

fn a_full_ring_causes_no_polls<H: Host>(host: &H) {
    let rounds = host.count(1_000);
    let (ring, mut consumer) = Ring::new(2);
    let push = move || async move {
        for value in 0..rounds {
            let (pushed, polls) = count_polls(ring.push_wait(value, FOREVER)).await;
            pushed.unwrap();
            assert!(polls <= POLLS_MAX, "{polls} polls for value {value}");
        }
    };
    let receive = move || async move {
        for expected in 0..rounds {
            be_busy().await;
            assert_eq!(consumer.recv().await, Some(expected));
        }
    };
    host.pair(push, receive);
}

fn a_dropped_consumer_hands_the_value_back<H: Host>(host: &H) {
    for capacity in CAPACITIES {
        let (ring, mut consumer) = Ring::new(capacity);
        let push = move || async move {
            for value in 0_u64.. {
                match ring.push_wait(value, FOREVER).await {
                    Ok(()) => {}
                    Err(error) => {
                        assert_eq!(error, PushError::Closed(value));
                        return;
                    }
                }
            }
        };
        let receive = move || async move {
            assert_eq!(consumer.recv().await, Some(0));
            be_busy().await;
        };
        host.pair(push, receive);
    }
}
