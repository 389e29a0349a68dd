//! What is sent arrives, however small the lane.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use corelane_primitives::{Consumer, Producer, lane};

use super::{WAYS, across, receive_all, send_all};
use crate::futures::{both, count_polls, flag_waiting, until_raised};
use crate::hosts::Host;

pub(crate) fn every_value_arrives_once_in_order<H: Host>(host: &H) {
    for capacity in [1, 2, 16, 1024] {
        for way in WAYS {
            let count = host.count(20_000);
            let send = move |producer| send_all(producer, count);
            let ((), received) = across(host, way, capacity, send, receive_all);
            assert_eq!(received, count, "capacity {capacity}, {way:?}");
        }
    }
}

/// Two lanes in opposite directions, so that each place waits at two ends with one waker.
pub(crate) fn no_wake_is_lost_on_a_small_lane<H: Host>(host: &H) {
    let count = host.count(100_000);
    let (to_right, from_left) = lane(2);
    let (to_left, from_right) = lane(2);
    let place = move |producer: Producer<u64>, consumer: Consumer<u64>| async move {
        both(send_all(producer, count), receive_all(consumer))
            .await
            .1
    };
    let left = move || place(to_right, from_right);
    let right = move || place(to_left, from_left);
    assert_eq!(host.pair(left, right), (count, count));
}

pub(crate) fn a_full_lane_makes_the_sender_wait<H: Host>(host: &H) {
    for capacity in [1, 2, 16] {
        for way in WAYS {
            let count = host.count(5_000).max(2 * capacity);
            let sent = Arc::new(AtomicU64::new(0));
            let waits = Arc::new(AtomicBool::new(false));
            let (sending, waiting) = (Arc::clone(&sent), Arc::clone(&waits));
            let send = move |mut producer: Producer<u64>| async move {
                for value in 0..count {
                    let send = flag_waiting(&waiting, producer.send(value));
                    let (closed, polls) = count_polls(send).await;
                    closed.unwrap();
                    assert!(value >= capacity || polls == 1, "there is room for {value}");
                    sending.fetch_add(1, Ordering::Release);
                }
            };
            let receive = move |mut consumer: Consumer<u64>| async move {
                until_raised(&waits).await;
                assert_eq!(sent.load(Ordering::Acquire), capacity);
                for value in 0..count {
                    assert_eq!(consumer.recv().await, Some(value));
                    let ahead = sent.load(Ordering::Acquire) - value;
                    assert!(ahead <= capacity + 1, "{ahead} ahead of {value}");
                }
                assert_eq!(consumer.recv().await, None);
            };
            across(host, way, capacity as usize, send, receive);
        }
    }
}

pub(crate) fn batches_cross_whole<H: Host>(host: &H) {
    for way in WAYS {
        let count = host.count(100_000);
        let send = move |mut producer: Producer<u64>| async move {
            let mut values = 0..count;
            while !values.is_empty() {
                producer.room(8).await.unwrap();
                assert!(producer.push_batch(&mut values) > 0);
                producer.notify();
            }
        };
        let receive = move |mut consumer: Consumer<u64>| async move {
            let (mut expected, mut values) = (0, Vec::new());
            while poll_fn(|cx| consumer.poll_ready(cx)).await {
                assert!(consumer.pop_batch(&mut values, 12) > 0);
                consumer.notify();
                for value in values.drain(..) {
                    assert_eq!(value, expected);
                    expected += 1;
                }
            }
            expected
        };
        assert_eq!(across(host, way, 16, send, receive).1, count);
    }
}

pub(crate) fn ends_that_forget_to_notify_do_not_sleep_together<H: Host>(host: &H) {
    for capacity in [1, 2, 16] {
        let count = host.count(20_000);
        let send = move |mut producer: Producer<u64>| async move {
            for value in 0..count {
                producer.room(1).await.unwrap();
                producer.push(value).unwrap();
            }
        };
        let receive = move |mut consumer: Consumer<u64>| async move {
            let mut expected = 0;
            while poll_fn(|cx| consumer.poll_ready(cx)).await {
                assert_eq!(consumer.pop(), Some(expected));
                expected += 1;
            }
            expected
        };
        for way in WAYS {
            assert_eq!(across(host, way, capacity, send, receive).1, count);
        }
    }
}

/// Each end goes on by what the other did, though that one never waits itself.
pub(crate) fn a_busy_end_wakes_one_that_waits<H: Host>(host: &H) {
    for way in WAYS {
        for _ in 0..host.count(200) {
            let flags: [Arc<AtomicBool>; 4] = Default::default();
            let [no_value, no_room, received, sent] = flags.clone();
            let send = move |mut producer: Producer<u64>| async move {
                until_raised(&no_value).await;
                producer.send(0).await.unwrap();
                until_raised(&received).await;
                producer.send(1).await.unwrap();
                flag_waiting(&no_room, producer.send(2)).await.unwrap();
                sent.store(true, Ordering::Release);
            };
            let [no_value, no_room, received, sent] = flags;
            let receive = move |mut consumer: Consumer<u64>| async move {
                let value = flag_waiting(&no_value, consumer.recv()).await;
                assert_eq!(value, Some(0));
                received.store(true, Ordering::Release);
                until_raised(&no_room).await;
                assert_eq!(consumer.recv().await, Some(1));
                until_raised(&sent).await;
                assert_eq!(consumer.recv().await, Some(2));
            };
            across(host, way, 1, send, receive);
        }
    }
}

/// The ends of many short lanes change their place, with values inside and more to come.
pub(crate) fn ends_cross_a_lane_with_what_is_inside<H: Host>(host: &H) {
    let lanes = host.count(1_000);
    let (mut outer, mut inner) = lane::<Consumer<u64>>(2);
    let left = move || async move {
        for _ in 0..lanes {
            let (mut producer, consumer) = lane(4);
            producer.push_batch(&mut (0..3));
            outer.send(consumer).await.unwrap();
            for value in 3..10 {
                producer.send(value).await.unwrap();
            }
        }
    };
    let right = move || async move {
        let mut received = 0;
        while let Some(consumer) = inner.recv().await {
            assert_eq!(receive_all(consumer).await, 10);
            received += 1;
        }
        received
    };
    assert_eq!(host.pair(left, right), ((), lanes));
}
