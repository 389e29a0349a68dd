//! Wakers, clones and drops that panic or come back to what called them: each call ends, nothing
//! is lost, and nobody is held up afterwards.
#![cfg(not(corelane_loom))]

use corelane_primitives::{
    Feed, NextError, Order, Overflow, Ring, Ring64, Signal, Subscription, Topic, TopicOverflow,
    channel,
};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

const POLICIES: [TopicOverflow; 3] = [
    TopicOverflow::Backpressure,
    TopicOverflow::DropNew,
    TopicOverflow::DropOldest,
];
const ORDERS: [Order; 2] = [Order::Total, Order::PerPublisher];

/// A waker that runs a function.
struct Call<F>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for Call<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        (self.0)();
    }
}

/// A waker that counts its calls, and does `again` in each.
fn returning(again: impl Fn() + Send + Sync + 'static) -> (Arc<AtomicUsize>, Waker) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let call = Call(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        again();
    });
    (calls, Waker::from(Arc::new(call)))
}

type Hook = Box<dyn FnMut()>;

thread_local! {
    static ON_CLONE: RefCell<Option<Hook>> = const { RefCell::new(None) };
    static ON_DROP: RefCell<Option<Hook>> = const { RefCell::new(None) };
}

/// A value whose clone and drop call a function of the thread, but not from inside itself.
#[derive(Debug, PartialEq)]
struct Value(u32);

fn call(hook: &RefCell<Option<Hook>>) {
    let Some(mut function) = hook.take() else {
        return;
    };
    let called = catch_unwind(AssertUnwindSafe(&mut function));
    hook.replace(Some(function));
    if let Err(panic) = called {
        std::panic::resume_unwind(panic);
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        ON_CLONE.with(call);
        Self(self.0)
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        ON_DROP.with(call);
    }
}

/// Panics at the first call alone.
fn panic_once() -> Hook {
    let mut calls = 0;
    Box::new(move || {
        calls += 1;
        assert!(calls != 1, "a panic that is wanted");
    })
}

/// Polls `future` until it sleeps under `waker`, then runs `act`, which wakes it.
fn sleep_then(future: impl Future, waker: &Waker, act: impl FnOnce()) {
    let mut future = pin!(future);
    let slept = future.as_mut().poll(&mut Context::from_waker(waker));
    assert!(slept.is_pending());
    act();
}

// proves: W-1, W-4
#[test]
fn waker_that_sends_again_is_called_a_few_times() {
    let signal = Signal::new(0);
    let weak = signal.downgrade();
    let (calls, waker) = returning(move || {
        weak.upgrade().map(|signal| signal.set(1));
    });
    let mut feed = signal.changes();
    for value in 0..3 {
        assert!(feed.try_next().is_ok());
        calls.store(0, Ordering::Relaxed);
        sleep_then(feed.next(), &waker, || _ = signal.set(value));
        assert!((1..=16).contains(&calls.load(Ordering::Relaxed)));
    }

    let state = Subscription::new(0, 1 << 16, Overflow::DropOldest);
    let weak = state.downgrade();
    let (calls, waker) = returning(move || {
        weak.upgrade().map(|state| state.try_set(1));
    });
    let mut feed = state.changes();
    assert_eq!(feed.try_next(), Ok(0));
    sleep_then(feed.next(), &waker, || _ = state.try_set(1));
    assert!((1..=16).contains(&calls.load(Ordering::Relaxed)));

    let (sender, mut receiver) = channel(1 << 16);
    let weak = sender.downgrade();
    let (calls, waker) = returning(move || {
        weak.upgrade().map(|sender| sender.try_send(1));
    });
    sleep_then(receiver.recv(), &waker, || _ = sender.try_send(1));
    let woken = calls.load(Ordering::Relaxed);
    assert!((1..=16).contains(&woken));
    assert_eq!(receiver.fold(256, 0, |sum, one| sum + one).acc, woken + 1);

    let (ring, mut consumer) = Ring::new(1 << 16);
    let again = ring.clone();
    let (calls, waker) = returning(move || _ = again.push(1));
    sleep_then(consumer.recv(), &waker, || _ = ring.push(1));
    assert!((1..=16).contains(&calls.load(Ordering::Relaxed)));

    let (ring, mut consumer) = Ring64::new(1 << 16);
    let again = ring.clone();
    let (calls, waker) = returning(move || _ = again.push(1));
    sleep_then(consumer.recv(), &waker, || _ = ring.push(1));
    assert!((1..=16).contains(&calls.load(Ordering::Relaxed)));
}

// proves: W-1, W-4
#[test]
fn waker_that_publishes_or_closes_is_called_a_few_times() {
    for order in ORDERS {
        for policy in POLICIES {
            let topic = Topic::new(1 << 12, policy).order(order);
            let weak = topic.downgrade();
            let (calls, waker) = returning(move || {
                weak.upgrade().map(|topic| topic.try_publish(1));
            });
            let mut feed = topic.subscribe();
            for _ in 0..3 {
                while feed.try_next().is_ok() {}
                calls.store(0, Ordering::Relaxed);
                sleep_then(feed.next(), &waker, || _ = topic.try_publish(1));
                let woken = calls.load(Ordering::Relaxed);
                assert!((1..=16).contains(&woken));
                assert_eq!(feed.lag(), woken as u64 + 1, "each was published");
            }

            let weak = topic.downgrade();
            let (calls, waker) = returning(move || {
                if let Some(topic) = weak.upgrade() {
                    topic.close();
                }
            });
            while feed.try_next().is_ok() {}
            sleep_then(feed.next(), &waker, || topic.close());
            // Once a log at least that has ended.
            assert!((1..=16).contains(&calls.load(Ordering::Relaxed)));
            assert_eq!(feed.try_next(), Err(NextError::Closed));
        }
    }
}

// proves: T-5
#[test]
fn drop_that_panics_leaves_no_feed_behind() {
    for order in ORDERS {
        for policy in POLICIES {
            for detaches in [false, true] {
                for has_other in [false, true] {
                    leave_with_a_panic(order, policy, detaches, has_other);
                }
            }
        }
    }
}

fn leave_with_a_panic(order: Order, policy: TopicOverflow, detaches: bool, has_other: bool) {
    let topic = Topic::new(2, policy).order(order);
    let other = has_other.then(|| topic.subscribe());
    let leaving = topic.subscribe();
    let mut ahead = topic.subscribe();
    for number in 1..=2 {
        topic.try_publish(Value(number)).expect("there is room");
    }
    assert_eq!(ahead.try_next(), Ok(Value(1)));
    ON_DROP.set(Some(panic_once()));
    // Whether a value is dropped on the way is the policy's matter.
    let _ = catch_unwind(AssertUnwindSafe(|| match detaches {
        true => drop(leaving.detach()),
        false => drop(leaving),
    }));
    ON_DROP.set(None);
    drop((ahead, other));
    let before = topic.stats().published;
    for number in 0..10 {
        let published = topic.try_publish(Value(number));
        assert!(
            published.is_ok(),
            "{order:?} {policy:?} {detaches} {has_other}"
        );
    }
    assert_eq!(topic.stats().published, before, "nobody listens any more");
}

#[test]
fn clone_that_publishes_ends_each_read() {
    for order in ORDERS {
        for policy in POLICIES {
            let topic = Topic::new(8, policy).order(order);
            let mut feed = topic.subscribe();
            let weak = topic.downgrade();
            ON_CLONE.set(Some(Box::new(move || {
                weak.upgrade().map(|topic| topic.try_publish(Value(9)));
            })));
            topic.try_publish(Value(1)).expect("there is room");
            for _ in 0..20 {
                assert!(feed.try_next().is_ok(), "{order:?} {policy:?}");
            }
            // Neither a second feed of the thread nor a detached one waits until nothing comes.
            drop((topic.subscribe(), topic.subscribe().detach()));
            ON_CLONE.set(None);
            let stats = feed.stats();
            let published = stats.delivered + stats.dropped + stats.lag;
            assert_eq!(published, topic.stats().published, "{order:?} {policy:?}");
        }
    }
}

/// Takes one value with a clone that panics, and once more with one that does not.
fn take_twice<R>(mut take: impl FnMut() -> R) -> R {
    ON_CLONE.set(Some(panic_once()));
    let failed = catch_unwind(AssertUnwindSafe(&mut take)).is_err();
    ON_CLONE.set(None);
    assert!(failed, "the clone has panicked");
    take()
}

// proves: S-11
#[test]
fn clone_that_panics_takes_nothing() {
    let signal = Signal::new(Value(1));
    let mut feed = signal.changes();
    assert_eq!(take_twice(|| feed.try_next()), Ok(Value(1)));
    assert_eq!((feed.stats().delivered, feed.lag()), (1, 0));
    let overflows = [
        Overflow::Backpressure,
        Overflow::DropNew,
        Overflow::DropOldest,
        Overflow::Fail,
    ];
    for overflow in overflows {
        let state = Subscription::new(Value(0), 4, overflow);
        let feed = state.changes();
        state.try_set(Value(1)).expect("there is room");
        read_both(feed, 0);
    }
    for order in ORDERS {
        for policy in POLICIES {
            let topic = Topic::new(4, policy).order(order);
            let feed = topic.subscribe();
            topic.try_publish(Value(0)).expect("there is room");
            topic.try_publish(Value(1)).expect("there is room");
            read_both(feed, 0);
        }
    }
}

fn read_both(mut feed: Feed<Value>, first: u32) {
    assert_eq!(take_twice(|| feed.try_next()), Ok(Value(first)));
    assert_eq!(feed.try_next(), Ok(Value(first + 1)));
    let stats = feed.stats();
    assert_eq!((stats.delivered, stats.dropped, stats.lag), (2, 0, 0));
}

/// The copies of a shard stand in a ring: wherever that turns over, nothing behind a clone that has
/// panicked is taken before it.
// proves: S-11
#[test]
fn clone_that_panics_ends_a_batch_of_changes() {
    const CAPACITY: u32 = 8;
    let state = Subscription::new(Value(0), CAPACITY as usize, Overflow::Backpressure);
    let mut feed = state.changes();
    // One value behind, so that the ring is never empty, whereat it would begin anew.
    let mut behind = state.changes();
    let mut take = |out: &mut Vec<Value>| {
        let next = pin!(feed.next_batch(out, 64));
        let taken = next.poll(&mut Context::from_waker(Waker::noop()));
        assert!(taken.is_ready(), "there are values");
    };
    let (mut taken, mut last) = (Vec::new(), 0);
    take(&mut taken);
    for round in 0..4 * CAPACITY {
        for _ in 0..=round % (CAPACITY - 1) {
            last += 1;
            state.try_set(Value(last)).expect("there is room");
        }
        ON_CLONE.set(Some(panic_once()));
        assert!(catch_unwind(AssertUnwindSafe(|| take(&mut taken))).is_err());
        ON_CLONE.set(None);
        take(&mut taken);
        assert_eq!(taken.last(), Some(&Value(last)));
        while behind.lag() > 1 {
            assert!(behind.try_next().is_ok());
        }
    }
    assert!(taken.iter().map(|value| value.0).eq(0..=last));
}

/// What makes a feed clone values while its thread's other feeds may go.
#[derive(Clone, Copy, Debug)]
enum Looking {
    Next,
    Batch,
    Join,
    Detach,
}

/// Drops `feed` at the first clone of a value, and panics there if that is wanted. What it returns
/// is empty once it has come to that.
fn drop_at_clone(feed: Feed<Value>, panics: bool) -> Rc<RefCell<Option<Feed<Value>>>> {
    let feed = Rc::new(RefCell::new(Some(feed)));
    let held = Rc::clone(&feed);
    ON_CLONE.set(Some(Box::new(move || {
        let was_there = held.take().is_some();
        assert!(!(was_there && panics), "a panic that is wanted");
    })));
    feed
}

// proves: T-5
#[test]
fn feed_dropped_by_a_clone_holds_up_nobody() {
    use Looking::{Batch, Detach, Join, Next};
    for order in ORDERS {
        for policy in POLICIES {
            for looking in [Next, Batch, Join, Detach] {
                for panics in [false, true] {
                    leave_in_a_clone(order, policy, looking, panics);
                }
            }
        }
    }
}

fn leave_in_a_clone(order: Order, policy: TopicOverflow, looking: Looking, panics: bool) {
    let case = format!("{order:?} {policy:?} {looking:?} {panics}");
    let topic = Topic::new(4, policy).order(order);
    let mut feed = Some(topic.subscribe());
    let leaving = topic.subscribe();
    topic.try_publish(Value(0)).expect("there is room");
    let left = drop_at_clone(leaving, panics);
    let looked = catch_unwind(AssertUnwindSafe(|| match looking {
        Looking::Next => drop(feed.as_mut().map(Feed::try_next)),
        Looking::Batch => {
            let mut out = Vec::new();
            let feed = feed.as_mut().expect("it is there");
            let next = pin!(feed.next_batch(&mut out, 4));
            assert!(
                next.poll(&mut Context::from_waker(Waker::noop()))
                    .is_ready()
            );
        }
        Looking::Join => drop(topic.subscribe()),
        Looking::Detach => drop(feed.take().map(Feed::detach)),
    }));
    ON_CLONE.set(None);
    assert_eq!(looked.is_err(), panics, "{case}");
    assert!(left.borrow().is_none(), "{case}: no value was cloned");
    // Who joins has ended the other feed by itself, with no look of this one.
    let goes_on = !matches!(looking, Looking::Join);
    if let Some(feed) = feed.as_mut().filter(|_| goes_on) {
        // It goes on where it was, and has room for all.
        while feed.try_next().is_ok() {}
        for number in 0..4 {
            assert!(topic.try_publish(Value(number)).is_ok(), "{case}");
        }
        let stats = feed.stats();
        assert_eq!((stats.delivered, stats.lag), (1, 4), "{case}");
    }
    drop(feed);
    let before = topic.stats().published;
    for number in 0..10 {
        assert!(topic.try_publish(Value(number)).is_ok(), "{case}");
    }
    assert_eq!(topic.stats().published, before, "{case}: somebody listens");
}

// proves: S-9
#[test]
fn feed_dropped_by_the_clone_of_a_change_holds_up_nobody() {
    for panics in [false, true] {
        let state = Subscription::new(Value(0), 2, Overflow::Backpressure);
        let mut feed = state.changes();
        assert_eq!(feed.try_next(), Ok(Value(0)));
        state.try_set(Value(1)).expect("there is room");
        let left = drop_at_clone(state.changes(), panics);
        let taken = catch_unwind(AssertUnwindSafe(|| feed.try_next()));
        ON_CLONE.set(None);
        assert_eq!(taken.is_err(), panics);
        assert!(left.borrow().is_none(), "no value was cloned");
        while feed.try_next().is_ok() {}
        assert_eq!(feed.stats().delivered, 2);
        drop(feed);
        for number in 0..10 {
            assert!(state.try_set(Value(number)).is_ok());
        }
    }
}

#[test]
#[should_panic(expected = "before it is used")]
fn order_is_set_before_there_is_a_weak_handle() {
    let topic = Topic::<u32>::new(4, TopicOverflow::Backpressure);
    let weak = topic.downgrade();
    drop((topic.order(Order::PerPublisher), weak));
}
