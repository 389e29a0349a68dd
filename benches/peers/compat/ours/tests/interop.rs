//! Feature `core-interop` under threads that a host of the published crates makes.
#![forbid(unsafe_code)]

use std::thread::{self, ThreadId};

use newer::{Thread, ThreadAware as CoreAware, ThreadBuilder};
use thread_aware::{
    Arc, PerCore, ThreadAware, Unaware,
    affinity::{Affinity, pinned_affinities},
    closure::{ThreadAwareFn, async_closure, closure, closure_mut, closure_once},
    interop::{self, BindError},
};

/// A thread id that no other call gives.
fn some_id() -> ThreadId {
    thread::spawn(|| thread::current().id())
        .join()
        .expect("it does not panic")
}

/// Keeps from where to where it was relocated.
#[derive(Clone, Default)]
struct Places(Vec<(Option<Affinity>, Affinity)>);

impl ThreadAware for Places {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.0.push((source, destination));
    }
}

#[test]
fn a_bound_thread_has_its_affinity_everywhere_and_for_good() {
    let (host, cores) = (ThreadBuilder::default(), pinned_affinities(&[2]));
    let worker = host.build(some_id());
    assert_eq!(interop::affinity_of(&worker), None);
    assert_eq!(interop::bind(&worker, cores[0]), Ok(()));
    assert_eq!(interop::bind(&worker, cores[0]), Ok(()), "the same again");
    let refused = interop::bind(&worker, cores[1]);
    assert_eq!(refused, Err(BindError::Bound(cores[0])));
    let equal = worker.clone();
    let there = thread::spawn(move || interop::affinity_of(&equal)).join();
    assert_eq!(there.ok(), Some(Some(cores[0])));
}

#[test]
fn threads_of_other_hosts_and_nodes_are_others() {
    let (host, cores) = (ThreadBuilder::default(), pinned_affinities(&[2]));
    let id = some_id();
    let worker = host.build(id);
    interop::bind(&worker, cores[1]).expect("it is not bound");
    let others = [
        ThreadBuilder::default().build(id),
        host.clone().with_numa_node(1).build(id),
        host.build(some_id()),
    ];
    assert!(
        others
            .iter()
            .all(|other| interop::affinity_of(other).is_none())
    );
}

#[test]
fn our_types_are_relocated_between_the_affinities_of_the_threads() {
    let (host, cores) = (ThreadBuilder::default(), pinned_affinities(&[2]));
    let workers: [Thread; 2] = [host.build(some_id()), host.build(some_id())];
    for (worker, core) in workers.iter().zip(&cores) {
        interop::bind(worker, *core).expect("it is not bound");
    }
    let mut shared = closure(Places::default(), |places| places.0.clone());
    CoreAware::relocate(&mut shared, None, &workers[0]);
    CoreAware::relocate(&mut shared, Some(&workers[0]), &workers[1]);
    let stranger = host.build(some_id());
    CoreAware::relocate(&mut shared, Some(&stranger), &workers[0]);
    let expected = [
        (None, cores[0]),
        (Some(cores[0]), cores[1]),
        (None, cores[0]),
    ];
    assert_eq!(shared.call(), expected);
    // What holds our types passes the call on to them, as the published crate does.
    let mut list = vec![Some(shared)];
    CoreAware::relocate(&mut list, None, &workers[1]);
    assert_eq!(list[0].as_ref().map(|shared| shared.call().len()), Some(4));
}

#[test]
fn a_handle_finds_the_value_of_the_bound_affinity_again() {
    let (host, cores) = (ThreadBuilder::default(), pinned_affinities(&[2]));
    let workers: [Thread; 2] = [host.build(some_id()), host.build(some_id())];
    for (worker, core) in workers.iter().zip(&cores) {
        interop::bind(worker, *core).expect("it is not bound");
    }
    let original = Arc::<_, PerCore>::new(Vec::<u8>::new);
    let (mut by_thread, mut by_affinity) = (original.clone(), original.clone());
    CoreAware::relocate(&mut by_thread, Some(&workers[0]), &workers[1]);
    ThreadAware::relocate(&mut by_affinity, Some(cores[0]), cores[1]);
    assert!(Arc::ptr_eq(&by_thread, &by_affinity));
    assert!(!Arc::ptr_eq(&by_thread, &original));
    let mut weak = Arc::downgrade(&original);
    CoreAware::relocate(&mut weak, Some(&workers[0]), &workers[1]);
    assert!(
        weak.upgrade()
            .is_some_and(|there| Arc::ptr_eq(&there, &by_thread))
    );
    CoreAware::relocate(&mut by_thread, None, &host.build(some_id()));
    assert!(
        Arc::ptr_eq(&by_thread, &by_affinity),
        "nobody bound that thread"
    );
    CoreAware::relocate(&mut by_thread, Some(&workers[1]), &workers[0]);
    assert!(Arc::ptr_eq(&by_thread, &original));
}

#[test]
fn a_relocation_to_a_thread_that_is_not_bound_is_counted_and_does_nothing() {
    let (host, core) = (ThreadBuilder::default(), pinned_affinities(&[1])[0]);
    let (worker, stranger) = (host.build(some_id()), host.build(some_id()));
    interop::bind(&worker, core).expect("it is not bound");
    let mut places = Places::default();
    let before = interop::unbound();
    interop::relocate(&mut places, Some(&worker), &stranger);
    interop::relocate(&mut places, None, &stranger);
    assert!(places.0.is_empty());
    assert!(
        interop::unbound() - before >= 2,
        "other tests of this process count too"
    );
}

#[test]
fn every_type_of_ours_has_the_trait() {
    fn has<T: CoreAware>(_: &T) {}

    has(&Unaware(std::cell::Cell::new(1)));
    has(&(
        pinned_affinities(&[1])[0],
        pinned_affinities(&[1])[0].topology(),
    ));
    has(&closure(1, |n| *n));
    has(&closure_mut(1, |n| *n));
    has(&closure_once(1, |n| n));
    has(&async_closure(1, |n| Box::pin(async move { *n })));
}
