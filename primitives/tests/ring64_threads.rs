//! Many threads at one `Ring64`: nothing is lost, doubled or out of order, and every flood ends, on
//! one processor too.
#![cfg(not(corelane_loom))]

use corelane_primitives::{Consumer64, PushError, Ring64, Shards64};
use std::thread;
use std::time::Duration;

const EACH: u64 = 20_000;

/// What a producer pushes as its `number`-th value.
fn value(id: u64, number: u64) -> u64 {
    id << 32 | number
}

/// Takes everything until the ring ends, and checks each producer's order.
fn check(mut consumer: Consumer64, producers: usize, each: u64) {
    let mut next = vec![0; producers];
    while consumer.blocking_ready() {
        consumer.fold(usize::MAX, (), |(), value| {
            let (id, number) = ((value >> 32) as usize, value & 0xffff_ffff);
            assert_eq!(number, next[id], "of producer {id}");
            next[id] += 1;
        });
    }
    assert!(next.iter().all(|count| *count == each), "{next:?}");
}

// proves: F-6
#[test]
fn blocking_pushes_of_many_threads_arrive_once_and_in_their_orders() {
    for capacity in [1, 64, 4096] {
        let (ring, consumer) = Ring64::with_start_sequence(capacity, u64::MAX - 100);
        let each = if capacity == 1 { EACH / 20 } else { EACH };
        thread::scope(|scope| {
            for id in 0..8 {
                let ring = ring.clone();
                scope.spawn(move || {
                    for number in 0..each {
                        let pushed = ring.blocking_push(value(id, number), Duration::MAX);
                        assert_eq!(pushed, Ok(()));
                    }
                });
            }
            drop(ring);
            check(consumer, 8, each);
        });
    }
}

// proves: F-6
#[test]
fn flood_that_is_refused_and_tried_again_arrives_once_and_in_order() {
    let (ring, consumer) = Ring64::new(256);
    thread::scope(|scope| {
        for id in 0..8 {
            let ring = ring.clone();
            scope.spawn(move || {
                let mut number = 0;
                while number < EACH {
                    let end = (number + 1 + number % 37).min(EACH);
                    let batch = (number..end).map(|number| value(id, number));
                    match ring.push_batch(&batch.collect::<Vec<_>>()) {
                        Ok(taken) => number += taken as u64,
                        Err(PushError::Full(())) => thread::yield_now(),
                        Err(refusal) => panic!("{refusal}"),
                    }
                }
            });
        }
        drop(ring);
        check(consumer, 8, EACH);
    });
}

// proves: F-11
#[test]
fn threads_on_shards_keep_their_own_orders() {
    for shards in [1, 4, 16] {
        let (first, consumer) = Shards64::new(shards, 64);
        thread::scope(|scope| {
            for id in 0..8 {
                let producer = first.clone();
                scope.spawn(move || {
                    for number in 0..EACH {
                        let pushed = producer.blocking_push(value(id, number), Duration::MAX);
                        assert_eq!(pushed, Ok(()));
                    }
                });
            }
            drop(first);
            check(consumer, 8, EACH);
        });
    }
}

/// Claims that are filled, dropped and forgotten, among pushes.
// proves: F-8
#[test]
fn offered_is_popped_refused_and_skipped_whatever_becomes_of_claims() {
    let built = Ring64::builder(64)
        .skip_after(Duration::from_micros(200))
        .build();
    let (ring, mut consumer) = built.expect("a power of two");
    let totals = thread::scope(|scope| {
        let producers = (0..4_u64).map(|id| {
            let ring = ring.clone();
            scope.spawn(move || {
                let (mut accepted, mut given_up) = (0_u64, 0_u64);
                for number in 0..2_000 {
                    if number % 3 > 0 {
                        let pushed = ring.blocking_push(value(id, number), Duration::MAX);
                        accepted += u64::from(pushed.is_ok());
                        continue;
                    }
                    let Ok(mut claim) = ring.claim(3) else {
                        continue;
                    };
                    let filled = claim.push(value(id, number)).is_ok();
                    accepted += u64::from(filled);
                    given_up += 2 + u64::from(!filled);
                    if number % 50 == 0 {
                        std::mem::forget(claim);
                    }
                }
                (accepted, given_up)
            })
        });
        let producers = producers.collect::<Vec<_>>();
        let counts = ring.clone();
        let consuming = scope.spawn(move || {
            let (mut taken, mut skipped) = (0, 0);
            while consumer.blocking_ready() {
                let folded = consumer.fold(usize::MAX, (), |(), _| ());
                taken += folded.consumed as u64;
                skipped += folded.skipped;
            }
            (taken, skipped)
        });
        let done = producers
            .into_iter()
            .map(|producer| producer.join().expect("no panic"));
        let done = done.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        counts.close();
        let (taken, skipped) = consuming.join().expect("no panic");
        assert!(
            skipped <= counts.skipped(),
            "a fold tells those that it has passed itself"
        );
        assert_eq!((counts.popped(), counts.occupancy()), (taken, 0));
        assert_eq!(counts.pushed(), counts.popped() + counts.skipped());
        (done, (taken, counts.skipped()))
    });
    assert_eq!(totals.0, totals.1);
}
