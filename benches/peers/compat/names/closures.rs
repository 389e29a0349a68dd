//! `closure::{closure, closure_mut, closure_once}`, their types and their traits.

use std::{
    collections::hash_map::RandomState,
    fmt::Debug,
    hash::{BuildHasher, Hash},
};

use thread_aware::{
    ThreadAware,
    closure::{
        Closure, ClosureMut, ClosureOnce, ThreadAwareFn, ThreadAwareFnMut, ThreadAwareFnOnce,
        closure, closure_mut, closure_once,
    },
};

use crate::probe::{Probe, twice};

/// A closure of one's own.
struct Constant(u32);

impl ThreadAware for Constant {
    fn relocate(
        &mut self,
        _: Option<thread_aware::affinity::Affinity>,
        _: thread_aware::affinity::Affinity,
    ) {
        self.0 += 1;
    }
}

impl ThreadAwareFn<u32> for Constant {
    fn call(&self) -> u32 {
        self.0
    }
}

impl ThreadAwareFnMut<u32> for Constant {
    fn call_mut(&mut self) -> u32 {
        self.0
    }
}

impl ThreadAwareFnOnce<u32> for Constant {
    fn call_once(self) -> u32 {
        self.0
    }
}

fn shared(mut f: impl ThreadAwareFn<u32>) -> u32 {
    twice(&mut f);
    f.call()
}

fn mutable(mut f: impl ThreadAwareFnMut<u32>) -> u32 {
    twice(&mut f);
    f.call_mut()
}

fn once(mut f: impl ThreadAwareFnOnce<u32>) -> u32 {
    twice(&mut f);
    f.call_once()
}

#[test]
fn closures_relocate_what_they_capture() {
    let f: Closure<u32, Probe> = closure(Probe(5), |probe| probe.0);
    assert_eq!((shared(f.clone()), mutable(f.clone()), once(f)), (7, 7, 7));
    let f: ClosureMut<u32, Probe> = closure_mut(Probe(5), |probe| {
        probe.0 += 10;
        probe.0
    });
    assert_eq!((mutable(f.clone()), once(f)), (17, 17));
    let f: ClosureOnce<u32, (Probe, Probe)> =
        closure_once((Probe(5), Probe(6)), |(a, b)| a.0 + b.0);
    assert_eq!(once(f), 15);
    assert_eq!(
        (shared(Constant(1)), mutable(Constant(1)), once(Constant(1))),
        (3, 3, 3)
    );
}

#[test]
fn closures_are_trait_objects() {
    let mut f: Box<dyn ThreadAwareFn<u32>> = Box::new(closure(Probe(1), |probe| probe.0));
    twice(&mut f);
    assert_eq!(f.call(), 3);
    let mut f: Box<dyn ThreadAwareFnMut<u32>> = Box::new(Constant(1));
    assert_eq!(f.call_mut(), 1);
    let mut f: Box<dyn ThreadAwareFnOnce<u32>> = Box::new(closure_once(1, |n| n));
    twice(&mut *f);
}

#[test]
fn closures_copy_hash_and_show() {
    fn check<T: Copy + Hash + Debug>(f: T) {
        let hasher = RandomState::new();
        let copy = f;
        assert_eq!(hasher.hash_one(f), hasher.hash_one(copy));
        assert!(format!("{f:?}").contains('3'));
    }
    check::<Closure<u8, u8>>(closure(3, |n| *n));
    check::<ClosureMut<u8, u8>>(closure_mut(3, |n| *n));
    check::<ClosureOnce<u8, u8>>(closure_once(3, |n| n));
}
