//! The blocking calls of both ends, on plain threads.
#![allow(clippy::unwrap_used)]

use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use corelane_primitives::{Closed, Consumer, Producer, lane};

/// No test waits longer for anything. Far above what any of it takes.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs `work` on a thread of its own; its answer must come within the limit.
fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (tell, told) = channel();
    thread::spawn(move || {
        // A test that has failed does not listen any more.
        let _ = tell.send(work());
    });
    told
}

/// The ways to send `0..count`.
const SENDING: [fn(Producer<u32>, u32); 3] = [
    |mut producer, count| (0..count).for_each(|value| producer.blocking_send(value).unwrap()),
    |mut producer, count| {
        for value in 0..count {
            producer.blocking_room(1).unwrap();
            producer.push(value).unwrap();
            producer.notify();
        }
    },
    |mut producer, count| {
        let mut values = (0..count).peekable();
        while values.peek().is_some() {
            producer.blocking_room(producer.capacity()).unwrap();
            producer.push_batch(&mut values);
            producer.notify();
        }
    },
];

/// The ways to receive all.
const RECEIVING: [fn(Consumer<u32>) -> Vec<u32>; 2] = [
    |mut consumer| std::iter::from_fn(|| consumer.blocking_recv()).collect(),
    |mut consumer| {
        let mut got = Vec::new();
        while consumer.blocking_ready() {
            got.extend(consumer.read_chunk(64));
            consumer.notify();
        }
        got
    },
];

#[test]
fn blocking_ends_of_any_kind_lose_nothing_and_keep_order() {
    const COUNT: u32 = 4_000;
    for capacity in [1, 2, 64] {
        for send in SENDING {
            for receive in RECEIVING {
                let (producer, consumer) = lane(capacity);
                let sent = on_thread(move || send(producer, COUNT));
                let got = on_thread(move || receive(consumer));
                assert_eq!(got.recv_timeout(LIMIT).unwrap(), Vec::from_iter(0..COUNT));
                sent.recv_timeout(LIMIT).unwrap();
            }
        }
    }
}

// proves: L-3
#[test]
fn blocked_end_learns_that_the_other_has_left() {
    let (producer, mut consumer) = lane::<u32>(2);
    let none = on_thread(move || (consumer.blocking_recv(), consumer.blocking_ready()));
    drop(producer);
    assert_eq!(none.recv_timeout(LIMIT).unwrap(), (None, false));

    let (mut producer, consumer) = lane(1);
    producer.push(1).unwrap();
    let refused = on_thread(move || (producer.blocking_send(2), producer.blocking_room(1)));
    drop(consumer);
    let refused = refused.recv_timeout(LIMIT).unwrap();
    assert_eq!(refused, (Err(Closed(2)), Err(Closed(()))));
}

#[test]
fn values_that_were_there_come_before_the_end() {
    let (mut producer, mut consumer) = lane(4);
    producer.push_batch(&mut (0..3));
    drop(producer);
    let got = on_thread(move || Vec::from_iter(std::iter::from_fn(|| consumer.blocking_recv())));
    assert_eq!(got.recv_timeout(LIMIT).unwrap(), [0, 1, 2]);
}
