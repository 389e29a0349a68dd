//! Every value that goes into a ring comes out or is dropped, exactly once.

use crate::clock::{ms, ring_by_hand};
use corelane_primitives::{PushError, Ring};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

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

#[derive(Default)]
struct Source {
    drops: Arc<AtomicUsize>,
    made: usize,
}

impl Source {
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

// proves: F-6
#[test]
fn values_left_inside_are_dropped_once_in_either_order_of_leaving() {
    for inside in 0..=4 {
        for skip in 0..4 {
            for consumer_first in [false, true] {
                let mut source = Source::default();
                let (ring, mut consumer) = Ring::new(4);
                for _ in 0..skip {
                    assert!(ring.push(source.make(0)).is_ok());
                    drop(consumer.pop());
                }
                for _ in 0..inside {
                    assert!(ring.push(source.make(1)).is_ok());
                }
                if consumer_first {
                    drop(consumer);
                    source.assert_all_dropped_once();
                    drop(ring);
                } else {
                    drop(ring);
                    assert_eq!(source.dropped(), skip, "the consumer can still take them");
                    drop(consumer);
                }
                source.assert_all_dropped_once();
            }
        }
    }
}

#[test]
fn values_between_claims_are_dropped_once() {
    for forgotten in 0..16_u32 {
        let mut source = Source::default();
        let (_clock, ring, consumer) = ring_by_hand(4);
        for place in 0..4 {
            if forgotten >> place & 1 == 0 {
                assert!(ring.push(source.make(place)).is_ok());
            } else if place % 2 == 0 {
                std::mem::forget(ring.claim());
            } else {
                drop(ring.claim());
            }
        }
        drop(consumer);
        source.assert_all_dropped_once();
        let refused = ring.push(source.make(9));
        assert!(matches!(refused, Err(PushError::Closed(_))));
        drop((refused, ring));
        source.assert_all_dropped_once();
    }
}

#[test]
fn value_that_comes_late_is_dropped_by_who_brought_it() {
    let mut source = Source::default();
    let (clock, ring, mut consumer) = ring_by_hand(2);
    let claim = ring.claim().expect("there is room");
    assert!(consumer.pop().is_none());
    clock.advance(ms(50));
    assert!(consumer.pop().is_none());
    let late = claim.publish(source.make(7)).expect_err("it came late");
    assert_eq!((late.0.payload, source.dropped()), (7, 0));
    drop(late);
    source.assert_all_dropped_once();
}

#[test]
fn consumer_and_handles_are_dropped_by_any_thread() {
    for inside in 0..=4 {
        let mut source = Source::default();
        let (ring, consumer) = Ring::new(4);
        for _ in 0..inside {
            assert!(ring.push(source.make(1)).is_ok());
        }
        let second = ring.clone();
        thread::scope(|scope| {
            scope.spawn(move || drop(ring));
            scope.spawn(move || drop(second));
            scope.spawn(move || drop(consumer));
        });
        source.assert_all_dropped_once();
    }
}

/// Panics when dropped, after it was counted.
struct Explosive(Counted<bool>);

impl Drop for Explosive {
    fn drop(&mut self) {
        assert!(!self.0.payload, "as planned");
    }
}

#[test]
fn panicking_drop_leaves_no_other_value_behind() {
    for exploding in 0..4 {
        let mut source = Source::default();
        let (ring, consumer) = Ring::new(4);
        for position in 0..4 {
            let value = Explosive(source.make(position == exploding));
            assert!(ring.push(value).is_ok());
        }
        assert!(catch_unwind(AssertUnwindSafe(|| drop(consumer))).is_err());
        assert!(ring.is_closed());
        source.assert_all_dropped_once();
    }
}

#[test]
fn panicking_fold_takes_the_value_and_leaves_the_rest() {
    let mut source = Source::default();
    let (ring, mut consumer) = Ring::new(4);
    for position in 0..4 {
        assert!(ring.push(source.make(position)).is_ok());
    }
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        consumer.fold(9, (), |(), value| {
            assert_ne!(value.payload, 1, "as planned")
        });
    }));
    assert!(panicked.is_err());
    assert_eq!(
        (ring.popped(), ring.occupancy(), source.dropped()),
        (2, 2, 2)
    );
    assert_eq!(consumer.pop().map(|value| value.payload), Some(2));
    drop((ring, consumer));
    source.assert_all_dropped_once();
}

#[repr(align(256))]
#[derive(Clone, Copy, PartialEq, Debug)]
struct Aligned(u8);

fn passes<P: Copy + PartialEq + std::fmt::Debug>(payloads: [P; 3]) {
    let mut source = Source::default();
    let (ring, mut consumer) = Ring::new(4);
    for round in 0..5 {
        for payload in payloads {
            assert!(ring.push(source.make(payload)).is_ok());
        }
        for payload in payloads.into_iter().take(2 + round / 4) {
            let value = consumer.pop().expect("three were pushed");
            assert_eq!(value.payload, payload);
            assert_eq!((&raw const value.payload).addr() % align_of::<P>(), 0);
        }
        drop(consumer.pop());
    }
    let claim = ring.claim().expect("there is room");
    assert!(claim.publish(source.make(payloads[0])).is_ok());
    drop((ring, consumer));
    source.assert_all_dropped_once();
}

#[test]
fn sizes_and_alignments_do_not_matter() {
    passes([(), (), ()]);
    passes([1_u8, 2, 3]);
    passes([[1_u8; 3], [2; 3], [3; 3]]);
    passes([[1_u64; 1000], [2; 1000], [3; 1000]]);
    passes([Aligned(1), Aligned(2), Aligned(3)]);
    passes([(Aligned(1), 1_u128); 3]);
}

#[test]
fn zero_sized_values_are_counted_and_dropped() {
    static DROPS: AtomicUsize = AtomicUsize::new(0);
    struct Unit;
    impl Drop for Unit {
        fn drop(&mut self) {
            DROPS.fetch_add(1, Ordering::Relaxed);
        }
    }
    let (ring, mut consumer) = Ring::new(8);
    for _ in 0..8 {
        assert!(ring.push(Unit).is_ok());
    }
    assert_eq!(consumer.fold(3, 0, |count, _unit| count + 1).acc, 3);
    assert_eq!(DROPS.load(Ordering::Relaxed), 3);
    drop((consumer, ring));
    assert_eq!(DROPS.load(Ordering::Relaxed), 8);
}

/// The handles inside keep the ring open, and go with the consumer.
#[test]
fn ring_may_hold_its_own_handles() {
    struct Own {
        handle: Option<Ring<Own>>,
    }
    let (ring, consumer) = Ring::new(4);
    for _ in 0..2 {
        assert!(
            ring.push(Own {
                handle: Some(ring.clone())
            })
            .is_ok()
        );
    }
    assert!(ring.push(Own { handle: None }).is_ok());
    drop(ring);
    let mut consumer = consumer;
    let first = consumer.pop().and_then(|own| own.handle);
    assert!(first.is_some_and(|handle| !handle.is_closed()));
    assert!(!consumer.is_finished());
    drop(consumer);
}

#[test]
fn late_threads_race_with_a_leaving_consumer() {
    for round in 0..200 {
        let drops = Arc::new(AtomicUsize::new(0));
        let made = Arc::new(AtomicUsize::new(0));
        let (ring, mut consumer) = Ring::new(2);
        thread::scope(|scope| {
            for _ in 0..2 {
                let (ring, drops, made) = (ring.clone(), drops.clone(), made.clone());
                scope.spawn(move || {
                    let counted = |payload| {
                        made.fetch_add(1, Ordering::Relaxed);
                        Counted {
                            drops: drops.clone(),
                            payload,
                        }
                    };
                    for payload in 0..20 {
                        drop(ring.push(counted(payload)));
                        if let Ok(claim) = ring.claim() {
                            drop(claim.publish(counted(payload)));
                        }
                    }
                    drop(ring.blocking_push(counted(99), Duration::MAX));
                });
            }
            scope.spawn(move || {
                for _ in 0..round % 30 {
                    drop(consumer.pop());
                }
            });
        });
        drop(ring);
        assert_eq!(drops.load(Ordering::Relaxed), made.load(Ordering::Relaxed));
    }
}
