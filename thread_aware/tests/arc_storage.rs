//! Values that exist before the handles do.
#![cfg(feature = "std")]

use std::{
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc as StdArc,
    thread,
};

use thread_aware::{
    Arc, PerCore, RelocateError, StorageError, ThreadAware,
    affinity::{self, Affinity, pinned_affinities},
    storage::{Storage, Strategy},
};

// proves: TA-11
#[test]
fn handle_finds_the_values_of_its_storage() {
    let cores = pinned_affinities(&[3]);
    let storage = StdArc::new(Storage::<_, PerCore>::new());
    storage.insert(cores[0], 10.into()).expect("it was empty");
    storage.insert(cores[1], 11.into()).expect("it was empty");
    let mut handle = Arc::from_storage(storage.clone(), cores[0]);
    assert_eq!(*handle, 10);
    handle.relocate(Some(cores[0]), cores[1]);
    assert_eq!(*handle, 11);
    // A value that comes later is found too, as long as nobody was there before.
    storage.insert(cores[2], 12.into()).expect("it was empty");
    handle.relocate(Some(cores[1]), cores[2]);
    assert_eq!(*handle, 12);
}

// proves: TA-11, TA-8
#[test]
fn partition_without_a_value_takes_the_one_that_arrives() {
    let cores = pinned_affinities(&[3]);
    let storage = StdArc::new(Storage::<_, PerCore>::new());
    storage.insert(cores[0], 10.into()).expect("it was empty");
    storage.insert(cores[1], 11.into()).expect("it was empty");
    let mut first = Arc::from_storage(storage.clone(), cores[0]);
    let mut second = Arc::from_storage(storage.clone(), cores[1]);
    let value = Arc::as_ptr(&first);
    first.relocate(Some(cores[0]), cores[2]);
    second.relocate(Some(cores[1]), cores[2]);
    assert_eq!((*first, Arc::as_ptr(&second)), (10, value));
    // It is in both partitions now, by the caller's choice, and counts as one.
    let back = Arc::from_storage(storage.clone(), cores[0]);
    assert!(Arc::ptr_eq(&back, &first));
    assert_eq!(Arc::strong_count(&back), 3);
    assert_eq!(storage.insert(cores[2], 12.into()), Err(12.into()));
}

// proves: TA-11
#[test]
fn absent_value_is_an_error_that_names_the_affinity() {
    let cores = pinned_affinities(&[2]);
    let storage = StdArc::new(Storage::<i32, PerCore>::new());
    let empty = Arc::try_from_storage(storage.clone(), cores[0]);
    assert_eq!(empty.err(), Some(StorageError::Absent(cores[0])));
    storage.insert(cores[0], 10.into()).expect("it was empty");
    let elsewhere = Arc::try_from_storage(storage.clone(), cores[1]);
    assert_eq!(elsewhere.err(), Some(StorageError::Absent(cores[1])));
    let other = pinned_affinities(&[8])[7];
    let beyond = Arc::try_from_storage(storage.clone(), other);
    assert_eq!(beyond.err(), Some(StorageError::Absent(other)));
    let nowhere = Arc::try_from_storage(storage.clone(), affinity::current());
    assert_eq!(
        nowhere.err(),
        Some(StorageError::Place(RelocateError::Anonymous))
    );

    let panic = catch_unwind(AssertUnwindSafe(|| Arc::from_storage(storage, cores[1])));
    let message = panic.expect_err("there is no value");
    let message = message
        .downcast_ref::<String>()
        .expect("a formatted message");
    assert!(message.contains(&format!("{:?}", cores[1])), "{message}");
}

// proves: TA-11
#[test]
fn values_become_a_lineage() {
    let cores = pinned_affinities(&[3]);
    let values = [(cores[0], "a"), (cores[2], "c")];
    let mut handle = Arc::<_, PerCore>::try_from_values(values, cores[2]).expect("it is there");
    assert_eq!(*handle, "c");
    handle.relocate(Some(cores[2]), cores[0]);
    assert_eq!(*handle, "a");
    let twice = Arc::<_, PerCore>::try_from_values([(cores[1], 1), (cores[1], 2)], cores[1]);
    assert_eq!(twice.err(), Some(StorageError::Occupied(cores[1])));
    let absent = Arc::<_, PerCore>::try_from_values([(cores[1], 1)], cores[0]);
    assert_eq!(absent.err(), Some(StorageError::Absent(cores[0])));
    let nowhere = Arc::<_, PerCore>::try_from_values([(affinity::current(), 1)], cores[0]);
    assert_eq!(
        nowhere.err(),
        Some(StorageError::Place(RelocateError::Anonymous))
    );
}

// proves: TA-12
#[test]
fn insert_keeps_the_first_value_and_returns_the_second() {
    let cores = pinned_affinities(&[2]);
    let storage = Storage::<String, PerCore>::new();
    let (first, second) = (
        StdArc::new("first".to_owned()),
        StdArc::new("second".to_owned()),
    );
    assert_eq!(storage.insert(cores[1], first.clone()), Ok(()));
    let rejected = storage
        .insert(cores[1], second.clone())
        .expect_err("there is one");
    assert!(StdArc::ptr_eq(&rejected, &second));
    let kept = storage.get(cores[1]).expect("there is one");
    assert!(StdArc::ptr_eq(&kept, &first));
    assert_eq!(format!("{storage:?}"), r#"["first"]"#);
}

// proves: TA-12
#[test]
fn places_that_do_not_exist_are_none_and_take_nothing() {
    let cores = pinned_affinities(&[2]);
    let storage = Storage::<i32, PerCore>::new();
    assert_eq!(storage.get(cores[0]), None);
    storage.insert(cores[0], 1.into()).expect("it was empty");
    assert_eq!(
        storage.get(pinned_affinities(&[64])[63]),
        None,
        "of a topology never met"
    );
    assert_eq!(storage.get(affinity::current()), None);
    assert_eq!(storage.insert(affinity::current(), 2.into()), Err(2.into()));
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

// proves: TA-12
#[test]
fn index_out_of_range_is_none_and_takes_nothing() {
    let cores = pinned_affinities(&[2]); // indices 1 and 2 of 2
    let storage = Storage::<_, Beyond>::new();
    assert_eq!(storage.get(cores[1]), None);
    assert_eq!(storage.insert(cores[1], 5.into()), Err(5.into()));
    assert_eq!(storage.get(cores[1]), None);
    storage.insert(cores[0], 6.into()).expect("it was empty");
    assert_eq!(storage.get(cores[0]).as_deref(), Some(&6));
    assert_eq!(storage.get(cores[1]), None);
    let beyond = Arc::try_from_storage(StdArc::new(storage), cores[1]);
    let refused = StorageError::Place(RelocateError::OutOfRange(cores[1]));
    assert_eq!(beyond.err(), Some(refused));
}

// proves: TA-12
#[test]
fn racing_inserts_keep_one_value() {
    let cores = pinned_affinities(&[2]);
    for _ in 0..200 {
        let storage = Storage::<usize, PerCore>::new();
        let barrier = std::sync::Barrier::new(4);
        let kept: usize = thread::scope(|scope| {
            let inserts = [0, 1, 2, 3].map(|number| {
                let (storage, cores, barrier) = (&storage, &cores, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    match storage.insert(cores[0], number.into()) {
                        Ok(()) => 1,
                        Err(rejected) => {
                            assert_eq!(*rejected, number);
                            assert!(storage.get(cores[0]).is_some(), "another one is there");
                            0
                        }
                    }
                })
            });
            inserts
                .map(|insert| insert.join().expect("no panic"))
                .iter()
                .sum()
        });
        assert_eq!(kept, 1);
    }
}

// proves: TA-17
#[test]
fn values_are_std_arcs_inside() {
    let cores = pinned_affinities(&[2]);
    let value = StdArc::new(5);
    let storage = Storage::<_, PerCore>::new();
    storage
        .insert(cores[0], value.clone())
        .expect("it was empty");
    let storage = StdArc::new(storage);
    let handle = Arc::from_storage(storage.clone(), cores[0]);
    assert!(StdArc::ptr_eq(
        &value,
        &storage.get(cores[0]).expect("it is there")
    ));
    assert_eq!(Arc::as_ptr(&handle), StdArc::as_ptr(&value));
    assert!(StdArc::ptr_eq(&value, &handle.into_arc()));
    drop(storage);
    assert_eq!(StdArc::strong_count(&value), 1);
}

// proves: TA-17
#[test]
fn handle_is_a_node_pointer_and_a_value_pointer() {
    assert_eq!(size_of::<Arc<[u8; 64], PerCore>>(), 2 * size_of::<usize>());
    assert_eq!(
        size_of::<Option<Arc<u8, PerCore>>>(),
        2 * size_of::<usize>()
    );
    assert_eq!(size_of::<Arc<str, PerCore>>(), 3 * size_of::<usize>());
}
