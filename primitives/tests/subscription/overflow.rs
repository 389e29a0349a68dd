//! What happens when a feed is full.

use crate::{Bell, bell, drain, now, poll_next};
use corelane_primitives::{FeedError, NextError, Overflow, SetError, Subscription, TrySetError};
use futures_core::FusedStream;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

// proves: S-9
#[test]
fn backpressure_makes_writers_wait_in_their_order() {
    let subscription = Subscription::new(0, 2, Overflow::Backpressure);
    let mut feed = subscription.changes();
    for value in 1..=2 {
        now(subscription.set(value)).unwrap();
    }
    assert_eq!(subscription.try_set(3), Err(TrySetError::Full(3)));
    let timeout = Duration::from_millis(1);
    assert_eq!(
        subscription.blocking_set(3, timeout),
        Err(TrySetError::Full(3))
    );
    assert_eq!(subscription.get_cloned(), 2, "what waits is not visible");
    let bells: Vec<_> = (0..3).map(|_| bell()).collect();
    let mut sets: Vec<_> = (3..6)
        .map(|value| Box::pin(subscription.set(value)))
        .collect();
    for (set, (_, waker)) in sets.iter_mut().zip(&bells) {
        let polled = set.as_mut().poll(&mut Context::from_waker(waker));
        assert!(polled.is_pending());
    }
    let rung = |bells: &[(Arc<Bell>, Waker)]| -> Vec<usize> {
        bells.iter().map(|(bell, _)| bell.rings()).collect()
    };
    assert_eq!(feed.try_next(), Ok(0));
    assert_eq!(rung(&bells), [0, 0, 0], "the first value takes no room");
    assert_eq!(feed.try_next(), Ok(1));
    assert_eq!(rung(&bells), [1, 0, 0]);
    assert_eq!(subscription.try_set(9), Err(TrySetError::Busy(9)));
    let polled = sets[0].as_mut().poll(&mut Context::from_waker(&bells[0].1));
    assert!(polled.is_ready());
    assert_eq!(drain(&mut feed), [2, 3]);
    for place in 1..3 {
        assert_eq!(rung(&bells)[place], 1);
        let polled = sets[place]
            .as_mut()
            .poll(&mut Context::from_waker(&bells[place].1));
        assert!(polled.is_ready());
    }
    assert_eq!(
        (drain(&mut feed), subscription.get_cloned()),
        (vec![4, 5], 5)
    );
}

// proves: S-9
#[test]
fn leaving_laggard_frees_who_waits() {
    let subscription = Subscription::new(0, 1, Overflow::Backpressure);
    let mut reader = subscription.changes();
    let laggard = subscription.changes().detach();
    now(subscription.set(1)).unwrap();
    let (rung, waker) = bell();
    let mut set = Box::pin(subscription.set(2));
    assert!(
        set.as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    assert_eq!(drain(&mut reader), [0, 1]);
    assert_eq!(rung.rings(), 0);
    drop(laggard);
    assert_eq!(rung.rings(), 1);
    assert!(
        set.as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_ready()
    );
    assert_eq!(drain(&mut reader), [2]);
}

// proves: S-9
#[test]
fn drop_new_skips_the_full_feeds_alone() {
    let subscription = Subscription::new(0, 2, Overflow::DropNew);
    let mut slow = subscription.changes();
    let mut quick = subscription.changes();
    let mut seen = drain(&mut quick);
    for value in 1..=5 {
        now(subscription.set(value)).unwrap();
        seen.extend(drain(&mut quick));
    }
    assert_eq!(subscription.get_cloned(), 5, "the state changes");
    assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
    assert_eq!(drain(&mut slow), [0, 1, 2]);
    assert_eq!(slow.stats().dropped, 3);
    now(subscription.set(6)).unwrap();
    assert_eq!(drain(&mut slow), [6]);
}

// proves: S-9
#[test]
fn drop_oldest_counts_what_it_dropped() {
    let subscription = Subscription::new(0, 2, Overflow::DropOldest);
    let mut feed = subscription.changes();
    for value in 1..=5 {
        now(subscription.set(value)).unwrap();
    }
    assert_eq!(drain(&mut feed), [0, 4, 5]);
    let stats = feed.stats();
    assert_eq!((stats.delivered, stats.dropped, stats.lag), (3, 3, 0));
}

// proves: S-9
#[test]
fn full_feed_fails_and_the_writer_is_told() {
    let subscription = Subscription::new(0, 2, Overflow::Fail);
    let mut slow = subscription.changes();
    let mut quick = subscription.changes();
    assert_eq!(drain(&mut quick), [0]);
    for value in 1..=2 {
        now(subscription.set(value)).unwrap();
        assert_eq!(drain(&mut quick), [value]);
    }
    let told = now(subscription.set(3));
    assert!(matches!(told, Err(SetError::Overrun(version)) if version.number() == 3));
    assert_eq!(subscription.get_cloned(), 3, "the state changes");
    assert_eq!(
        now(subscription.set(4)).unwrap().number(),
        4,
        "it is told once"
    );
    assert_eq!(drain(&mut quick), [3, 4]);
    assert_eq!(drain(&mut slow), [0, 1, 2]);
    assert_eq!(slow.try_next(), Err(NextError::Closed), "after its error");
    assert!(slow.is_terminated());
    assert_eq!(subscription.try_set(5).unwrap().number(), 5);
    assert_eq!(drain(&mut quick), [5]);
}

// proves: S-9
#[test]
fn failed_feed_yields_its_error_once_behind_what_it_had() {
    let overrun = || {
        let subscription = Subscription::new(0, 1, Overflow::Fail);
        let feed = subscription.changes();
        now(subscription.set(1)).unwrap();
        assert!(matches!(
            subscription.try_set(2),
            Err(TrySetError::Overrun(_))
        ));
        (subscription, feed)
    };
    let (_subscription, mut feed) = overrun();
    assert_eq!((feed.try_next(), feed.try_next()), (Ok(0), Ok(1)));
    assert_eq!(feed.try_next(), Err(NextError::Failed(FeedError::Overrun)));
    assert_eq!(feed.try_next(), Err(NextError::Closed));

    let (_subscription, mut feed) = overrun();
    let waker = Waker::noop();
    for value in 0..2 {
        assert_eq!(poll_next(&mut feed, waker), Poll::Ready(Some(Ok(value))));
    }
    assert_eq!(
        poll_next(&mut feed, waker),
        Poll::Ready(Some(Err(FeedError::Overrun)))
    );
    assert_eq!(poll_next(&mut feed, waker), Poll::Ready(None));

    let (subscription, mut feed) = overrun();
    let mut taken = Vec::new();
    assert_eq!(now(feed.next_batch(&mut taken, 9)), Ok(1));
    assert_eq!(now(feed.next_batch(&mut taken, 9)), Ok(1));
    assert_eq!(taken, [0, 1]);
    assert_eq!(now(feed.next_batch(&mut taken, 9)), Err(FeedError::Overrun));
    assert_eq!(now(feed.next_batch(&mut taken, 9)), Ok(0));
    subscription.close();
    assert_eq!(feed.try_next(), Err(NextError::Closed));
}
