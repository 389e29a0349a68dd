//! What a feed's wait allocates, counted by a program of its own.
#![cfg(not(corelane_loom))]

use corelane_primitives::{
    Changes, Feed, FeedError, Order, Overflow, Plain, Signal, Subscription, Topic, TopicOverflow,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The counts are the whole process's, so the tests take turns.
static TURN: Mutex<()> = Mutex::new(());

const FEEDS: usize = 5;
/// Rounds before memory rests: rows of copies have then turned over.
const ROUNDS_TO_REST: u64 = 100;
const ROUNDS: u64 = 20;

/// A feed of any source.
trait Follows {
    type Item;
    fn pull(&mut self) -> impl Future<Output = Self::Item> + Unpin;
    fn is_value(item: &Self::Item, value: u64) -> bool;
}

impl Follows for Changes<u64, Plain<u64>> {
    type Item = Option<u64>;
    fn pull(&mut self) -> impl Future<Output = Self::Item> + Unpin {
        self.next()
    }
    fn is_value(item: &Self::Item, value: u64) -> bool {
        *item == Some(value)
    }
}

impl Follows for Feed<u64> {
    type Item = Option<Result<u64, FeedError>>;
    fn pull(&mut self) -> impl Future<Output = Self::Item> + Unpin {
        self.next()
    }
    fn is_value(item: &Self::Item, value: u64) -> bool {
        *item == Some(Ok(value))
    }
}

/// Says that its task is to be polled.
#[derive(Default)]
struct Task(AtomicBool);

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// How often `act` allocates.
fn allocations(act: impl FnOnce()) -> usize {
    let region = Region::new(ALLOCATOR);
    act();
    let change = region.change();
    change.allocations + change.reallocations
}

/// The feeds wait each in a task of its own, are woken, and take the value; whose turn it is to
/// wait first, and so to be rung, changes from round to round. One of them gives up its wait, which
/// hands that duty on. Returns how often a round allocates at rest: of the rounds in which the same
/// one gives up the least, since the test's host has another thread, and of those the most.
fn waits<F: Follows>(mut feeds: [F; FEEDS], mut send: impl FnMut(u64) -> usize) -> usize {
    let tasks: [Arc<Task>; FEEDS] = std::array::from_fn(|_| Arc::default());
    let wakers: [Waker; FEEDS] = std::array::from_fn(|at| Waker::from(Arc::clone(&tasks[at])));
    let mut fewest = [usize::MAX; FEEDS];
    for round in 1..=ROUNDS_TO_REST + ROUNDS {
        let mut in_send = 0;
        let first = round as usize % FEEDS;
        let all = allocations(|| {
            let mut given_up = feeds[first].pull();
            let mut cx = Context::from_waker(&wakers[first]);
            assert!(Pin::new(&mut given_up).poll(&mut cx).is_pending());
            drop(given_up);
            feeds.rotate_left(1);
            let mut pulls = feeds.each_mut().map(Follows::pull);
            for (pull, waker) in pulls.iter_mut().zip(&wakers) {
                let mut cx = Context::from_waker(waker);
                assert!(Pin::new(pull).poll(&mut cx).is_pending());
            }
            in_send = send(round);
            let mut left = FEEDS;
            while left > 0 {
                let woken = |task: &Arc<Task>| task.0.swap(false, Ordering::Relaxed);
                let at = tasks.iter().position(woken).expect("who waits is woken");
                let mut cx = Context::from_waker(&wakers[at]);
                match Pin::new(&mut pulls[at]).poll(&mut cx) {
                    Poll::Ready(item) => assert!(F::is_value(&item, round)),
                    Poll::Pending => panic!("nobody is woken for nothing"),
                }
                left -= 1;
            }
        });
        if round > ROUNDS_TO_REST {
            fewest[first] = fewest[first].min(all - in_send);
        }
    }
    fewest.into_iter().max().expect("there are feeds")
}

#[test]
fn waits_for_a_signal_allocate_nothing() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let signal = Signal::plain(0);
    let feeds = std::array::from_fn(|_| {
        let mut feed = signal.changes();
        assert_eq!(feed.try_next(), Ok(0));
        feed
    });
    let send = |value| {
        signal.set(value).expect("it is open");
        0
    };
    assert_eq!(waits(feeds, send), 0, "neither do sets");
}

/// A change itself is an allocation.
#[test]
fn waits_for_a_subscription_allocate_nothing() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for overflow in [Overflow::Backpressure, Overflow::DropOldest] {
        let subscription = Subscription::new(0, 8, overflow);
        let feeds = std::array::from_fn(|_| {
            let mut feed = subscription.changes();
            assert_eq!(feed.try_next(), Ok(0));
            feed
        });
        let send = |value| allocations(|| subscription.try_set(value).map(drop).expect("room"));
        assert_eq!(waits(feeds, send), 0, "{overflow:?}");
    }
}

#[test]
fn waits_for_a_topic_allocate_nothing() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for order in [Order::Total, Order::PerPublisher] {
        for overflow in [TopicOverflow::Backpressure, TopicOverflow::DropOldest] {
            let topic = Topic::new(8, overflow).order(order);
            let feeds = std::array::from_fn(|_| topic.subscribe());
            let send = |value| {
                topic.try_publish(value).expect("there is room");
                0
            };
            assert_eq!(waits(feeds, send), 0, "{order:?} {overflow:?}");
        }
    }
}
