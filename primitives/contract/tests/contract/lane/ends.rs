//! An end that leaves is seen by the other, waiting or not.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use corelane_primitives::{Closed, Consumer, Producer, lane};

use super::{WAYS, across, receive_all};
use crate::futures::{flag_waiting, until_raised};
use crate::hosts::Host;

/// Sends the numbers from zero until the receiver is gone; gives the one that came back.
async fn send_until_closed(mut producer: Producer<u64>) -> u64 {
    for value in 0.. {
        if let Err(Closed(back)) = producer.send(value).await {
            assert_eq!(back, value);
            return back;
        }
    }
    unreachable!("the numbers do not end")
}

pub(crate) fn a_dropped_receiver_hands_the_value_back<H: Host>(host: &H) {
    for capacity in [1, 2, 16] {
        for taken in [0, 1, 5, 100] {
            for way in WAYS {
                let receive = move |mut consumer: Consumer<u64>| async move {
                    for value in 0..taken {
                        assert_eq!(consumer.recv().await, Some(value));
                    }
                };
                let (back, ()) = across(host, way, capacity, send_until_closed, receive);
                let fits = taken..=taken + capacity as u64;
                assert!(fits.contains(&back), "{back} is not of {fits:?}");
            }
        }
    }
}

/// Every value is dropped: those received, those inside, and the one that came back.
pub(crate) fn a_dropped_receiver_wakes_a_sender_that_waits<H: Host>(host: &H) {
    let values = Arc::new(());
    for _ in 0..host.count(500) {
        let waits = Arc::new(AtomicBool::new(false));
        let waiting = Arc::clone(&waits);
        let value = Arc::clone(&values);
        let (mut producer, consumer) = lane(2);
        let left = move || async move {
            for _ in 0..2 {
                producer.send(Arc::clone(&value)).await.unwrap();
            }
            let Err(Closed(back)) = flag_waiting(&waiting, producer.send(value)).await else {
                panic!("nobody made room");
            };
            drop(back);
        };
        let right = move || async move {
            until_raised(&waits).await;
            drop(consumer);
        };
        host.pair(left, right);
        assert_eq!(Arc::strong_count(&values), 1);
    }
}

pub(crate) fn a_dropped_sender_ends_the_receiver_after_the_rest<H: Host>(host: &H) {
    for count in [0, 1, 15, 16] {
        for way in WAYS {
            let send = move |mut producer: Producer<u64>| async move {
                assert_eq!(producer.push_batch(&mut (0..count)) as u64, count);
            };
            assert_eq!(across(host, way, 16, send, receive_all).1, count);
        }
    }
}

pub(crate) fn a_dropped_sender_wakes_a_receiver_that_waits<H: Host>(host: &H) {
    for _ in 0..host.count(500) {
        let waits = Arc::new(AtomicBool::new(false));
        let waiting = Arc::clone(&waits);
        let send = move |producer: Producer<u64>| async move {
            until_raised(&waits).await;
            drop(producer);
        };
        let receive = move |mut consumer: Consumer<u64>| async move {
            assert_eq!(flag_waiting(&waiting, consumer.recv()).await, None);
        };
        across(host, WAYS[0], 2, send, receive);
    }
}
