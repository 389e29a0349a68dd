//! `Arc` with `PerCore`, `PerNuma` and `PerProcess`.

use std::{
    cmp::Ordering,
    collections::hash_map::RandomState,
    fmt::Debug,
    hash::BuildHasher,
    sync::{
        self,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use thread_aware::{
    Arc, PerCore, PerNuma, PerProcess, ThreadAware, affinity::pinned_affinities, storage::Strategy,
};

use crate::probe::{Probe, places};

static MADE: AtomicU32 = AtomicU32::new(0);

fn number() -> u32 {
    MADE.fetch_add(1, Relaxed)
}

#[test]
fn each_partition_has_a_value_of_its_own() {
    let [first, second] = places();
    let mut here = Arc::<_, PerCore>::new(number);
    let mut there = here.clone();
    let original = *here;
    here.relocate(Some(first), second);
    assert_ne!(*here, original);
    there.relocate(Some(first), second);
    assert_eq!(*here, *there, "handles that meet share the value");
    there.relocate(Some(second), first);
    assert_eq!(*there, original, "going back finds the original");
}

#[test]
fn strategies_say_what_shares_a_value() {
    fn kept<S: Strategy + Send + Sync>(from: usize, to: usize) -> bool {
        let cores = pinned_affinities(&[2, 2]);
        let mut value = Arc::<_, S>::new(|| AtomicU32::new(0));
        value.store(7, Relaxed);
        value.relocate(Some(cores[from]), cores[to]);
        value.load(Relaxed) == 7
    }
    assert_eq!(
        [kept::<PerCore>(0, 0), kept::<PerCore>(0, 1)],
        [true, false]
    );
    assert_eq!(
        [kept::<PerNuma>(0, 1), kept::<PerNuma>(1, 2)],
        [true, false]
    );
    assert_eq!(
        [kept::<PerProcess>(0, 1), kept::<PerProcess>(0, 3)],
        [true, true]
    );
}

#[test]
fn strategies_count_and_index_partitions() {
    fn numbers<S: Strategy>(_: S) -> (usize, usize) {
        let last = pinned_affinities(&[2, 1])[2];
        (S::index(last), S::count(last).get())
    }
    assert_eq!(numbers(PerCore), (2, 3));
    assert_eq!(numbers(PerNuma), (1, 2));
    assert_eq!(numbers(PerProcess), (0, 1));
    fn plain<S: Copy + Eq + std::hash::Hash + Debug>(_: S) {}
    plain(PerCore);
    plain(PerNuma);
    plain(PerProcess);
}

#[test]
fn values_are_made_in_every_way() {
    let [first, second] = places();

    let mut boxed = Arc::<dyn Fn() -> u32 + Send + Sync, PerCore>::new_boxed(|| {
        let made = number();
        Box::new(move || made)
    });
    let before = boxed();
    boxed.relocate(Some(first), second);
    assert_ne!(boxed(), before);

    let mut with = Arc::<_, PerCore>::new_with(Probe(0), |probe| probe.0);
    assert_eq!(*with, 0);
    with.relocate(Some(first), second);
    assert_eq!(*with, 1, "the data was relocated first");

    let mut cloned = Arc::<_, PerCore>::from_unaware(vec![1, 2]);
    let place = cloned.as_ptr();
    cloned.relocate(Some(first), second);
    assert_eq!(*cloned, [1, 2]);
    assert_ne!(cloned.as_ptr(), place);

    let clone = |probe: &Probe| -> Box<dyn Shown> { Box::new(probe.clone()) };
    let mut object = Arc::<dyn Shown, PerCore>::with_clone_fn(Probe(5), clone);
    assert_eq!(object.number(), 5);
    object.relocate(Some(first), second);
    assert_eq!(object.number(), 6, "the clone was relocated");
}

trait Shown: ThreadAware + Sync {
    fn number(&self) -> u32;
}

impl Shown for Probe {
    fn number(&self) -> u32 {
        self.0
    }
}

#[test]
fn handles_are_counted_a_partition() {
    let [first, second] = places();
    let one = Arc::<_, PerCore>::new(|| 42);
    assert_eq!(Arc::strong_count(&one), 1);
    let mut two = one.clone();
    assert_eq!((Arc::strong_count(&one), Arc::strong_count(&two)), (2, 2));
    two.relocate(Some(first), second);
    assert_eq!((Arc::strong_count(&one), Arc::strong_count(&two)), (1, 1));
}

#[test]
fn a_handle_becomes_a_std_arc() {
    let handle = Arc::<_, PerCore>::new(|| String::from("a"));
    let place: *const String = &*handle;
    let std: sync::Arc<String> = handle.into_arc();
    assert!(std::ptr::eq(&*std, place));
}

#[test]
fn handles_compare_hash_and_show_as_their_value() {
    let of = |n: fn() -> u32| Arc::<u32, PerCore>::new(n);
    let (one, two) = (of(|| 1), of(|| 2));
    assert_eq!(one, of(|| 1));
    assert_ne!(one, two);
    assert_eq!(one.cmp(&two), Ordering::Less);
    assert_eq!(one.partial_cmp(&two), Some(Ordering::Less));
    assert!(one < two);
    let hasher = RandomState::new();
    assert_eq!(hasher.hash_one(&one), hasher.hash_one(of(|| 1)));
    assert!(format!("{two:?}").contains('2'));
}

#[test]
fn handles_are_sent_and_shared() {
    fn sent<T: Send + Sync + Unpin + ThreadAware>() {}
    sent::<Arc<u32, PerCore>>();
    sent::<Arc<dyn Fn() + Send + Sync, PerNuma>>();
}

/// A strategy of one's own: two partitions, for even and odd processors.
#[derive(Debug)]
struct Parity;

impl Strategy for Parity {
    fn index(affinity: thread_aware::affinity::Affinity) -> usize {
        affinity.processor_index() % 2
    }

    fn count(_: thread_aware::affinity::Affinity) -> std::num::NonZero<usize> {
        std::num::NonZero::new(2).expect("two is not zero")
    }
}

#[test]
fn strategies_can_be_written() {
    let cores = pinned_affinities(&[4]);
    let mut value = Arc::<_, Parity>::new(number);
    let even = *value;
    value.relocate(Some(cores[0]), cores[2]);
    assert_eq!(*value, even);
    value.relocate(Some(cores[2]), cores[3]);
    assert_ne!(*value, even);
}

/// As a user writes it: a service with a client a core.
#[derive(Clone, ThreadAware)]
struct Service {
    name: String,
    client: Arc<AtomicU32, PerCore>,
}

#[test]
fn handles_are_fields_of_derived_types() {
    let [first, second] = places();
    let service = Service {
        name: String::from("a"),
        client: Arc::new(|| AtomicU32::new(0)),
    };
    service.client.store(3, Relaxed);
    let mut other = service.clone();
    other.relocate(Some(first), second);
    assert_eq!(other.client.load(Relaxed), 0);
    assert_eq!((service.client.load(Relaxed), &*other.name), (3, "a"));
}
