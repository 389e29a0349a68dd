//! Panics of tasks stay their own.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;

use corelane::task::yield_now;
use corelane::{JoinError, metrics, spawn};

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
    struct PanicsInDrop;
    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            panic!("in the drop");
        }
    }
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
