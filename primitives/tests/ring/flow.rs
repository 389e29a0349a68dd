//! Many producers on threads: every value once, each producer in its order.

use corelane_primitives::{PushError, Ring, RingConsumer};
use std::collections::HashMap;
use std::thread;
use std::time::Duration;

const PRODUCERS: u64 = 4;
const VALUES: u64 = 20_000;

/// How a producer brings a value in.
type Bring = fn(&Ring<Box<(u64, u64)>>, Box<(u64, u64)>);

fn by_push(ring: &Ring<Box<(u64, u64)>>, mut value: Box<(u64, u64)>) {
    while let Err(PushError::Full(back)) = ring.push(value) {
        value = back;
        thread::yield_now();
    }
}

fn by_claim(ring: &Ring<Box<(u64, u64)>>, value: Box<(u64, u64)>) {
    loop {
        if let Ok(claim) = ring.claim() {
            // Now and then one is given up first.
            if value.1.is_multiple_of(7) {
                drop(claim);
                return by_push(ring, value);
            }
            assert!(claim.publish(value).is_ok());
            return;
        }
        thread::yield_now();
    }
}

fn by_waiting(ring: &Ring<Box<(u64, u64)>>, value: Box<(u64, u64)>) {
    assert!(ring.blocking_push(value, Duration::MAX).is_ok());
}

/// How the consumer takes what is there; false when the ring is over.
type Take = fn(&mut RingConsumer<Box<(u64, u64)>>, &mut Vec<(u64, u64)>) -> bool;

fn by_pop(consumer: &mut RingConsumer<Box<(u64, u64)>>, out: &mut Vec<(u64, u64)>) -> bool {
    let value = consumer.blocking_recv();
    out.extend(value.as_deref());
    value.is_some()
}

fn by_fold(consumer: &mut RingConsumer<Box<(u64, u64)>>, out: &mut Vec<(u64, u64)>) -> bool {
    let ready = consumer.blocking_ready();
    consumer.fold(100, (), |(), value| out.push(*value));
    ready
}

fn by_batch(consumer: &mut RingConsumer<Box<(u64, u64)>>, out: &mut Vec<(u64, u64)>) -> bool {
    let ready = consumer.blocking_ready();
    let mut batch = Vec::new();
    consumer.pop_batch(&mut batch, usize::MAX);
    out.extend(batch.into_iter().map(|value| *value));
    ready
}

fn run(capacity: usize, bring: Bring, take: Take) {
    let (ring, mut consumer) = Ring::builder(capacity)
        .skip_after(Duration::MAX)
        .start_sequence(u64::MAX - VALUES)
        .build()
        .expect("a power of two");
    let mut out = Vec::new();
    thread::scope(|scope| {
        for producer in 0..PRODUCERS {
            let ring = ring.clone();
            scope.spawn(move || {
                for value in 0..VALUES {
                    bring(&ring, Box::new((producer, value)));
                }
            });
        }
        drop(ring);
        while take(&mut consumer, &mut out) {}
    });
    let mut next = HashMap::new();
    for (producer, value) in &out {
        let next = next.entry(producer).or_insert(0);
        assert_eq!(value, next, "of producer {producer}");
        *next += 1;
    }
    assert_eq!(out.len() as u64, PRODUCERS * VALUES);
    assert!(consumer.is_finished());
    assert!(consumer.peak() <= capacity);
}

// proves: F-6
#[test]
fn pushes_arrive_once_and_in_each_producers_order() {
    run(64, by_push, by_pop);
    run(1, by_push, by_fold);
    run(1_024, by_push, by_batch);
}

// proves: F-6
#[test]
fn claims_arrive_once_and_in_each_producers_order() {
    run(64, by_claim, by_fold);
    run(2, by_claim, by_batch);
    run(1_024, by_claim, by_pop);
}

// proves: F-6
#[test]
fn pushes_that_wait_arrive_once_and_in_each_producers_order() {
    run(64, by_waiting, by_batch);
    run(1, by_waiting, by_pop);
    run(8, by_waiting, by_fold);
}

/// One consumer sees one order, and it is the order of the pushes themselves.
// proves: F-6
#[test]
fn one_ring_has_one_order() {
    let (ring, mut consumer) = Ring::new(256);
    let other = ring.clone();
    for value in 0..100_u64 {
        let end = if value % 3 == 0 { &ring } else { &other };
        assert_eq!(end.push(value), Ok(()));
    }
    let mut out = Vec::new();
    consumer.pop_batch(&mut out, 256);
    assert!(out.into_iter().eq(0..100));
}

// proves: F-8
#[test]
fn consumer_moves_to_another_thread_before_use_and_after() {
    let (ring, mut consumer) = Ring::new(8);
    assert_eq!(ring.push(1), Ok(()));
    let mut consumer = thread::spawn(move || {
        assert_eq!(consumer.pop(), Some(1));
        consumer
    })
    .join()
    .expect("it only pops");
    assert_eq!(ring.push(2), Ok(()));
    assert_eq!(consumer.pop(), Some(2));
}
