//! Every std type that holds elements relocates each of them once, in order, with the source and
//! the destination it was given.
#![cfg(feature = "std")]
// A probe hashes and compares by its id alone; what it writes to is its log.
#![allow(clippy::mutable_key_type)]

mod probe;

use std::{
    borrow::Cow,
    cell::{Cell, OnceCell, RefCell},
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque},
    num::{Saturating, Wrapping},
    ops::Bound,
    pin::Pin,
    sync::{Mutex, OnceLock, RwLock},
};

use probe::{Log, Probe};
use proptest::{collection::vec, prelude::*};
use thread_aware::ThreadAware;

#[test]
fn sequences_relocate_their_elements_in_order() {
    let log = Log::default();
    let probes = || log.probes::<4>();
    assert_eq!(log.ids_reached(&mut probes()), [0, 1, 2, 3]);
    assert_eq!(log.ids_reached(&mut probes()[1..]), [1, 2, 3]);
    assert_eq!(log.ids_reached(&mut Vec::from(probes())), [0, 1, 2, 3]);
    assert_eq!(
        log.ids_reached(&mut LinkedList::from(probes())),
        [0, 1, 2, 3]
    );
    assert_eq!(log.ids_reached(&mut Vec::<Probe>::new()), []);
    assert_eq!(log.ids_reached(&mut log.probes::<0>()), []);
}

#[test]
fn a_deque_that_wraps_around_is_relocated_from_front_to_back() {
    let log = Log::default();
    let mut deque = VecDeque::with_capacity(4);
    deque.extend(log.probes::<4>());
    deque.rotate_left(2);
    deque.push_front(log.probe(9));
    deque.pop_back();
    let front_to_back: Vec<_> = deque.iter().map(|probe| probe.id).collect();
    assert_eq!(log.ids_reached(&mut deque), front_to_back);
}

#[test]
fn tuples_of_one_to_twelve_relocate_from_left_to_right() {
    let log = Log::default();
    macro_rules! check {
        ($($name:ident)*) => {{
            let mut id = 0;
            #[allow(unused_assignments)]
            let mut tuple = ($({ let $name = log.probe(id); id += 1; $name },)*);
            assert_eq!(log.ids_reached(&mut tuple), (0..id).collect::<Vec<_>>());
        }};
    }
    check!(a);
    check!(a b);
    check!(a b c);
    check!(a b c d);
    check!(a b c d e);
    check!(a b c d e f);
    check!(a b c d e f g);
    check!(a b c d e f g h);
    check!(a b c d e f g h i);
    check!(a b c d e f g h i j);
    check!(a b c d e f g h i j k);
    check!(a b c d e f g h i j k l);
    assert_eq!(log.ids_reached(&mut ()), []);
}

#[test]
fn ordered_maps_and_sets_relocate_in_key_order_and_keep_their_elements() {
    let log = Log::default();
    let mut map: BTreeMap<_, _> = [3, 1, 2]
        .map(|id| (log.probe(id), log.probe(id + 10)))
        .into_iter()
        .collect();
    assert_eq!(log.ids_reached(&mut map), [1, 11, 2, 12, 3, 13]);
    assert_eq!(map.get(&log.probe(2)).map(|value| value.id), Some(12));
    assert_eq!(map.len(), 3);

    let mut set: BTreeSet<_> = [3, 1, 2].map(|id| log.probe(id)).into_iter().collect();
    assert_eq!(log.ids_reached(&mut set), [1, 2, 3]);
    assert_eq!(set.len(), 3);
}

#[test]
fn hashed_maps_and_sets_relocate_each_element_once_whatever_the_hasher() {
    type Fixed = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;

    let log = Log::default();
    let pairs = || [3, 1, 2].map(|id| (log.probe(id), log.probe(id + 10)));
    let mut seeded: HashMap<_, _> = pairs().into_iter().collect();
    let mut fixed: HashMap<_, _, Fixed> = pairs().into_iter().collect();
    for reached in [
        log.ids_reached_sorted(&mut seeded),
        log.ids_reached_sorted(&mut fixed),
    ] {
        assert_eq!(reached, [1, 2, 3, 11, 12, 13]);
    }
    assert_eq!(seeded.get(&log.probe(2)).map(|value| value.id), Some(12));
    assert_eq!(fixed.get(&log.probe(3)).map(|value| value.id), Some(13));

    let mut set: HashSet<_, Fixed> = log.probes::<5>().into_iter().collect();
    assert_eq!(log.ids_reached_sorted(&mut set), [0, 1, 2, 3, 4]);
    assert_eq!(set.len(), 5);
}

#[test]
fn a_heap_relocates_each_element_once_and_stays_a_heap() {
    let log = Log::default();
    let mut heap: BinaryHeap<_> = [4, 0, 2, 1, 3]
        .map(|id| log.probe(id))
        .into_iter()
        .collect();
    assert_eq!(log.ids_reached_sorted(&mut heap), [0, 1, 2, 3, 4]);
    let sorted: Vec<_> = heap
        .into_sorted_vec()
        .iter()
        .map(|probe| probe.id)
        .collect();
    assert_eq!(sorted, [0, 1, 2, 3, 4]);
}

#[test]
fn wrappers_relocate_what_they_hold() {
    let log = Log::default();
    let probe = || log.probe(7);
    assert_eq!(log.ids_reached(&mut Some(probe())), [7]);
    assert_eq!(log.ids_reached(&mut None::<Probe>), []);
    assert_eq!(log.ids_reached(&mut Ok::<_, Probe>(probe())), [7]);
    assert_eq!(log.ids_reached(&mut Err::<Probe, _>(probe())), [7]);
    assert_eq!(log.ids_reached(&mut Wrapping(probe())), [7]);
    assert_eq!(log.ids_reached(&mut Saturating(probe())), [7]);
    assert_eq!(log.ids_reached(&mut Reverse(probe())), [7]);
    assert_eq!(log.ids_reached(&mut Bound::Included(probe())), [7]);
    assert_eq!(log.ids_reached(&mut Bound::Excluded(probe())), [7]);
    assert_eq!(log.ids_reached(&mut Bound::<Probe>::Unbounded), []);
}

#[test]
fn boxes_relocate_values_slices_trait_objects_and_pinned_values() {
    let log = Log::default();
    let boxed_slice: Box<[Probe]> = Box::new(log.probes::<3>());
    let object: Box<dyn ThreadAware> = Box::new(log.probe(7));
    assert_eq!(log.ids_reached(&mut Box::new(log.probe(7))), [7]);
    assert_eq!(log.ids_reached(&mut { boxed_slice }), [0, 1, 2]);
    assert_eq!(log.ids_reached(&mut { object }), [7]);
    let mut pinned: Pin<Box<[Probe]>> = Box::into_pin(Box::new(log.probes::<2>()));
    assert_eq!(log.ids_reached(&mut pinned), [0, 1]);
}

#[test]
fn a_cow_relocates_what_it_owns_and_leaves_what_it_borrows() {
    let log = Log::default();
    let probes = log.probes::<2>();
    assert_eq!(
        log.ids_reached(&mut Cow::<[Probe]>::Owned(probes.to_vec())),
        [0, 1]
    );
    assert_eq!(log.ids_reached(&mut Cow::Borrowed(&probes[..])), []);
}

#[test]
fn cells_and_locks_relocate_their_value() {
    let log = Log::default();
    let probe = || log.probe(7);
    assert_eq!(log.ids_reached(&mut Cell::new(probe())), [7]);
    assert_eq!(log.ids_reached(&mut RefCell::new(probe())), [7]);
    assert_eq!(log.ids_reached(&mut OnceCell::from(probe())), [7]);
    assert_eq!(log.ids_reached(&mut OnceCell::<Probe>::new()), []);
    assert_eq!(log.ids_reached(&mut OnceLock::from(probe())), [7]);
    assert_eq!(log.ids_reached(&mut OnceLock::<Probe>::new()), []);
    assert_eq!(log.ids_reached(&mut Mutex::new(probe())), [7]);
    assert_eq!(log.ids_reached(&mut RwLock::new(probe())), [7]);
}

#[test]
fn poisoned_locks_are_relocated_and_stay_poisoned() {
    let log = Log::default();
    let mut mutex = Mutex::new(log.probe(7));
    let mut lock = RwLock::new(log.probe(8));
    std::thread::scope(|scope| {
        let poisoner = scope.spawn(|| {
            let _guards = (mutex.lock().expect("clean"), lock.write().expect("clean"));
            panic!("on purpose");
        });
        assert!(poisoner.join().is_err());
    });
    assert_eq!(log.ids_reached(&mut mutex), [7]);
    assert_eq!(log.ids_reached(&mut lock), [8]);
    assert!(mutex.is_poisoned() && lock.is_poisoned());
}

#[test]
fn ranges_relocate_their_bounds_from_start_to_end() {
    let log = Log::default();
    let [a, b] = log.probes::<2>();
    assert_eq!(log.ids_reached(&mut (a.clone()..b.clone())), [0, 1]);
    assert_eq!(log.ids_reached(&mut (a.clone()..)), [0]);
    assert_eq!(log.ids_reached(&mut (..b.clone())), [1]);
    assert_eq!(log.ids_reached(&mut (..=b.clone())), [1]);
    assert_eq!(log.ids_reached(&mut (a.clone()..=b.clone())), [0, 1]);
    assert_eq!(
        log.ids_reached(&mut (b..=a)),
        [],
        "an empty range stays as it is"
    );
}

#[test]
fn an_inclusive_range_that_was_walked_to_its_end_stays_empty() {
    let log = Log::default();
    let mut range = 3..=4_u8;
    assert_eq!(range.by_ref().count(), 2);
    log.ids_reached(&mut range);
    assert_eq!(range.next(), None);
}

proptest! {
    #[test]
    fn nested_collections_reach_every_leaf_in_order(shape in vec(0_u32..6, 0..6)) {
        let log = Log::default();
        let mut next = 0..;
        let mut nested: Vec<VecDeque<Option<Box<Probe>>>> = shape
            .iter()
            .map(|&n| (0..n).map(|_| next.next().map(|id| Box::new(log.probe(id)))).collect())
            .collect();
        let reached = log.ids_reached(&mut nested);
        prop_assert_eq!(reached, (0..shape.iter().sum()).collect::<Vec<_>>());
    }
}
