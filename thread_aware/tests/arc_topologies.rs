//! Affinities of several topologies, of none, and strategies that contradict themselves.
#![cfg(feature = "std")]

use std::{
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use thread_aware::{
    Arc, PerCore, PerProcess, RelocateError, ThreadAware,
    affinity::{self, Affinity, pinned_affinities},
    storage::{Storage, Strategy},
};

fn numbered<S: Strategy>() -> Arc<usize, S> {
    let next = AtomicUsize::new(0);
    Arc::new_fn(move || next.fetch_add(1, Relaxed))
}

/// As many partitions as processors; the index is one too high.
struct Beyond;

impl Strategy for Beyond {
    fn index(affinity: Affinity) -> usize {
        affinity.processor_index() + 1
    }

    fn count(affinity: Affinity) -> NonZero<usize> {
        PerCore::count(affinity)
    }
}

/// A count that depends on the processor.
struct Fickle;

impl Strategy for Fickle {
    fn index(_: Affinity) -> usize {
        0
    }

    fn count(affinity: Affinity) -> NonZero<usize> {
        NonZero::new(affinity.processor_index() + 1).expect("one more than something")
    }
}

/// More partitions than anybody has processors.
struct Huge;

impl Strategy for Huge {
    fn index(_: Affinity) -> usize {
        0
    }

    fn count(_: Affinity) -> NonZero<usize> {
        NonZero::<usize>::MAX
    }
}

// proves: TA-9
#[test]
fn topologies_never_alias() {
    // The same index in all of them, and the same count in some.
    let topologies: Vec<Vec<Affinity>> = [&[4][..], &[8], &[2, 2], &[1, 3], &[3]]
        .map(pinned_affinities)
        .into();
    let mut handle = numbered::<PerCore>();
    let mut source = topologies[0][0];
    for (number, cores) in topologies.iter().enumerate() {
        handle.relocate(Some(source), cores[2]);
        assert_eq!(*handle, number + 1);
        source = cores[2];
    }
    for (number, cores) in topologies.iter().enumerate() {
        handle.relocate(Some(source), cores[2]);
        assert_eq!(
            *handle,
            number + 1,
            "no table was moved by the ones that came after it"
        );
        source = cores[2];
    }
    handle.relocate(Some(source), topologies[0][0]);
    assert_eq!(*handle, 0);
}

// proves: TA-9
#[test]
fn equal_shapes_are_one_topology() {
    let mut handle = numbered::<PerCore>();
    handle.relocate(
        Some(pinned_affinities(&[2, 2])[0]),
        pinned_affinities(&[2, 2])[1],
    );
    let other = handle.clone();
    handle.relocate(
        Some(pinned_affinities(&[2, 2])[1]),
        pinned_affinities(&[2, 2])[0],
    );
    handle.relocate(None, pinned_affinities(&[2, 2])[1]);
    assert!(Arc::ptr_eq(&handle, &other));
}

// proves: TA-9
#[test]
fn one_partition_ignores_the_topology() {
    let (few, many) = (pinned_affinities(&[2]), pinned_affinities(&[8]));
    let mut handle = numbered::<PerProcess>();
    for destination in [few[1], many[7], few[0], affinity::current()] {
        handle.relocate(None, destination);
        assert_eq!(*handle, 0);
    }
    let storage = Storage::<_, PerProcess>::new();
    storage.insert(few[1], 5.into()).expect("it was empty");
    assert_eq!(storage.get(many[6]).as_deref(), Some(&5));
}

// proves: TA-9
#[test]
fn anonymous_and_outside_affinities_are_counted_and_change_nothing() {
    let cores = pinned_affinities(&[2]);
    let mut handle = numbered::<PerCore>();
    let nowhere = affinity::current();
    assert!(nowhere.is_anonymous());
    handle.relocate(Some(cores[0]), nowhere);
    assert_eq!(
        Arc::try_relocate(&mut handle, None, nowhere),
        Err(RelocateError::Anonymous)
    );
    assert_eq!((*handle, Arc::ignored(&handle).anonymous), (0, 2));

    let mut beyond = numbered::<Beyond>();
    beyond.relocate(None, cores[0]); // index 1 of 2
    beyond.relocate(None, cores[1]); // index 2 of 2
    let error = Arc::try_relocate(&mut beyond, None, cores[1]);
    assert_eq!(error, Err(RelocateError::OutOfRange(cores[1])));
    assert_eq!((*beyond, Arc::ignored(&beyond).out_of_range), (1, 2));
    assert_eq!(
        Arc::ignored(&beyond).anonymous,
        0,
        "each lineage counts for itself"
    );

    // As a source they are as none.
    handle.relocate(Some(nowhere), cores[1]);
    beyond.relocate(Some(cores[1]), cores[0]);
    assert_eq!((*handle, *beyond), (1, 1));
}

// proves: TA-9
#[test]
fn threads_append_topologies_together() {
    let shapes = [&[2][..], &[3], &[4], &[5]];
    for _ in 0..50 {
        let handle = numbered::<PerCore>();
        let barrier = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for first in 0..4 {
                let (mut mine, barrier) = (handle.clone(), &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    for step in 0..4 {
                        mine.relocate(None, pinned_affinities(shapes[(first + step) % 4])[1]);
                    }
                });
            }
        });
        let storage = Arc::storage(&handle);
        let values = shapes.map(|shape| storage.get(pinned_affinities(shape)[1]));
        let mut values = values.map(|value| *value.expect("each was visited"));
        values.sort_unstable();
        assert_eq!(values, [1, 2, 3, 4]);
    }
}

// proves: TA-14
#[test]
fn count_that_differs_within_a_topology_is_refused() {
    let cores = pinned_affinities(&[3]);
    let mut handle = numbered::<Fickle>();
    handle.relocate(None, cores[1]);
    let refused = RelocateError::CountDiffers {
        affinity: cores[2],
        first: 2,
        now: 3,
    };
    assert_eq!(Arc::try_relocate(&mut handle, None, cores[2]), Err(refused));
    let attempt = catch_unwind(AssertUnwindSafe(|| handle.relocate(None, cores[2])));
    let message = attempt.expect_err("the first use is refused");
    let message = message
        .downcast_ref::<String>()
        .expect("a formatted message");
    assert!(message.contains("counts 3 partitions"), "{message}");
    assert_eq!(*handle, 1);
    // A smaller count is another one as well.
    let refused_smaller = RelocateError::CountDiffers {
        affinity: cores[0],
        first: 2,
        now: 1,
    };
    let smaller = Arc::try_relocate(&mut handle, None, cores[0]);
    assert_eq!((smaller, *handle), (Err(refused_smaller), 1));
    // As a source too, when a table would be made for it.
    let mut eager = numbered::<Fickle>();
    eager.clone().relocate(None, cores[1]);
    let topology = pinned_affinities(&[4]);
    eager.clone().relocate(None, topology[2]);
    let attempt = Arc::try_relocate(&mut eager, Some(cores[2]), pinned_affinities(&[5])[1]);
    assert_eq!(attempt, Err(refused));
    let storage = Arc::storage(&handle);
    assert!(catch_unwind(AssertUnwindSafe(|| storage.insert(cores[2], 9.into()))).is_err());
    assert_eq!(storage.get(cores[2]), None);
    let mut weak = Arc::downgrade(&handle);
    weak.relocate(None, cores[2]);
    assert_eq!(weak.upgrade().as_deref(), Some(&1));
}

// proves: TA-14
#[test]
fn count_beyond_all_machines_is_refused() {
    let mut handle = numbered::<Huge>();
    let core = pinned_affinities(&[2])[1];
    let refused = Err(RelocateError::TooManyPartitions(usize::MAX));
    assert_eq!(Arc::try_relocate(&mut handle, None, core), refused);
}
