//! Models of the ring by claim.

use crate::bell::wait;
use crate::kept::Kept;
use crate::models::explore;
use crate::reached::Reached;
use corelane_primitives::parts::FirstSight;
use corelane_primitives::{PushError, Ring, RingConsumer, TimerId, Timers, model};
use loom::thread;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Waker;
use std::time::Duration;

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    (
        "values_pass_once_through_reused_slots",
        values_pass_once_through_reused_slots,
    ),
    (
        "two_producers_claim_two_places",
        two_producers_claim_two_places,
    ),
    (
        "late_publisher_races_with_the_step_over",
        late_publisher_races_with_the_step_over,
    ),
    (
        "push_that_is_stepped_over_claims_again",
        push_that_is_stepped_over_claims_again,
    ),
    (
        "step_over_by_a_producer_races_with_the_consumer",
        step_over_by_a_producer_races_with_the_consumer,
    ),
    ("sleeping_consumer_is_woken", sleeping_consumer_is_woken),
    ("waiting_push_gets_the_room", waiting_push_gets_the_room),
    (
        "dropped_claim_wakes_who_sleeps_behind_it",
        dropped_claim_wakes_who_sleeps_behind_it,
    ),
    (
        "leaving_consumer_drops_every_value_once",
        leaving_consumer_drops_every_value_once,
    ),
    ("age_is_never_too_high", age_is_never_too_high),
    (
        "push_with_nobody_asleep_scans_nothing",
        push_with_nobody_asleep_scans_nothing,
    ),
];

/// A clock that stands still: what is due is due.
struct Still;

impl Timers for Still {
    fn now_ns(&self) -> u64 {
        0
    }

    fn wake_at(&self, _at_ns: u64, _waker: &Waker) -> TimerId {
        TimerId(0)
    }

    fn forget(&self, _timer: TimerId) {}
}

/// A ring whose claims are old at first sight, or never. Its positions wrap soon.
fn ring<T>(capacity: usize, skip_after: Duration) -> (Ring<T>, RingConsumer<T>) {
    Ring::builder(capacity)
        .skip_after(skip_after)
        .timers(Arc::new(Still))
        .start_sequence(u64::MAX)
        .build()
        .expect("a power of two")
}

/// One slot, two boxed values: the slot changes hands both ways.
pub(crate) fn values_pass_once_through_reused_slots() {
    explore(|| {
        let (ring, mut consumer) = ring(1, Duration::MAX);
        thread::spawn(move || {
            let mut next = 1;
            for _ in 0..4 {
                if next <= 2 && ring.push(Box::new(next)).is_ok() {
                    next += 1;
                } else {
                    thread::yield_now();
                }
            }
        });
        let mut last = 0;
        for _ in 0..3 {
            match consumer.pop() {
                Some(value) => {
                    assert_eq!(*value, last + 1);
                    last = *value;
                }
                None => thread::yield_now(),
            }
        }
    });
}

pub(crate) fn two_producers_claim_two_places() {
    explore(|| {
        let (ring, mut consumer) = ring(2, Duration::MAX);
        let other = ring.clone();
        let pushing = thread::spawn(move || {
            assert!(other.push(Box::new(2)).is_ok());
        });
        assert!(ring.push(Box::new(1)).is_ok());
        let mut got = Vec::new();
        consumer.pop_batch(&mut got, 2);
        assert!(pushing.join().is_ok());
        consumer.pop_batch(&mut got, 2);
        assert_eq!(got.iter().map(|value| **value).sum::<u64>(), 3, "{got:?}");
        assert_eq!((got.len(), ring.occupancy()), (2, 0));
    });
}

/// One of both wins, and the value is in one place only.
pub(crate) fn late_publisher_races_with_the_step_over() {
    static REACHED: Reached = Reached::new();
    explore(|| {
        let (ring, mut consumer) = ring(1, Duration::ZERO);
        let drops = Arc::new(AtomicUsize::new(0));
        let value = Counted(drops.clone());
        let handle = ring.clone();
        let late = thread::spawn(move || {
            let claim = handle.claim().expect("it is empty");
            claim.publish(value).is_ok()
        });
        let first = pop_again(&mut consumer);
        let published = late.join().expect("no assertion is in there");
        let second = consumer.pop();
        assert!(first.is_none() || second.is_none());
        assert_eq!(published, first.is_some() || second.is_some());
        assert_eq!(ring.stepped_over(), u64::from(!published));
        REACHED.count(ring.stepped_over());
        drop((first, second));
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
    REACHED.check();
}

/// Pops, and once more if nothing was there: a first look alone comes before the claim in nearly
/// every schedule that is explored.
fn pop_again<T>(consumer: &mut RingConsumer<T>) -> Option<T> {
    consumer.pop().or_else(|| {
        thread::yield_now();
        consumer.pop()
    })
}

/// A push whose claim is stepped over before it writes is not lost, and both are counted.
pub(crate) fn push_that_is_stepped_over_claims_again() {
    static REACHED: Reached = Reached::new();
    explore(|| {
        let (ring, mut consumer) = ring(2, Duration::ZERO);
        let handle = ring.clone();
        let pushing = thread::spawn(move || {
            assert!(handle.push(Box::new(7)).is_ok());
        });
        let first = pop_again(&mut consumer);
        assert!(pushing.join().is_ok());
        let second = consumer.pop();
        assert!(first.is_none() || second.is_none());
        assert_eq!(first.or(second), Some(Box::new(7)));
        assert_eq!(ring.reclaimed(), ring.stepped_over());
        REACHED.count(ring.reclaimed());
        assert_eq!(
            (ring.pushed(), ring.skipped()),
            (1 + ring.reclaimed(), ring.reclaimed())
        );
    });
    REACHED.check();
}

/// A full ring behind a claim: the producer steps over it while the consumer may, too.
pub(crate) fn step_over_by_a_producer_races_with_the_consumer() {
    explore(|| {
        let (ring, mut consumer) = ring(1, Duration::ZERO);
        std::mem::forget(ring.claim());
        let handle = ring.clone();
        let pushing = thread::spawn(move || match handle.push(Box::new(1)) {
            Err(PushError::Full(_)) => false,
            pushed => pushed.is_ok() || unreachable!("the ring is open"),
        });
        let first = consumer.pop();
        let pushed = pushing.join().expect("no assertion is in there");
        let second = consumer.pop();
        assert_eq!(pushed, first.is_some() || second.is_some());
        assert_eq!((ring.stepped_over(), ring.skipped()), (1, 1));
    });
}

pub(crate) fn sleeping_consumer_is_woken() {
    explore(|| {
        let (ring, mut consumer) = ring(2, Duration::MAX);
        let kept = Kept::default();
        let theirs = kept.clone();
        thread::spawn(move || {
            assert!(ring.push(Box::new(1)).is_ok());
            let claim = ring.claim().expect("there is room");
            assert!(claim.publish(Box::new(2)).is_ok());
            // The last handle's leaving would wake, too.
            theirs.keep(ring);
        });
        for expected in 1..=2 {
            let mut recv = pin!(consumer.recv());
            let (value, _) = wait(|cx| recv.as_mut().poll(cx));
            assert_eq!(value, Some(Box::new(expected)));
        }
        drop(kept);
    });
}

pub(crate) fn waiting_push_gets_the_room() {
    explore(|| {
        let (ring, mut consumer) = ring(1, Duration::MAX);
        assert!(ring.push(Box::new(1)).is_ok());
        let kept = Kept::default();
        let theirs = kept.clone();
        thread::spawn(move || {
            assert_eq!(consumer.pop(), Some(Box::new(1)));
            theirs.keep(consumer);
        });
        let mut push = pin!(ring.push_wait(Box::new(2), Duration::MAX));
        let (pushed, rings) = wait(|cx| push.as_mut().poll(cx));
        assert!(pushed.is_ok() && rings <= 1);
        drop(kept);
    });
}

pub(crate) fn dropped_claim_wakes_who_sleeps_behind_it() {
    explore(|| {
        let (ring, mut consumer) = ring(2, Duration::MAX);
        let kept = Kept::default();
        let theirs = kept.clone();
        thread::spawn(move || {
            let claim = ring.claim().expect("there is room");
            assert!(ring.push(Box::new(1)).is_ok());
            drop(claim);
            theirs.keep(ring);
        });
        let mut recv = pin!(consumer.recv());
        let (value, _) = wait(|cx| recv.as_mut().poll(cx));
        assert_eq!(value, Some(Box::new(1)));
        drop(kept);
    });
}

/// Counts drops; loom itself tells when the ring leaks or its last count races.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

pub(crate) fn leaving_consumer_drops_every_value_once() {
    explore(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let (ring, consumer) = ring(2, Duration::MAX);
        assert!(ring.push(Counted(drops.clone())).is_ok());
        let theirs = drops.clone();
        let pushing = thread::spawn(move || {
            drop(ring.push(Counted(theirs.clone())));
            let _full_or_closed = ring.push(Counted(theirs));
        });
        drop(consumer);
        assert!(pushing.join().is_ok());
        assert_eq!(drops.load(Ordering::Relaxed), 3);
    });
}

/// Two look at one place, and one of them has been slow with another: whatever is read as the
/// first sight of a place is no earlier than that.
pub(crate) fn age_is_never_too_high() {
    explore(|| {
        let sight = loom::sync::Arc::new(FirstSight::new(u64::MAX));
        let theirs = sight.clone();
        thread::spawn(move || {
            assert!(theirs.since(0, 10) >= 10);
            assert!(theirs.since(4, 20) >= 20);
        });
        assert!(sight.since(4, 30) >= 20);
        assert!(sight.since(4, 40) >= 20);
    });
}

/// A push that finds the consumer awake takes a bounded number of steps: tail, slot, two
/// exchanges, value, fence and mark.
pub(crate) fn push_with_nobody_asleep_scans_nothing() {
    explore(|| {
        let (ring, mut consumer) = ring(2, Duration::MAX);
        let kept = Kept::default();
        let (handle, theirs) = (ring.clone(), kept.clone());
        thread::spawn(move || {
            for value in 0..2 {
                let before = model::steps();
                assert!(handle.push(value).is_ok());
                assert_eq!(model::steps() - before, 7);
            }
            theirs.keep(handle);
        });
        consumer.pop();
        kept.keep((ring, consumer));
    });
}
