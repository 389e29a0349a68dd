//! Claims that are published, dropped, forgotten, or late.

use crate::clock::{bell, cx, ms, ring_by_hand};
use corelane_primitives::{PushError, Ring, SteppedOver};
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;
use std::time::Duration;

// proves: F-7
#[test]
fn only_what_stands_before_the_first_claim_is_delivered() {
    let (ring, mut consumer) = Ring::new(8);
    assert_eq!(ring.push(0), Ok(()));
    let first = ring.claim().expect("there is room");
    assert_eq!(ring.push(2), Ok(()));
    let second = ring.claim().expect("there is room");
    assert_eq!(ring.push(4), Ok(()));
    let mut out = Vec::new();
    assert_eq!(consumer.pop_batch(&mut out, 9), 1);
    assert!(consumer.is_held_up());
    assert_eq!(second.publish(3), Ok(()));
    assert_eq!(consumer.pop_batch(&mut out, 9), 0);
    assert_eq!(first.publish(1), Ok(()));
    assert_eq!(consumer.pop_batch(&mut out, 9), 4);
    assert_eq!(out, [0, 1, 2, 3, 4]);
    assert!(!consumer.is_held_up());
}

// proves: F-8
#[test]
fn dropped_and_unwound_claims_become_counted_tombstones() {
    let (ring, mut consumer) = Ring::new(4);
    drop(ring.claim());
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _claim = ring.claim();
        panic!("between claim and publish");
    }));
    assert!(unwound.is_err());
    assert_eq!(ring.push(7), Ok(()));
    assert_eq!((ring.tombstones(), ring.skipped()), (2, 0));
    let folded = consumer.fold(9, 0, |sum, value| sum + value);
    assert_eq!((folded.acc, folded.consumed, folded.skipped), (7, 1, 2));
    assert_eq!((ring.skipped(), ring.stepped_over()), (2, 0));
    assert_eq!((ring.pushed(), ring.popped(), ring.occupancy()), (3, 1, 0));
}

// proves: F-8
#[test]
fn dropping_a_claim_wakes_a_consumer_that_sleeps_behind_it() {
    let (ring, mut consumer) = Ring::new(4);
    let (rung, waker) = bell();
    let claim = ring.claim().expect("there is room");
    assert_eq!(ring.push(1), Ok(()));
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Pending);
    drop(claim);
    assert_eq!(rung.rings(), 1);
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Ready(true));
    assert_eq!(consumer.pop(), Some(1));
}

// proves: F-8
#[test]
fn forgotten_claim_is_stepped_over_and_its_age_counts_from_first_sight() {
    let (clock, ring, mut consumer) = ring_by_hand(4);
    forget(ring.claim());
    assert_eq!(ring.push("behind"), Ok(()));
    // Nobody has looked yet, so no time has passed for this claim.
    clock.advance(ms(1_000));
    assert_eq!(consumer.pop(), None);
    clock.advance(ms(49));
    assert_eq!(consumer.pop(), None);
    assert_eq!(ring.stepped_over(), 0);
    clock.advance(ms(1));
    assert_eq!(consumer.pop(), Some("behind"));
    assert_eq!((ring.stepped_over(), ring.skipped()), (1, 1));
    assert_eq!(ring.tombstones(), 0);
}

// proves: F-8
#[test]
fn late_publisher_gets_its_value_back() {
    let (clock, ring, mut consumer) = ring_by_hand(2);
    let late = ring.claim().expect("there is room");
    let too_late_to_drop = ring.claim().expect("there is room");
    for _ in 0..2 {
        assert_eq!(consumer.pop(), None);
        clock.advance(ms(50));
    }
    assert_eq!(consumer.pop(), None::<Box<u8>>);
    assert_eq!(ring.stepped_over(), 2);
    // The slot is in use again, for the next lap.
    assert_eq!(ring.push(Box::new(1)), Ok(()));
    assert_eq!(late.publish(Box::new(9)), Err(SteppedOver(Box::new(9))));
    drop(too_late_to_drop);
    assert_eq!(ring.tombstones(), 0, "it counts once, as stepped over");
    assert_eq!(consumer.pop(), Some(Box::new(1)));
    assert_eq!((ring.skipped(), ring.popped()), (2, 1));
}

// proves: F-8
#[test]
fn producer_about_to_get_full_steps_over_and_wakes_the_consumer() {
    let (clock, ring, mut consumer) = ring_by_hand(2);
    let (rung, waker) = bell();
    let late = ring.claim().expect("there is room");
    assert_eq!(ring.push(1), Ok(()));
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Pending);
    // Without the host's alarm, as if it had no timers.
    consumer.unpark();
    assert_eq!(ring.push(2), Err(PushError::Full(2)), "the first sight");
    let mut waiting = Box::pin(consumer.ready());
    assert_eq!(waiting.as_mut().poll(&mut cx(&waker)), Poll::Pending);
    clock.advance(ms(49));
    assert_eq!(ring.push(2), Err(PushError::Full(2)));
    assert_eq!((ring.stepped_over(), rung.rings()), (0, 0));
    clock.advance(Duration::from_nanos(999_999));
    assert_eq!(ring.push(2), Err(PushError::Full(2)));
    assert_eq!((ring.stepped_over(), rung.rings()), (0, 0));
    clock.advance(Duration::from_nanos(1));
    assert_eq!(rung.rings(), 1, "the alarm of the consumer's own");
    assert_eq!(ring.push(2), Err(PushError::Full(2)), "it still gets Full");
    assert_eq!(ring.stepped_over(), 1);
    assert_eq!(rung.rings(), 2, "the mark was still there");
    assert_eq!(waiting.as_mut().poll(&mut cx(&waker)), Poll::Ready(true));
    assert_eq!(late.publish(0), Err(SteppedOver(0)));
    assert_eq!(ring.refused(), 4);
    assert_eq!(ring.push(2), Ok(()));
    drop(waiting);
    assert_eq!((consumer.pop(), consumer.pop()), (Some(1), Some(2)));
}

// proves: F-8
#[test]
fn consumer_asleep_without_timers_is_woken_by_a_producer_that_steps_over() {
    // Without timers nothing ends the sleep but other parties.
    let (ring, mut consumer) = Ring::builder(1)
        .skip_after(Duration::ZERO)
        .build()
        .expect("a power of two");
    let (rung, waker) = bell();
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Pending);
    forget(ring.claim());
    assert_eq!(rung.rings(), 0);
    assert_eq!(ring.push(1), Err(PushError::Full(1)));
    assert_eq!((rung.rings(), ring.stepped_over()), (1, 1));
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Pending);
    assert_eq!(ring.push(1), Ok(()));
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Ready(true));
}

// proves: F-8
#[test]
fn full_ring_of_forgotten_claims_is_passed_whole() {
    let (clock, ring, mut consumer) = ring_by_hand(4);
    for _ in 0..4 {
        forget(ring.claim());
    }
    assert_eq!(ring.claim().err(), Some(PushError::Full(())));
    for stepped_over in 0..4 {
        assert_eq!(ring.stepped_over(), stepped_over);
        assert_eq!(consumer.pop(), None);
        clock.advance(ms(50));
        assert_eq!(consumer.pop(), None);
    }
    assert_eq!((ring.skipped(), ring.occupancy()), (4, 0));
    for value in 0..4 {
        assert_eq!(ring.push(value), Ok(()));
    }
    let folded = consumer.fold(9, Vec::new(), |mut all, value| {
        all.push(value);
        all
    });
    assert_eq!(folded.acc, [0, 1, 2, 3]);
}

// proves: F-8
#[test]
fn sleeping_consumer_with_timers_wakes_to_step_over() {
    let (clock, ring, mut consumer) = ring_by_hand(4);
    let (rung, waker) = bell();
    forget(ring.claim());
    assert_eq!(ring.push(1), Ok(()));
    let mut recv = Box::pin(consumer.recv());
    assert_eq!(recv.as_mut().poll(&mut cx(&waker)), Poll::Pending);
    assert_eq!(clock.armed(), 1);
    clock.advance(ms(49));
    assert_eq!(rung.rings(), 0);
    clock.advance(ms(1));
    assert_eq!(rung.rings(), 1);
    assert_eq!(recv.as_mut().poll(&mut cx(&waker)), Poll::Ready(Some(1)));
    drop(recv);
    forget(ring.claim());
    assert_eq!(ring.push(2), Ok(()));
    let mut dropped = Box::pin(consumer.recv());
    assert_eq!(dropped.as_mut().poll(&mut cx(&waker)), Poll::Pending);
    drop(dropped);
    assert_eq!(clock.armed(), 0, "a dropped wait leaves no timer");
}

// proves: F-8
#[test]
fn blocked_consumer_steps_over_without_timers() {
    let (ring, mut consumer) = Ring::builder(4)
        .skip_after(Duration::from_micros(100))
        .build()
        .expect("a power of two");
    let late = ring.claim().expect("there is room");
    assert_eq!(ring.push(1), Ok(()));
    assert_eq!(consumer.blocking_recv(), Some(1));
    assert_eq!(late.publish(0), Err(SteppedOver(0)));
}

// proves: F-8
#[test]
fn claims_that_nobody_can_publish_any_more_hold_nobody_up() {
    let (_clock, ring, mut consumer) = ring_by_hand(4);
    forget(ring.claim());
    assert_eq!(ring.push(1), Ok(()));
    forget(ring.claim());
    drop(ring);
    assert_eq!(consumer.pop(), Some(1));
    assert_eq!(consumer.pop(), None);
    assert!(consumer.is_finished());
    assert_eq!(consumer.skipped(), 2);
}

// proves: F-8
#[test]
fn claim_outlives_a_closed_ring_and_not_its_consumer() {
    let (ring, mut consumer) = Ring::new(4);
    let (early, late) = (ring.claim(), ring.claim());
    ring.close();
    assert_eq!(ring.push(9), Err(PushError::Closed(9)));
    assert_eq!(ring.claim().err(), Some(PushError::Closed(())));
    assert_eq!(early.expect("there was room").publish(1), Ok(()));
    assert_eq!(consumer.pop(), Some(1));
    assert!(!consumer.is_finished());
    drop(consumer);
    let late = late.expect("there was room");
    assert_eq!(late.publish(2), Err(SteppedOver(2)));
}

// proves: F-8
#[test]
fn skip_after_of_all_time_never_steps_over() {
    let (ring, mut consumer) = Ring::builder(1)
        .skip_after(Duration::MAX)
        .build()
        .expect("a power of two");
    let claim = ring.claim().expect("there is room");
    for _ in 0..100 {
        assert_eq!(consumer.pop(), None);
        assert_eq!(ring.push(2), Err(PushError::Full(2)));
    }
    assert_eq!(claim.publish(1), Ok(()));
    assert_eq!(consumer.pop(), Some(1));
}

// proves: F-8
#[test]
fn claims_that_are_old_enough_are_passed_all_in_one_call() {
    let built = Ring::builder(8).skip_after(Duration::ZERO).build();
    let (ring, mut consumer) = built.expect("a power of two");
    for _ in 0..7 {
        forget(ring.claim().expect("there is room"));
    }
    assert_eq!(ring.push(9), Ok(()));
    assert_eq!(consumer.pop(), Some(9));
    assert_eq!((ring.stepped_over(), ring.skipped()), (7, 7));
}
