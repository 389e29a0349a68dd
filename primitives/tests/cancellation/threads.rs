//! Futures that are dropped while other threads do their part: at every moment that chance finds.

use corelane_primitives::{
    Changes, Feed, FeedStats, Order, Overflow, Plain, Ring, Ring64, SetError, Shards64, Shared,
    Signal, Subscription, Topic, TopicOverflow, channel, lane,
};
use std::pin::{Pin, pin};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

const CAPACITY: usize = 2;
const THREADS: u64 = 2;
/// Values that each writer offers.
const OFFERS: u64 = 500;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Chance, from a seed.
struct Chance(u64);

impl Chance {
    /// True once in `of`, by the xorshift of G. Marsaglia ("Xorshift RNGs").
    fn once_in(&mut self, of: u64) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.is_multiple_of(of)
    }

    /// Runs `future` to its end, or drops it at a time when it is pending.
    fn run<F: Future>(&mut self, future: F) -> Option<F::Output> {
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut cx = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return Some(output);
            }
            if self.once_in(4) {
                return None;
            }
            thread::park();
            if self.once_in(8) {
                return None; // woken, and not polled again
            }
        }
    }
}

/// A feed of any source, one future at a time.
trait Reads {
    /// Whether the next item is a value; `None` at the end.
    fn item(&mut self) -> impl Future<Output = Option<bool>>;
    fn counts(&self) -> FeedStats;
}

impl Reads for Feed<u64> {
    async fn item(&mut self) -> Option<bool> {
        self.next().await.map(|item| item.is_ok())
    }

    fn counts(&self) -> FeedStats {
        self.stats()
    }
}

macro_rules! changes {
    ($keep:ty) => {
        impl Reads for Changes<u64, $keep> {
            async fn item(&mut self) -> Option<bool> {
                self.next().await.map(|_| true)
            }

            fn counts(&self) -> FeedStats {
                self.stats()
            }
        }
    };
}

changes!(Shared<u64>);
changes!(Plain<u64>);

/// Reads two feeds of one thread to their ends, by futures of which the slower one is dropped each
/// time, and both now and then. What each has counted, and how many values it gave.
fn read_both<F: Reads>(mut feeds: [F; 2], chance: &mut Chance) -> [(FeedStats, u64); 2] {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let (mut taken, mut ended) = ([0; 2], [false; 2]);
    while ended != [true; 2] {
        let [first, second] = &mut feeds;
        let mut items: [Pin<&mut dyn Future<Output = _>>; 2] =
            [pin!(first.item()), pin!(second.item())];
        'wait: loop {
            for (which, item) in items.iter_mut().enumerate() {
                if ended[which] {
                    continue;
                }
                if let Poll::Ready(item) = item.as_mut().poll(&mut cx) {
                    taken[which] += u64::from(item == Some(true));
                    ended[which] = item.is_none();
                    break 'wait;
                }
            }
            if chance.once_in(8) {
                break;
            }
            thread::park();
        }
    }
    std::array::from_fn(|which| (feeds[which].counts(), taken[which]))
}

/// Runs writers and readers at once; what the writers had accepted, and what each reader found.
fn race<R: Send>(
    write: impl Fn(u64, &mut Chance) -> bool + Sync,
    end: impl FnOnce(),
    read: impl Fn(&Barrier, &mut Chance) -> R + Sync,
    readers: u64,
) -> (u64, Vec<R>) {
    let barrier = Barrier::new((THREADS + readers) as usize);
    thread::scope(|scope| {
        let reading: Vec<_> = (0..readers)
            .map(|reader| {
                let (read, barrier) = (&read, &barrier);
                scope.spawn(move || read(barrier, &mut Chance(reader + 11)))
            })
            .collect();
        let writing: Vec<_> = (0..THREADS)
            .map(|writer| {
                let (write, barrier) = (&write, &barrier);
                scope.spawn(move || {
                    let mut chance = Chance(writer + 101);
                    barrier.wait();
                    let numbers = 1..=OFFERS;
                    let accepted = numbers.filter(|number| write(*number, &mut chance));
                    accepted.count() as u64
                })
            })
            .collect();
        let accepted = writing.into_iter().map(|writer| writer.join());
        let accepted = accepted
            .map(|writer| writer.expect("no writer panics"))
            .sum();
        end();
        let found = reading.into_iter().map(|reader| reader.join());
        (
            accepted,
            found
                .map(|reader| reader.expect("no reader panics"))
                .collect(),
        )
    })
}

/// Whatever was published to a feed, it has yielded or dropped.
fn check(found: Vec<[(FeedStats, u64); 2]>, published: u64) {
    for (stats, taken) in found.into_iter().flatten() {
        assert_eq!((stats.delivered, stats.lag), (taken, 0));
        assert_eq!(stats.delivered + stats.dropped, published);
    }
}

// proves: T-6
// proves: T-8
#[test]
fn topic_balances_where_futures_are_dropped() {
    for policy in [
        TopicOverflow::Backpressure,
        TopicOverflow::DropNew,
        TopicOverflow::DropOldest,
    ] {
        for order in [Order::Total, Order::PerPublisher] {
            let topic = Topic::new(CAPACITY, policy).order(order);
            let (accepted, found) = race(
                |number, chance| chance.run(topic.publish(number)) == Some(Ok(())),
                || topic.close(),
                |barrier, chance| {
                    let feeds = [topic.subscribe(), topic.subscribe()];
                    barrier.wait();
                    read_both(feeds, chance)
                },
                THREADS,
            );
            assert_eq!(accepted, topic.stats().published);
            check(found, accepted);
        }
    }
}

// proves: S-9
// proves: S-11
#[test]
fn subscription_balances_where_futures_are_dropped() {
    for overflow in [
        Overflow::Backpressure,
        Overflow::DropNew,
        Overflow::DropOldest,
        Overflow::Fail,
    ] {
        let subscription = Subscription::new(0, CAPACITY, overflow);
        let (accepted, found) = race(
            |number, chance| {
                if chance.once_in(2) {
                    let set = chance.run(subscription.set(number));
                    return matches!(set, Some(Ok(_) | Err(SetError::Overrun(_))));
                }
                let update = chance.run(subscription.update(|last| last + 1));
                matches!(update, Some(Ok(_) | Err(SetError::Overrun(_))))
            },
            || subscription.close(),
            |barrier, chance| {
                let feeds = [subscription.changes(), subscription.changes()];
                barrier.wait();
                read_both(feeds, chance)
            },
            THREADS,
        );
        assert_eq!(accepted, subscription.version().number());
        if overflow == Overflow::Fail {
            // A feed that has failed is counted before the others have gone on.
            for (stats, taken) in found.into_iter().flatten() {
                assert_eq!((stats.delivered, stats.lag), (taken, 0));
                assert!(stats.delivered + stats.dropped <= accepted + 1);
            }
            continue;
        }
        // The value that a feed starts with counts too.
        check(found, accepted + 1);
    }
}

macro_rules! signal_balances {
    ($name:ident, $make:path) => {
        // proves: S-11
        #[test]
        fn $name() {
            let signal = $make(0);
            let (accepted, found) = race(
                |number, _| signal.set(number).is_ok(),
                || signal.close(),
                |barrier, chance| {
                    let feeds = [signal.changes(), signal.changes()];
                    barrier.wait();
                    read_both(feeds, chance)
                },
                THREADS,
            );
            check(found, accepted + 1);
        }
    };
}

signal_balances!(signal_balances_where_futures_are_dropped, Signal::new);
signal_balances!(
    plain_signal_balances_where_futures_are_dropped,
    Signal::plain
);

/// Takes to the end by `recv`; how many.
macro_rules! drain {
    ($consumer:expr) => {{
        let mut consumer = $consumer;
        move |chance: &mut Chance| {
            let mut taken = 0_u64;
            loop {
                match chance.run(consumer.recv()) {
                    Some(Some(_)) => taken += 1,
                    Some(None) => return taken,
                    None => {}
                }
            }
        }
    }};
}

/// Many senders and one receiver.
fn queue_balances(
    write: impl Fn(u64, &mut Chance) -> bool + Sync,
    end: impl FnOnce(),
    drain: impl FnMut(&mut Chance) -> u64 + Send,
) {
    let drain = Mutex::new(drain);
    let (accepted, taken) = race(
        write,
        end,
        |barrier, chance| {
            barrier.wait();
            (drain.lock().expect("there is one reader"))(chance)
        },
        1,
    );
    assert_eq!(taken, [accepted]);
}

// proves: C-3
// proves: C-6
#[test]
fn channel_balances_where_futures_are_dropped() {
    let (sender, receiver) = channel(CAPACITY);
    queue_balances(
        |number, chance| {
            if chance.once_in(2) {
                return chance.run(sender.send(number)) == Some(Ok(()));
            }
            let reserved = chance.run(sender.reserve(2));
            reserved.is_some_and(|permits| {
                let mut permits = permits.expect("it is open");
                permits.send(number).is_ok()
            })
        },
        || sender.close(),
        drain!(receiver),
    );
}

// proves: F-6
#[test]
fn rings_balance_where_futures_are_dropped() {
    let (ring, consumer) = Ring::new(CAPACITY);
    queue_balances(
        |number, chance| chance.run(ring.push_wait(number, Duration::MAX)) == Some(Ok(())),
        || ring.close(),
        drain!(consumer),
    );
    let (ring, consumer) = Ring64::new(CAPACITY);
    queue_balances(
        |number, chance| chance.run(ring.push_wait(number, Duration::MAX)) == Some(Ok(())),
        || ring.close(),
        drain!(consumer),
    );
    let (shards, consumer) = Shards64::new(2, CAPACITY);
    queue_balances(
        |number, chance| chance.run(shards.push_wait(number, Duration::MAX)) == Some(Ok(())),
        || shards.close(),
        drain!(consumer),
    );
}

// proves: L-3
#[test]
fn lane_balances_where_futures_are_dropped() {
    let (mut producer, consumer) = lane(CAPACITY);
    let mut drain = drain!(consumer);
    thread::scope(|scope| {
        let taking = scope.spawn(move || drain(&mut Chance(11)));
        let mut chance = Chance(101);
        let numbers = 1..=OFFERS;
        let sent = numbers.filter(|number| chance.run(producer.send(*number)) == Some(Ok(())));
        let accepted = sent.count() as u64;
        drop(producer);
        assert_eq!(taking.join().expect("it does not panic"), accepted);
    });
}
