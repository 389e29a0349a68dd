//! Subscriptions between threads: every change, in one order, without a gap behind the first value.
#![cfg(not(corelane_loom))]

mod support;

use corelane_primitives::{Feed, NextError, Overflow, SetError, Subscription, TrySetError};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use support::block_on;

const WRITERS: u64 = 3;
const UPDATES: u64 = 3_000;
const ALL: u64 = WRITERS * UPDATES;

/// Counts the value up, in a way of each writer's own.
fn write(subscription: &Subscription<u64>, writer: u64) {
    match writer {
        0 => block_on(async {
            for _ in 0..UPDATES {
                match subscription.update(|value| value + 1).await {
                    Ok(_) | Err(SetError::Overrun(_)) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }),
        // Polls each change once and drops it when it waits, until one was made.
        1 => {
            for _ in 0..UPDATES {
                loop {
                    let polled = block_on(async {
                        let mut update = Box::pin(subscription.update(|value| value + 1));
                        std::future::poll_fn(|cx| {
                            std::task::Poll::Ready(update.as_mut().poll(cx).is_ready())
                        })
                        .await
                    });
                    if polled {
                        break;
                    }
                    thread::yield_now();
                }
            }
        }
        _ => {
            for _ in 0..UPDATES {
                let updated = block_on(subscription.update(|value| value + 1));
                assert!(!matches!(updated, Err(SetError::Closed(()))));
            }
        }
    }
}

/// Takes everything to the end, which is the last value.
fn take(feed: &mut Feed<u64>, way: usize) -> Vec<u64> {
    let mut taken = Vec::new();
    loop {
        let count = match way {
            0 => block_on(async {
                match feed.next().await {
                    Some(value) => {
                        taken.push(value.expect("it does not fail"));
                        1
                    }
                    None => 0,
                }
            }),
            1 => block_on(feed.next_batch(&mut taken, 100)).expect("it does not fail"),
            _ => match feed.blocking_next(Duration::MAX) {
                Ok(value) => {
                    taken.push(value);
                    1
                }
                Err(error) => {
                    assert_eq!(error, NextError::Closed);
                    0
                }
            },
        };
        if count == 0 {
            return taken;
        }
    }
}

// proves: S-2
// proves: S-10
// proves: S-11
#[test]
fn feeds_that_come_while_writers_run_miss_nothing() {
    for capacity in [1, 2, 7, 64] {
        let subscription = Subscription::new(0, capacity, Overflow::Backpressure);
        thread::scope(|scope| {
            let subscription = &subscription;
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| scope.spawn(move || write(subscription, writer)))
                .collect();
            for way in 0..3 {
                scope.spawn(move || {
                    // Some feeds come and go; the last one stays.
                    for round in 0..20 {
                        let mut feed = subscription.changes();
                        let mut last = None;
                        for _ in 0..round {
                            let Ok(value) = feed.blocking_next(Duration::MAX) else {
                                break;
                            };
                            assert!(last.is_none_or(|last| value == last + 1), "a gap");
                            last = Some(value);
                        }
                    }
                    let mut feed = subscription.changes();
                    let taken = take(&mut feed, way);
                    let first = taken[0];
                    assert_eq!(taken, (first..=ALL).collect::<Vec<_>>());
                    let stats = feed.stats();
                    assert_eq!((stats.delivered, stats.lag), (taken.len() as u64, 0));
                });
            }
            for writer in writers {
                writer.join().expect("a writer does not panic");
            }
            subscription.close();
        });
        assert_eq!(subscription.get_cloned(), ALL);
        assert_eq!(subscription.version().number(), ALL);
    }
}

// proves: S-9
// proves: S-11
#[test]
fn dropping_feeds_yield_in_order_and_end_with_the_last_value() {
    for overflow in [Overflow::DropNew, Overflow::DropOldest] {
        for capacity in [1, 2, 7, 64] {
            let subscription = Subscription::new(0, capacity, overflow);
            thread::scope(|scope| {
                let subscription = &subscription;
                let writers: Vec<_> = (0..WRITERS)
                    .map(|writer| scope.spawn(move || write(subscription, writer)))
                    .collect();
                for way in 0..3 {
                    scope.spawn(move || {
                        let taken = take(&mut subscription.changes(), way);
                        assert!(taken.is_sorted_by(|earlier, later| earlier < later));
                        assert_eq!(taken.last(), Some(&ALL));
                    });
                }
                for writer in writers {
                    writer.join().expect("a writer does not panic");
                }
                subscription.close();
            });
        }
    }
}

/// A feed fails if and only if some writer was told, and has missed nothing before.
// proves: S-9
#[test]
fn failing_feeds_and_their_writers_agree() {
    for _ in 0..20 {
        let subscription = Subscription::new(0, 4, Overflow::Fail);
        let told = AtomicU64::new(0);
        let failed = AtomicU64::new(0);
        thread::scope(|scope| {
            let (subscription, told, failed) = (&subscription, &told, &failed);
            let writers: Vec<_> = (0..WRITERS)
                .map(|_| {
                    scope.spawn(move || {
                        for _ in 0..500 {
                            if block_on(subscription.update(|value| value + 1)).is_err() {
                                told.fetch_add(1, Ordering::Relaxed);
                            }
                            thread::yield_now();
                        }
                    })
                })
                .collect();
            scope.spawn(move || {
                let mut feed = subscription.changes();
                let mut last = None;
                loop {
                    match feed.blocking_next(Duration::MAX) {
                        Ok(value) => {
                            assert!(last.is_none_or(|last| value == last + 1), "a gap");
                            last = Some(value);
                        }
                        Err(NextError::Failed(_)) => {
                            failed.fetch_add(1, Ordering::Relaxed);
                            break;
                        }
                        Err(_) => {
                            assert_eq!(last, Some(WRITERS * 500));
                            break;
                        }
                    }
                }
            });
            for writer in writers {
                writer.join().expect("a writer does not panic");
            }
            subscription.close();
        });
        // Two writers that meet may both be told.
        assert_eq!(told.into_inner() > 0, failed.into_inner() > 0);
    }
}

/// Whoever reads after a feed has yielded a value sees that one or a later one.
// proves: S-6
#[test]
fn what_a_feed_yields_is_visible() {
    let subscription = Subscription::new(0, 8, Overflow::Backpressure);
    thread::scope(|scope| {
        let subscription = &subscription;
        for _ in 0..2 {
            scope.spawn(move || {
                let mut feed = subscription.changes();
                while let Ok(value) = feed.blocking_next(Duration::MAX) {
                    assert!(subscription.get_cloned() >= value);
                    assert!(subscription.changes().try_next().expect("it has one") >= value);
                }
            });
        }
        let mut feed = subscription.changes();
        for value in 1..=5_000 {
            loop {
                match subscription.try_set(value) {
                    Ok(_) => break,
                    Err(TrySetError::Closed(_)) => panic!("it is open"),
                    Err(_) => while feed.try_next().is_ok() {},
                }
            }
        }
        subscription.close();
    });
}
