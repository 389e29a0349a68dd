//! Nothing in scope at the item disturbs what is derived, nor does what is derived give a warning.

#![deny(warnings)]

mod probe;

use probe::{Places, Probe, reached};

/// Names of the prelude and of what the macro writes, all with another meaning.
mod shadowed {
    use super::Probe as Affinity;
    use super::Probe as None;
    use super::Probe as Option;
    use super::Probe as Result;
    use super::Probe as Send;
    use super::Probe as Some;

    mod core {
        pub(super) use super::super::Probe as Core;
    }
    mod std {
        pub(super) use super::super::Probe as Std;
    }
    mod affinity {
        pub(super) use super::super::Probe as Place;
    }
    mod thread_aware {
        pub(super) use super::super::Probe as Aware;
    }

    /// What every type has a method of that name from.
    pub(super) trait ThreadAware: Sized {
        fn relocate(&mut self, _: Affinity) -> u8 {
            7
        }
    }
    impl<T> ThreadAware for T {}

    #[derive(::thread_aware::ThreadAware)]
    pub(super) struct Record<T> {
        pub(super) a: Option,
        pub(super) b: (Some, None),
        pub(super) c: [Result; 1],
        pub(super) d: Send,
        pub(super) e: Affinity,
        pub(super) f: core::Core,
        pub(super) g: std::Std,
        pub(super) h: affinity::Place,
        pub(super) i: thread_aware::Aware,
        #[thread_aware(skip)]
        pub(super) j: T,
    }
}

#[test]
fn names_in_scope_do_not_matter() {
    let mut record = shadowed::Record {
        a: Probe(1),
        b: (Probe(2), Probe(3)),
        c: [Probe(4)],
        d: Probe(5),
        e: Probe(6),
        f: Probe(7),
        g: Probe(8),
        h: Probe(9),
        i: Probe(10),
        j: (),
    };
    assert_eq!(shadowed::ThreadAware::relocate(&mut record.j, Probe(0)), 7);
    assert_eq!(reached(&mut record), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

mod constants {
    #![allow(non_upper_case_globals)]

    pub(super) const source: u8 = 1;
    pub(super) const destination: u8 = 2;
    pub(super) const field_0: u8 = 3;

    #[derive(thread_aware::ThreadAware)]
    pub(super) struct Pair(pub(super) super::Probe, pub(super) super::Probe);
}

#[test]
fn constants_named_like_variables_do_not_matter() {
    assert_eq!(reached(&mut constants::Pair(Probe(1), Probe(2))), [1, 2]);
    let all = [
        constants::source,
        constants::destination,
        constants::field_0,
    ];
    assert_eq!(all, [1, 2, 3]);
}

/// An item whose names and types come through macros.
macro_rules! record {
    ($name:ident<$parameter:ident> { $($field:ident: $ty:ty),* $(,)? }) => {
        #[derive(thread_aware::ThreadAware)]
        struct $name<$parameter> {
            $($field: $ty,)*
            last: Option<$parameter>,
        }
    };
}

macro_rules! probes {
    ($ty:ty) => { Vec<$ty> };
}

record!(Generated<T> { r#type: T, source: Probe, list: Vec<T>, all: probes!(T) });

#[test]
fn items_and_types_from_macros_are_derived() {
    let mut generated = Generated {
        r#type: Probe(1),
        source: Probe(2),
        list: vec![Probe(3)],
        all: vec![Probe(4)],
        last: Some(Probe(5)),
    };
    assert_eq!(reached(&mut generated), [1, 2, 3, 4, 5]);
}

mod renamed {
    pub(super) use thread_aware as library;
}

#[derive(renamed::library::ThreadAware)]
#[thread_aware(crate = renamed::library)]
struct Elsewhere<T> {
    probe: T,
    places: Places,
    #[thread_aware(skip)]
    skipped: T,
}

mod other {
    /// Has what derived code names, with a trait of its own.
    pub(super) mod library {
        pub(crate) use thread_aware::affinity;

        pub(crate) trait ThreadAware {
            fn relocate(
                &mut self,
                source: Option<affinity::Affinity>,
                destination: affinity::Affinity,
            );
        }
    }
}

/// Knows the other library's trait alone.
struct Foreign(u32);

impl other::library::ThreadAware for Foreign {
    fn relocate(
        &mut self,
        _: Option<thread_aware::affinity::Affinity>,
        _: thread_aware::affinity::Affinity,
    ) {
        self.0 += 1;
    }
}

#[derive(thread_aware::ThreadAware)]
#[thread_aware(crate = other::library)]
struct OfOther<T> {
    foreign: T,
}

#[test]
fn the_crate_is_found_where_the_attribute_says() {
    let cores = thread_aware::affinity::pinned_affinities(&[2]);
    let mut of_other = OfOther {
        foreign: Foreign(0),
    };
    other::library::ThreadAware::relocate(&mut of_other, None, cores[1]);
    assert_eq!(of_other.foreign.0, 1);

    let mut elsewhere = Elsewhere {
        probe: Probe(1),
        places: Places::default(),
        skipped: Probe(2),
    };
    assert_eq!(reached(&mut elsewhere), [1]);
    assert_eq!((elsewhere.places.0.len(), elsewhere.skipped.0), (1, 2));
}

/// Whoever marks a field or a variant as deprecated is not warned of the derived code.
mod deprecated {
    #[derive(thread_aware::ThreadAware)]
    pub(super) struct Old {
        #[deprecated]
        pub(super) field: super::Probe,
    }

    impl Old {
        #[allow(deprecated)]
        pub(super) fn new() -> Self {
            Self {
                field: super::Probe(1),
            }
        }
    }
}

#[test]
fn deprecated_fields_give_no_warning() {
    assert_eq!(reached(&mut deprecated::Old::new()), [1]);
}
