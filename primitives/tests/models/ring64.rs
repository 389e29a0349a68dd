//! Models of the rings of 64-bit integers.

use crate::bell::wait;
use crate::models::explore;
use crate::reached::Reached;
use corelane_primitives::{Consumer64, Ring64, Shards64, model};
use loom::thread;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    ("slot_changes_hands_both_ways", slot_changes_hands_both_ways),
    (
        "producers_share_what_one_has_seen_of_the_head",
        producers_share_what_one_has_seen_of_the_head,
    ),
    ("fold_takes_whole_values", fold_takes_whole_values),
    (
        "values_of_two_producers_keep_their_orders",
        values_of_two_producers_keep_their_orders,
    ),
    ("sleeping_consumer_is_woken", sleeping_consumer_is_woken),
    (
        "consumer_that_was_busy_sleeps_and_is_woken",
        consumer_that_was_busy_sleeps_and_is_woken,
    ),
    (
        "claim_given_up_wakes_for_what_stands_behind",
        claim_given_up_wakes_for_what_stands_behind,
    ),
    (
        "last_producer_ends_the_wait_after_its_values",
        last_producer_ends_the_wait_after_its_values,
    ),
    (
        "first_producer_of_a_shard_wakes",
        first_producer_of_a_shard_wakes,
    ),
    (
        "place_is_filled_or_stepped_over",
        place_is_filled_or_stepped_over,
    ),
    (
        "push_that_waits_is_granted_the_room",
        push_that_waits_is_granted_the_room,
    ),
    (
        "push_to_a_busy_consumer_scans_nothing",
        push_to_a_busy_consumer_scans_nothing,
    ),
];

/// Just below the point where places wrap.
const NEAR_WRAP: u64 = u64::MAX;

fn ready(consumer: &mut Consumer64) -> bool {
    wait(|cx| consumer.poll_ready(cx)).0
}

/// One slot, three values: a producer fills only what the consumer has emptied.
pub(crate) fn slot_changes_hands_both_ways() {
    explore(|| {
        let (ring, mut consumer) = Ring64::with_start_sequence(1, NEAR_WRAP);
        thread::spawn(move || {
            let mut next = 1;
            for _ in 0..4 {
                if next <= 3 && ring.push(next).is_ok() {
                    next += 1;
                } else {
                    thread::yield_now();
                }
            }
        });
        let mut last = 0;
        for _ in 0..4 {
            match consumer.pop() {
                Some(value) => {
                    assert_eq!(value, last + 1);
                    last = value;
                }
                None => thread::yield_now(),
            }
        }
    });
}

/// A producer claims by the head that another one has read.
pub(crate) fn producers_share_what_one_has_seen_of_the_head() {
    explore(|| {
        let (ring, mut consumer) = Ring64::new(1);
        assert!(ring.push(0).is_ok());
        let other = ring.clone();
        thread::spawn(move || {
            let _full_or_pushed = ring.push(1);
        });
        thread::spawn(move || {
            let _full_or_pushed = other.push(2);
        });
        assert_eq!(consumer.pop(), Some(0));
    });
}

/// Values that a fold finds are there whole, in their order.
pub(crate) fn fold_takes_whole_values() {
    static REACHED: Reached = Reached::new();
    explore(|| {
        let (ring, mut consumer) = Ring64::new(2);
        thread::spawn(move || {
            let mut next = 1;
            for _ in 0..4 {
                if next <= 3 && ring.push(next).is_ok() {
                    next += 1;
                } else {
                    thread::yield_now();
                }
            }
        });
        let mut last = 0;
        for _ in 0..4 {
            let before = last;
            last = consumer
                .fold(4, last, |last, value| {
                    assert_eq!(value, last + 1);
                    value
                })
                .acc;
            if last == before {
                thread::yield_now();
            }
        }
        REACHED.count(last);
    });
    REACHED.check();
}

pub(crate) fn values_of_two_producers_keep_their_orders() {
    explore(|| {
        let (ring, mut consumer) = Ring64::with_start_sequence(4, NEAR_WRAP);
        let other = ring.clone();
        let batching = thread::spawn(move || {
            assert_eq!(other.push_batch(&[10, 11]), Ok(2));
        });
        let pushing = thread::spawn(move || {
            assert!(ring.push(20).is_ok());
        });
        let mut got = Vec::new();
        for _ in 0..2 {
            consumer.pop_batch(&mut got, 4);
        }
        // The consumer outlives them, so that no push finds the ring closed.
        assert!(batching.join().is_ok() && pushing.join().is_ok());
        let tens = got.iter().filter(|value| **value < 20).collect::<Vec<_>>();
        assert!(tens.is_sorted() && got.len() - tens.len() <= 1, "{got:?}");
        let at = got.iter().position(|value| *value == 10);
        let next = at.and_then(|at| got.get(at + 1));
        assert!(
            next.is_none_or(|next| *next == 11),
            "a batch is one run: {got:?}"
        );
    });
}

/// The consumer has not been busy: publishers look whether it sleeps.
pub(crate) fn sleeping_consumer_is_woken() {
    explore(|| {
        let (ring, mut consumer) = Ring64::new(2);
        let kept = ring.clone();
        thread::spawn(move || {
            assert!(ring.push(1).is_ok());
        });
        assert!(ready(&mut consumer));
        assert_eq!(consumer.pop(), Some(1));
        drop(kept);
    });
}

/// The consumer has been busy, so that publishers do not look, and wants to sleep now.
pub(crate) fn consumer_that_was_busy_sleeps_and_is_woken() {
    explore(|| {
        let (ring, mut consumer) = Ring64::new(2);
        assert!(ring.push(0).is_ok());
        assert_eq!(consumer.pop(), Some(0));
        let kept = ring.clone();
        thread::spawn(move || {
            assert!(ring.push(1).is_ok());
            assert!(ring.push(2).is_ok());
        });
        for value in 1..=2 {
            let waited = wait_or_yield(|cx| consumer.poll_ready(cx));
            assert!(waited);
            assert_eq!(consumer.pop(), Some(value));
        }
        drop(kept);
    });
}

/// As `wait`, for a poll that may ring its own bell: that is no busy loop of the model.
fn wait_or_yield(mut poll: impl FnMut(&mut Context<'_>) -> Poll<bool>) -> bool {
    wait(|cx| {
        let polled = poll(cx);
        if polled.is_pending() {
            thread::yield_now();
        }
        polled
    })
    .0
}

pub(crate) fn claim_given_up_wakes_for_what_stands_behind() {
    explore(|| {
        let (ring, mut consumer) = Ring64::new(4);
        let kept = ring.clone();
        thread::spawn(move || {
            let claim = ring.claim(1).expect("four slots are free");
            assert!(ring.push(1).is_ok());
            drop(claim);
        });
        assert!(ready(&mut consumer));
        let folded = consumer.fold(4, 0, |_, value| value);
        assert_eq!((folded.acc, kept.skipped()), (1, 1));
    });
}

pub(crate) fn last_producer_ends_the_wait_after_its_values() {
    explore(|| {
        let (ring, mut consumer) = Ring64::new(2);
        let other = ring.clone();
        thread::spawn(move || {
            assert!(ring.push(1).is_ok());
        });
        thread::spawn(move || drop(other));
        assert!(ready(&mut consumer));
        assert_eq!(consumer.pop(), Some(1));
        assert!(!ready(&mut consumer));
    });
}

/// A shard that the consumer did not know of when it went to sleep.
pub(crate) fn first_producer_of_a_shard_wakes() {
    explore(|| {
        let (first, mut consumer) = Shards64::new(2, 1);
        let kept = first.clone();
        let second = first.clone();
        assert!(first.push(1).is_ok());
        assert_eq!(consumer.pop(), Some(1));
        thread::spawn(move || {
            assert!(second.push(2).is_ok());
        });
        assert!(ready(&mut consumer));
        assert_eq!(consumer.pop(), Some(2));
        drop((kept, first));
    });
}

/// A late producer and whoever steps over it: one of both wins, and the next lap is not hurt.
pub(crate) fn place_is_filled_or_stepped_over() {
    static REACHED: Reached = Reached::new();
    explore(|| {
        let built = Ring64::builder(1).skip_after(Duration::ZERO).build();
        let (ring, mut consumer) = built.expect("one is a power of two");
        let theirs = ring.clone();
        let late = thread::spawn(move || {
            let claim = theirs.claim(1);
            claim.is_ok_and(|mut claim| claim.push(1).is_ok())
        });
        // Behind it, or before it; or refused, and then it is stepped over.
        let pushed = ring.push(2).is_ok();
        let mut got = Vec::new();
        consumer.pop_batch(&mut got, 4);
        thread::yield_now();
        consumer.pop_batch(&mut got, 4);
        let filled = late.join().expect("no model panics in there");
        consumer.pop_batch(&mut got, 4);
        let expected = [(filled, 1), (pushed, 2)].map(|(is_in, value)| is_in.then_some(value));
        let mut expected = expected.into_iter().flatten().collect::<Vec<_>>();
        got.sort_unstable();
        expected.sort_unstable();
        assert_eq!(got, expected);
        assert_eq!(ring.pushed(), ring.popped() + ring.skipped());
        REACHED.count(ring.stepped_over());
    });
    REACHED.check();
}

pub(crate) fn push_that_waits_is_granted_the_room() {
    explore(|| {
        let (ring, mut consumer) = Ring64::new(1);
        assert!(ring.push(1).is_ok());
        let taking = thread::spawn(move || {
            assert_eq!(consumer.pop(), Some(1));
            consumer
        });
        let mut push = pin!(ring.push_wait(2, Duration::MAX));
        assert_eq!(wait(|cx| push.as_mut().poll(cx)).0, Ok(()));
        drop(taking.join());
    });
}

/// A producer takes the same steps whether a consumer that does not sleep is there or not.
pub(crate) fn push_to_a_busy_consumer_scans_nothing() {
    fn steps<R>(act: impl FnOnce() -> R) -> usize {
        let before = model::steps();
        act();
        model::steps() - before
    }
    explore(|| {
        let (ring, mut consumer) = Ring64::new(8);
        // Word, head seen, slot; exchange; value and state.
        let (claim, fill, look) = (4, 2, 2);
        assert_eq!(steps(|| ring.push(1)), claim + fill + look);
        assert_eq!(steps(|| ring.push_batch(&[1, 2])), claim + 2 * fill + look);
        assert_eq!(consumer.fold(8, (), |(), _| ()).consumed, 3);
        // It was busy: nobody looks whether it sleeps, not even by a fence.
        assert_eq!(steps(|| ring.push(1)), claim + fill);
        assert_eq!(steps(|| ring.push_batch(&[1, 2])), claim + 2 * fill);
        let waker = Waker::noop();
        let polled = consumer.poll_ready(&mut Context::from_waker(waker));
        assert_eq!(polled, Poll::Ready(true));
        assert_eq!(steps(|| ring.push(1)), claim + fill);
    });
}
