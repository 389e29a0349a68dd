//! Waits at a primitive that end by time, on the shards' own timers.
#![allow(clippy::unwrap_used)]

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use corelane::metrics::snapshot;
use corelane::time::{Instant, ShardTimers, sleep};
use corelane_primitives::{PushError, Ring, RingConsumer, TimerId, Timers};

/// What virtual time may add: the wheel's tick, and the turns in between.
const SLACK: Duration = Duration::from_micros(50);
const TIMEOUT: Duration = Duration::from_millis(100);

fn ring(capacity: usize) -> (Ring<u64>, RingConsumer<u64>) {
    let timers = Arc::new(ShardTimers);
    Ring::builder(capacity).timers(timers).build().unwrap()
}

/// Eight slots, full, on virtual time: exactly late enough.
// proves: F-3
#[corelane::test(shards = 1, sim, seeds = 4)]
async fn push_that_ends_by_time_is_never_early_and_hardly_late() {
    let (ring, mut consumer) = ring(8);
    for value in 0..8 {
        ring.push(value).unwrap();
    }
    let start = Instant::now();
    let waited = ring.push_wait(8, TIMEOUT).await;
    assert_eq!(waited, Err(PushError::TimedOut(8)));
    let took = start.elapsed();
    assert!((TIMEOUT..TIMEOUT + SLACK).contains(&took), "{took:?}");
    assert!((0..8).all(|value| consumer.pop() == Some(value)));
}

// proves: F-3
#[corelane::test(shards = 1)]
async fn push_that_ends_by_time_is_never_early() {
    let timeout = Duration::from_millis(2);
    let (ring, _consumer) = ring(1);
    ring.push(0).unwrap();
    let start = Instant::now();
    assert_eq!(
        ring.push_wait(1, timeout).await,
        Err(PushError::TimedOut(1))
    );
    assert!(start.elapsed() >= timeout);
}

// proves: F-8
#[corelane::test(shards = 1, sim, seeds = 4)]
async fn sleeping_consumer_steps_over_a_forgotten_claim() {
    let (ring, mut consumer) = ring(4);
    std::mem::forget(ring.claim());
    ring.push(1).unwrap();
    let start = Instant::now();
    assert_eq!(consumer.recv().await, Some(1));
    let took = start.elapsed();
    let skip_after = Duration::from_millis(50);
    assert!((skip_after..skip_after + SLACK).contains(&took), "{took:?}");
}

/// The fired and the armed ones are the metrics'; a forgotten timer does neither.
#[corelane::test(shards = 1, sim)]
async fn waits_that_are_dropped_leave_no_timer() {
    let (ring, mut consumer) = ring(1);
    ring.push(0).unwrap();
    let fired = || snapshot().shards[0].timers_fired;
    let before = fired();
    {
        let mut push = pin!(ring.push_wait(1, TIMEOUT));
        let polled = poll_fn(|cx| Poll::Ready(push.as_mut().poll(cx))).await;
        assert!(polled.is_pending());
    }
    assert_eq!(consumer.pop(), Some(0));
    sleep(TIMEOUT * 2).await;
    assert_eq!(fired() - before, 1, "the sleep's own");
}

/// An id that is not one of this shard's reaches nothing, whatever timer has the same place.
#[corelane::test(shards = 1, sim)]
async fn foreign_ids_disarm_nothing() {
    let start = Instant::now();
    let mut sleep = pin!(sleep(TIMEOUT));
    let polled = poll_fn(|cx| Poll::Ready(sleep.as_mut().poll(cx))).await;
    assert!(polled.is_pending());
    let own = ShardTimers.wake_at(u64::MAX, std::task::Waker::noop());
    ShardTimers.forget(TimerId(own.0 ^ 1 << 96));
    ShardTimers.forget(TimerId(own.0 ^ 3));
    ShardTimers.forget(own);
    ShardTimers.forget(own);
    sleep.await;
    assert!(start.elapsed() >= TIMEOUT);
}
