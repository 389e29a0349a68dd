//! What a signal and its feeds allocate: one test, so that nothing else runs in this process.
#![cfg(not(corelane_loom))]

use corelane_primitives::Signal;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::pin::Pin;
use std::task::{Context, Waker};

use futures_core::Stream;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How many times `act` allocates, and how many bytes it keeps: the least of some rounds, since the
/// counts are the whole process's, and the test's host has another thread.
fn allocated(mut act: impl FnMut()) -> (usize, isize) {
    let rounds = (0..5).map(|_| {
        let region = Region::new(ALLOCATOR);
        act();
        let change = region.change();
        let kept = change.bytes_allocated as isize - change.bytes_deallocated as isize;
        (change.allocations + change.reallocations, kept)
    });
    rounds.min().expect("there are rounds")
}

// proves: S-8
// proves: S-12
#[test]
fn sets_reads_and_waits_keep_no_memory() {
    let plain = Signal::plain([0_u64; 8]);
    let mut feed = plain.changes();
    let mut cx = Context::from_waker(Waker::noop());
    // The first wait makes the list and the waker's place.
    for _ in 0..2 {
        let _polled = Pin::new(&mut feed).poll_next(&mut cx);
    }
    let of_sets = allocated(|| {
        for value in 1..=10_000 {
            plain.set([value; 8]).expect("the signal is open");
            plain
                .update(|[value, ..]| [*value; 8])
                .expect("the signal is open");
        }
    });
    assert_eq!(of_sets, (0, 0), "a set allocates nothing");
    let of_feed = allocated(|| {
        for value in 1..=1_000 {
            plain.set([value; 8]).expect("the signal is open");
            for _ in 0..2 {
                let _polled = Pin::new(&mut feed).poll_next(&mut cx);
            }
        }
    });
    assert_eq!(of_feed.1, 0, "a feed keeps nothing");
    assert_eq!(
        allocated(|| assert_eq!(plain.get_cloned(), [1_000; 8])),
        (0, 0)
    );

    let mut replica = plain.replica();
    assert_eq!(*replica.get(), [1_000; 8]);
    let of_gets = allocated(|| {
        for _ in 0..1_000 {
            assert_eq!(*replica.get(), **replica.look());
        }
    });
    assert_eq!(of_gets, (0, 0), "a replica allocates once a change");
    let of_looks = allocated(|| {
        for value in 1..=1_000 {
            plain.set([value; 8]).expect("the signal is open");
            assert_eq!(**replica.look(), [value; 8]);
        }
    });
    assert_eq!(of_looks, (1_000, 0), "a replica keeps one value");

    let shared = Signal::new(vec![0_u8; 1_000]);
    let _behind = shared.changes();
    let (_, kept) = allocated(|| {
        for _ in 0..1_000 {
            shared.set(vec![1; 1_000]).expect("the signal is open");
        }
    });
    assert_eq!(kept, 0, "a feed that does not look keeps no value");
    let (count, _) = allocated(|| assert_eq!(shared.read(Vec::len), 1_000));
    assert_eq!(count, 0, "a read allocates nothing");
}
