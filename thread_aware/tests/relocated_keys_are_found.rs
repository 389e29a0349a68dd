//! A relocation may change keys: the collections that depend on them are rebuilt around that.
#![cfg(feature = "std")]

use std::{
    collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet},
    panic::{AssertUnwindSafe, catch_unwind},
};

use thread_aware::{
    ThreadAware,
    affinity::{Affinity, pinned_affinities},
};

/// A key that is another one on each core: it turns into its complement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Turning(u32);

impl ThreadAware for Turning {
    fn relocate(&mut self, _: Option<Affinity>, _: Affinity) {
        self.0 = u32::MAX - self.0;
    }
}

/// A key that panics when the fragile one is relocated, and changes otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Fragile(u32);

impl ThreadAware for Fragile {
    fn relocate(&mut self, _: Option<Affinity>, _: Affinity) {
        assert_ne!(self.0, FRAGILE, "on purpose");
        self.0 += 1_000;
    }
}

const FRAGILE: u32 = 5;

/// A key that forgets what distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Merging(u32);

impl ThreadAware for Merging {
    fn relocate(&mut self, _: Option<Affinity>, _: Affinity) {
        self.0 = 0;
    }
}

fn home() -> Affinity {
    pinned_affinities(&[1])[0]
}

fn turned() -> impl Iterator<Item = Turning> {
    (0..100).map(|key| Turning(u32::MAX - key))
}

#[test]
fn maps_find_every_key_by_what_it_turned_into() {
    let mut hashed: HashMap<_, _> = (0..100).map(|key| (Turning(key), key)).collect();
    let mut ordered: BTreeMap<_, _> = (0..100).map(|key| (Turning(key), key)).collect();
    hashed.relocate(None, home());
    ordered.relocate(None, home());
    for (key, turned) in turned().enumerate() {
        assert_eq!(hashed.get(&turned).map(|&v| v as usize), Some(key));
        assert_eq!(ordered.get(&turned).map(|&v| v as usize), Some(key));
    }
    assert_eq!((hashed.len(), ordered.len()), (100, 100));
    assert!(ordered.keys().is_sorted());
}

#[test]
fn sets_and_heaps_keep_their_order_among_what_elements_turned_into() {
    let mut hashed: HashSet<_> = (0..100).map(Turning).collect();
    let mut ordered: BTreeSet<_> = (0..100).map(Turning).collect();
    let mut heap: BinaryHeap<_> = (0..100).map(Turning).collect();
    hashed.relocate(None, home());
    ordered.relocate(None, home());
    heap.relocate(None, home());
    assert!(turned().all(|key| hashed.contains(&key) && ordered.contains(&key)));
    assert!(ordered.iter().is_sorted());
    assert_eq!(heap.pop(), Some(Turning(u32::MAX)));
    assert!(heap.into_sorted_vec().is_sorted());
}

#[test]
fn keys_that_become_equal_leave_the_last_value() {
    let mut map: BTreeMap<_, _> = (0..9).map(|key| (Merging(key), key)).collect();
    map.relocate(None, home());
    assert_eq!(map.into_iter().collect::<Vec<_>>(), [(Merging(0), 8)]);
}

/// Relocates, and asserts that it panicked on purpose.
fn relocate_and_panic(value: &mut impl ThreadAware) {
    let outcome = catch_unwind(AssertUnwindSafe(|| value.relocate(None, home())));
    assert!(outcome.is_err(), "the fragile element was relocated");
}

#[test]
fn no_element_is_lost_when_one_of_them_panics() {
    let keys = || (0..10).map(Fragile);
    let all = |seen: Vec<Fragile>| {
        let mut keys: Vec<_> = seen.iter().map(|key| key.0 % 1_000).collect();
        keys.sort_unstable();
        assert_eq!(keys, (0..10).collect::<Vec<_>>());
    };
    let mut map: HashMap<_, _> = keys().map(|key| (key, 'v')).collect();
    relocate_and_panic(&mut map);
    all(map.into_keys().collect());

    let mut map: BTreeMap<_, _> = keys().map(|key| (key, 'v')).collect();
    relocate_and_panic(&mut map);
    all(map.into_keys().collect());

    let mut set: HashSet<_> = keys().collect();
    relocate_and_panic(&mut set);
    all(set.into_iter().collect());

    let mut set: BTreeSet<_> = keys().collect();
    relocate_and_panic(&mut set);
    all(set.into_iter().collect());

    let mut heap: BinaryHeap<_> = keys().collect();
    relocate_and_panic(&mut heap);
    all(heap.into_vec());

    let mut list: Vec<_> = keys().collect();
    relocate_and_panic(&mut list);
    all(list);
}
