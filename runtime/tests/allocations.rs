//! What allocates once does not allocate again.
#![allow(clippy::unwrap_used)]

use std::alloc::System;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use corelane::net::{TcpListener, TcpStream};
use corelane::task::yield_now;
use corelane::time::sleep;
use corelane::{Builder, Shard, Submit, shard, shards, spawn};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Operations a round: one allocation for each would be seen many times over.
const OPERATIONS: usize = 1_000;
/// As many bytes go both ways through the kernel in each, so there are fewer.
const ECHOES: usize = 100;
const WARM_UP: usize = 5;
const ROUNDS: usize = 20;

/// The fewest calls of the allocator in a round. The counts are the whole process's, so other
/// threads' may come in between; what a round itself does is in each of them.
async fn fewest_calls(mut round: impl AsyncFnMut()) -> usize {
    for _ in 0..WARM_UP {
        round().await;
    }
    let calls = || {
        let stats = ALLOCATOR.stats();
        stats.allocations + stats.deallocations + stats.reallocations
    };
    let mut fewest = usize::MAX;
    for _ in 0..ROUNDS {
        let before = calls();
        round().await;
        fewest = fewest.min(calls() - before);
    }
    fewest
}

/// Spawns and joins tasks that hold `BYTES` bytes, all at once.
async fn spawn_and_join<const BYTES: usize>() -> usize {
    let mut tasks = Vec::with_capacity(OPERATIONS);
    fewest_calls(async || {
        for number in 0..OPERATIONS {
            let bytes = [number as u8; BYTES];
            tasks.push(spawn(async move {
                yield_now().await;
                bytes[BYTES - 1]
            }));
        }
        for (number, task) in tasks.drain(..).enumerate() {
            assert_eq!(task.await.unwrap(), number as u8);
        }
    })
    .await
}

// proves: RT-2
#[corelane::test(shards = 1)]
async fn task_of_a_size_seen_before_allocates_nothing() {
    assert_eq!(spawn_and_join::<1>().await, 0);
    assert_eq!(spawn_and_join::<100>().await, 0);
    assert_eq!(spawn_and_join::<5_000>().await, 0);
}

// proves: RT-2
#[corelane::test(shards = 1)]
async fn task_that_ends_in_any_other_way_allocates_nothing_either() {
    let calls = fewest_calls(async || {
        for _ in 0..OPERATIONS {
            let aborted = spawn(std::future::pending::<()>());
            spawn(async {}).detach();
            aborted.abort();
            assert!(aborted.await.is_err());
        }
    })
    .await;
    assert_eq!(calls, 0);
}

// proves: RT-2
#[corelane::test(shards = 1)]
async fn wakes_and_yields_allocate_nothing() {
    let calls = fewest_calls(async || {
        for _ in 0..OPERATIONS {
            yield_now().await;
            let mut woken = false;
            poll_fn(|cx| {
                if woken {
                    return Poll::Ready(());
                }
                woken = true;
                let waker = cx.waker().clone();
                waker.wake_by_ref();
                waker.wake();
                Poll::Pending
            })
            .await;
        }
    })
    .await;
    assert_eq!(calls, 0);
}

/// Sends calls one way, all at once, and takes their answers.
async fn call(target: &Shard) -> usize {
    let mut calls: Vec<Submit<usize>> = Vec::with_capacity(OPERATIONS);
    fewest_calls(async || {
        for number in 0..OPERATIONS {
            calls.push(target.submit(move || async move { number }));
        }
        for (number, call) in calls.iter_mut().enumerate() {
            assert_eq!(Pin::new(call).await.unwrap(), number);
        }
        calls.clear();
    })
    .await
}

// proves: RT-7
// Nobody allocates: each item goes back to its sender, who takes it again for the next one. Were it
// freed on the target, the sender would have to allocate.
#[corelane::test(shards = 2)]
async fn items_that_go_one_way_only_come_back_to_their_sender() {
    let (here, there) = (shard(), shards()[1].clone());
    assert_eq!(call(&there).await, 0);
    let from_there = there.submit(|| async move { call(&here).await });
    assert_eq!(from_there.await.unwrap(), 0);
}

fn two_slots(builder: Builder) -> Builder {
    builder.lane_capacity(2)
}

// proves: RT-7
#[corelane::test(shards = 2, with = two_slots)]
async fn items_that_wait_for_room_do_so_without_allocating() {
    assert_eq!(call(&shards()[1]).await, 0);
}

// proves: RT-7
#[corelane::test(shards = 2)]
async fn cancelled_items_come_back_to_their_sender_too() {
    let there = shards()[1].clone();
    let calls = fewest_calls(async || {
        for _ in 0..OPERATIONS {
            drop(there.submit(yield_now));
        }
        there.submit(|| async {}).await.unwrap();
    })
    .await;
    assert_eq!(calls, 0);
}

/// Sends `message` and takes it back, on both kinds of read.
async fn echo_rounds(client: &TcpStream, mut message: Vec<u8>) -> usize {
    let mut back = Vec::with_capacity(message.len());
    fewest_calls(async || {
        for _ in 0..ECHOES {
            let (sent, kept) = client.write_all(std::mem::take(&mut message)).await;
            sent.unwrap();
            message = kept;
            back.clear();
            while back.len() < message.len() {
                let chunk = client.read_chunk().await.unwrap();
                assert!(!chunk.is_empty(), "the echo is there to the last round");
                back.extend_from_slice(&chunk);
            }
            assert_eq!(back, message);
        }
    })
    .await
}

// proves: RT-12
#[corelane::test(shards = 1)]
async fn receives_and_sends_allocate_nothing() {
    for bytes in [64, 10_000] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let (server, _) = listener.accept().await.unwrap();
        let echo = spawn(async move {
            let mut buffer = Vec::with_capacity(16_384);
            loop {
                buffer.clear();
                let (read, filled) = server.read(buffer).await;
                if read.unwrap() == 0 {
                    return;
                }
                let (written, filled) = server.write_all(filled).await;
                written.unwrap();
                buffer = filled;
            }
        });
        assert_eq!(
            echo_rounds(&client, vec![7; bytes]).await,
            0,
            "{bytes} bytes"
        );
        drop(client);
        echo.await.unwrap();
    }
}

// proves: RT-14
#[corelane::test(shards = 1)]
async fn timers_allocate_nothing() {
    let calls = fewest_calls(async || {
        for _ in 0..OPERATIONS {
            let mut dropped = std::pin::pin!(sleep(Duration::from_secs(3_600)));
            poll_fn(|cx| {
                assert!(dropped.as_mut().poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
        }
        sleep(Duration::from_micros(1)).await;
    })
    .await;
    assert_eq!(calls, 0);
}
