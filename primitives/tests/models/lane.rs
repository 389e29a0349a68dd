//! Models of the lane.

use crate::alarm::Alarm;
use crate::models::explore;
use corelane_primitives::{Consumer, Producer, lane, lane_with_start, model};
use loom::thread;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    (
        "values_pass_in_order_through_reused_slots",
        values_pass_in_order_through_reused_slots,
    ),
    ("chunk_becomes_visible_whole", chunk_becomes_visible_whole),
    (
        "staged_values_become_visible_together",
        staged_values_become_visible_together,
    ),
    (
        "leaving_producer_is_seen_after_its_values",
        leaving_producer_is_seen_after_its_values,
    ),
    ("parked_consumer_is_woken", parked_consumer_is_woken),
    ("parked_producer_is_woken", parked_producer_is_woken),
    (
        "ends_that_never_notify_do_not_sleep_together",
        ends_that_never_notify_do_not_sleep_together,
    ),
    ("leaving_end_wakes_the_other", leaving_end_wakes_the_other),
    (
        "values_left_inside_are_dropped_once",
        values_left_inside_are_dropped_once,
    ),
    ("wait_taken_back_is_not_rung", wait_taken_back_is_not_rung),
    (
        "push_and_pop_take_at_most_two_steps",
        push_and_pop_take_at_most_two_steps,
    ),
];

/// Polls until ready, and blocks the calling thread in between.
fn wait<R>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>) -> R {
    let alarm = Alarm::new();
    let waker = Waker::from(alarm.clone());
    loop {
        if let Poll::Ready(ready) = poll(&mut Context::from_waker(&waker)) {
            return ready;
        }
        thread::park();
    }
}

/// Keeps ends of lanes alive until the last clone goes, so that their leaving wakes nobody.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Box<dyn Send>>>>);

impl Kept {
    /// Takes `end` in.
    fn keep(&self, end: impl Send + 'static) {
        self.0
            .lock()
            .expect("no model panics in here")
            .push(Box::new(end));
    }
}

fn recv<T>(consumer: &mut Consumer<T>) -> Option<T> {
    let mut recv = pin!(consumer.recv());
    wait(|cx| recv.as_mut().poll(cx))
}

fn send<T>(producer: &mut Producer<T>, value: T) -> bool {
    let mut send = pin!(producer.send(value));
    wait(|cx| send.as_mut().poll(cx)).is_ok()
}

/// Two slots, three boxed values, positions that wrap: each slot changes hands both ways.
pub(crate) fn values_pass_in_order_through_reused_slots() {
    explore(|| {
        let (mut producer, mut consumer) =
            lane_with_start(2, usize::MAX).expect("two is a power of two");
        thread::spawn(move || {
            let mut next = 1;
            // Three values meet at most one full lane for each look at it.
            for _ in 0..5 {
                if next <= 3 && producer.push(Box::new(next)).is_ok() {
                    next += 1;
                } else {
                    thread::yield_now();
                }
            }
        });
        let mut last = 0;
        for _ in 0..4 {
            match consumer.pop() {
                Some(value) => {
                    assert_eq!(*value, last + 1);
                    last = *value;
                }
                None => thread::yield_now(),
            }
        }
    });
}

pub(crate) fn chunk_becomes_visible_whole() {
    explore(|| {
        let (mut producer, mut consumer) = lane(2);
        thread::spawn(move || {
            let mut dropped = producer.write_chunk(2);
            assert_eq!(dropped.push(9), Ok(()));
            drop(dropped);
            let mut chunk = producer.write_chunk(2);
            assert_eq!(chunk.push(1), Ok(()));
            assert_eq!(chunk.push(2), Ok(()));
            assert_eq!(chunk.commit(), 2);
            // The consumer's chunk gives both slots back as one; only leaving gives them singly.
            let slots = producer.slots();
            assert!(slots != 1 || producer.is_abandoned());
        });
        let got = consumer.read_chunk(2).collect::<Vec<_>>();
        assert!(got.is_empty() || got == [1, 2], "{got:?}");
    });
}

pub(crate) fn staged_values_become_visible_together() {
    explore(|| {
        let (mut producer, mut consumer) = lane(2);
        thread::spawn(move || {
            assert!(producer.stage(1).is_ok());
            assert!(producer.stage(2).is_ok());
            producer.flush();
        });
        let got = consumer.read_chunk(2).collect::<Vec<_>>();
        assert!(got.is_empty() || got == [1, 2], "{got:?}");
    });
}

pub(crate) fn leaving_producer_is_seen_after_its_values() {
    explore(|| {
        let (mut producer, mut consumer) = lane(2);
        thread::spawn(move || {
            assert!(producer.push(1).is_ok());
        });
        if consumer.is_abandoned() {
            assert_eq!(consumer.pop(), Some(1));
            assert_eq!(consumer.pop(), None);
        }
    });
}

pub(crate) fn parked_consumer_is_woken() {
    explore(|| {
        let (mut producer, mut consumer) = lane(2);
        let kept = Kept::default();
        let theirs = kept.clone();
        thread::spawn(move || {
            for value in 1..=2 {
                assert!(producer.push(value).is_ok());
                producer.notify();
            }
            // This end outlives the wait, so that only `notify` can wake.
            theirs.keep(producer);
        });
        assert_eq!(recv(&mut consumer), Some(1));
        assert_eq!(recv(&mut consumer), Some(2));
        drop(kept);
    });
}

pub(crate) fn parked_producer_is_woken() {
    explore(|| {
        let (mut producer, mut consumer) = lane(1);
        assert!(producer.push(1).is_ok());
        let kept = Kept::default();
        let theirs = kept.clone();
        thread::spawn(move || {
            for value in 1..=2 {
                while consumer
                    .pop()
                    .map(|popped| assert_eq!(popped, value))
                    .is_none()
                {
                    thread::yield_now();
                }
                consumer.notify();
            }
            theirs.keep(consumer);
        });
        assert!(send(&mut producer, 2));
        drop(kept);
    });
}

pub(crate) fn ends_that_never_notify_do_not_sleep_together() {
    explore(|| {
        let (mut producer, mut consumer) = lane(1);
        let kept = Kept::default();
        let theirs = kept.clone();
        thread::spawn(move || {
            for value in 1..=2 {
                assert_eq!(wait(|cx| producer.poll_room(cx, 1)), Ok(()));
                assert!(producer.push(value).is_ok());
            }
            assert_eq!(wait(|cx| producer.poll_room(cx, 1)), Ok(()));
            theirs.keep(producer);
        });
        for value in 1..=2 {
            assert!(wait(|cx| consumer.poll_ready(cx)));
            assert_eq!(consumer.pop(), Some(value));
        }
        // Nothing follows; the poll still tells the producer about the last slot.
        let waker = Waker::noop();
        assert!(
            consumer
                .poll_ready(&mut Context::from_waker(waker))
                .is_pending()
        );
        kept.keep(consumer);
    });
}

pub(crate) fn leaving_end_wakes_the_other() {
    explore(|| {
        let (mut producer, mut consumer) = lane::<usize>(1);
        let (mut back, gone) = lane::<usize>(1);
        assert!(back.push(0).is_ok());
        thread::spawn(move || {
            assert!(producer.push(1).is_ok());
            drop(gone);
            drop(producer);
        });
        assert!(!send(&mut back, 1));
        assert_eq!(recv(&mut consumer), Some(1));
        assert_eq!(recv(&mut consumer), None);
    });
}

/// Counts drops; loom itself tells when the lane leaks or its last count races.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

pub(crate) fn values_left_inside_are_dropped_once() {
    explore(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let (mut producer, mut consumer) = lane(2);
        assert!(producer.push(Counted(drops.clone())).is_ok());
        let theirs = drops.clone();
        let leaving = thread::spawn(move || {
            let refused = producer.push(Counted(theirs.clone())).is_err();
            assert!(!refused);
        });
        drop(consumer.pop());
        drop(consumer);
        assert!(leaving.join().is_ok());
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    });
}

/// Who takes a wait back is not woken by what comes after.
pub(crate) fn wait_taken_back_is_not_rung() {
    explore(|| {
        let (mut producer, mut consumer) = lane::<usize>(1);
        let taken_back = Arc::new(loom::sync::atomic::AtomicBool::new(false));
        let theirs = taken_back.clone();
        let kept = Kept::default();
        let keeping = kept.clone();
        thread::spawn(move || {
            assert!(producer.push(1).is_ok());
            let after = theirs.load(Ordering::Acquire);
            assert!(!(producer.notify() && after));
            keeping.keep(producer);
        });
        let alarm = Alarm::new();
        let waker = Waker::from(alarm.clone());
        let _polled_once = pin!(consumer.recv()).poll(&mut Context::from_waker(&waker));
        taken_back.store(true, Ordering::Release);
        assert!(alarm.rings() <= 1);
    });
}

/// Wait-freedom, counted: whatever the other end is doing, and wherever it stands, a push or a pop
/// makes at most one load of the other's line and one store of its own.
pub(crate) fn push_and_pop_take_at_most_two_steps() {
    fn steps<R>(act: impl FnOnce() -> R) -> usize {
        let before = model::steps();
        act();
        model::steps() - before
    }
    explore(|| {
        let (mut producer, mut consumer) = lane(1);
        thread::spawn(move || {
            for value in 0..3 {
                assert!(steps(|| producer.push(value)) <= 2);
            }
            assert!(steps(|| producer.push_batch(&mut (0..9))) <= 2);
            let mut chunk = producer.write_chunk(1);
            let _full_or_filled = chunk.push(9);
            assert_eq!(
                steps(|| chunk.commit()),
                1,
                "a batch is published by one store"
            );
        });
        for _ in 0..3 {
            assert!(steps(|| consumer.pop()) <= 2);
        }
        assert!(steps(|| consumer.pop_batch(&mut Vec::new(), 9)) <= 2);
    });
    // What an end has seen of the other's cursor it does not read again.
    explore(|| {
        let (mut producer, mut consumer) = lane(4);
        for value in 0..4 {
            assert_eq!(steps(|| producer.push(value)), 1);
        }
        assert_eq!(steps(|| consumer.pop()), 2);
        for _ in 1..4 {
            assert_eq!(steps(|| consumer.pop()), 1);
        }
    });
}
