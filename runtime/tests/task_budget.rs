//! Leaf futures give way when the task's time is over.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use corelane::net::{TcpListener, TcpStream};
use corelane::task::yield_now;
use corelane::time::{Instant, sleep_until};
use corelane::{Builder, shards, spawn};

/// Operations of the loop under test.
const OPERATIONS: usize = 6_400;
/// The clock is read each 32 operations of a poll; the first reading begins the budget.
const OPERATIONS_A_POLL: usize = 64;

fn no_time(builder: Builder) -> Builder {
    builder.task_budget(Duration::ZERO)
}

fn all_the_time(builder: Builder) -> Builder {
    builder.task_budget(Duration::from_secs(3_600))
}

/// How often another task has its turn while `operations` run.
async fn turns_of_another_during(operations: impl Future) -> usize {
    let (turns, over) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
    let other = spawn({
        let (turns, over) = (Rc::clone(&turns), Rc::clone(&over));
        async move {
            while !over.get() {
                turns.set(turns.get() + 1);
                yield_now().await;
            }
        }
    });
    yield_now().await;
    let before = turns.get();
    operations.await;
    let during = turns.get() - before;
    over.set(true);
    other.await.unwrap();
    during
}

/// Sleeps that are over when they begin.
async fn sleeps(past: Instant) {
    for _ in 0..OPERATIONS {
        sleep_until(past).await;
    }
}

/// A time that every turn from now on takes for the past.
async fn past() -> Instant {
    let past = Instant::now();
    sleep_until(past).await;
    past
}

/// Reads of one byte each from a stream that has them all.
async fn reads() {
    let listener = TcpListener::bind(([127, 0, 0, 1], 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let (client, server) = (TcpStream::connect(address), listener.accept());
    let (client, (server, _)) = (client.await.unwrap(), server.await.unwrap());
    client.write_all(vec![7; OPERATIONS]).await.0.unwrap();
    // The first read may have to wait; then all the bytes are there.
    let mut buffer = vec![0; 1];
    for _ in 0..OPERATIONS {
        let (read, back) = server.read(buffer).await;
        assert_eq!((read.unwrap(), back[0]), (1, 7));
        buffer = back;
    }
}

// proves: RT-3
#[corelane::test(shards = 1, with = no_time, uring, epoll, sim, seeds = 2)]
async fn loop_over_ready_futures_gives_way_when_its_time_is_over() {
    let wanted = OPERATIONS / OPERATIONS_A_POLL - 1;
    let during_sleeps = turns_of_another_during(sleeps(past().await)).await;
    assert!(during_sleeps >= wanted, "{during_sleeps}");
    let during_reads = turns_of_another_during(reads()).await;
    assert!(during_reads >= wanted, "{during_reads}");
}

// proves: RT-3
#[corelane::test(shards = 2, with = no_time, uring, epoll, sim, seeds = 2)]
async fn loop_over_answered_calls_gives_way_when_its_time_is_over() {
    let there = &shards()[1];
    let calls: Vec<_> = (0..OPERATIONS)
        .map(|number| there.submit(move || async move { number }))
        .collect();
    // Calls to one shard go in order: once the last is answered, all are.
    there.submit(|| async {}).await.unwrap();
    let during = turns_of_another_during(async {
        for (number, call) in calls.into_iter().enumerate() {
            assert_eq!(call.await.unwrap(), number);
        }
    });
    let during = during.await;
    assert!(during >= OPERATIONS / OPERATIONS_A_POLL - 1, "{during}");
}

// proves: RT-3
#[corelane::test(shards = 1, with = all_the_time, uring, epoll, sim, seeds = 2)]
async fn loop_within_its_time_runs_through() {
    let during = turns_of_another_during(sleeps(past().await)).await;
    assert_eq!(during, 0);
}
