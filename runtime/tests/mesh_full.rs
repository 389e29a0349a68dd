//! Lanes that are full: nothing waits for ever, nothing is lost, and order is kept.
#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use corelane::metrics::snapshot;
use corelane::task::yield_now;
use corelane::{Builder, Shard, Submit, TrySubmitError, shard, shards};

const CALLS: usize = 4_000;

fn two_slots(builder: Builder) -> Builder {
    builder.lane_capacity(2)
}

/// The order in which calls arrived, by their numbers.
type Order = Arc<Mutex<Vec<usize>>>;

/// Sends `CALLS` calls to `target` without waiting for any; each leaves its number there.
fn flood(target: &Shard, order: &Order) -> Vec<Submit<usize>> {
    let send = |number: usize| {
        let order = Arc::clone(order);
        target.submit(move || async move {
            order.lock().unwrap().push(number);
            yield_now().await;
            number
        })
    };
    (0..CALLS).map(send).collect()
}

/// Floods `target`, takes all answers, and says in which order the calls arrived.
async fn flood_and_take(target: Shard) -> Vec<usize> {
    let order = Order::default();
    for (number, call) in flood(&target, &order).into_iter().enumerate() {
        assert_eq!(call.await.unwrap(), number);
    }
    let order = order.lock().unwrap();
    order.clone()
}

fn in_order() -> Vec<usize> {
    (0..CALLS).collect()
}

// proves: RT-7
#[corelane::test(shards = 2, with = two_slots, uring, epoll, sim, seeds = 4)]
async fn two_shards_that_are_full_toward_each_other_go_on() {
    let (here, there) = (shard(), shards()[1].clone());
    let back = there.submit(move || flood_and_take(here));
    assert_eq!(flood_and_take(there).await, in_order());
    assert_eq!(back.await.unwrap(), in_order());
}

// proves: RT-7
#[corelane::test(shards = 4, with = two_slots, uring, epoll, sim, seeds = 2)]
async fn full_lanes_in_a_ring_and_across_go_on() {
    let all = shards();
    let mut calls = Vec::new();
    for from in all.iter() {
        for to in all.iter().filter(|to| *to != from) {
            let to = to.clone();
            calls.push(from.submit(move || flood_and_take(to)));
        }
    }
    for call in calls {
        assert_eq!(call.await.unwrap(), in_order());
    }
}

/// Keeps `target` inside a poll until the sender is used or dropped.
fn occupy(target: &Shard) -> (Submit<()>, mpsc::Sender<()>) {
    const LIMIT: Duration = Duration::from_secs(30);
    let (release, released) = mpsc::channel();
    let call = target.submit(move || async move {
        // A sender that is gone releases too.
        let _ = released.recv_timeout(LIMIT);
    });
    (call, release)
}

// proves: RT-7
#[corelane::test(shards = 2, with = two_slots)]
async fn call_that_finds_the_lane_full_comes_back_and_is_counted() {
    let there = shards()[1].clone();
    let (occupied, release) = occupy(&there);
    // Until the shard is occupied it takes calls, a few each turn.
    let mut taken = Vec::new();
    let refused = loop {
        match there.try_submit(|| async { 7 }) {
            Ok(call) => taken.push(call),
            Err(refused) => break refused,
        }
        yield_now().await;
    };
    assert!(matches!(refused, TrySubmitError::Full(_)));
    assert_eq!(refused.into_call()().await, 7);
    assert_eq!(snapshot().shards[0].lane_refusals, 1);
    release.send(()).unwrap();
    occupied.await.unwrap();
    for call in taken {
        assert_eq!(call.await.unwrap(), 7);
    }
}

// proves: RT-7
#[corelane::test(shards = 2, with = two_slots, sim, seeds = 8)]
async fn lane_takes_as_many_calls_as_it_has_slots() {
    let there = shards()[1].clone();
    let calls: Vec<_> = (0..3).map(|_| there.try_submit(|| async {})).collect();
    let full: Vec<_> = calls.iter().map(Result::is_err).collect();
    assert_eq!(full, [false, false, true]);
    for call in calls.into_iter().flatten() {
        call.await.unwrap();
    }
    there.try_submit(|| async {}).unwrap().await.unwrap();
}
