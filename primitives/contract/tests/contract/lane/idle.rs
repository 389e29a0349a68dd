//! Who waits is polled when there is something for it, and not before.
//!
//! A wait takes a poll that finds nothing and a poll that finds it. A third comes of a waker that
//! was under way when an earlier poll found its value by itself.

use corelane_primitives::{Consumer, Producer};

use super::{WAYS, across, receive_all};
use crate::futures::{count_polls, give_way};
use crate::hosts::Host;

const POLLS_MAX: u64 = 3;

/// Turns that the busy end takes while the other one waits.
const TURNS: usize = 50;

async fn be_busy() {
    for _ in 0..TURNS {
        give_way().await;
    }
}

pub(crate) fn an_idle_lane_causes_no_polls<H: Host>(host: &H) {
    for way in WAYS {
        let rounds = host.count(1_000);
        let send = move |mut producer: Producer<u64>| async move {
            for value in 0..rounds {
                be_busy().await;
                producer.send(value).await.unwrap();
            }
        };
        let receive = move |mut consumer: Consumer<u64>| async move {
            for expected in 0..rounds {
                let (value, polls) = count_polls(consumer.recv()).await;
                assert_eq!(value, Some(expected));
                assert!(polls <= POLLS_MAX, "{polls} polls for value {expected}");
            }
        };
        across(host, way, 16, send, receive);
    }
}

pub(crate) fn a_full_lane_causes_no_polls<H: Host>(host: &H) {
    for way in WAYS {
        let rounds = host.count(1_000);
        let send = move |mut producer: Producer<u64>| async move {
            for value in 0..rounds {
                let (sent, polls) = count_polls(producer.send(value)).await;
                sent.unwrap();
                assert!(polls <= POLLS_MAX, "{polls} polls for value {value}");
            }
        };
        let receive = move |mut consumer: Consumer<u64>| async move {
            for expected in 0..rounds {
                be_busy().await;
                assert_eq!(consumer.recv().await, Some(expected));
            }
        };
        across(host, way, 2, send, receive);
    }
}

/// Room is told of when there is as much as was asked for, not slot by slot.
pub(crate) fn a_wait_for_much_room_ends_once<H: Host>(host: &H) {
    const CAPACITY: usize = 16;
    let rounds = host.count(200);
    let send = move |mut producer: Producer<u64>| async move {
        let mut values = 0..rounds * CAPACITY as u64;
        while !values.is_empty() {
            let (room, polls) = count_polls(producer.room(CAPACITY)).await;
            room.unwrap();
            assert!(polls <= POLLS_MAX, "{polls} polls for one lane full");
            assert_eq!(producer.push_batch(&mut values), CAPACITY);
            producer.notify();
        }
    };
    let ((), received) = across(host, WAYS[0], CAPACITY, send, receive_all);
    assert_eq!(received, rounds * CAPACITY as u64);
}
