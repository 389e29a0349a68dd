//! Who is woken by a publish, how often, and what giving up a wait does.
#![cfg(not(corelane_loom))]

use corelane_primitives::{Feed, NextError, Order, Topic, TopicOverflow};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use thread_aware::affinity::{enter, pinned_affinities};

/// Counts wakes.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Bell {
    fn rings(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn bell() -> (Arc<Bell>, Waker) {
    let bell = Arc::new(Bell::default());
    (bell.clone(), Waker::from(bell))
}

fn poll(feed: &mut Feed<u64>, waker: &Waker) -> Poll<Option<u64>> {
    let polled = futures_core::Stream::poll_next(Pin::new(feed), &mut Context::from_waker(waker));
    polled.map(|item| item.map(|answer| answer.expect("a topic's feed does not fail")))
}

fn topic(capacity: usize) -> Topic<u64> {
    Topic::new(capacity, TopicOverflow::Backpressure)
}

// proves: T-7
// proves: W-1
// proves: W-2
// proves: W-3
#[test]
fn publish_rings_a_shard_once_for_all_its_feeds() {
    const FEEDS: usize = 1_000;
    for order in [Order::Total, Order::PerPublisher] {
        let topic = topic(8).order(order);
        let (bell, waker) = bell();
        let shards = pinned_affinities(&[2]);
        let mut feeds: Vec<Feed<u64>> = (0..FEEDS)
            .map(|number| {
                let _entered = enter(shards[number % 2], Rc::new(()));
                topic.subscribe()
            })
            .collect();
        topic.try_publish(0).expect("there is room");
        assert_eq!(topic.stats().scans, 0, "nobody is parked");
        for feed in &mut feeds {
            assert_eq!(poll(feed, &waker), Poll::Ready(Some(0)));
            assert_eq!(poll(feed, &waker), Poll::Pending);
        }
        assert_eq!(bell.rings(), 0);
        for value in 1..4 {
            topic.try_publish(value).expect("there is room");
        }
        // One for each shard, whatever the number of feeds and of publishes.
        assert_eq!((bell.rings(), topic.stats().bells), (2, 2));
        // Whoever looks first wakes the others of its shard.
        assert_eq!(poll(&mut feeds[0], &waker), Poll::Ready(Some(1)));
        assert_eq!(bell.rings(), 2 + FEEDS / 2 - 1);
        assert_eq!(poll(&mut feeds[1], &waker), Poll::Ready(Some(1)));
        assert_eq!(bell.rings(), 2 + 2 * (FEEDS / 2 - 1));
        let scans = topic.stats().scans;
        topic.try_publish(4).expect("there is room");
        assert_eq!(topic.stats().scans, scans, "nobody is parked any more");
        assert_eq!(bell.rings(), 2 + 2 * (FEEDS / 2 - 1));
    }
}

// proves: S-11
#[test]
fn wait_given_up_is_never_rung_and_hands_its_duty_on() {
    for rung_first in [false, true] {
        let topic = topic(4);
        let mut feeds = [topic.subscribe(), topic.subscribe(), topic.subscribe()];
        let bells: Vec<(Arc<Bell>, Waker)> = (0..3).map(|_| bell()).collect();
        let [first, second, third] = &mut feeds;
        let mut given_up = Box::pin(first.next());
        let polled = given_up
            .as_mut()
            .poll(&mut Context::from_waker(&bells[0].1));
        assert!(polled.is_pending());
        assert_eq!(poll(second, &bells[1].1), Poll::Pending);
        assert_eq!(poll(third, &bells[2].1), Poll::Pending);
        if rung_first {
            topic.try_publish(1).expect("there is room");
            assert_eq!(bells[0].0.rings(), 1);
        }
        drop(given_up);
        if !rung_first {
            topic.try_publish(1).expect("there is room");
        }
        assert_eq!(bells[0].0.rings(), usize::from(rung_first));
        let woken: Vec<usize> = (1..3).filter(|at| bells[*at].0.rings() > 0).collect();
        assert_eq!(woken.len(), 1);
        assert_eq!(
            poll(&mut feeds[woken[0]], &bells[woken[0]].1),
            Poll::Ready(Some(1))
        );
        assert!((1..3).all(|at| bells[at].0.rings() == 1));
    }
}

// proves: T-5
// proves: T-6
#[test]
fn publishers_are_served_in_order_around_one_that_gave_up() {
    let topic = topic(1);
    let mut feed = topic.subscribe();
    topic.try_publish(0).expect("there is room");
    let (bell, waker) = bell();
    let mut cx = Context::from_waker(&waker);
    let mut waiting: Vec<_> = (1..5).map(|value| Box::pin(topic.publish(value))).collect();
    for publish in &mut waiting {
        assert!(publish.as_mut().poll(&mut cx).is_pending());
    }
    drop(waiting.remove(1));
    for expected in [0, 1, 3, 4] {
        assert_eq!(feed.try_next(), Ok(expected));
        // Everybody looks: only the one whose turn it is gets the room.
        waiting.retain_mut(|publish| publish.as_mut().poll(&mut cx).is_pending());
    }
    assert!(waiting.is_empty() && bell.rings() <= 4);
    topic.try_publish(5).expect("there is room");
    let mut blocked = pin!(topic.publish(6));
    assert!(blocked.as_mut().poll(&mut cx).is_pending());
    let rings = bell.rings();
    drop(feed);
    assert_eq!(bell.rings(), rings + 1);
    assert_eq!(blocked.as_mut().poll(&mut cx), Poll::Ready(Ok(())));
}

// proves: W-5
#[test]
fn batch_is_at_most_256_values_and_freed_as_one() {
    let topic = topic(1_024);
    let mut feed = topic.subscribe();
    for value in 0..1_000 {
        topic.try_publish(value).expect("there is room");
    }
    let mut out = Vec::new();
    let (_, waker) = bell();
    for expected in [256, 256, 256, 232] {
        let mut batch = pin!(feed.next_batch(&mut out, usize::MAX));
        let polled = batch.as_mut().poll(&mut Context::from_waker(&waker));
        assert_eq!(polled, Poll::Ready(Ok(expected)));
    }
    assert_eq!(out, (0..1_000).collect::<Vec<_>>());
}

/// Publishes, subscribes and reads when woken, as a task that is polled at once would.
struct Act(Topic<u64>, AtomicUsize);

impl Wake for Act {
    fn wake(self: Arc<Self>) {
        if self.1.fetch_add(1, Ordering::Relaxed) == 0 {
            let mut feed = self.0.subscribe();
            self.0.try_publish(2).expect("there is room");
            assert_eq!(feed.try_next(), Ok(2));
            assert_eq!(feed.try_next(), Err(NextError::Empty));
        }
    }
}

// proves: W-4
#[test]
fn waker_may_use_the_topic_and_its_part() {
    let topic = topic(4);
    let mut first = topic.subscribe();
    let mut second = topic.subscribe();
    let act = Arc::new(Act(topic.clone(), AtomicUsize::new(0)));
    let waker = Waker::from(act.clone());
    let (_, quiet) = bell();
    assert_eq!(poll(&mut first, &quiet), Poll::Pending);
    assert_eq!(poll(&mut second, &waker), Poll::Pending);
    topic.try_publish(1).expect("there is room");
    // It wakes the second feed, which publishes and reads on the same part.
    assert_eq!(poll(&mut first, &quiet), Poll::Ready(Some(1)));
    assert_eq!(act.1.load(Ordering::Relaxed), 1);
    assert_eq!(poll(&mut first, &quiet), Poll::Ready(Some(2)));
    assert_eq!((second.try_next(), second.try_next()), (Ok(1), Ok(2)));
}
