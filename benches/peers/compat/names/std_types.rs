//! The types of core, alloc and std that are thread-aware.

use std::{
    collections::HashMap,
    marker::PhantomData,
    path::{Path, PathBuf},
    time::Duration,
};

use thread_aware::ThreadAware;

use crate::probe::{Probe, twice};

fn is_aware<T: ThreadAware + ?Sized>() {}

macro_rules! all {
    ($($type:ty),* $(,)?) => { $(is_aware::<$type>();)* };
}

#[test]
fn plain_types_are_aware() {
    all!(
        u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64, bool, char
    );
    all!(
        String,
        &'static str,
        PathBuf,
        &'static Path,
        Duration,
        PhantomData<Probe>
    );
    type P = *const u8;
    all!(
        fn(),
        fn(P) -> P,
        fn(P, P, P, P, P, P, P, P, P, P, P, P) -> P
    );
}

#[test]
fn holders_relocate_what_they_hold() {
    let mut map = HashMap::from([(1, Probe(0))]);
    twice(&mut map);
    assert_eq!(map[&1], Probe(2));
    let mut holders = (
        vec![Probe(0)],
        Some(Probe(0)),
        Ok::<_, Probe>(Probe(0)),
        Err::<Probe, _>(Probe(0)),
        Box::new(Probe(0)),
        (),
    );
    twice(&mut holders);
    let two = Probe(2);
    assert_eq!((&holders.0[0], holders.1.as_ref()), (&two, Some(&two)));
    assert_eq!(
        (&holders.2, &holders.3),
        (&Ok(two.clone()), &Err(two.clone()))
    );
    assert_eq!(*holders.4, two);
    let mut object: Box<dyn ThreadAware> = Box::new(Probe(0));
    twice(&mut object);
}

#[test]
fn tuples_of_twelve_are_relocated() {
    let p = || Probe(0);
    let mut tuple = (p(), p(), p(), p(), p(), p(), p(), p(), p(), p(), p(), p());
    twice(&mut tuple);
    assert_eq!((tuple.0, tuple.6, tuple.11), (Probe(2), Probe(2), Probe(2)));
    let mut one = (p(),);
    twice(&mut one);
    assert_eq!(one.0, Probe(2));
}
