//! A batch is at most 256 values, and what it frees is freed at its end.

use crate::poll;
use corelane_primitives::{
    DetachedFeed, Feed, Order, Overflow, Subscription, Topic, TopicOverflow,
};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};

const CAPACITY: usize = 600;
const BATCH: usize = 256;
/// More than one batch frees room for.
const WRITERS: usize = 300;

/// Counts the wakes of those who wait for room.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A value whose clone finds out whether room was given back meanwhile.
struct Watched {
    number: usize,
    bell: Arc<Bell>,
    rings: Arc<AtomicUsize>,
}

impl Clone for Watched {
    fn clone(&self) -> Self {
        let rung = self.bell.0.load(Ordering::Relaxed);
        let expected = self.rings.load(Ordering::Relaxed);
        assert_eq!(rung, expected, "room is given back before the batch's end");
        Self {
            number: self.number,
            bell: Arc::clone(&self.bell),
            rings: Arc::clone(&self.rings),
        }
    }
}

/// Makes values in order.
struct Source {
    bell: Arc<Bell>,
    /// Rings that a clone may see.
    rings: Arc<AtomicUsize>,
    made: usize,
}

impl Source {
    fn new() -> Self {
        Self {
            bell: Arc::default(),
            rings: Arc::default(),
            made: 0,
        }
    }

    fn value(&mut self) -> Watched {
        self.made += 1;
        Watched {
            number: self.made - 1,
            bell: Arc::clone(&self.bell),
            rings: Arc::clone(&self.rings),
        }
    }

    fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.bell))
    }

    /// Takes a batch, and says how many were woken by it.
    fn batch<P>(&self, feed: &mut Feed<Watched, P>, out: &mut Vec<Watched>) -> (usize, usize) {
        let before = self.bell.0.load(Ordering::Relaxed);
        self.rings.store(before, Ordering::Relaxed);
        let polled = poll(pin!(feed.next_batch(out, usize::MAX)), Waker::noop());
        let Poll::Ready(Ok(count)) = polled else {
            panic!("there is something to take: {polled:?}");
        };
        (count, self.bell.0.load(Ordering::Relaxed) - before)
    }
}

/// Takes the first batch of a full feed, for which [`WRITERS`] wait, and then the rest.
fn check<P, R>(
    source: &Source,
    mut feed: Feed<Watched, P>,
    mut waiting: Vec<Pin<Box<dyn Future<Output = R> + '_>>>,
) {
    let mut out = Vec::new();
    assert_eq!(
        source.batch(&mut feed, &mut out),
        (BATCH, BATCH),
        "one wake each"
    );
    for write in &mut waiting[..BATCH] {
        assert!(poll(write.as_mut(), &source.waker()).is_ready());
    }
    assert_eq!(source.batch(&mut feed, &mut out), (BATCH, WRITERS - BATCH));
    for write in &mut waiting[BATCH..] {
        assert!(poll(write.as_mut(), &source.waker()).is_ready());
    }
    let mut counts = [0; 2];
    for count in &mut counts {
        *count = source.batch(&mut feed, &mut out).0;
    }
    assert_eq!(counts, [BATCH, CAPACITY + WRITERS - 3 * BATCH]);
    let numbers: Vec<_> = out.iter().map(|value| value.number).collect();
    assert_eq!(numbers, (0..CAPACITY + WRITERS).collect::<Vec<_>>());
}

// proves: W-5
#[test]
fn batch_of_a_topics_feed_is_freed_as_one() {
    for order in [Order::Total, Order::PerPublisher] {
        for detaches in [false, true] {
            let mut source = Source::new();
            let topic = Topic::new(CAPACITY, TopicOverflow::Backpressure).order(order);
            let feed = topic.subscribe();
            for _ in 0..CAPACITY {
                assert!(topic.try_publish(source.value()).is_ok());
            }
            let detached: Result<DetachedFeed<_>, Feed<_>> = match detaches {
                true => Ok(feed.detach()),
                false => Err(feed),
            };
            let mut waiting: Vec<Pin<Box<dyn Future<Output = _>>>> = Vec::new();
            for _ in 0..WRITERS {
                let mut publish = Box::pin(topic.publish(source.value()));
                assert!(poll(publish.as_mut(), &source.waker()).is_pending());
                waiting.push(publish);
            }
            match detached {
                Ok(feed) => check(&source, feed, waiting),
                Err(feed) => check(&source, feed, waiting),
            }
        }
    }
}

// proves: W-5
#[test]
fn batch_of_a_subscriptions_feed_is_freed_as_one() {
    let mut source = Source::new();
    let subscription = Subscription::new(source.value(), CAPACITY, Overflow::Backpressure);
    let mut feed = subscription.changes();
    assert!(feed.try_next().is_ok_and(|value| value.number == 0));
    source.made = 0;
    for _ in 0..CAPACITY {
        assert!(subscription.try_set(source.value()).is_ok());
    }
    let mut waiting: Vec<Pin<Box<dyn Future<Output = _>>>> = Vec::new();
    for _ in 0..WRITERS {
        let mut set = Box::pin(subscription.set(source.value()));
        assert!(poll(set.as_mut(), &source.waker()).is_pending());
        waiting.push(set);
    }
    check(&source, feed, waiting);
}

/// Takes one batch of a feed that has more at hand.
fn check_count<P>(mut feed: Feed<usize, P>, expected: &[usize]) {
    let mut out = Vec::new();
    for count in expected {
        let polled = poll(pin!(feed.next_batch(&mut out, usize::MAX)), Waker::noop());
        assert_eq!(polled, Poll::Ready(Ok(*count)));
    }
    assert!(poll(pin!(feed.next_batch(&mut out, 1)), Waker::noop()).is_pending());
    assert_eq!(out, (0..CAPACITY).collect::<Vec<_>>());
}

/// Also where all was copied before, by another feed or since the policy wants it.
// proves: W-5
#[test]
fn batch_is_at_most_256_with_each_policy() {
    const EXPECTED: [usize; 3] = [BATCH, BATCH, CAPACITY - 2 * BATCH];
    for overflow in [
        TopicOverflow::Backpressure,
        TopicOverflow::DropNew,
        TopicOverflow::DropOldest,
    ] {
        for order in [Order::Total, Order::PerPublisher] {
            let topic = Topic::new(CAPACITY, overflow).order(order);
            let feeds = [(); 3].map(|()| topic.subscribe());
            for value in 0..CAPACITY {
                assert_eq!(topic.try_publish(value), Ok(()));
            }
            let [mut first, feed, other] = feeds;
            while first.try_next().is_ok() {}
            check_count(feed, &EXPECTED);
            check_count(other.detach(), &EXPECTED);
        }
    }
    for overflow in [
        Overflow::Backpressure,
        Overflow::DropNew,
        Overflow::DropOldest,
        Overflow::Fail,
    ] {
        let subscription = Subscription::new(0, CAPACITY, overflow);
        let mut feeds = [(); 3].map(|()| subscription.changes());
        for feed in &mut feeds {
            assert_eq!(feed.try_next(), Ok(0));
        }
        for value in 0..CAPACITY {
            assert!(subscription.try_set(value).is_ok());
        }
        let [mut first, feed, other] = feeds;
        while first.try_next().is_ok() {}
        check_count(feed, &EXPECTED);
        check_count(other.detach(), &EXPECTED);
    }
}
