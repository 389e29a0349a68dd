//! Waiting at both ends of a `Ring64`, claims that nobody fills, and what it measures.

use crate::clock::{Act, ByHand, bell, cx, ms};
use crate::settle::settle;
use corelane_primitives::{ClaimError, Consumer64, PushError, Ring64, TimerId, Timers};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

type Push<'a> = Pin<Box<dyn Future<Output = Result<(), PushError<u64>>> + 'a>>;

fn by_hand(capacity: usize) -> (Arc<ByHand>, Ring64, Consumer64) {
    let clock = Arc::new(ByHand::default());
    let built = Ring64::builder(capacity).timers(clock.clone()).build();
    let (ring, consumer) = built.expect("a power of two");
    (clock, ring, consumer)
}

fn poll(push: &mut Push<'_>, waker: &Waker) -> Poll<Result<(), PushError<u64>>> {
    push.as_mut().poll(&mut cx(waker))
}

fn ready(consumer: &mut Consumer64, waker: &Waker) -> Poll<bool> {
    consumer.poll_ready(&mut cx(waker))
}

fn all(consumer: &mut Consumer64) -> Vec<u64> {
    let mut all = Vec::new();
    consumer.pop_batch(&mut all, usize::MAX);
    all
}

/// Eight slots, full: the time is over exactly then, and nothing was polled in between.
// proves: F-3
#[test]
fn push64_with_a_timeout_ends_when_the_time_is_over_and_never_early() {
    let (clock, ring, mut consumer) = by_hand(8);
    assert_eq!(ring.push_batch(&[0, 1, 2, 3, 4, 5, 6, 7]), Ok(8));
    let (rung, waker) = bell();
    let mut push: Push<'_> = Box::pin(ring.push_wait(8, ms(100)));
    assert!(poll(&mut push, &waker).is_pending());
    for _ in 0..99 {
        clock.advance(ms(1));
    }
    clock.advance(Duration::from_nanos(999_999));
    assert_eq!((rung.rings(), clock.armed()), (0, 1), "it sleeps");
    assert!(poll(&mut push, &waker).is_pending());
    clock.advance(Duration::from_nanos(1));
    assert_eq!(rung.rings(), 1);
    let timed_out = Poll::Ready(Err(PushError::TimedOut(8)));
    assert_eq!(poll(&mut push, &waker), timed_out);
    drop(push);
    assert_eq!((clock.armed(), ring.refused(), ring.pushed()), (0, 1, 8));
    assert_eq!(all(&mut consumer), [0, 1, 2, 3, 4, 5, 6, 7]);
}

// proves: F-3
#[test]
fn blocking_push64_ends_by_time_and_leaves_what_is_inside() {
    let (ring, mut consumer) = Ring64::new(1);
    assert_eq!(ring.push(0), Ok(()));
    assert_eq!(ring.blocking_push(1, ms(2)), Err(PushError::TimedOut(1)));
    assert_eq!(ring.refused(), 1);
    assert_eq!(consumer.blocking_recv(), Some(0));
    assert_eq!(ring.blocking_push(2, Duration::ZERO), Ok(()));
    assert_eq!(consumer.pop(), Some(2));
}

#[test]
fn push64_that_waits_by_time_needs_timers() {
    let (ring, _consumer) = Ring64::new(1);
    let mut push: Push<'_> = Box::pin(ring.push_wait(1, ms(1)));
    let refused = Poll::Ready(Err(PushError::NoTimers(1)));
    assert_eq!(poll(&mut push, Waker::noop()), refused);
}

// proves: W-1
// proves: W-5
#[test]
fn waiting_pushes_are_woken_in_order_each_once_by_one_batch() {
    let (ring, mut consumer) = Ring64::new(4);
    assert_eq!(ring.push_batch(&[0, 1, 2, 3]), Ok(4));
    let bells = [(); 6].map(|()| bell());
    let mut pushes = [4, 5, 6, 7, 8, 9].map(|value| {
        let push: Push<'_> = Box::pin(ring.push_wait(value, Duration::MAX));
        push
    });
    for (push, (_, waker)) in pushes.iter_mut().zip(&bells) {
        assert!(poll(push, waker).is_pending());
    }
    let rings = || bells.each_ref().map(|(bell, _)| bell.rings());
    assert_eq!(consumer.fold(3, (), |(), _| ()).consumed, 3);
    assert_eq!(rings(), [1, 1, 1, 0, 0, 0]);
    assert_eq!(ring.refused(), 0);
    for (push, (_, waker)) in pushes[..3].iter_mut().zip(&bells) {
        assert_eq!(poll(push, waker), Poll::Ready(Ok(())));
    }
    assert_eq!(all(&mut consumer), [3, 4, 5, 6]);
    assert_eq!(rings(), [1; 6]);
    for (push, (_, waker)) in pushes[3..].iter_mut().zip(&bells) {
        assert_eq!(poll(push, waker), Poll::Ready(Ok(())));
    }
    assert_eq!(all(&mut consumer), [7, 8, 9]);
}

#[test]
fn closing_ends_every_wait_and_gives_the_values_back() {
    let (ring, mut consumer) = Ring64::new(1);
    assert_eq!(ring.push(0), Ok(()));
    let (rung, waker) = bell();
    let mut first: Push<'_> = Box::pin(ring.push_wait(1, Duration::MAX));
    let mut second: Push<'_> = Box::pin(ring.push_wait(2, Duration::MAX));
    assert!(poll(&mut first, &waker).is_pending() && poll(&mut second, &waker).is_pending());
    consumer.close();
    assert_eq!(rung.rings(), 2);
    let closed = |value| Poll::Ready(Err(PushError::Closed(value)));
    assert_eq!(poll(&mut first, &waker), closed(1));
    assert_eq!(poll(&mut second, &waker), closed(2));
    assert_eq!(ready(&mut consumer, &waker), Poll::Ready(true));
    assert_eq!(consumer.pop(), Some(0));
    assert_eq!(ready(&mut consumer, &waker), Poll::Ready(false));
}

/// Each future is dropped at each await it has: before its first poll, asleep, and rung.
#[test]
fn futures_dropped_at_any_await_leave_nothing_and_keep_nobody() {
    for stage in 0..3 {
        let (ring, mut consumer) = Ring64::new(1);
        let (rung, waker) = bell();
        // A wait for a value.
        let mut recv = Box::pin(consumer.recv());
        if stage > 0 {
            assert!(recv.as_mut().poll(&mut cx(&waker)).is_pending());
        }
        if stage > 1 {
            assert_eq!(ring.push(1), Ok(()));
        }
        drop(recv);
        let before = rung.rings();
        assert_eq!(before, usize::from(stage == 2));
        let pushed = ring.push(2).is_ok();
        assert_eq!((pushed, rung.rings()), (stage < 2, before), "nobody waits");
        // A wait for room, and one behind it.
        let mut dropped: Push<'_> = Box::pin(ring.push_wait(3, Duration::MAX));
        let mut kept: Push<'_> = Box::pin(ring.push_wait(4, Duration::MAX));
        if stage > 0 {
            assert!(poll(&mut dropped, Waker::noop()).is_pending());
        }
        assert!(poll(&mut kept, &waker).is_pending());
        let mut got = Vec::new();
        if stage > 1 {
            got = all(&mut consumer); // grants the room to the one that goes
        }
        drop(dropped);
        got.extend(all(&mut consumer));
        assert_eq!(rung.rings(), before + 1, "the room was passed on");
        assert_eq!(poll(&mut kept, &waker), Poll::Ready(Ok(())));
        got.extend(all(&mut consumer));
        assert_eq!(got, [if stage < 2 { 2 } else { 1 }, 4]);
        assert_eq!(ring.pushed(), ring.popped());
    }
}

// proves: W-1
#[test]
fn only_a_sleeping_consumer_is_woken_and_once() {
    let (rung, waker) = bell();
    let (ring, mut consumer) = Ring64::new(1024);
    assert_eq!(ring.push(1), Ok(()));
    assert_eq!(ready(&mut consumer, &waker), Poll::Ready(true));
    assert_eq!(consumer.pop(), Some(1));
    // A busy consumer, so that publishers do not look; then one that sleeps all the same.
    for busy in [false, true] {
        if busy {
            let values = [7; 512];
            assert_eq!(ring.push_batch(&values), Ok(512));
            assert_eq!(all(&mut consumer).len(), 512);
        }
        let (polled, _) = settle(|| rung.rings(), || ready(&mut consumer, &waker));
        assert_eq!(polled, Poll::Pending);
        let before = rung.rings();
        assert_eq!(ring.push_batch(&[1, 2]), Ok(2));
        assert_eq!(ring.push(3), Ok(()));
        assert_eq!(rung.rings(), before + 1);
        assert_eq!(ready(&mut consumer, &waker), Poll::Ready(true));
        assert_eq!(all(&mut consumer), [1, 2, 3]);
    }
    let (polled, _) = settle(|| rung.rings(), || ready(&mut consumer, &waker));
    assert_eq!(polled, Poll::Pending);
    let before = rung.rings();
    drop(ring);
    assert_eq!(rung.rings(), before + 1);
    assert_eq!(ready(&mut consumer, &waker), Poll::Ready(false));
}

// proves: W-1
// proves: W-3
#[test]
fn consumer64_that_has_just_had_values_looks_16_times_and_then_sleeps() {
    let (rung, waker) = bell();
    let (ring, mut consumer) = Ring64::new(8);
    let look = |consumer: &mut Consumer64| pin!(consumer.ready()).poll(&mut cx(&waker));
    for looks in [16, 3, 16] {
        assert_eq!(ring.push(1), Ok(()));
        assert_eq!(ready(&mut consumer, &waker), Poll::Ready(true));
        assert_eq!(consumer.pop(), Some(1));
        let before = rung.rings();
        for own in 1..=looks {
            assert_eq!(look(&mut consumer), Poll::Pending);
            assert_eq!(rung.rings(), before + own, "once a look");
        }
    }
    let before = rung.rings();
    for _ in 0..3 {
        assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
    }
    assert_eq!(rung.rings(), before, "it sleeps");
    assert_eq!((ring.push(2), rung.rings()), (Ok(()), before + 1));
    assert_eq!(ready(&mut consumer, &waker), Poll::Ready(true));
    assert_eq!(consumer.pop(), Some(2));
    // Between two looks it is awake.
    assert_eq!(look(&mut consumer), Poll::Pending);
    assert_eq!((ring.push(3), rung.rings()), (Ok(()), before + 2));
}

// proves: W-1
#[test]
fn waits_at_a_ring64_that_were_dropped_are_not_woken() {
    let (rung, waker) = bell();
    let (ring, mut consumer) = Ring64::new(1);
    assert_eq!(pin!(consumer.ready()).poll(&mut cx(&waker)), Poll::Pending);
    assert_eq!((ring.push(1), rung.rings()), (Ok(()), 0));
    assert_eq!(consumer.pop(), Some(1));
    assert_eq!(pin!(consumer.recv()).poll(&mut cx(&waker)), Poll::Pending);
    assert_eq!((ring.push(2), rung.rings()), (Ok(()), 0));
}

/// The timer of a wait behind a claim goes with the wait.
// proves: W-3
#[test]
fn dropped_wait_behind_a_claim64_leaves_no_timer() {
    let (clock, ring, mut consumer) = by_hand(4);
    let mut claim = ring.claim(1).expect("all are free");
    assert_eq!(
        pin!(consumer.ready()).poll(&mut cx(Waker::noop())),
        Poll::Pending
    );
    assert_eq!(clock.armed(), 0);
    assert_eq!(ready(&mut consumer, Waker::noop()), Poll::Pending);
    assert_eq!(clock.armed(), 1);
    assert_eq!(claim.push(1), Ok(()));
    assert_eq!(ready(&mut consumer, Waker::noop()), Poll::Ready(true));
    assert_eq!(clock.armed(), 0);
    // A claim that is given up leaves nothing to wait for by time.
    assert_eq!(consumer.pop(), Some(1));
    let claim = ring.claim(1).expect("all are free");
    let mut sleep = |armed| {
        let (rung, waker) = bell();
        let (polled, _) = settle(|| rung.rings(), || ready(&mut consumer, &waker));
        assert_eq!((polled, clock.armed()), (Poll::Pending, armed));
    };
    sleep(1);
    drop(claim);
    sleep(0);
}

// proves: F-8
#[test]
fn push64_that_is_about_to_wait_steps_over_an_old_claim() {
    let (clock, ring, _consumer) = by_hand(1);
    std::mem::forget(ring.claim(1).expect("it is free"));
    for stepped_over in [0, 1] {
        let mut push: Push<'_> = Box::pin(ring.push_wait(5, Duration::MAX));
        assert!(poll(&mut push, Waker::noop()).is_pending());
        assert_eq!(ring.stepped_over(), stepped_over);
        clock.advance(ms(50));
    }
}

// proves: W-4
#[test]
fn waker_may_take_and_sleep_anew_in_the_consumer_it_wakes() {
    let (ring, mut consumer) = Ring64::new(4);
    let place = Arc::new(Mutex::new(None::<Consumer64>));
    let inner = place.clone();
    let waker = Waker::from(Arc::new(Act(move || {
        let mut place = inner.lock().expect("nobody panics in here");
        let consumer = place.as_mut().expect("it was put there before the push");
        assert_eq!(all(consumer), [1]);
        assert_eq!(ready(consumer, Waker::noop()), Poll::Pending);
    })));
    assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
    *place.lock().expect("nobody panics in here") = Some(consumer);
    assert_eq!(ring.push(1), Ok(()));
    assert_eq!((ring.popped(), ring.occupancy()), (1, 0));
}

#[test]
fn panicking_waker_of_the_consumer_loses_no_value() {
    let (ring, mut consumer) = Ring64::new(4);
    let waker = Waker::from(Arc::new(Act(|| panic!("as planned"))));
    assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
    let pushing = std::panic::AssertUnwindSafe(|| ring.push(1));
    assert!(std::panic::catch_unwind(pushing).is_err());
    assert_eq!(ready(&mut consumer, Waker::noop()), Poll::Ready(true));
    assert_eq!(consumer.pop(), Some(1));
}

/// On a ring that is full of it, and over the wrap.
// proves: F-8
#[test]
fn forgotten_claim64_is_stepped_over_by_whoever_meets_it_once_it_is_old() {
    for by_producer in [false, true] {
        let clock = Arc::new(ByHand::default());
        let builder = Ring64::builder(4).timers(clock.clone());
        let built = builder.start_sequence(u64::MAX - 1).build();
        let (ring, mut consumer) = built.expect("a power of two");
        let mut late = ring.claim(2).expect("all are free");
        assert_eq!(ring.push_batch(&[7, 8]), Ok(2));
        let (rung, waker) = bell();
        assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
        assert!(consumer.is_held_up());
        assert_eq!(clock.armed(), 1, "the first sight");
        clock.advance(ms(49));
        assert_eq!(ring.push(9), Err(PushError::Full(9)));
        assert_eq!(
            (rung.rings(), consumer.pop(), ring.stepped_over()),
            (0, None, 0)
        );
        if by_producer {
            consumer.unpark();
            assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
            consumer.pop();
        }
        clock.advance(ms(1));
        assert_eq!(rung.rings(), 1);
        if by_producer {
            // It still gets Full, and the consumer has passed nothing yet.
            assert_eq!(ring.push(9), Err(PushError::Full(9)));
            assert_eq!((ring.stepped_over(), ring.skipped()), (1, 0));
            assert_eq!(rung.rings(), 2, "the mark was still there");
        }
        // The first is passed; the second one's age begins now.
        assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
        assert_eq!((ring.stepped_over(), ring.skipped()), (1, 1));
        assert_eq!(late.push(5), Err(ClaimError::SteppedOver(5)));
        assert_eq!(late.push(6), Ok(()), "nobody has stepped over this one");
        assert_eq!(all(&mut consumer), [6, 7, 8]);
        assert_eq!(late.push(7), Err(ClaimError::Filled(7)));
        assert_eq!(ring.pushed(), ring.popped() + ring.skipped());
    }
}

// proves: F-8
#[test]
fn claim64_that_nobody_can_fill_any_more_holds_nobody_up() {
    let (ring, mut consumer) = Ring64::builder(4)
        .skip_after(Duration::MAX)
        .build()
        .expect("a power of two");
    std::mem::forget(ring.claim(1).expect("all are free"));
    assert_eq!(ring.push(1), Ok(()));
    assert_eq!(consumer.pop(), None);
    drop(ring);
    assert_eq!(consumer.blocking_recv(), Some(1));
    assert_eq!(consumer.blocking_recv(), None);
}

// proves: F-8
#[test]
fn blocking_consumer_steps_over_without_timers() {
    let built = Ring64::builder(4).skip_after(ms(1)).build();
    let (ring, mut consumer) = built.expect("a power of two");
    std::mem::forget(ring.claim(1).expect("all are free"));
    assert_eq!(ring.push(1), Ok(()));
    assert_eq!(consumer.blocking_recv(), Some(1));
    assert_eq!((ring.stepped_over(), ring.skipped()), (1, 1));
}

// proves: F-8
#[test]
fn claims64_that_are_old_enough_are_passed_all_in_one_call() {
    let takes: [fn(&mut Consumer64) -> Option<u64>; 3] = [
        Consumer64::pop,
        |consumer| all(consumer).pop(),
        |consumer| match ready(consumer, Waker::noop()) {
            Poll::Ready(true) => consumer.pop(),
            _ => None,
        },
    ];
    for take in takes {
        let built = Ring64::builder(8).skip_after(Duration::ZERO).build();
        let (ring, mut consumer) = built.expect("a power of two");
        std::mem::forget(ring.claim(7).expect("all are free"));
        assert_eq!(ring.push(9), Ok(()));
        assert_eq!(take(&mut consumer), Some(9));
        assert_eq!((ring.stepped_over(), ring.skipped()), (7, 7));
    }
}

/// Each reading is a microsecond after the last.
#[derive(Default)]
struct Ticking(AtomicU64);

impl Timers for Ticking {
    fn now_ns(&self) -> u64 {
        self.0.fetch_add(1_000, Ordering::Relaxed)
    }

    fn wake_at(&self, _at_ns: u64, _waker: &Waker) -> TimerId {
        TimerId(0)
    }

    fn forget(&self, _timer: TimerId) {}
}

// proves: F-14
#[test]
fn age_is_bounded_by_capacity_times_measured_drain_time() {
    let built = Ring64::builder(64)
        .timers(Arc::new(Ticking::default()))
        .build();
    let (ring, mut consumer) = built.expect("a power of two");
    assert_eq!((ring.drain_ns(), ring.age_bound()), (None, None));
    for _ in 0..2 {
        assert_eq!(ring.push_batch(&[0; 64]), Ok(64));
        // It takes exactly what is there: the ring is not found empty in between.
        assert_eq!(consumer.fold(64, (), |(), _| ()).consumed, 64);
    }
    // 64 values a microsecond.
    assert_eq!(ring.drain_ns(), Some(15.625));
    assert_eq!(ring.age_bound(), Some(Duration::from_micros(1)));
    assert_eq!(consumer.age_bound(), ring.age_bound());
}

// proves: F-14
#[test]
fn positions_without_a_value_take_no_drain_time() {
    let timers = Arc::new(Ticking::default());
    let built = Ring64::builder(64).timers(timers).build();
    let (ring, mut consumer) = built.expect("a power of two");
    for _ in 0..2 {
        drop(ring.claim(32));
        assert_eq!(ring.push_batch(&[0; 32]), Ok(32));
        assert_eq!(consumer.fold(32, (), |(), _| ()).consumed, 32);
    }
    assert_eq!(ring.drain_ns(), None, "64 values are one window");
}

// proves: F-14
#[test]
fn time_in_which_a_ring64_is_empty_is_no_drain_time() {
    let takes: [fn(&mut Consumer64); 3] = [
        |consumer| assert_eq!(all(consumer).len(), 64),
        |consumer| {
            assert_eq!(consumer.fold(64, (), |(), _| ()).consumed, 64);
            assert_eq!(consumer.pop(), None);
        },
        |consumer| {
            while ready(consumer, Waker::noop()).is_ready() {
                assert!(consumer.pop().is_some());
            }
        },
    ];
    for take in takes {
        let timers = Arc::new(Ticking::default());
        let built = Ring64::builder(64).timers(timers).build();
        let (ring, mut consumer) = built.expect("a power of two");
        for _ in 0..3 {
            assert_eq!(ring.push_batch(&[0; 64]), Ok(64));
            take(&mut consumer);
        }
        assert_eq!(ring.drain_ns(), None, "no two windows without a gap");
    }
}

// proves: W-3
#[test]
fn idle_consumers_and_pushes_cost_no_poll_and_no_timer() {
    let clock = Arc::new(ByHand::default());
    let (rung, waker) = bell();
    let mut rings = Vec::new();
    for _ in 0..1_000 {
        let built = Ring64::builder(1).timers(clock.clone()).build();
        let (ring, mut consumer) = built.expect("a power of two");
        assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
        rings.push((ring, consumer));
    }
    let (full, _held) = Ring64::new(1);
    assert_eq!(full.push(0), Ok(()));
    let mut push = pin!(full.push_wait(1, Duration::MAX));
    assert!(push.as_mut().poll(&mut cx(&waker)).is_pending());
    for _ in 0..60 {
        clock.advance(Duration::from_secs(60));
    }
    assert_eq!((rung.rings(), clock.armed()), (0, 0));
}
