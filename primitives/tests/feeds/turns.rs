//! Elements stay off the control plane, whoever sleeps or waits.

use crate::poll;
use corelane_primitives::{Order, Overflow, Signal, Subscription, Topic, TopicOverflow};
use futures_core::Stream;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

const COUNT: u64 = 1_000_000;
/// How often the feed sleeps and is woken, and a writer waits.
const SLEEPS: u64 = 1_000;

// proves: S-1
// proves: W-2
#[test]
fn a_million_publishes_take_no_turn_and_scan_nothing() {
    for order in [Order::Total, Order::PerPublisher] {
        for overflow in [
            TopicOverflow::Backpressure,
            TopicOverflow::DropNew,
            TopicOverflow::DropOldest,
        ] {
            let topic = Topic::new(64, overflow).order(order);
            let mut feed = topic.subscribe();
            let before = topic.stats();
            for value in 0..COUNT / 6 + 1 {
                assert_eq!(topic.try_publish(value), Ok(()));
                assert_eq!(feed.try_next(), Ok(value));
            }
            let stats = topic.stats();
            let counts = (stats.control_turns, stats.scans, stats.bells);
            assert_eq!(counts, (before.control_turns, 0, 0));
        }
    }
}

/// A sleep, the wake from it, and a wait for room are no turns either.
// proves: S-1
#[test]
fn who_sleeps_and_who_waits_takes_no_turn() {
    let waker = Waker::noop();
    let signal = Signal::new(0);
    let mut feed = signal.changes();
    assert_eq!(feed.try_next(), Ok(0));
    let turns = signal.stats().control_turns;
    for value in 1..=SLEEPS {
        let mut next = pin!(feed.next());
        assert!(poll(next.as_mut(), waker).is_pending());
        assert!(signal.set(value).is_ok());
        assert_eq!(poll(next.as_mut(), waker), Poll::Ready(Some(value)));
    }
    assert_eq!(signal.stats().control_turns, turns);
    assert_eq!(signal.stats().bells, SLEEPS);

    let topic = Topic::new(1, TopicOverflow::Backpressure);
    let mut feed = topic.subscribe();
    let turns = topic.stats().control_turns;
    for value in 0..SLEEPS {
        {
            let mut next = pin!(feed.next());
            assert!(poll(next.as_mut(), waker).is_pending());
            assert_eq!(topic.try_publish(value), Ok(()));
            assert_eq!(poll(next.as_mut(), waker), Poll::Ready(Some(Ok(value))));
        }
        assert_eq!(topic.try_publish(value), Ok(()));
        let mut publish = pin!(topic.publish(value));
        assert!(poll(publish.as_mut(), waker).is_pending());
        assert_eq!(feed.try_next(), Ok(value));
        assert_eq!(poll(publish.as_mut(), waker), Poll::Ready(Ok(())));
        assert_eq!(feed.try_next(), Ok(value));
    }
    assert_eq!(topic.stats().control_turns, turns);

    let subscription = Subscription::new(0, 1, Overflow::Backpressure);
    let mut feed = subscription.changes();
    assert_eq!(feed.try_next(), Ok(0));
    let turns = subscription.stats().control_turns;
    for value in 1..=SLEEPS {
        {
            let mut next = pin!(feed.next());
            assert!(poll(next.as_mut(), waker).is_pending());
            assert!(subscription.try_set(value).is_ok());
            assert_eq!(poll(next.as_mut(), waker), Poll::Ready(Some(Ok(value))));
        }
        assert!(subscription.try_set(value).is_ok());
        let mut set = pin!(subscription.set(value));
        assert!(poll(set.as_mut(), waker).is_pending());
        assert_eq!(feed.try_next(), Ok(value));
        assert!(matches!(poll(set.as_mut(), waker), Poll::Ready(Ok(_))));
        assert_eq!(feed.try_next(), Ok(value));
    }
    assert_eq!(subscription.stats().control_turns, turns);
}

/// A stream that sleeps takes a bell of its own the first time, and keeps it.
// proves: S-1
#[test]
fn streams_take_no_turn_for_each_sleep() {
    let signal = Signal::new(0);
    let turns = || signal.stats().control_turns;
    let set = |value| assert!(signal.set(value).is_ok());
    sleep_as_stream(signal.changes(), set, |value| value, turns);

    for order in [Order::Total, Order::PerPublisher] {
        let topic = Topic::new(4, TopicOverflow::Backpressure).order(order);
        let turns = || topic.stats().control_turns;
        let feed = topic.subscribe();
        assert_eq!(topic.try_publish(0), Ok(()));
        let publish = |value| assert_eq!(topic.try_publish(value), Ok(()));
        sleep_as_stream(feed, publish, Result::unwrap, turns);
    }

    let subscription = Subscription::new(0, 4, Overflow::Backpressure);
    let turns = || subscription.stats().control_turns;
    let set = |value| assert!(subscription.try_set(value).is_ok());
    sleep_as_stream(subscription.changes(), set, Result::unwrap, turns);
}

/// `feed` has a first value, 0.
fn sleep_as_stream<S: Stream + Unpin>(
    mut feed: S,
    send: impl Fn(u64),
    value_of: impl Fn(S::Item) -> u64,
    turns: impl Fn() -> u64,
) {
    let mut cx = Context::from_waker(Waker::noop());
    let mut next = || Pin::new(&mut feed).poll_next(&mut cx);
    let mut before = None;
    for value in 0..SLEEPS {
        let Poll::Ready(Some(item)) = next() else {
            panic!("{value} was sent");
        };
        assert_eq!(value_of(item), value);
        assert!(next().is_pending());
        assert_eq!(*before.get_or_insert_with(&turns), turns());
        send(value + 1);
    }
}
