//! Pushes that wait for room, and how they end.

use crate::clock::{Act, bell, cx, ms, ring_by_hand};
use corelane_primitives::{PushError, Ring};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};
use std::time::Duration;

type Push<'a> = Pin<Box<dyn Future<Output = Result<(), PushError<u64>>> + 'a>>;

fn wait(ring: &Ring<u64>, value: u64) -> Push<'_> {
    Box::pin(ring.push_wait(value, Duration::MAX))
}

fn poll(push: &mut Push<'_>, waker: &Waker) -> Poll<Result<(), PushError<u64>>> {
    push.as_mut().poll(&mut cx(waker))
}

#[test]
fn wait_with_room_completes_at_the_first_poll() {
    let (ring, mut consumer) = Ring::new(2);
    for value in 0..2 {
        assert_eq!(
            poll(&mut wait(&ring, value), Waker::noop()),
            Poll::Ready(Ok(()))
        );
    }
    assert!(poll(&mut wait(&ring, 2), Waker::noop()).is_pending());
    assert_eq!((consumer.pop(), consumer.pop()), (Some(0), Some(1)));
    assert_eq!(consumer.pop(), None, "a dropped wait leaves nothing");
    assert_eq!(ring.refused(), 0);
}

/// Eight slots, full: the time is over exactly then, and nothing was polled in between.
// proves: F-3
#[test]
fn push_with_a_timeout_ends_when_the_time_is_over_and_never_early() {
    let (clock, ring, mut consumer) = ring_by_hand(8);
    for value in 0..8 {
        assert_eq!(ring.push(value), Ok(()));
    }
    let (rung, waker) = bell();
    let mut push = Box::pin(ring.push_wait(8, ms(100)));
    assert!(push.as_mut().poll(&mut cx(&waker)).is_pending());
    for _ in 0..99 {
        clock.advance(ms(1));
    }
    clock.advance(Duration::from_nanos(999_999));
    assert_eq!((rung.rings(), clock.armed()), (0, 1), "it sleeps");
    assert!(push.as_mut().poll(&mut cx(&waker)).is_pending());
    clock.advance(Duration::from_nanos(1));
    assert_eq!(rung.rings(), 1);
    let timed_out = push.as_mut().poll(&mut cx(&waker));
    assert_eq!(timed_out, Poll::Ready(Err(PushError::TimedOut(8))));
    drop(push);
    assert_eq!((clock.armed(), ring.refused(), ring.occupancy()), (0, 1, 8));
    let mut out = Vec::new();
    consumer.pop_batch(&mut out, 9);
    assert!(out.into_iter().eq(0..8), "what was inside is untouched");
}

// proves: F-3
#[test]
fn blocking_push_ends_by_time_and_leaves_what_is_inside() {
    let (ring, mut consumer) = Ring::new(8);
    for value in 0..8 {
        assert_eq!(ring.push(value), Ok(()));
    }
    let waited = ring.blocking_push(8, ms(2));
    assert_eq!(waited, Err(PushError::TimedOut(8)));
    assert_eq!(
        ring.blocking_push(9, Duration::ZERO),
        Err(PushError::TimedOut(9))
    );
    assert!((0..8).all(|value| consumer.pop() == Some(value)));
    assert_eq!(ring.blocking_push(10, Duration::ZERO), Ok(()));
}

#[test]
fn room_comes_before_the_time_is_over() {
    let (clock, ring, mut consumer) = ring_by_hand(1);
    assert_eq!(ring.push(1), Ok(()));
    let (rung, waker) = bell();
    let mut push = Box::pin(ring.push_wait(2, ms(100)));
    assert!(push.as_mut().poll(&mut cx(&waker)).is_pending());
    assert_eq!(consumer.pop(), Some(1));
    // Both at once: the room counts.
    clock.advance(ms(100));
    assert_eq!(rung.rings(), 2);
    assert_eq!(push.as_mut().poll(&mut cx(&waker)), Poll::Ready(Ok(())));
    drop(push);
    assert_eq!(consumer.pop(), Some(2));
}

#[test]
fn timeout_without_timers_is_the_callers_fault_with_and_without_room() {
    let (ring, _consumer) = Ring::new(1);
    for _ in 0..2 {
        let mut push = Box::pin(ring.push_wait(1, ms(1)));
        let polled = push.as_mut().poll(&mut cx(Waker::noop()));
        assert_eq!(polled, Poll::Ready(Err(PushError::NoTimers(1))));
        drop(push);
        let _full_or_not = ring.push(1);
    }
}

// proves: W-5
#[test]
fn waiting_pushes_go_in_the_order_of_their_coming_and_are_woken_once_a_grant() {
    let (ring, mut consumer) = Ring::new(2);
    assert_eq!((ring.push(0), ring.push(1)), (Ok(()), Ok(())));
    let bells: Vec<_> = (0..6).map(|_| bell()).collect();
    let mut pushes: Vec<_> = (0..6).map(|value| wait(&ring, value + 2)).collect();
    for (push, (_, waker)) in pushes.iter_mut().zip(&bells) {
        assert!(poll(push, waker).is_pending());
    }
    let rings = || {
        bells
            .iter()
            .map(|(bell, _)| bell.rings())
            .collect::<Vec<_>>()
    };
    // Both slots come back as one, so two are woken, and nobody twice.
    assert_eq!(consumer.fold(9, 0, |count, _| count + 1).acc, 2);
    assert_eq!(rings(), [1, 1, 0, 0, 0, 0]);
    assert_eq!(poll(&mut pushes[1], &bells[1].1), Poll::Ready(Ok(())));
    assert_eq!(poll(&mut pushes[0], &bells[0].1), Poll::Ready(Ok(())));
    assert_eq!(rings(), [1, 1, 0, 0, 0, 0]);
    assert_eq!(consumer.pop(), Some(3), "who was polled first");
    assert_eq!(rings(), [1, 1, 1, 0, 0, 0]);
    // Who comes late waits behind those who wait, also when there is room for one.
    let mut late = wait(&ring, 99);
    assert!(poll(&mut late, Waker::noop()).is_pending());
    for (index, (push, (_, waker))) in pushes.iter_mut().zip(&bells).enumerate().skip(2) {
        assert_eq!(poll(push, waker), Poll::Ready(Ok(())), "push {index}");
        assert!(consumer.pop().is_some());
    }
    assert_eq!(rings(), [1; 6]);
    assert_eq!(poll(&mut late, Waker::noop()), Poll::Ready(Ok(())));
}

#[test]
fn push_that_does_not_wait_may_take_the_room_and_the_waiter_keeps_its_place() {
    let (ring, mut consumer) = Ring::new(1);
    assert_eq!(ring.push(0), Ok(()));
    let (rung, waker) = bell();
    let mut first = wait(&ring, 1);
    let mut second = wait(&ring, 2);
    assert!(poll(&mut first, &waker).is_pending());
    assert!(poll(&mut second, Waker::noop()).is_pending());
    assert_eq!(consumer.pop(), Some(0));
    assert_eq!((rung.rings(), ring.push(9)), (1, Ok(())));
    assert!(poll(&mut first, &waker).is_pending());
    assert_eq!(consumer.pop(), Some(9));
    assert_eq!(rung.rings(), 2);
    assert!(poll(&mut second, Waker::noop()).is_pending());
    assert_eq!(poll(&mut first, &waker), Poll::Ready(Ok(())));
}

#[test]
fn cancelled_push_passes_its_grant_on() {
    let (ring, mut consumer) = Ring::new(1);
    assert_eq!(ring.push(0), Ok(()));
    let (first, second) = (bell(), bell());
    let mut cancelled = wait(&ring, 1);
    let mut waiting = wait(&ring, 2);
    assert!(poll(&mut cancelled, &first.1).is_pending());
    assert!(poll(&mut waiting, &second.1).is_pending());
    assert_eq!(consumer.pop(), Some(0));
    assert_eq!((first.0.rings(), second.0.rings()), (1, 0));
    drop(cancelled);
    assert_eq!((first.0.rings(), second.0.rings()), (1, 1));
    assert_eq!(poll(&mut waiting, &second.1), Poll::Ready(Ok(())));
    assert_eq!((consumer.pop(), consumer.pop()), (Some(2), None));
}

#[test]
fn closed_ring_ends_every_wait_with_the_value() {
    for consumer_leaves in [false, true] {
        let (ring, consumer) = Ring::new(1);
        assert_eq!(ring.push(0), Ok(()));
        let bells: Vec<_> = (0..3).map(|_| bell()).collect();
        let mut pushes: Vec<_> = (1..4).map(|value| wait(&ring, value)).collect();
        for (push, (_, waker)) in pushes.iter_mut().zip(&bells) {
            assert!(poll(push, waker).is_pending());
        }
        let consumer = if consumer_leaves {
            drop(consumer);
            None
        } else {
            ring.close();
            Some(consumer)
        };
        for (index, (push, (bell, waker))) in pushes.iter_mut().zip(&bells).enumerate() {
            assert_eq!(bell.rings(), 1);
            let closed = PushError::Closed(index as u64 + 1);
            assert_eq!(poll(push, waker), Poll::Ready(Err(closed)));
        }
        let inside = consumer.and_then(|mut consumer| consumer.pop());
        assert_eq!(inside, (!consumer_leaves).then_some(0));
    }
}

/// Each future is dropped after each number of polls, in each state of the ring; what was offered
/// is afterwards accounted for, and both ends go on.
#[test]
fn futures_may_be_dropped_at_any_await_in_any_state() {
    for inside in 0..=2_u64 {
        for claim_first in [false, true] {
            for granted in [false, true] {
                for push_polls in 0..3 {
                    for recv_polls in 0..3 {
                        cancel(inside, claim_first, granted, push_polls, recv_polls);
                    }
                }
            }
        }
    }
}

fn cancel(inside: u64, claim_first: bool, granted: bool, push_polls: usize, recv_polls: usize) {
    let (clock, ring, mut consumer) = ring_by_hand(2);
    let claim = claim_first.then(|| ring.claim().expect("it is empty"));
    let (mut offered, mut accepted, mut refused, mut dropped) = (0, 0, 0, 0);
    for value in 0..inside {
        offered += 1;
        match ring.push(value) {
            Ok(()) => accepted += 1,
            Err(_) => refused += 1,
        }
    }
    let mut taken = 0;
    offered += 1;
    let mut push = Box::pin(ring.push_wait(10, ms(100)));
    let mut done = None;
    for poll in 0..push_polls {
        if poll == 1 && granted {
            taken += u64::from(consumer.pop().is_some());
        }
        if done.is_none()
            && let Poll::Ready(pushed) = push.as_mut().poll(&mut cx(Waker::noop()))
        {
            done = Some(pushed);
        }
    }
    drop(push);
    match done {
        Some(Ok(())) => accepted += 1,
        Some(Err(_)) => refused += 1,
        None => dropped += 1,
    }
    for polls in 0..2 {
        let mut recv = Box::pin(consumer.recv());
        for _ in 0..recv_polls * polls {
            if let Poll::Ready(value) = recv.as_mut().poll(&mut cx(Waker::noop())) {
                taken += u64::from(value.is_some());
                break;
            }
        }
        drop(recv);
        let ready = Box::pin(consumer.ready())
            .as_mut()
            .poll(&mut cx(Waker::noop()));
        assert_eq!(ready.is_ready(), !claim_first && ring.occupancy() > 0);
    }
    assert_eq!(clock.armed(), 0, "no dropped future has left a timer");
    drop(claim);
    // Nobody is stuck: both ends do their work.
    taken += consumer.fold(9, 0, |count, _| count + 1).acc;
    let pushed = Box::pin(ring.push_wait(11, ms(100)))
        .as_mut()
        .poll(&mut cx(Waker::noop()));
    assert_eq!((pushed, consumer.pop()), (Poll::Ready(Ok(())), Some(11)));
    assert_eq!(accepted + refused + dropped, offered);
    assert_eq!(accepted, taken);
    assert_eq!(ring.pushed(), accepted + 1 + ring.skipped());
    assert_eq!((ring.refused(), ring.occupancy()), (refused, 0));
}

/// Sixty-four tasks of one thread, one slot: everybody gets in, and nobody twice before another.
#[test]
fn many_waiting_pushes_share_the_ring_evenly() {
    let (ring, mut consumer) = Ring::new(1);
    let woken = Arc::new(AtomicUsize::new(0));
    let counting = woken.clone();
    let waker = Waker::from(Arc::new(Act(move || {
        counting.fetch_add(1, Ordering::Relaxed);
    })));
    let mut pushes: Vec<_> = (0..64).map(|value| wait(&ring, value)).collect();
    let mut counts = [0_u32; 64];
    for _ in 0..64 * 20 {
        for (value, push) in pushes.iter_mut().enumerate() {
            if poll(push, &waker).is_ready() {
                *push = wait(&ring, value as u64);
                assert!(poll(push, &waker).is_pending());
            }
        }
        let value = consumer.pop().expect("somebody always pushes");
        counts[value as usize] += 1;
    }
    // The very first one found the ring empty.
    let fair = |count: &u32| (19..=21).contains(count);
    assert!(counts.iter().all(fair), "{counts:?}");
}
