//! What one thread sees of a subscription, policy by policy.
#![cfg(not(corelane_loom))]
#![allow(clippy::unwrap_used)]

use corelane_primitives::{
    Closed, Feed, FeedError, NextError, Overflow, SetError, Subscription, SubscriptionError,
    TrySetError,
};
use futures_core::{FusedStream, Stream};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

const POLICIES: [Overflow; 4] = [
    Overflow::Backpressure,
    Overflow::DropNew,
    Overflow::DropOldest,
    Overflow::Fail,
];

#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Bell {
    fn rings(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn bell() -> (Arc<Bell>, Waker) {
    let bell = Arc::new(Bell::default());
    (bell.clone(), Waker::from(bell))
}

fn poll_next(feed: &mut Feed<u64>, waker: &Waker) -> Poll<Option<Result<u64, FeedError>>> {
    Pin::new(feed).poll_next(&mut Context::from_waker(waker))
}

fn drain(feed: &mut Feed<u64>) -> Vec<u64> {
    std::iter::from_fn(|| feed.try_next().ok()).collect()
}

/// Polls a future that never waits.
fn now<F: Future>(future: F) -> F::Output {
    let mut future = Box::pin(future);
    let mut cx = Context::from_waker(Waker::noop());
    match future.as_mut().poll(&mut cx) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

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
        let mut feeds = [subscription.changes(), subscription.changes()];
        for feed in &mut feeds {
            assert_eq!(poll_next(feed, &waker), Poll::Ready(Some(Ok(0))));
            assert_eq!(poll_next(feed, &waker), Poll::Pending);
        }
        std::thread::scope(|scope| {
            scope.spawn(|| now(subscription.set(1)).unwrap());
        });
        assert_eq!((rung.rings(), subscription.stats().bells), (1, 1));
        for feed in &mut feeds {
            assert_eq!(feed.lag(), 1);
        }
        assert_eq!(poll_next(&mut feeds[0], &waker), Poll::Ready(Some(Ok(1))));
        assert_eq!(rung.rings(), 2, "the other one was woken");
        assert_eq!(poll_next(&mut feeds[1], &waker), Poll::Ready(Some(Ok(1))));
    }
}

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

// proves: S-7
#[test]
fn closing_delivers_the_final_value_then_the_end() {
    for overflow in POLICIES {
        for with in [false, true] {
            let subscription = Subscription::new(0, 2, overflow);
            let mut early = subscription.changes();
            let mut full = subscription.changes();
            let (rung, waker) = bell();
            assert_eq!(drain(&mut early), [0]);
            for value in 1..=2 {
                now(subscription.set(value)).unwrap();
            }
            assert_eq!(drain(&mut early), [1, 2]);
            assert_eq!(poll_next(&mut early, &waker), Poll::Pending);
            // The full feed does not keep anybody from closing.
            let last = if with {
                assert_eq!(subscription.close_with(3).unwrap().number(), 3);
                3
            } else {
                subscription.close();
                2
            };
            subscription.close();
            assert!(subscription.is_closed() && rung.rings() >= 1);
            let rest = drain(&mut early);
            assert_eq!(rest, if with { vec![3] } else { vec![] });
            assert_eq!(drain(&mut full), (0..=last).collect::<Vec<_>>());
            let mut late = subscription.changes();
            assert_eq!(drain(&mut late), [last]);
            for feed in [&mut early, &mut full, &mut late] {
                assert_eq!(feed.try_next(), Err(NextError::Closed));
                assert_eq!(poll_next(feed, &waker), Poll::Ready(None));
                assert!(feed.is_terminated());
            }
            assert_eq!(now(subscription.set(9)), Err(SetError::Closed(9)));
            assert_eq!(subscription.try_set(9), Err(TrySetError::Closed(9)));
            assert_eq!(subscription.close_with(9), Err(Closed(9)));
            assert_eq!(
                now(subscription.update(|value| *value)),
                Err(SetError::Closed(()))
            );
            assert_eq!(subscription.get_cloned(), last);
        }
    }
}

// proves: S-7
#[test]
fn full_feed_that_drops_gets_the_last_value_at_the_end() {
    for (overflow, expected) in [
        (Overflow::DropNew, vec![0, 1, 4]),
        (Overflow::DropOldest, vec![0, 4]),
    ] {
        let subscription = Subscription::new(0, 1, overflow);
        let mut feed = subscription.changes();
        for value in 1..=4 {
            now(subscription.set(value)).unwrap();
        }
        subscription.close();
        assert_eq!(drain(&mut feed), expected);
        assert_eq!(feed.try_next(), Err(NextError::Closed));
    }
}

// proves: S-7
// proves: S-9
#[test]
fn closing_gives_waiting_changes_back() {
    let subscription = Subscription::new(0, 1, Overflow::Backpressure);
    let _laggard = subscription.changes();
    now(subscription.set(1)).unwrap();
    let (rung, waker) = bell();
    let mut cx = Context::from_waker(&waker);
    let mut set = Box::pin(subscription.set(2));
    let mut update = Box::pin(subscription.update(|value| value + 1));
    assert!(set.as_mut().poll(&mut cx).is_pending());
    assert!(update.as_mut().poll(&mut cx).is_pending());
    subscription.close();
    assert_eq!(rung.rings(), 2);
    assert_eq!(
        set.as_mut().poll(&mut cx),
        Poll::Ready(Err(SetError::Closed(2)))
    );
    assert_eq!(
        update.as_mut().poll(&mut cx),
        Poll::Ready(Err(SetError::Closed(())))
    );
}

/// Drops each of three waiting changes in each state: before its first poll, while it waits, once
/// it has its right of way. Those that stay are served in their order.
// proves: S-9
// proves: S-11
#[test]
fn dropped_changes_leave_nothing_behind() {
    for gives_up in 0..3 {
        for state in 0..3 {
            let subscription = Subscription::new(0, 1, Overflow::Backpressure);
            let mut feed = subscription.changes();
            now(subscription.set(1)).unwrap();
            let (_rung, waker) = bell();
            let mut cx = Context::from_waker(&waker);
            let mut sets: Vec<_> = (0..3)
                .map(|place| Some(Box::pin(subscription.set(10 + place))))
                .collect();
            if state == 0 {
                sets[gives_up] = None;
            }
            for set in sets.iter_mut().flatten() {
                assert!(set.as_mut().poll(&mut cx).is_pending());
            }
            if state == 1 {
                sets[gives_up] = None;
            }
            assert_eq!(drain(&mut feed), [0, 1]);
            if state == 2 {
                sets[gives_up] = None;
            }
            let mut taken = Vec::new();
            // Each turn serves one at least.
            for _ in 0..3 {
                for set in &mut sets {
                    if set
                        .as_mut()
                        .is_some_and(|set| set.as_mut().poll(&mut cx).is_ready())
                    {
                        *set = None;
                    }
                }
                taken.extend(drain(&mut feed));
            }
            let kept = (0..3).filter(|place| *place != gives_up as u64);
            assert_eq!(taken, kept.map(|place| 10 + place).collect::<Vec<_>>());
            assert_eq!(subscription.version().number(), 3);
            assert!(
                subscription.try_set(99).is_ok(),
                "nobody is left on the list"
            );
        }
    }
}

/// Drops a waiting feed's future in each state, for each policy; the other feed learns.
// proves: S-11
#[test]
fn dropped_waits_hand_their_duty_on() {
    for overflow in POLICIES {
        for before in [true, false] {
            let subscription = Subscription::new(0, 2, overflow);
            let mut first = subscription.changes();
            let mut second = subscription.changes();
            assert_eq!((first.try_next(), second.try_next()), (Ok(0), Ok(0)));
            let (rung, waker) = bell();
            let mut wait = Box::pin(first.next());
            let mut cx = Context::from_waker(Waker::noop());
            assert!(wait.as_mut().poll(&mut cx).is_pending());
            assert_eq!(poll_next(&mut second, &waker), Poll::Pending);
            if before {
                drop(wait);
                now(subscription.set(1)).unwrap();
            } else {
                now(subscription.set(1)).unwrap();
                drop(wait);
            }
            assert!(rung.rings() >= 1, "{overflow:?}");
            assert_eq!(poll_next(&mut second, &waker), Poll::Ready(Some(Ok(1))));
            assert_eq!(first.try_next(), Ok(1), "a dropped wait loses nothing");
        }
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
