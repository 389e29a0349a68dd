//! Models of the subscription.
//!
//! The writer is the first thread wherever it can be, for the reason that the models of topics
//! give.

use crate::bell::wait;
use crate::models::explore;
use corelane_primitives::{DetachedFeed, NextError, Overflow, Subscription};
use loom::thread;
use std::pin::pin;

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    (
        "coming_feed_of_a_subscription_misses_nothing",
        coming_feed_of_a_subscription_misses_nothing,
    ),
    (
        "two_changes_are_in_every_feed_in_one_order",
        two_changes_are_in_every_feed_in_one_order,
    ),
    (
        "feed_of_a_subscription_is_woken",
        feed_of_a_subscription_is_woken,
    ),
    (
        "last_value_comes_behind_every_change",
        last_value_comes_behind_every_change,
    ),
    (
        "failing_feed_and_its_writer_agree",
        failing_feed_and_its_writer_agree,
    ),
];

fn drain(feed: &mut DetachedFeed<u64>) -> Vec<u64> {
    std::iter::from_fn(|| feed.try_next().ok()).collect()
}

fn set(subscription: &Subscription<u64>, value: u64) {
    let answer = subscription.try_set(value);
    assert!(answer.is_ok(), "there is room");
}

pub(crate) fn coming_feed_of_a_subscription_misses_nothing() {
    explore(|| {
        let subscription = Subscription::new(0, 2, Overflow::Backpressure);
        let subscribing = subscription.clone();
        let coming = thread::spawn(move || {
            let mut feed = subscribing.changes().detach();
            let first = feed.try_next();
            (first, feed)
        });
        set(&subscription, 1);
        set(&subscription, 2);
        let (first, mut feed) = coming.join().expect("it does not panic");
        let first = first.expect("each feed has a first value");
        let rest = drain(&mut feed);
        assert_eq!(rest, (first + 1..=2).collect::<Vec<_>>());
    });
}

/// Whoever is slower helps: nobody's change is lost, and none is there twice.
pub(crate) fn two_changes_are_in_every_feed_in_one_order() {
    explore(|| {
        let subscription = Subscription::new(0, 2, Overflow::Backpressure);
        let mut feed = subscription.changes().detach();
        let theirs = subscription.clone();
        let other = thread::spawn(move || set(&theirs, 1));
        set(&subscription, 2);
        let early = drain(&mut feed);
        other.join().expect("it does not panic");
        let last = subscription.get_cloned();
        let all = [early, drain(&mut feed)].concat();
        assert_eq!(all, [0, 3 - last, last]);
    });
}

/// The handle outlives the wait, so that only the change can wake.
pub(crate) fn feed_of_a_subscription_is_woken() {
    explore(|| {
        let subscription = Subscription::new(0, 2, Overflow::Backpressure);
        let mut feed = subscription.changes().detach();
        assert_eq!(feed.try_next(), Ok(0));
        let waiting = thread::spawn(move || {
            let mut next = pin!(feed.next());
            let (item, _) = wait(|cx| next.as_mut().poll(cx));
            assert_eq!(item, Some(Ok(1)));
        });
        set(&subscription, 1);
        waiting.join().expect("it does not panic");
    });
}

pub(crate) fn last_value_comes_behind_every_change() {
    explore(|| {
        let subscription = Subscription::new(0, 1, Overflow::Backpressure);
        let mut feed = subscription.changes().detach();
        let closing = subscription.clone();
        let other = thread::spawn(move || {
            assert!(closing.close_with(9).is_ok());
        });
        let was_set = subscription.try_set(1).is_ok();
        other.join().expect("it does not panic");
        let expected: &[u64] = if was_set { &[0, 1, 9] } else { &[0, 9] };
        assert_eq!(drain(&mut feed), expected);
        assert_eq!(feed.try_next(), Err(NextError::Closed));
    });
}

pub(crate) fn failing_feed_and_its_writer_agree() {
    explore(|| {
        let subscription = Subscription::new(0, 1, Overflow::Fail);
        let mut feed = subscription.changes().detach();
        assert_eq!(feed.try_next(), Ok(0));
        let reading = thread::spawn(move || {
            let early = feed.try_next();
            (early, feed)
        });
        set(&subscription, 1);
        let told = subscription.try_set(2).is_err();
        let (early, mut feed) = reading.join().expect("it does not panic");
        let mut taken: Vec<_> = early.into_iter().collect();
        let end = loop {
            match feed.try_next() {
                Ok(value) => taken.push(value),
                Err(end) => break end,
            }
        };
        assert_eq!(told, end != NextError::Empty, "{taken:?}");
        assert!(taken == [1] || taken == [1, 2], "{taken:?}");
        assert!(told || taken.len() == 2);
    });
}
