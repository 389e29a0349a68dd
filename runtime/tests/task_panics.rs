//! Panics of tasks stay their own.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;
use std::task::Poll;

use corelane::task::yield_now;
use corelane::{Inlet, JoinError, Outlet, metrics, shards, spawn};
use corelane_primitives::lane;

struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        panic!("in the drop");
    }
}

// proves: RT-18
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn panic_of_a_task_is_its_handles_error_and_nobody_elses() {
    let rounds = Rc::new(Cell::new(0));
    let other = spawn({
        let rounds = Rc::clone(&rounds);
        async move {
            for _ in 0..100 {
                rounds.set(rounds.get() + 1);
                yield_now().await;
            }
        }
    });
    for number in 0..10_u32 {
        let task = spawn(async move {
            yield_now().await;
            std::panic::panic_any(number);
        });
        let panic = task.await.unwrap_err().into_panic().unwrap();
        assert_eq!(panic.downcast_ref(), Some(&number));
    }
    // Without a handle the panic is counted, and goes nowhere else.
    spawn(async { panic!("nobody waits") }).detach();
    other.await.unwrap();
    assert_eq!(rounds.get(), 100);
    assert_eq!(metrics::snapshot().shards[0].tasks_panicked, 11);
}

// proves: RT-18
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn panic_in_the_drop_of_an_aborted_task_is_its_handles_error() {
    let task = spawn(async {
        let _bomb = PanicsInDrop;
        pending::<()>().await;
    });
    yield_now().await;
    task.abort();
    let error = task.await.unwrap_err();
    assert!(matches!(error, JoinError::Panicked(_)), "{error}");
    assert_eq!(error.to_string(), "the task panicked: in the drop");
    // An output that panics when it is dropped, which nobody takes: the shard goes on.
    spawn(async { PanicsInDrop }).detach();
    yield_now().await;
    assert_eq!(spawn(async { 7 }).await.unwrap(), 7);
}

// proves: RT-18
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn future_and_output_that_both_panic_in_their_drops_are_one_error() {
    let bomb = PanicsInDrop;
    let task = spawn(std::future::poll_fn(move |_| {
        let _stays = &bomb;
        Poll::Ready(PanicsInDrop)
    }));
    let error = task.await.err().unwrap();
    assert_eq!(error.to_string(), "the task panicked: in the drop");
}

// proves: RT-18
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 2)]
async fn answer_that_panics_in_its_drop_ends_no_shard() {
    let there = shards()[1].clone();
    // Given up before the answer is back, so that the shard itself drops the answer.
    let call = there.submit(|| async { PanicsInDrop });
    drop(call);
    let call = there.submit(|| async { PanicsInDrop });
    // Calls are answered in their order here: the one before is back.
    assert_eq!(there.submit(|| async { 6 }).await.unwrap(), 6);
    drop(call);
    assert_eq!(there.submit(|| async { 7 }).await.unwrap(), 7);
}

// proves: RT-18
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn lane_whose_values_panic_in_their_drops_ends_no_shard() {
    let (producer, consumer) = lane(4);
    let (outlet, inlet) = (Outlet::new(producer), Inlet::new(consumer));
    assert!(outlet.push(PanicsInDrop).is_ok());
    // The shard still has to tell the other end, so it is the last to hold the lane.
    drop((inlet, outlet));
    yield_now().await;
    yield_now().await;
    assert_eq!(spawn(async { 7 }).await.unwrap(), 7);
}
