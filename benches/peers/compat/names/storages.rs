//! `storage::{Storage, Strategy}` and `Arc::from_storage`.

use std::{panic, sync};

use thread_aware::{
    Arc, PerCore, PerNuma, ThreadAware,
    affinity::pinned_affinities,
    storage::{Storage, Strategy},
};

use crate::probe::places;

static EMPTY: Storage<u32, PerNuma> = Storage::new();

#[test]
fn a_storage_keeps_the_first_value_of_a_partition() {
    let [first, second] = places();
    let storage = Storage::<str, PerCore>::default();
    assert_eq!(storage.get(first), None);
    assert_eq!(storage.insert(first, "a".into()), Ok(()));
    assert_eq!(storage.insert(first, "b".into()), Err("b".into()));
    assert_eq!(storage.get(first).as_deref(), Some("a"));
    assert_eq!(storage.get(second), None);
    assert!(!format!("{:?}", Storage::<u32, PerCore>::new()).is_empty());
}

#[test]
fn a_storage_can_be_a_static() {
    let [first, second] = places();
    EMPTY
        .insert(second, sync::Arc::new(3))
        .expect("it was empty");
    assert_eq!(
        (EMPTY.get(first), EMPTY.get(second).as_deref()),
        (None, Some(&3))
    );
}

#[test]
fn a_handle_is_made_from_given_values() {
    let [first, second] = places();
    let storage = sync::Arc::new(Storage::<u32, PerCore>::new());
    for (affinity, value) in [(first, 1), (second, 2)] {
        storage
            .insert(affinity, sync::Arc::new(value))
            .expect("it was empty");
    }
    let mut handle = Arc::from_storage(sync::Arc::clone(&storage), first);
    assert_eq!(*handle, 1);
    handle.relocate(Some(first), second);
    assert_eq!(*handle, 2);
}

#[test]
fn a_handle_without_a_value_to_go_to_keeps_its_own() {
    let cores = pinned_affinities(&[3]);
    let storage = Storage::<u32, PerCore>::new();
    storage
        .insert(cores[0], sync::Arc::new(1))
        .expect("it was empty");
    let mut handle = Arc::from_storage(sync::Arc::new(storage), cores[0]);
    handle.relocate(Some(cores[0]), cores[2]);
    assert_eq!(*handle, 1);
}

#[test]
fn a_handle_needs_a_value_to_begin_with() {
    let [first, _] = places();
    let made = panic::catch_unwind(|| {
        Arc::from_storage(sync::Arc::new(Storage::<u32, PerCore>::new()), first)
    });
    assert!(made.is_err());
}

#[test]
fn a_storage_is_sent_and_shared() {
    fn sent<T: Send + Sync + Unpin>() {}
    fn of<S: Strategy + Send + Sync + Unpin>() {
        sent::<Storage<u32, S>>();
    }
    of::<PerCore>();
}
