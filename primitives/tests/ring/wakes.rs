//! Who is woken, how often, and what a waker may do.

use crate::clock::{Act, bell, cx};
use crate::settle::settle;
use corelane_primitives::{PushError, Ring, RingConsumer};
use futures_core::{FusedStream, Stream};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

// proves: W-1
#[test]
fn only_a_sleeping_consumer_is_woken_and_once() {
    let (ring, mut consumer) = Ring::new(8);
    let (rung, waker) = bell();
    assert_eq!(ring.push(0), Ok(()));
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Ready(true));
    assert_eq!(ring.push(1), Ok(()));
    assert_eq!((consumer.pop(), consumer.pop()), (Some(0), Some(1)));
    assert_eq!(rung.rings(), 0);
    let sleep = |consumer: &mut RingConsumer<u64>| {
        let (polled, _) = settle(|| rung.rings(), || consumer.poll_ready(&mut cx(&waker)));
        assert_eq!(polled, Poll::Pending);
        rung.rings()
    };
    let own = sleep(&mut consumer);
    for value in 2..5 {
        assert_eq!(ring.push(value), Ok(()));
    }
    assert_eq!(rung.rings(), own + 1);
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Ready(true));
    assert_eq!(consumer.fold(9, 0, |sum, value| sum + value).acc, 9);
    let own = sleep(&mut consumer);
    let claim = ring.claim().expect("there is room");
    assert_eq!(rung.rings(), own, "a claim is no news");
    assert_eq!(claim.publish(5), Ok(()));
    assert_eq!(rung.rings(), own + 1);
}

/// Each look is a poll of another future, and one may be the last.
// proves: W-1
// proves: W-3
#[test]
fn consumer_that_has_just_had_values_looks_16_times_and_then_sleeps() {
    let (rung, waker) = bell();
    let (ring, mut consumer) = Ring::new(8);
    let look = |consumer: &mut RingConsumer<u64>| pin!(consumer.ready()).poll(&mut cx(&waker));
    for looks in [16, 3, 16] {
        assert_eq!(ring.push(1), Ok(()));
        assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Ready(true));
        assert_eq!(consumer.pop(), Some(1));
        let before = rung.rings();
        for own in 1..=looks {
            assert_eq!(look(&mut consumer), Poll::Pending);
            assert_eq!(rung.rings(), before + own, "once a look");
        }
    }
    let before = rung.rings();
    for _ in 0..3 {
        assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Pending);
    }
    assert_eq!(rung.rings(), before, "it sleeps");
    assert_eq!((ring.push(2), rung.rings()), (Ok(()), before + 1));
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Ready(true));
    assert_eq!(consumer.pop(), Some(2));
    // Between two looks it is awake.
    assert_eq!(look(&mut consumer), Poll::Pending);
    assert_eq!((ring.push(3), rung.rings()), (Ok(()), before + 2));
}

// proves: W-1
#[test]
fn last_handle_and_closing_wake_the_consumer() {
    let (ring, mut consumer) = Ring::<u8>::new(2);
    let (rung, waker) = bell();
    let second = ring.clone();
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Pending);
    drop(ring);
    assert_eq!(rung.rings(), 0);
    drop(second);
    assert_eq!(rung.rings(), 1);
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Ready(false));
    assert_eq!(consumer.blocking_recv(), None);

    let (ring, mut consumer) = Ring::new(2);
    assert_eq!(ring.push(1), Ok(()));
    ring.close();
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Ready(true));
    assert_eq!(consumer.pop(), Some(1));
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Ready(false));
    assert_eq!(rung.rings(), 1);
}

// proves: W-1
#[test]
fn waits_that_were_dropped_are_not_woken() {
    let (ring, mut consumer) = Ring::new(1);
    let (rung, waker) = bell();
    let polled = Box::pin(consumer.recv()).as_mut().poll(&mut cx(&waker));
    assert_eq!(polled, Poll::Pending);
    let polled = Box::pin(consumer.ready()).as_mut().poll(&mut cx(&waker));
    assert_eq!(polled, Poll::Pending);
    assert_eq!(ring.push(1), Ok(()));
    let mut push = Box::pin(ring.push_wait(2, Duration::MAX));
    assert_eq!(push.as_mut().poll(&mut cx(&waker)), Poll::Pending);
    drop(push);
    assert_eq!(consumer.pop(), Some(1));
    drop(ring);
    assert_eq!(rung.rings(), 0);
}

// proves: W-4
#[test]
fn consumers_waker_may_use_and_drop_the_consumer() {
    let (ring, mut consumer) = Ring::new(4);
    let place = Arc::new(Mutex::new(None::<RingConsumer<u64>>));
    let taken = Arc::new(AtomicUsize::new(0));
    let (inner, count) = (place.clone(), taken.clone());
    let waker = Waker::from(Arc::new(Act(move || {
        let mut place = inner.lock().expect("nobody panics in here");
        let consumer = place.as_mut().expect("it was put there before");
        count.fetch_add(
            consumer.fold(9, 0, |count, _| count + 1).acc,
            Ordering::Relaxed,
        );
        let parked = consumer.poll_ready(&mut cx(Waker::noop()));
        assert_eq!(parked, Poll::Pending);
        if count.load(Ordering::Relaxed) == 2 {
            *place = None;
        }
    })));
    for value in 1..=2 {
        assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Pending);
        *place.lock().expect("nobody panics in here") = Some(consumer);
        assert_eq!(ring.push(value), Ok(()));
        assert_eq!(taken.load(Ordering::Relaxed), value as usize);
        match place.lock().expect("nobody panics in here").take() {
            Some(back) => consumer = back,
            None => {
                assert_eq!(ring.push(9), Err(PushError::Closed(9)));
                return;
            }
        }
    }
    unreachable!("the second wake drops the consumer");
}

// proves: W-4
#[test]
fn producers_waker_may_push_and_leave() {
    let (ring, mut consumer) = Ring::new(1);
    let handle = Mutex::new(Some(ring.clone()));
    let waker = Waker::from(Arc::new(Act(move || {
        let handle = handle.lock().expect("nobody panics in here").take();
        let handle = handle.expect("it is called once");
        assert_eq!(handle.push(7), Ok(()));
    })));
    assert_eq!(ring.push(1), Ok(()));
    let mut push = Box::pin(ring.push_wait(2, Duration::MAX));
    assert_eq!(push.as_mut().poll(&mut cx(&waker)), Poll::Pending);
    assert_eq!(consumer.pop(), Some(1));
    assert_eq!(consumer.pop(), Some(7));
}

// proves: W-4
#[test]
fn panicking_wakers_break_nothing() {
    let waker = Waker::from(Arc::new(Act(|| panic!("as planned"))));
    let (ring, mut consumer) = Ring::new(2);
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Pending);
    assert!(catch_unwind(AssertUnwindSafe(|| ring.push(1))).is_err());
    assert_eq!(consumer.pop(), Some(1), "it was pushed all the same");
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Pending);
    let claim = ring.claim().expect("there is room");
    assert!(catch_unwind(AssertUnwindSafe(|| claim.publish(2))).is_err());
    assert_eq!(consumer.pop(), Some(2));
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Pending);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(ring))).is_err());
    assert!(consumer.is_finished());

    let (ring, mut consumer) = Ring::new(1);
    assert_eq!(ring.push(1), Ok(()));
    let mut push = Box::pin(ring.push_wait(2, Duration::MAX));
    assert_eq!(push.as_mut().poll(&mut cx(&waker)), Poll::Pending);
    let folded = catch_unwind(AssertUnwindSafe(|| {
        consumer.fold(1, 0, |sum, value| sum + value)
    }));
    assert!(folded.is_err());
    assert_eq!(
        push.as_mut().poll(&mut cx(Waker::noop())),
        Poll::Ready(Ok(()))
    );
    drop(push);
    let mut push = Box::pin(ring.push_wait(3, Duration::MAX));
    assert_eq!(push.as_mut().poll(&mut cx(&waker)), Poll::Pending);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(consumer))).is_err());
    let closed = Err(PushError::Closed(3));
    assert_eq!(
        push.as_mut().poll(&mut cx(Waker::noop())),
        Poll::Ready(closed)
    );
}

/// Counts clones and drops of wakers through the count of the `Arc` behind them.
#[test]
fn wakers_go_with_who_waited() {
    let (rung, waker) = bell();
    let alone = Arc::strong_count(&rung);
    let (ring, mut consumer) = Ring::new(1);
    assert_eq!(consumer.poll_ready(&mut cx(&waker)), Poll::Pending);
    assert_eq!(Arc::strong_count(&rung), alone + 1);
    assert_eq!(ring.push(1), Ok(()));
    let mut push = Box::pin(ring.push_wait(2, Duration::MAX));
    assert_eq!(push.as_mut().poll(&mut cx(&waker)), Poll::Pending);
    assert_eq!(Arc::strong_count(&rung), alone + 2);
    drop(push);
    assert_eq!(Arc::strong_count(&rung), alone + 1);
    drop(consumer);
    assert_eq!(Arc::strong_count(&rung), alone);
}

// proves: W-5
#[test]
fn batch_of_256_is_handed_back_as_one() {
    let (ring, mut consumer) = Ring::new(1_024);
    for value in 0..1_024 {
        assert_eq!(ring.push(value), Ok(()));
    }
    let mut seen = Vec::new();
    let mut out = Vec::new();
    consumer.fold(usize::MAX, (), |(), value| {
        seen.push(ring.occupancy());
        out.push(value);
    });
    assert!(out.into_iter().eq(0..1_024));
    assert!((0..1_024).all(|index| seen[index] == 1_024 - index / 256 * 256));
}

#[test]
fn consumer_is_a_stream_that_ends() {
    let (ring, mut consumer) = Ring::new(4);
    let (rung, waker) = bell();
    let mut next = || Pin::new(&mut consumer).poll_next(&mut cx(&waker));
    assert_eq!(next(), Poll::Pending);
    assert_eq!(ring.push(1), Ok(()));
    assert_eq!(rung.rings(), 1);
    assert_eq!(ring.push(2), Ok(()));
    drop(ring);
    assert_eq!(next(), Poll::Ready(Some(1)));
    assert_eq!(next(), Poll::Ready(Some(2)));
    assert_eq!(next(), Poll::Ready(None));
    assert!(consumer.is_terminated());
    assert_eq!(consumer.size_hint(), (0, Some(0)));
}
