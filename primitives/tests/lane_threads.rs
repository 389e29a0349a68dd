//! Two threads and one lane: nothing is lost, doubled or out of order, by any pair of methods.
#![cfg(not(corelane_loom))]

mod support;

use corelane_primitives::{Consumer, Producer, lane, lane_with_start};
use std::thread;
use support::block_on;

const COUNT: u64 = 20_000;

/// Takes the next value; out of order is a failure of the test.
fn check(expected: &mut u64, value: u64) {
    assert_eq!(value, *expected);
    *expected += 1;
}

/// Pushes `0..COUNT`, and drops the end when done.
type Push = fn(Producer<u64>);
/// Takes values until the producer has left and the lane is empty; returns how many.
type Take = fn(Consumer<u64>) -> u64;

fn push_singly(mut producer: Producer<u64>) {
    for value in 0..COUNT {
        while producer.push(value).is_err() {
            thread::yield_now();
        }
    }
}

fn push_batches(mut producer: Producer<u64>) {
    let mut values = 0..COUNT;
    while !values.is_empty() {
        if producer.push_batch(&mut values) == 0 {
            thread::yield_now();
        }
    }
}

fn push_chunks(mut producer: Producer<u64>) {
    let mut next = 0;
    while next < COUNT {
        let mut chunk = producer.write_chunk(5);
        while next < COUNT && chunk.push(next).is_ok() {
            next += 1;
        }
        if chunk.commit() == 0 {
            thread::yield_now();
        }
    }
}

fn push_by_send(mut producer: Producer<u64>) {
    block_on(async move {
        for value in 0..COUNT {
            assert_eq!(producer.send(value).await, Ok(()));
        }
    });
}

fn push_when_room(mut producer: Producer<u64>) {
    let half = producer.capacity().div_ceil(2);
    block_on(async move {
        let mut values = 0..COUNT;
        while !values.is_empty() {
            assert_eq!(producer.room(half).await, Ok(()));
            assert!(producer.push_batch(&mut values.by_ref().take(half)) <= half);
            producer.notify();
        }
    });
}

fn take_singly(mut consumer: Consumer<u64>) -> u64 {
    let mut expected = 0;
    loop {
        let last = consumer.is_abandoned();
        match consumer.pop() {
            Some(value) => check(&mut expected, value),
            None if last => return expected,
            None => {
                consumer.notify();
                thread::yield_now();
            }
        }
    }
}

fn take_batches(mut consumer: Consumer<u64>) -> u64 {
    let mut expected = 0;
    let mut batch = Vec::new();
    loop {
        let last = consumer.is_abandoned();
        if consumer.pop_batch(&mut batch, 7) == 0 {
            if last {
                return expected;
            }
            thread::yield_now();
        }
        consumer.notify();
        batch
            .drain(..)
            .for_each(|value| check(&mut expected, value));
    }
}

fn take_chunks(mut consumer: Consumer<u64>) -> u64 {
    let mut expected = 0;
    loop {
        let last = consumer.is_abandoned();
        let chunk = consumer.read_chunk(5);
        if chunk.len() == 0 && last {
            return expected;
        }
        // One is left in the lane each time, as long as there are two.
        let yielded = chunk.len().max(2) - 1;
        chunk
            .take(yielded)
            .for_each(|value| check(&mut expected, value));
        consumer.notify();
    }
}

fn take_by_recv(mut consumer: Consumer<u64>) -> u64 {
    block_on(async move {
        let mut expected = 0;
        while let Some(value) = consumer.recv().await {
            check(&mut expected, value);
        }
        expected
    })
}

fn take_when_ready(mut consumer: Consumer<u64>) -> u64 {
    block_on(async move {
        let mut expected = 0;
        while std::future::poll_fn(|cx| consumer.poll_ready(cx)).await {
            consumer
                .read_chunk(256)
                .for_each(|value| check(&mut expected, value));
            consumer.notify();
        }
        expected
    })
}

fn pass(capacity: usize, push: Push, take: Take) {
    let start = usize::MAX - 1_000;
    let (producer, consumer) = lane_with_start(capacity, start).expect("a power of two");
    let pushing = thread::spawn(move || push(producer));
    assert_eq!(take(consumer), COUNT);
    pushing.join().expect("the producer found no fault");
}

// A consumer that parks hears only of producers that notify, so the plain ones have plain partners.
const PLAIN_PUSHES: [Push; 3] = [push_singly, push_batches, push_chunks];
const PLAIN_TAKES: [Take; 3] = [take_singly, take_batches, take_chunks];
const WAITING_PUSHES: [Push; 2] = [push_by_send, push_when_room];
const WAITING_TAKES: [Take; 2] = [take_by_recv, take_when_ready];

#[test]
fn polling_ends_pass_all_values_in_order() {
    for push in PLAIN_PUSHES {
        for take in PLAIN_TAKES {
            pass(64, push, take);
        }
    }
}

#[test]
fn waiting_ends_pass_all_values_in_order() {
    for capacity in [1, 64] {
        for push in WAITING_PUSHES {
            for take in WAITING_TAKES {
                pass(capacity, push, take);
            }
        }
    }
}

#[test]
fn waiting_producers_serve_polling_consumers() {
    for push in WAITING_PUSHES {
        for take in PLAIN_TAKES {
            pass(16, push, take);
        }
    }
}

#[test]
fn one_slot_passes_all_values_in_order() {
    pass(1, push_singly, take_singly);
    pass(1, push_chunks, take_batches);
}

// proves: L-3
#[test]
fn waiting_end_learns_that_the_other_has_left() {
    for inside in 0..=2 {
        let (mut producer, consumer) = lane(2);
        assert_eq!(producer.push_batch(&mut (0..inside)), inside);
        let leaving = thread::spawn(move || drop(consumer));
        block_on(async { while producer.send(9).await.is_ok() {} });
        assert!(producer.is_abandoned());
        leaving.join().expect("it only drops");

        let (mut producer, mut consumer) = lane(2);
        assert_eq!(producer.push_batch(&mut (0..inside)), inside);
        let leaving = thread::spawn(move || drop(producer));
        let taken = block_on(async {
            let mut taken = 0;
            while consumer.recv().await.is_some() {
                taken += 1;
            }
            taken
        });
        assert_eq!(taken, inside);
        leaving.join().expect("it only drops");
    }
}
