//! A shard's receive buffers: what happens while chunks hold them all, and who gets a turn.
#![allow(clippy::unwrap_used)]

mod tcp_pair;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use corelane::task::yield_now;
use corelane::time::timeout;
use corelane::{Builder, spawn};
use tcp_pair::pair;

fn one_buffer(builder: Builder) -> Builder {
    builder.receive_buffers(1)
}

fn two_buffers(builder: Builder) -> Builder {
    builder.receive_buffers(2)
}

fn short_budget(builder: Builder) -> Builder {
    builder.task_budget(Duration::from_micros(50))
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2, with = two_buffers)]
async fn readers_wait_while_chunks_hold_all_buffers_and_go_on_after() {
    let mut ends = Vec::new();
    for number in 0..6_u8 {
        let (client, server) = pair().await;
        client.write_all(vec![number; 10]).await.0.unwrap();
        ends.push((client, server));
    }
    let held = [
        ends[0].1.read_chunk().await.unwrap(),
        ends[1].1.read_chunk().await.unwrap(),
    ];
    let starved = timeout(Duration::from_millis(2), ends[2].1.read_chunk()).await;
    assert!(starved.is_err(), "a third buffer of two");
    let waiting: Vec<_> = ends
        .drain(2..)
        .map(|(client, server)| {
            spawn(async move {
                let _client = client;
                server.read_chunk().await.unwrap().into_vec()
            })
        })
        .collect();
    yield_now().await;
    assert!(!waiting.iter().any(|task| task.is_finished()));
    for (number, chunk) in held.into_iter().enumerate() {
        assert_eq!(chunk.into_vec(), [number as u8; 10]);
    }
    for (number, task) in (2..).zip(waiting) {
        assert_eq!(task.await.unwrap(), [number; 10]);
    }
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2, with = one_buffer)]
async fn owned_buffers_are_filled_while_chunks_hold_all_of_the_shards() {
    let (client, server) = pair().await;
    client.write_all("held").await.0.unwrap();
    let held = server.read_chunk().await.unwrap();
    let (other_client, other_server) = pair().await;
    for (client, server) in [(&client, &server), (&other_client, &other_server)] {
        client.write_all("0123").await.0.unwrap();
        let (read, word) = server.read_exact(Box::new([0; 4])).await;
        read.unwrap();
        assert_eq!(&word[..], b"0123");
    }
    assert_eq!(&held[..], b"held");
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn a_chunk_outlives_its_stream_and_is_written_as_it_is() {
    let (client, server) = pair().await;
    client.write_all("0123456789").await.0.unwrap();
    let mut chunk = server.read_chunk().await.unwrap();
    drop((client, server));
    chunk.advance(2);
    chunk.truncate(5);
    let (client, server) = pair().await;
    let (wrote, chunk) = client.write_all(chunk).await;
    wrote.unwrap();
    assert_eq!(&chunk[..], b"23456");
    assert_eq!(&server.read_chunk().await.unwrap()[..], b"23456");
}

// Virtual time stands still while a task runs, so a budget is spent on real drivers alone.
// proves: RT-3
#[corelane::test(shards = 1, with = short_budget)]
async fn a_stream_that_never_waits_lets_other_tasks_run() {
    let (client, server) = pair().await;
    let bytes = 50_000;
    client.write_all(vec![1; bytes]).await.0.unwrap();
    let turns = Rc::new(Cell::new(0));
    let other = spawn({
        let turns = Rc::clone(&turns);
        async move {
            loop {
                turns.set(turns.get() + 1);
                yield_now().await;
            }
        }
    });
    let reader = spawn(async move {
        let _client = client;
        let mut left = bytes;
        let mut buf = vec![0; 1].into_boxed_slice();
        while left > 0 {
            let (read, filled) = server.read(buf).await;
            left -= read.unwrap();
            buf = filled;
        }
    });
    reader.await.unwrap();
    other.abort();
    assert!(turns.get() > 10, "the other task ran {} times", turns.get());
}
