//! How many handles there are, and what the last one does.
#![cfg(feature = "std")]

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

use thread_aware::{
    Arc, PerCore, ThreadAware, Weak, affinity::pinned_affinities, storage::Storage,
};

/// Counts how many of its kind live.
struct Living(std::sync::Arc<AtomicUsize>);

impl Living {
    fn new(living: &std::sync::Arc<AtomicUsize>) -> Self {
        living.fetch_add(1, Relaxed);
        Self(living.clone())
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

fn living() -> (std::sync::Arc<AtomicUsize>, Arc<Living, PerCore>) {
    let living = std::sync::Arc::new(AtomicUsize::new(0));
    let count = living.clone();
    (living, Arc::new_fn(move || Living::new(&count)))
}

// proves: TA-10
#[test]
fn strong_count_counts_the_handles_of_a_value() {
    let cores = pinned_affinities(&[3]);
    let handle = Arc::<_, PerCore>::new(|| 5);
    let mut others = vec![handle.clone(), handle.clone(), handle.clone()];
    assert_eq!(Arc::strong_count(&handle), 4);
    others[0].relocate(Some(cores[0]), cores[1]);
    others[1].relocate(Some(cores[0]), cores[1]);
    assert_eq!(
        (Arc::strong_count(&handle), Arc::strong_count(&others[0])),
        (2, 2)
    );
    // At home, and never moved: one value.
    others[0].relocate(Some(cores[1]), cores[0]);
    assert_eq!(
        (Arc::strong_count(&handle), Arc::strong_count(&others[1])),
        (3, 1)
    );
    // Neither weak handles, nor storages, nor std handles count.
    let (_weak, _storage) = (Arc::downgrade(&handle), Arc::storage(&handle));
    let _std = handle.clone().into_arc();
    assert_eq!(Arc::strong_count(&handle), 3);
    others.clear();
    assert_eq!(Arc::strong_count(&handle), 1);
}

// proves: TA-10
#[test]
fn strong_count_is_exact_after_any_churn() {
    let cores = pinned_affinities(&[4]);
    let handle = Arc::<_, PerCore>::new(|| 5);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (mut mine, cores) = (handle.clone(), &cores);
            scope.spawn(move || {
                let mut at = 0;
                for step in 1..2_000 {
                    let to = (at + thread + step) % 4;
                    mine.relocate(Some(cores[at]), cores[to]);
                    at = to;
                    let count = Arc::strong_count(&mine.clone());
                    assert!((1..=16).contains(&count), "{count}");
                }
            });
        }
    });
    assert_eq!(Arc::strong_count(&handle), 1);
}

// proves: TA-13
#[test]
fn last_handle_drops_every_value_wherever_it_is() {
    let cores = pinned_affinities(&[4]);
    let (living, mut handle) = living();
    for core in [1, 2, 3] {
        handle.relocate(Some(cores[0]), cores[core]);
    }
    let other = handle.clone();
    drop(handle);
    assert_eq!(living.load(Relaxed), 4);
    thread::spawn(move || drop(other)).join().expect("no panic");
    assert_eq!(living.load(Relaxed), 0);
}

// proves: TA-13
#[test]
fn churn_of_threads_leaks_nothing() {
    let cores = pinned_affinities(&[3]);
    let (living, handle) = living();
    for round in 0..50 {
        let movers: Vec<_> = (0..4)
            .map(|thread| {
                let (mut mine, cores) = (handle.clone(), cores.clone());
                thread::spawn(move || {
                    for step in 0..20 {
                        mine.relocate(Some(cores[step % 3]), cores[(step + thread + round) % 3]);
                        drop(mine.clone());
                    }
                    mine
                })
            })
            .collect();
        let moved: Vec<_> = movers.into_iter().map(|mover| mover.join()).collect();
        assert!(moved.iter().all(Result::is_ok));
        assert!(living.load(Relaxed) <= 4);
    }
    drop(handle);
    assert_eq!(living.load(Relaxed), 0);
}

// proves: TA-13
#[test]
fn constructor_and_data_are_dropped_with_the_values() {
    let (living, _) = living();
    let captured = Living::new(&living);
    let handle = Arc::<_, PerCore>::new_fn(move || std::sync::Arc::strong_count(&captured.0));
    assert_eq!(living.load(Relaxed), 1);
    let weak = Arc::downgrade(&handle);
    drop(handle);
    assert_eq!(
        living.load(Relaxed),
        0,
        "a weak handle keeps the memory alone"
    );
    drop(weak);
}

// proves: TA-13
#[test]
fn panicking_drop_leaves_no_other_value_behind() {
    struct Bomb(Living, bool);
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(!self.1, "this one panics in its drop");
        }
    }
    let living = std::sync::Arc::new(AtomicUsize::new(0));
    let cores = pinned_affinities(&[3]);
    let values = (0..3).map(|n| (cores[n], Bomb(Living::new(&living), n == 1)));
    let handle = Arc::<_, PerCore>::try_from_values(values, cores[0]).expect("all are there");
    assert_eq!(living.load(Relaxed), 3);
    assert!(!handle.1 && handle.0.0.load(Relaxed) == 3);
    // Also while somebody keeps the memory.
    let weak = Arc::downgrade(&handle);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(handle))).is_err());
    assert_eq!(living.load(Relaxed), 0);
    assert!(weak.upgrade().is_none());
}

#[test]
fn weak_handles_upgrade_while_anybody_holds_the_lineage() {
    let cores = pinned_affinities(&[2]);
    let (living, mut handle) = living();
    let weak = Arc::downgrade(&handle);
    assert!(Arc::ptr_eq(
        &weak.upgrade().expect("there is a handle"),
        &handle
    ));
    let first = Arc::as_ptr(&handle);
    handle.relocate(Some(cores[0]), cores[1]);
    // Its own partition has no handle any more, the lineage has.
    assert_eq!(weak.strong_count(), 0);
    let back = weak.upgrade().expect("the lineage lives");
    assert_eq!((Arc::as_ptr(&back), weak.strong_count()), (first, 1));
    drop((handle, back));
    assert!(weak.upgrade().is_none());
    assert_eq!(living.load(Relaxed), 0);
    assert!(weak.clone().upgrade().is_none());
}

#[test]
fn weak_handles_relocate_without_making_values() {
    let cores = pinned_affinities(&[3]);
    let (living, mut handle) = living();
    let mut weak = Arc::downgrade(&handle);
    weak.relocate(Some(cores[0]), cores[1]);
    assert_eq!(living.load(Relaxed), 1);
    assert!(Arc::ptr_eq(
        &weak.upgrade().expect("there is a handle"),
        &handle
    ));
    handle.relocate(Some(cores[0]), cores[1]);
    weak.relocate(Some(cores[0]), cores[1]);
    assert!(Arc::ptr_eq(
        &weak.upgrade().expect("there is a handle"),
        &handle
    ));
    assert!(weak.ptr_eq(&Arc::downgrade(&handle)) && !weak.ptr_eq(&Weak::new()));
    drop(handle);
    weak.relocate(Some(cores[1]), cores[0]);
    assert!(weak.upgrade().is_none());
}

#[test]
fn storage_keeps_values_without_a_handle() {
    let cores = pinned_affinities(&[2]);
    let (living, mut handle) = living();
    handle.relocate(Some(cores[0]), cores[1]);
    let (storage, weak) = (Arc::storage(&handle), Arc::downgrade(&handle));
    drop(handle);
    assert_eq!(living.load(Relaxed), 2);
    let revived = weak.upgrade().expect("the storage holds the lineage");
    let other = Arc::from_storage(storage.clone(), cores[1]);
    assert!(Arc::ptr_eq(&revived, &other));
    drop((revived, other, storage));
    assert_eq!(living.load(Relaxed), 0);
    assert!(weak.upgrade().is_none());
    let unused = Storage::<Living, PerCore>::default();
    assert!(unused.get(cores[0]).is_none());
}
