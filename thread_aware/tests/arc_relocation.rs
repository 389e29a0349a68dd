//! Which value a relocation gives.
#![cfg(feature = "std")]

use std::{
    num::NonZero,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use thread_aware::{
    Arc, PerCore, PerNuma, PerProcess, ThreadAware,
    affinity::{Affinity, pinned_affinities},
    storage::Strategy,
};

/// A lineage whose values are 0, 1, 2 … in the order in which they are made.
fn numbered<S: Strategy>() -> Arc<usize, S> {
    let next = AtomicUsize::new(0);
    Arc::new_fn(move || next.fetch_add(1, Relaxed))
}

/// One partition, wherever.
struct Everywhere;

impl Strategy for Everywhere {
    fn index(_: Affinity) -> usize {
        0
    }

    fn count(_: Affinity) -> NonZero<usize> {
        NonZero::<usize>::MIN
    }
}

/// One partition for every `N` processors in a row.
struct Grouped<const N: usize>;

impl<const N: usize> Strategy for Grouped<N> {
    fn index(affinity: Affinity) -> usize {
        affinity.processor_index() / N
    }

    fn count(affinity: Affinity) -> NonZero<usize> {
        NonZero::new(affinity.processor_count().div_ceil(N)).unwrap_or(NonZero::<usize>::MIN)
    }
}

fn groups_have_a_value_each<const N: usize>() {
    let cores = pinned_affinities(&[2 * N + 1]);
    let mut handle = numbered::<Grouped<N>>();
    let first = handle.clone();
    for (destination, wanted) in [
        (N, 1),
        (2 * N - 1, 1),
        (2 * N, 2),
        (0, 0),
        (N - 1, 0),
        (N, 1),
    ] {
        handle.relocate(Some(cores[0]), cores[destination]);
        assert_eq!(*handle, wanted, "processor {destination} in groups of {N}");
    }
    handle.relocate(None, cores[0]);
    assert!(Arc::ptr_eq(&handle, &first));
    // Where one group is all there is, there is one value.
    let few = pinned_affinities(&[N]);
    let mut alone = numbered::<Grouped<N>>();
    alone.relocate(None, few[N - 1]);
    assert_eq!(*alone, 0);
    alone.relocate(Some(few[0]), cores[N]);
    assert_eq!(*alone, 1);
}

// proves: TA-1
#[test]
fn processors_that_a_strategy_groups_share_a_value() {
    groups_have_a_value_each::<1>();
    groups_have_a_value_each::<2>();
    groups_have_a_value_each::<8>();
    groups_have_a_value_each::<100>();
}

// proves: TA-1
#[test]
fn handles_sent_to_one_partition_share_its_value() {
    let cores = pinned_affinities(&[4]);
    let mut first = numbered::<PerCore>();
    let mut others = [first.clone(), first.clone(), first.clone()];
    first.relocate(Some(cores[0]), cores[3]);
    for (source, other) in [None, Some(cores[0]), Some(cores[2])]
        .into_iter()
        .zip(&mut others)
    {
        other.relocate(source, cores[3]);
        assert!(Arc::ptr_eq(&first, other));
    }
    // From another partition than the one that the caller names, too.
    others[0].relocate(Some(cores[3]), cores[2]);
    others[0].relocate(Some(cores[1]), cores[3]);
    assert!(Arc::ptr_eq(&first, &others[0]));
}

// proves: TA-1
#[test]
fn affinities_of_one_region_share_a_value_per_numa() {
    let cores = pinned_affinities(&[2, 2]);
    let mut left = numbered::<PerNuma>();
    let mut right = left.clone();
    left.relocate(Some(cores[0]), cores[1]);
    right.relocate(Some(cores[0]), cores[2]);
    assert_eq!((*left, *right), (0, 1));
    left.relocate(Some(cores[1]), cores[3]);
    assert!(Arc::ptr_eq(&left, &right));
}

// proves: TA-3
#[test]
fn going_back_finds_the_original() {
    let cores = pinned_affinities(&[3]);
    let mut handle = numbered::<PerCore>();
    let original = handle.clone();
    for destination in [1, 0, 2, 0, 1, 2, 0] {
        let source = cores[(destination + 1) % 3];
        handle.relocate(
            Some(if destination == 1 { cores[0] } else { source }),
            cores[destination],
        );
        assert_eq!(
            *handle, destination,
            "partitions were first visited in this order"
        );
    }
    assert!(Arc::ptr_eq(&handle, &original));
}

// proves: TA-3
#[test]
fn miss_does_not_replace_what_the_source_has() {
    let cores = pinned_affinities(&[3]);
    let mut early = numbered::<PerCore>();
    let (mut eager, mut back) = (early.clone(), early.clone());
    early.relocate(None, cores[1]); // without a source nothing is recorded
    eager.relocate(Some(cores[1]), cores[2]); // and here partition 1 has a value already
    back.relocate(None, cores[1]);
    assert!(Arc::ptr_eq(&early, &back));
    assert_eq!((*early, *eager), (1, 2));
}

// proves: TA-7
#[test]
fn relocating_within_a_partition_keeps_the_value() {
    let cores = pinned_affinities(&[2, 2]);
    let mut handle = numbered::<PerNuma>();
    for source in [Some(cores[0]), Some(cores[1]), None, Some(cores[0])] {
        handle.relocate(source, cores[1]);
        let wanted = usize::from(source.is_none() && *handle != 0);
        assert_eq!(*handle, wanted);
    }
    let mut moved = handle.clone();
    moved.relocate(Some(cores[1]), cores[2]);
    let value = Arc::as_ptr(&moved);
    for source in [None, Some(cores[2]), Some(cores[3]), Some(cores[0])] {
        moved.relocate(source, cores[3]);
        assert_eq!(Arc::as_ptr(&moved), value);
    }
}

// proves: TA-7
#[test]
fn one_partition_keeps_the_value_without_a_source() {
    let cores = pinned_affinities(&[4]);
    let only = pinned_affinities(&[1]);
    let mut process = numbered::<PerProcess>();
    let mut own = numbered::<Everywhere>();
    let mut core = numbered::<PerCore>();
    for source in [None, Some(cores[2]), None] {
        process.relocate(source, cores[3]);
        own.relocate(source, cores[1]);
        core.relocate(source, only[0]);
        assert_eq!((*process, *own, *core), (0, 0, 0));
    }
    // In a larger topology the same strategy has more partitions.
    core.relocate(Some(only[0]), cores[0]);
    assert_eq!(*core, 1);
}

// proves: TA-8
#[test]
fn eager_value_has_the_home_that_came_first() {
    let cores = pinned_affinities(&[4]);
    let mut first = numbered::<PerCore>();
    let (mut second, mut third) = (first.clone(), first.clone());
    first.relocate(Some(cores[0]), cores[3]); // partition 0 is the home
    second.relocate(Some(cores[1]), cores[2]); // so partition 1 is none
    second.relocate(Some(cores[2]), cores[1]);
    assert_eq!(*second, 3);
    third.relocate(Some(cores[1]), cores[0]);
    assert_eq!(*third, 0);
}

// proves: TA-8
#[test]
fn racing_sources_give_the_eager_value_one_home() {
    let cores = pinned_affinities(&[4]);
    for _ in 0..200 {
        let handle = numbered::<PerCore>();
        let barrier = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            for source in 0..2 {
                let (mut mine, cores, barrier) = (handle.clone(), &cores, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    mine.relocate(Some(cores[source]), cores[source + 2]);
                });
            }
        });
        let storage = Arc::storage(&handle);
        let homes = cores
            .iter()
            .filter(|&&core| storage.get(core).as_deref() == Some(&0));
        assert_eq!(homes.count(), 1);
    }
}

#[test]
fn every_constructor_makes_a_value_a_partition() {
    #[derive(Clone)]
    struct Told(Vec<Affinity>);
    impl ThreadAware for Told {
        fn relocate(&mut self, _: Option<Affinity>, destination: Affinity) {
            self.0.push(destination);
        }
    }
    let cores = pinned_affinities(&[2]);
    let go = |handle: &mut dyn ThreadAware| handle.relocate(Some(cores[0]), cores[1]);

    let mut with = Arc::<_, PerCore>::new_with(Told(Vec::new()), |told| told.0);
    assert_eq!(*with, []);
    go(&mut with);
    assert_eq!(
        *with,
        [cores[1]],
        "the data is relocated before the value is made of it"
    );

    let mut unaware = Arc::<_, PerCore>::from_unaware(Told(Vec::new()));
    go(&mut unaware);
    assert!(unaware.0.is_empty(), "a clone is not told");

    let mut by_clone_fn =
        Arc::<Told, PerCore>::with_clone_fn(Told(Vec::new()), |told| Box::new(told.clone()));
    go(&mut by_clone_fn);
    assert_eq!(by_clone_fn.0, [cores[1]]);

    let mut boxed = Arc::<str, PerCore>::new_boxed(|| "text".into());
    let before = Arc::as_ptr(&boxed);
    go(&mut boxed);
    assert_eq!(&*boxed, "text");
    assert!(!std::ptr::addr_eq(before, Arc::as_ptr(&boxed)));

    let mut value = Arc::<_, PerCore>::with_value(7, || 8);
    assert_eq!(*value, 7);
    go(&mut value);
    assert_eq!(*value, 8);
}

#[test]
fn handles_show_and_compare_as_their_values() {
    use std::{collections::HashMap, hash::BuildHasher};

    let (two, three) = (Arc::<_, PerCore>::new(|| 2), Arc::<_, PerCore>::new(|| 3));
    assert_eq!(format!("{two:?} {three}"), "2 3");
    assert!(two < three && two == Arc::new(|| 2) && two.cmp(&three).is_lt());
    assert_eq!(two.partial_cmp(&three), Some(std::cmp::Ordering::Less));
    assert_eq!(AsRef::<i32>::as_ref(&two), &2);
    let states = std::hash::RandomState::new();
    assert_eq!(states.hash_one(&two), states.hash_one(2));
    let found = HashMap::from([(three, "three")]);
    assert_eq!(found.get(&3), Some(&"three"), "by borrowing");
}
