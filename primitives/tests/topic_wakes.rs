//! Who is woken by a publish, how often, and what giving up a wait does.
#![cfg(not(corelane_loom))]

use corelane_primitives::{Feed, FeedError, NextError, Order, Topic, TopicOverflow};
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

/// A feed's wait by a future.
type Wait<'a> = Pin<Box<dyn Future<Output = Option<Result<u64, FeedError>>> + 'a>>;

// proves: T-7
// proves: W-1
// proves: W-2
// proves: W-3
#[test]
fn publishers_ring_a_shard_once_for_all_its_feeds() {
    const FEEDS: usize = 1_000;
    const PUBLISHERS: usize = 20;
    for order in [Order::Total, Order::PerPublisher] {
        let topic = topic(32).order(order);
        let (bell, waker) = bell();
        let mut cx = Context::from_waker(&waker);
        let shards = pinned_affinities(&[2 + PUBLISHERS]);
        // Of every kind, at two shards.
        let mut feeds: Vec<Feed<u64>> = (0..FEEDS)
            .map(|number| {
                let _entered = enter(shards[number % 2], Rc::new(()));
                let overflow = match number % 6 / 2 {
                    0 => TopicOverflow::Backpressure,
                    1 => TopicOverflow::DropNew,
                    _ => TopicOverflow::DropOldest,
                };
                let feed = topic.subscribe_with(30 + number % 3, overflow);
                feed.expect("the capacity is at most the topic's")
            })
            .collect();
        topic.try_publish(0).expect("there is room");
        assert_eq!(topic.stats().scans, 0, "nobody is parked");
        assert!(feeds.iter_mut().all(|feed| feed.try_next() == Ok(0)));
        let mut waits: Vec<Wait<'_>> = Vec::new();
        for feed in &mut feeds {
            let mut wait: Wait<'_> = Box::pin(feed.next());
            assert!(wait.as_mut().poll(&mut cx).is_pending());
            waits.push(wait);
        }
        assert_eq!(bell.rings(), 0);
        for publisher in 0..PUBLISHERS {
            let _entered = enter(shards[2 + publisher], Rc::new(()));
            topic.try_publish(publisher as u64).expect("there is room");
        }
        // One for each shard, whatever the number of feeds, of publishes and of publishers.
        assert_eq!((bell.rings(), topic.stats().bells), (2, 2));
        // Whoever looks first wakes the others of its shard.
        assert!(waits[0].as_mut().poll(&mut cx).is_ready());
        assert_eq!(bell.rings(), 2 + FEEDS / 2 - 1);
        assert!(waits[1].as_mut().poll(&mut cx).is_ready());
        assert_eq!(bell.rings(), 2 + 2 * (FEEDS / 2 - 1));
        let scans = topic.stats().scans;
        topic.try_publish(99).expect("there is room");
        assert_eq!(topic.stats().scans, scans, "nobody is parked any more");
        assert_eq!(bell.rings(), 2 + 2 * (FEEDS / 2 - 1));
    }
}

/// A stream may be polled once and left alone: who waits beside it is woken all the same, and only
/// once.
// proves: S-11
// proves: T-7
#[test]
fn feed_left_alone_as_a_stream_holds_up_nobody() {
    for order in [Order::Total, Order::PerPublisher] {
        for elsewhere in [false, true] {
            let topic = topic(32).order(order);
            let mut feeds = [(); 4].map(|()| topic.subscribe());
            let bells = [(); 4].map(|()| bell());
            let [left, stream, first, second] = &mut feeds;
            assert_eq!(poll(left, &bells[0].1), Poll::Pending);
            assert_eq!(poll(stream, &bells[1].1), Poll::Pending);
            let mut waits = [pin!(first.next()), pin!(second.next())];
            for (wait, (_, waker)) in waits.iter_mut().zip(&bells[2..]) {
                let polled = wait.as_mut().poll(&mut Context::from_waker(waker));
                assert!(polled.is_pending());
            }
            let publish = || {
                for shard in pinned_affinities(&[20]) {
                    let _entered = enter(shard, Rc::new(()));
                    topic.try_publish(1).expect("there is room");
                }
            };
            if elsewhere {
                std::thread::scope(|scope| scope.spawn(publish).join().expect("it ends"));
            } else {
                publish();
            }
            let rings = || bells.each_ref().map(|(bell, _)| bell.rings());
            assert_eq!(rings(), [1, 1, 1, 0]);
            assert_eq!(topic.stats().bells, 3);
            assert_eq!(poll(stream, &bells[1].1), Poll::Ready(Some(1)));
            assert_eq!(rings()[3], 1, "whoever is polled looks for its shard");
        }
    }
}

// proves: S-11
#[test]
fn wait_given_up_is_never_rung_and_hands_its_duty_on() {
    for rung_first in [false, true] {
        let topic = topic(4);
        let mut feeds = [topic.subscribe(), topic.subscribe(), topic.subscribe()];
        let bells: Vec<(Arc<Bell>, Waker)> = (0..3).map(|_| bell()).collect();
        let poll = |wait: &mut Wait<'_>, at: usize| {
            let polled = wait.as_mut().poll(&mut Context::from_waker(&bells[at].1));
            polled.map(|item| item.expect("the topic is open"))
        };
        let mut waits: Vec<Wait<'_>> = Vec::new();
        for (at, feed) in feeds.iter_mut().enumerate() {
            waits.push(Box::pin(feed.next()));
            assert!(poll(&mut waits[at], at).is_pending());
        }
        if rung_first {
            topic.try_publish(1).expect("there is room");
            assert_eq!(bells[0].0.rings(), 1);
        }
        let given_up = std::mem::replace(&mut waits[0], Box::pin(std::future::pending()));
        drop(given_up);
        if !rung_first {
            topic.try_publish(1).expect("there is room");
        }
        assert_eq!(bells[0].0.rings(), usize::from(rung_first));
        let woken: Vec<usize> = (1..3).filter(|at| bells[*at].0.rings() > 0).collect();
        assert_eq!(woken.len(), 1);
        assert_eq!(poll(&mut waits[woken[0]], woken[0]), Poll::Ready(Ok(1)));
        assert!((1..3).all(|at| bells[at].0.rings() == 1));
    }
}

/// A publish that may wait, and a batch, have woken who sleeps once they are done.
// proves: W-1
#[test]
fn publishing_futures_wake_who_sleeps() {
    for order in [Order::Total, Order::PerPublisher] {
        let topic = topic(4).order(order);
        let mut feed = topic.subscribe();
        let (bell, waker) = bell();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(poll(&mut feed, &waker).is_pending());
        let mut publish = Box::pin(topic.publish(1));
        assert_eq!(publish.as_mut().poll(&mut cx), Poll::Ready(Ok(())));
        assert_eq!(bell.rings(), 1, "{order:?}");
        assert_eq!(poll(&mut feed, &waker), Poll::Ready(Some(1)));
        assert!(poll(&mut feed, &waker).is_pending());
        let mut batch = Box::pin(topic.publish_batch([2, 3]));
        assert_eq!(batch.as_mut().poll(&mut cx), Poll::Ready(Ok(2)));
        assert_eq!(bell.rings(), 2, "{order:?}");
        assert_eq!(poll(&mut feed, &waker), Poll::Ready(Some(2)));
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
    {
        let mut waits = [pin!(first.next()), pin!(second.next())];
        for (wait, waker) in waits.iter_mut().zip([&quiet, &waker]) {
            let polled = wait.as_mut().poll(&mut Context::from_waker(waker));
            assert!(polled.is_pending());
        }
        topic.try_publish(1).expect("there is room");
        // It wakes the second feed, which publishes and reads on the same part.
        let polled = waits[0].as_mut().poll(&mut Context::from_waker(&quiet));
        assert_eq!(polled, Poll::Ready(Some(Ok(1))));
        assert_eq!(act.1.load(Ordering::Relaxed), 1);
    }
    assert_eq!(first.try_next(), Ok(2));
    assert_eq!((second.try_next(), second.try_next()), (Ok(1), Ok(2)));
}
