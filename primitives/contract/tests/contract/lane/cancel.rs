//! A future that is dropped, at whatever poll, takes nothing with it.

use std::future::poll_fn;

use corelane_primitives::{Consumer, Producer};

use super::{WAYS, across, receive_all, send_all};
use crate::futures::{give_up_after, give_way};
use crate::hosts::Host;
use crate::random::Random;

const SEEDS: u64 = 8;
const CAPACITIES: [usize; 3] = [1, 2, 16];

/// Sends each number until a send was not given up.
async fn send_giving_up(mut producer: Producer<u64>, count: u64, seed: u64) {
    let mut random = Random::new(seed);
    for value in 0..count {
        loop {
            match give_up_after(random.below(4), producer.send(value)).await {
                Some(sent) => break sent.unwrap(),
                None => give_way().await,
            }
        }
    }
}

/// Receives as `receive_all`, giving many receives up.
async fn receive_giving_up(mut consumer: Consumer<u64>, seed: u64) -> u64 {
    let mut random = Random::new(seed);
    let mut count = 0;
    loop {
        match give_up_after(random.below(4), consumer.recv()).await {
            Some(Some(value)) => assert_eq!(value, count),
            Some(None) => return count,
            None => {
                give_way().await;
                continue;
            }
        }
        count += 1;
    }
}

pub(crate) fn cancelled_sends_and_receives_lose_nothing<H: Host>(host: &H) {
    for seed in 0..SEEDS {
        for capacity in CAPACITIES {
            for way in WAYS {
                let count = host.count(2_000);
                let send = move |producer| send_giving_up(producer, count, 2 * seed);
                let receive = move |consumer| receive_giving_up(consumer, 2 * seed + 1);
                let ((), received) = across(host, way, capacity, send, receive);
                assert_eq!(received, count, "seed {seed}, capacity {capacity}, {way:?}");
            }
        }
    }
}

pub(crate) fn cancelled_waits_for_room_take_none<H: Host>(host: &H) {
    for seed in 0..SEEDS {
        for capacity in CAPACITIES {
            let count = host.count(2_000);
            let send = move |mut producer: Producer<u64>| async move {
                let mut random = Random::new(seed);
                let mut values = 0..count;
                while !values.is_empty() {
                    let slots = 1 + random.below(capacity as u64) as usize;
                    match give_up_after(random.below(4), producer.room(slots)).await {
                        None => give_way().await,
                        Some(room) => {
                            room.unwrap();
                            assert!(producer.slots() >= slots);
                            producer.push_batch(&mut values.by_ref().take(slots));
                            producer.notify();
                        }
                    }
                }
            };
            let receive = move |mut consumer: Consumer<u64>| async move {
                let mut random = Random::new(seed + SEEDS);
                let mut expected = 0;
                loop {
                    // Without `unpark`: the needless wake that may follow does no harm.
                    let ready = poll_fn(|cx| consumer.poll_ready(cx));
                    match give_up_after(random.below(4), ready).await {
                        None => give_way().await,
                        Some(false) => return expected,
                        Some(true) => {
                            assert_eq!(consumer.pop(), Some(expected));
                            consumer.notify();
                            expected += 1;
                        }
                    }
                }
            };
            let ((), received) = across(host, WAYS[0], capacity, send, receive);
            assert_eq!(received, count, "seed {seed}, capacity {capacity}");
        }
    }
}

/// One end gives up once and leaves; the other ends as it should.
pub(crate) fn who_gives_up_for_good_leaves_the_other_unharmed<H: Host>(host: &H) {
    for polls in 0..3 {
        for _ in 0..host.count(200) {
            let send = move |mut producer: Producer<u64>| async move {
                producer.send(0).await.unwrap();
                match give_up_after(polls, producer.send(1)).await {
                    Some(sent) => sent.map_or(1, |()| 2),
                    None => 1,
                }
            };
            let (sent, received) = across(host, WAYS[0], 1, send, receive_all);
            assert_eq!(received, sent, "{polls} polls");
            let receive = move |mut consumer: Consumer<u64>| async move {
                give_up_after(polls, consumer.recv()).await
            };
            let send = |mut producer: Producer<u64>| async move { producer.send(0).await.is_ok() };
            let (sent, received) = across(host, WAYS[0], 1, send, receive);
            assert!(matches!(received, None | Some(Some(0))), "{received:?}");
            assert!(sent || received.is_none(), "a value that never was");
        }
    }
    // And with nobody giving up, the same lane brings all.
    let send = |producer| send_all(producer, 3);
    assert_eq!(across(host, WAYS[0], 1, send, receive_all).1, 3);
}
