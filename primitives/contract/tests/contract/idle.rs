//! Who is parked costs nothing while time passes: no poll, no timer, no turn of its shard.
//!
//! Counted on simulated shards, whose clock goes as far as a test wants.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use corelane::metrics::snapshot;
use corelane::{Placement, Runtime, shards, spawn, time};
use corelane_primitives::{Order, Overflow, Signal, Subscription, Topic, TopicOverflow, channel};

use crate::tasks::Task;

/// Parked tasks a shard.
const PARKED: u64 = 1_000;
/// Two in an hour of the simulated clock would be seen, and so would one a shard.
const LONG: Duration = Duration::from_secs(3_600);
const SHORT: Duration = Duration::from_millis(10);

/// Something to wait at.
struct Place {
    /// A task that is over once there is something for it.
    wait: Box<dyn Fn() -> Task<()> + Send + Sync>,
    /// Makes something for each of `count`.
    ring: Box<dyn FnOnce(u64)>,
}

/// What each shard has done in an hour: polls, timers, turns, and calls of its driver.
async fn idle_hour() -> Vec<[u64; 4]> {
    let counts = || {
        let shards = snapshot().shards;
        let counts = shards.iter().map(|shard| {
            [
                shard.polls,
                shard.timers_armed,
                shard.turns,
                shard.driver_enters,
            ]
        });
        counts.collect::<Vec<_>>()
    };
    let before = counts();
    time::sleep(LONG).await;
    let pairs = counts().into_iter().zip(before);
    pairs
        .map(|(after, before)| std::array::from_fn(|at| after[at] - before[at]))
        .collect()
}

fn check(make: impl Fn() -> Place + 'static) {
    let runtime = Runtime::builder().placement(Placement::Unpinned(2));
    let simulated = runtime.simulate(1, || async move {
        let empty = idle_hour().await;
        let Place { wait, ring } = make();
        let (wait, over) = (Arc::new(wait), Arc::new(AtomicU64::new(0)));
        for shard in shards().iter() {
            let (wait, over) = (Arc::clone(&wait), Arc::clone(&over));
            let begun = shard.submit(move || async move {
                for _ in 0..PARKED {
                    let (task, over) = (wait(), Arc::clone(&over));
                    drop(spawn(async move {
                        task.await;
                        over.fetch_add(1, Ordering::Relaxed);
                    }));
                }
            });
            begun.await.unwrap();
        }
        time::sleep(SHORT).await;
        assert_eq!(over.load(Ordering::Relaxed), 0, "everybody waits");
        assert_eq!(idle_hour().await, empty);
        ring(2 * PARKED);
        time::sleep(SHORT).await;
        assert_eq!(over.load(Ordering::Relaxed), 2 * PARKED, "nobody was dead");
    });
    simulated.unwrap();
}

// proves: W-3
#[test]
fn parked_feeds_of_a_signal_cost_nothing() {
    macro_rules! place {
        ($make:expr) => {
            check(|| {
                let signal = $make;
                let source = signal.clone();
                Place {
                    wait: Box::new(move || {
                        let mut feed = source.changes();
                        Box::pin(async move {
                            assert_eq!(feed.next().await, Some(0));
                            assert_eq!(feed.next().await, Some(1));
                        })
                    }),
                    ring: Box::new(move |_| {
                        signal.set(1).unwrap();
                    }),
                }
            });
        };
    }
    place!(Signal::new(0_u64));
    place!(Signal::plain(0_u64));
}

// proves: W-3
#[test]
fn parked_feeds_of_a_subscription_cost_nothing() {
    for overflow in [
        Overflow::Backpressure,
        Overflow::DropNew,
        Overflow::DropOldest,
        Overflow::Fail,
    ] {
        check(move || {
            let subscription = Subscription::new(0, 8, overflow);
            let source = subscription.clone();
            Place {
                wait: Box::new(move || {
                    let mut feed = source.changes();
                    Box::pin(async move {
                        for value in 0..2 {
                            assert_eq!(feed.next().await, Some(Ok(value)));
                        }
                    })
                }),
                ring: Box::new(move |_| {
                    subscription.try_set(1).unwrap();
                }),
            }
        });
    }
}

// proves: W-3
#[test]
fn parked_feeds_of_a_topic_cost_nothing() {
    for order in [Order::Total, Order::PerPublisher] {
        for overflow in [
            TopicOverflow::Backpressure,
            TopicOverflow::DropNew,
            TopicOverflow::DropOldest,
        ] {
            check(move || {
                let topic = Topic::new(8, overflow).order(order);
                let source = topic.clone();
                Place {
                    wait: Box::new(move || {
                        let mut feed = source.subscribe();
                        Box::pin(async move {
                            assert_eq!(feed.next().await, Some(Ok(1)));
                        })
                    }),
                    ring: Box::new(move |_| topic.try_publish(1).unwrap()),
                }
            });
        }
    }
}

/// A receiver each, and then a crowd of senders at one that is full.
// proves: W-3
#[test]
fn parked_ends_of_channels_cost_nothing() {
    check(|| {
        let ends = (0..2 * PARKED).map(|_| channel(1));
        let (senders, receivers): (Vec<_>, Vec<_>) = ends.unzip();
        let receivers = std::sync::Mutex::new(receivers);
        Place {
            wait: Box::new(move || {
                let mut receiver = receivers.lock().unwrap().pop().expect("there is one each");
                Box::pin(async move {
                    assert_eq!(receiver.recv().await, Some(1));
                })
            }),
            ring: Box::new(move |_| {
                for sender in senders {
                    sender.try_send(1).unwrap();
                }
            }),
        }
    });
    check(|| {
        let (sender, mut receiver) = channel(100);
        while sender.try_send(0).is_ok() {}
        Place {
            wait: Box::new(move || {
                let sender = sender.clone();
                Box::pin(async move { sender.send(1).await.unwrap() })
            }),
            ring: Box::new(move |count| {
                drop(spawn(async move {
                    for _ in 0..count + 100 {
                        assert!(receiver.recv().await.is_some());
                    }
                }));
            }),
        }
    });
}
