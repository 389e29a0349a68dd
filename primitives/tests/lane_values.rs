//! Every value that goes into a lane comes out or is dropped, exactly once.
#![cfg(not(corelane_loom))]

use corelane_primitives::{Consumer, Producer, lane};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Counts its drops. Its payload decides its size and alignment.
struct Counted<P> {
    drops: Arc<AtomicUsize>,
    payload: P,
}

impl<P> Drop for Counted<P> {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::Relaxed);
    }
}

/// A source of counted values.
struct Source {
    drops: Arc<AtomicUsize>,
    made: usize,
}

impl Source {
    fn new() -> Self {
        Self {
            drops: Arc::new(AtomicUsize::new(0)),
            made: 0,
        }
    }

    fn make<P>(&mut self, payload: P) -> Counted<P> {
        self.made += 1;
        Counted {
            drops: self.drops.clone(),
            payload,
        }
    }

    fn dropped(&self) -> usize {
        self.drops.load(Ordering::Relaxed)
    }

    fn assert_all_dropped_once(&self) {
        assert_eq!(self.dropped(), self.made);
    }
}

/// Lanes of four slots that hold `inside` values, of which the oldest stands in any slot.
fn filled(source: &mut Source, inside: usize, skip: usize) -> Ends {
    let (mut producer, mut consumer) = lane(4);
    for _ in 0..skip {
        assert!(producer.push(source.make(0)).is_ok());
        drop(consumer.pop());
    }
    for _ in 0..inside {
        assert!(producer.push(source.make(1)).is_ok());
    }
    (producer, consumer)
}

type Ends = (Producer<Counted<u64>>, Consumer<Counted<u64>>);

// proves: L-2
#[test]
fn values_left_inside_are_dropped_once_in_either_order_of_leaving() {
    for inside in 0..=4 {
        for skip in 0..4 {
            let mut source = Source::new();
            let (producer, consumer) = filled(&mut source, inside, skip);
            drop(producer);
            assert_eq!(source.dropped(), skip, "the consumer can still take them");
            drop(consumer);
            source.assert_all_dropped_once();

            let (producer, consumer) = filled(&mut source, inside, skip);
            drop(consumer);
            source.assert_all_dropped_once();
            drop(producer);
            source.assert_all_dropped_once();
        }
    }
}

// proves: L-2
#[test]
fn values_pushed_after_the_consumer_left_are_dropped_with_the_producer() {
    let mut source = Source::new();
    let (mut producer, consumer) = filled(&mut source, 3, 2);
    drop(consumer);
    assert!(producer.is_abandoned());
    let taken = (0..9)
        .filter(|_| producer.push(source.make(2)).is_ok())
        .count();
    assert_eq!(taken, 4);
    assert_eq!(source.dropped(), source.made - 4);
    drop(producer);
    source.assert_all_dropped_once();
}

// proves: L-5
#[test]
fn either_end_is_dropped_by_any_thread() {
    for inside in 0..=4 {
        let mut source = Source::new();
        let (producer, consumer) = filled(&mut source, inside, 1);
        thread::scope(|scope| {
            scope.spawn(move || drop(producer));
            scope.spawn(move || drop(consumer));
        });
        source.assert_all_dropped_once();

        let (producer, consumer) = filled(&mut source, inside, 1);
        let producer = thread::spawn(move || {
            drop(consumer);
            producer
        });
        drop(producer.join().expect("it only drops"));
        source.assert_all_dropped_once();
    }
}

// proves: L-2
#[test]
fn values_of_a_chunk_not_committed_are_dropped_once() {
    let mut source = Source::new();
    let (mut producer, mut consumer) = filled(&mut source, 1, 3);
    let mut chunk = producer.write_chunk(3);
    for _ in 0..2 {
        assert!(chunk.push(source.make(5)).is_ok());
    }
    drop(chunk);
    assert_eq!(source.dropped(), 3 + 2);
    assert_eq!(consumer.len(), 1);
    assert_eq!(consumer.pop().map(|value| value.payload), Some(1));
    drop((producer, consumer));
    source.assert_all_dropped_once();
}

// proves: L-2
#[test]
fn forgotten_chunks_double_nothing() {
    let mut source = Source::new();
    let (producer, mut consumer) = filled(&mut source, 4, 1);
    let mut chunk = consumer.read_chunk(4);
    drop((chunk.next(), chunk.next()));
    std::mem::forget(chunk);
    assert_eq!(
        producer.slots(),
        0,
        "the slots were taken and not handed back"
    );
    drop(consumer.pop());
    assert_eq!(producer.slots(), 3);

    let mut chunk = consumer.read_chunk(4);
    drop(chunk.next());
    std::mem::forget(chunk);
    drop((consumer, producer));
    source.assert_all_dropped_once();

    let (mut producer, mut consumer) = lane(4);
    let mut chunk = producer.write_chunk(2);
    assert_eq!(chunk.push(1), Ok(()));
    std::mem::forget(chunk);
    assert!(consumer.is_empty(), "what was not committed is not there");
    assert_eq!(producer.push_batch(&mut (2..)), 4);
    assert_eq!(consumer.read_chunk(4).collect::<Vec<_>>(), [2, 3, 4, 5]);
}

/// Panics when dropped, after it was counted.
struct Explosive(Counted<bool>);

impl Drop for Explosive {
    fn drop(&mut self) {
        assert!(!self.0.payload, "as planned");
    }
}

// proves: L-2
#[test]
fn panicking_drop_leaves_no_other_value_behind() {
    for exploding in 0..4 {
        let mut source = Source::new();
        let (mut producer, consumer) = lane(4);
        for position in 0..4 {
            assert!(
                producer
                    .push(Explosive(source.make(position == exploding)))
                    .is_ok()
            );
        }
        assert!(catch_unwind(AssertUnwindSafe(|| drop(consumer))).is_err());
        assert!(producer.is_abandoned());
        drop(producer);
        source.assert_all_dropped_once();

        let (mut producer, consumer) = lane(4);
        drop(consumer);
        for position in 0..4 {
            assert!(
                producer
                    .push(Explosive(source.make(position == exploding)))
                    .is_ok()
            );
        }
        assert!(catch_unwind(AssertUnwindSafe(|| drop(producer))).is_err());
        source.assert_all_dropped_once();
    }
}

#[repr(align(256))]
#[derive(Clone, Copy, PartialEq, Debug)]
struct Aligned(u8);

fn passes<P: Copy + PartialEq + std::fmt::Debug>(payloads: [P; 3]) {
    let mut source = Source::new();
    let (mut producer, mut consumer) = lane(4);
    for round in 0..5 {
        for payload in payloads {
            assert!(producer.push(source.make(payload)).is_ok());
        }
        for payload in payloads.into_iter().take(2 + round / 4) {
            let value = consumer.pop().expect("three were pushed");
            assert_eq!(value.payload, payload);
            assert_eq!((&raw const value.payload).addr() % align_of::<P>(), 0);
        }
        drop(consumer.pop());
    }
    assert!(producer.push(source.make(payloads[0])).is_ok());
    drop((producer, consumer));
    source.assert_all_dropped_once();
}

// proves: L-4
#[test]
fn sizes_and_alignments_do_not_matter() {
    passes([(), (), ()]);
    passes([1_u8, 2, 3]);
    passes([[1_u8; 3], [2; 3], [3; 3]]);
    passes([[1_u64; 1000], [2; 1000], [3; 1000]]);
    passes([Aligned(1), Aligned(2), Aligned(3)]);
    passes([(Aligned(1), 1_u128); 3]);
}

// proves: L-4
#[test]
fn zero_sized_values_are_counted_and_dropped() {
    static DROPS: AtomicUsize = AtomicUsize::new(0);
    struct Unit;
    impl Drop for Unit {
        fn drop(&mut self) {
            DROPS.fetch_add(1, Ordering::Relaxed);
        }
    }
    let (mut producer, mut consumer) = lane(8);
    assert_eq!(producer.push_batch(&mut std::iter::repeat_with(|| Unit)), 8);
    assert_eq!(consumer.read_chunk(3).count(), 3);
    assert_eq!(DROPS.load(Ordering::Relaxed), 3);
    drop(consumer);
    drop(producer);
    assert_eq!(DROPS.load(Ordering::Relaxed), 8);
}

#[test]
fn staged_values_are_seen_at_a_flush_a_push_a_wait_or_the_end() {
    use std::task::{Context, Waker};

    let mut cx = Context::from_waker(Waker::noop());
    let (mut producer, mut consumer) = lane(4);
    for tell in [
        Producer::flush as fn(&mut Producer<u8>),
        |producer| producer.push(0).expect("there is room"),
        |producer| {
            assert_eq!(producer.push_batch(&mut [0].into_iter()), 1);
        },
        |producer| assert_eq!(producer.write_chunk(1).commit(), 0),
    ] {
        producer.stage(1).expect("there is room");
        assert_eq!((consumer.pop(), producer.slots()), (None, 3));
        tell(&mut producer);
        assert_eq!(consumer.pop(), Some(1));
        while consumer.pop().is_some() {}
    }
    for value in 0..4 {
        producer.stage(value).expect("there is room");
    }
    assert_eq!(producer.stage(9).unwrap_err().into_inner(), 9);
    assert!(consumer.is_empty());
    assert!(producer.poll_room(&mut cx, 1).is_pending());
    let mut seen = Vec::new();
    assert_eq!(consumer.pop_batch(&mut seen, 8), 4);
    producer.stage(4).expect("there is room");
    drop(producer);
    seen.extend(consumer.pop());
    assert_eq!(seen, [0, 1, 2, 3, 4]);
}
