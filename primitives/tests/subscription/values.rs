//! Reads, changes and feeds that have room.

use crate::{POLICIES, bell, drain, now, poll_next};
use corelane_primitives::{NextError, Overflow, Subscription, SubscriptionError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

// proves: S-4
#[test]
fn feed_yields_the_current_value_and_then_every_change() {
    for overflow in POLICIES {
        let subscription = Subscription::new(0, 8, overflow);
        let mut feed = subscription.changes();
        assert_eq!(feed.try_next(), Ok(0));
        assert_eq!(now(subscription.set(1)).unwrap().number(), 1);
        assert_eq!(subscription.try_set(2).unwrap().number(), 2);
        assert_eq!(feed.lag(), 2);
        assert_eq!(drain(&mut feed), [1, 2]);
        assert_eq!(feed.try_next(), Err(NextError::Empty));
        assert_eq!(drain(&mut subscription.changes()), [2]);
        let stats = feed.stats();
        assert_eq!((stats.delivered, stats.dropped, stats.lag), (3, 0, 0));
    }
}

// proves: S-5
#[test]
fn reads_see_what_was_acknowledged_and_snapshots_stay() {
    let subscription = Subscription::new(vec![1, 2, 3], 2, Overflow::default());
    let before = subscription.get();
    now(subscription.set(vec![4, 5, 6])).unwrap();
    assert_eq!(
        (&*before, subscription.get_cloned()),
        (&vec![1, 2, 3], vec![4, 5, 6])
    );
    subscription.read_versioned(|version, value| {
        assert_eq!((version.number(), value[0]), (1, 4));
    });
}

// proves: S-6
#[test]
fn acknowledged_set_is_delivered_and_not_consumed() {
    for overflow in POLICIES {
        let subscription = Subscription::new(0, 4, overflow);
        let (rung, waker) = bell();
        let mut cx = Context::from_waker(&waker);
        let mut feeds = [subscription.changes(), subscription.changes()];
        for feed in &mut feeds {
            assert_eq!(feed.try_next(), Ok(0));
        }
        {
            let mut waits = feeds.each_mut().map(|feed| Box::pin(feed.next()));
            for wait in &mut waits {
                assert!(wait.as_mut().poll(&mut cx).is_pending());
            }
            std::thread::scope(|scope| {
                scope.spawn(|| now(subscription.set(1)).unwrap());
            });
            assert_eq!((rung.rings(), subscription.stats().bells), (1, 1));
            for wait in &mut waits {
                assert_eq!(wait.as_mut().poll(&mut cx), Poll::Ready(Some(Ok(1))));
                assert_eq!(rung.rings(), 2, "the other one was woken");
            }
        }
        now(subscription.set(2)).unwrap();
        for feed in &mut feeds {
            assert_eq!(feed.lag(), 1);
        }
    }
}

// proves: S-6
// proves: S-11
#[test]
fn feed_left_alone_as_a_stream_holds_up_nobody() {
    for overflow in POLICIES {
        let subscription = Subscription::new(0, 4, overflow);
        let mut feeds = [(); 4].map(|()| subscription.changes());
        let bells = [(); 4].map(|()| bell());
        for feed in &mut feeds {
            assert_eq!(feed.try_next(), Ok(0));
        }
        let [left, stream, first, second] = &mut feeds;
        assert_eq!(poll_next(left, &bells[0].1), Poll::Pending);
        assert_eq!(poll_next(stream, &bells[1].1), Poll::Pending);
        let mut waits = [Box::pin(first.next()), Box::pin(second.next())];
        for (wait, (_, waker)) in waits.iter_mut().zip(&bells[2..]) {
            let polled = wait.as_mut().poll(&mut Context::from_waker(waker));
            assert!(polled.is_pending());
        }
        std::thread::scope(|scope| {
            scope.spawn(|| now(subscription.set(1)).unwrap());
        });
        let rings = || bells.each_ref().map(|(bell, _)| bell.rings());
        assert_eq!(rings(), [1, 1, 1, 0], "{overflow:?}");
        assert_eq!(poll_next(stream, &bells[1].1), Poll::Ready(Some(Ok(1))));
        assert_eq!(rings()[3], 1, "whoever is polled looks for its shard");
    }
}

// proves: S-10
#[test]
fn update_runs_again_when_another_change_was_faster() {
    let subscription = Subscription::new(1, 8, Overflow::Backpressure);
    let mut feed = subscription.changes();
    let mut runs = 0;
    let version = now(subscription.update(|value| {
        runs += 1;
        if runs < 3 {
            subscription.try_set(value * 10).unwrap();
        }
        value + 1
    }));
    assert_eq!((runs, version.unwrap().number()), (3, 3));
    assert_eq!(drain(&mut feed), [1, 10, 100, 101]);
}

// proves: S-1
// proves: W-2
#[test]
fn a_million_changes_take_no_turn_and_scan_nothing() {
    for overflow in POLICIES {
        let subscription = Subscription::new(0, 64, overflow);
        let mut feed = subscription.changes();
        let turns = subscription.stats().control_turns;
        for value in 1..=250_000 {
            now(subscription.set(value)).unwrap();
            while feed.try_next() != Ok(value) {}
        }
        let stats = subscription.stats();
        assert_eq!(
            (stats.control_turns, stats.scans, stats.bells),
            (turns, 0, 0)
        );
        assert!(stats.nodes <= 3 * 64 + 1, "{stats:?}");
    }
}

#[test]
fn detached_feed_goes_on_elsewhere() {
    for overflow in POLICIES {
        let subscription = Subscription::new(0, 4, overflow);
        let mut feed = subscription.changes();
        assert_eq!(feed.try_next(), Ok(0));
        now(subscription.set(1)).unwrap();
        let mut feed = feed.detach();
        now(subscription.set(2)).unwrap();
        subscription.close();
        let taking = std::thread::spawn(move || {
            std::iter::from_fn(|| feed.blocking_next(Duration::MAX).ok()).collect::<Vec<_>>()
        });
        assert_eq!(taking.join().unwrap(), [1, 2]);
    }
}

#[test]
fn impossible_capacities_are_refused() {
    for capacity in [0, (1 << 20) + 1, usize::MAX] {
        let made = Subscription::try_new(0, capacity, Overflow::default());
        assert_eq!(made.err(), Some(SubscriptionError::Capacity(capacity)));
    }
}

#[test]
fn values_are_dropped_once() {
    let root = Arc::new(());
    for overflow in POLICIES {
        let subscription = Subscription::new(root.clone(), 2, overflow);
        let feed = subscription.changes();
        for _ in 0..10 {
            // With backpressure the last ones do not find room.
            let _answer = subscription.try_set(root.clone());
        }
        drop(subscription);
        drop(feed);
        assert_eq!(Arc::strong_count(&root), 1, "{overflow:?}");
    }
}

/// A number whose clone panics while its fuse is lit.
struct Fused(u32, Arc<AtomicBool>);

impl Clone for Fused {
    fn clone(&self) -> Self {
        assert!(
            !self.1.load(Ordering::Relaxed) || self.0 != 2,
            "the fuse is lit"
        );
        Self(self.0, Arc::clone(&self.1))
    }
}

#[test]
fn clone_that_panics_loses_nothing() {
    for overflow in POLICIES {
        let lit = Arc::new(AtomicBool::new(false));
        let fused = |number| Fused(number, Arc::clone(&lit));
        let subscription = Subscription::new(fused(0), 8, overflow);
        let mut feed = subscription.changes();
        let mut other = subscription.changes();
        for number in 1..=4 {
            assert!(subscription.try_set(fused(number)).is_ok());
        }
        assert_eq!(feed.try_next().map(|value| value.0), Ok(0));
        lit.store(true, Ordering::Relaxed);
        let mut out = Vec::new();
        let taken = catch_unwind(AssertUnwindSafe(|| now(feed.next_batch(&mut out, 8))));
        assert!(taken.is_err());
        lit.store(false, Ordering::Relaxed);
        out.extend(std::iter::from_fn(|| feed.try_next().ok()));
        let numbers = |values: &[Fused]| values.iter().map(|value| value.0).collect::<Vec<_>>();
        assert_eq!(numbers(&out), [1, 2, 3, 4], "{overflow:?}");
        assert_eq!(feed.stats().delivered, 5);
        let others: Vec<_> = std::iter::from_fn(|| other.try_next().ok()).collect();
        assert_eq!(numbers(&others), [0, 1, 2, 3, 4]);
    }
}
