//! Who waits at a topic is woken from other places, and not before there is something for it.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use corelane_primitives::{Feed, Topic, TopicOverflow, TryPublishError};

use super::ORDERS;
use crate::futures::{count_polls, until};
use crate::hosts::{Host, PLACES};
use crate::tasks::{Task, all};

/// As in the contract of the signal.
const POLLS_MAX: u64 = 3;

/// Each place waits for what the other publishes because of it: one lost wake ends it all.
pub(crate) fn parked_feeds_are_woken_from_other_places<H: Host>(host: &H) {
    for order in ORDERS {
        let count = host.count(3_000);
        let make = || Topic::<u64>::new(1, TopicOverflow::Backpressure).order(order);
        let (to_right, to_left) = (make(), make());
        let ready = Arc::new(AtomicU64::new(0));
        let place = move |own: Topic<u64>, mut feed: Feed<u64>, ready: Arc<AtomicU64>, is_first| {
            ready.fetch_add(1, Ordering::AcqRel);
            async move {
                // What is published before there is a feed is dropped.
                until(|| ready.load(Ordering::Acquire) == 2).await;
                for value in 0..count {
                    if is_first {
                        own.publish(value).await.unwrap();
                    }
                    assert_eq!(feed.next().await, Some(Ok(value)));
                    if !is_first {
                        own.publish(value).await.unwrap();
                    }
                }
            }
        };
        let theirs = (to_left.clone(), to_right.clone(), Arc::clone(&ready));
        let left = move || place(to_right, to_left.subscribe(), ready, true);
        let right = move || place(theirs.0, theirs.1.subscribe(), theirs.2, false);
        host.pair(left, right);
    }
}

/// Whatever is refused comes back.
pub(crate) fn try_publish_says_why_and_gives_the_value_back<H: Host>(host: &H) {
    for order in ORDERS {
        let work = move || async move {
            let topic = Topic::new(1, TopicOverflow::Backpressure).order(order);
            let mut feed = topic.subscribe();
            assert_eq!(topic.try_publish(1), Ok(()));
            assert_eq!(topic.try_publish(2), Err(TryPublishError::Full(2)));
            let mut waits = pin!(topic.publish(3));
            assert!(poll_once(&mut waits).await.is_pending());
            assert_eq!(topic.try_publish(4), Err(TryPublishError::Full(4)));
            // The room is for who waits.
            assert_eq!(feed.try_next(), Ok(1));
            assert_eq!(topic.try_publish(5), Err(TryPublishError::Busy(5)));
            assert_eq!(waits.await, Ok(()));
            topic.close();
            assert_eq!(topic.try_publish(6), Err(TryPublishError::Closed(6)));
            assert_eq!(feed.next().await, Some(Ok(3)));
            assert_eq!(feed.next().await, None);
        };
        host.each([work; PLACES].to_vec());
    }
}

async fn poll_once<F: Future>(future: &mut Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

pub(crate) fn idle_feeds_cause_no_polls<H: Host>(host: &H) {
    const IDLE: u64 = 50;
    for order in ORDERS {
        let count = host.count(200);
        let topic = Topic::new(4, TopicOverflow::Backpressure).order(order);
        let [subscribed, seen]: [Arc<AtomicU64>; 2] = Default::default();
        let (theirs, are_subscribed, seeing) =
            (topic.clone(), Arc::clone(&subscribed), Arc::clone(&seen));
        let read = move || async move {
            let task = |_| -> Task<()> {
                let (mut feed, seen) = (theirs.subscribe(), Arc::clone(&seeing));
                Box::pin(async move {
                    for expected in 0..count {
                        let (value, polls) = count_polls(feed.next()).await;
                        assert_eq!(value, Some(Ok(expected)));
                        assert!(polls <= POLLS_MAX, "{polls} polls for {expected}");
                        seen.fetch_add(1, Ordering::Release);
                    }
                })
            };
            let tasks = (0..IDLE).map(task).collect();
            are_subscribed.store(1, Ordering::Release);
            all(tasks).await;
        };
        let write = move || async move {
            until(|| subscribed.load(Ordering::Acquire) == 1).await;
            for value in 0..count {
                topic.publish(value).await.unwrap();
                until(|| seen.load(Ordering::Acquire) == IDLE * (value + 1)).await;
            }
            // One append a value, and one bell at most for the only place that sleeps.
            let stats = topic.stats();
            assert_eq!(stats.published, count);
            assert!(stats.bells <= count, "{} bells", stats.bells);
            assert!(stats.scans <= count, "{} scans", stats.scans);
        };
        host.pair(read, write);
    }
}
