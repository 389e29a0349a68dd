//! What a derived implementation does with the fields.

mod probe;

use probe::{Probe, reached};
use thread_aware::{ThreadAware, affinity::pinned_affinities};

#[derive(ThreadAware)]
struct Named {
    first: Probe,
    second: Vec<Probe>,
    third: (Probe, u8),
}

#[derive(ThreadAware)]
struct Unnamed(Probe, Option<Probe>, Probe);

#[derive(ThreadAware)]
struct Unit;

#[derive(ThreadAware)]
struct Nothing {}

#[derive(ThreadAware)]
enum Never {}

#[derive(ThreadAware)]
enum Choice {
    Unit,
    Unnamed(Probe, Probe),
    Named { a: Probe, b: Probe },
    Nested(Box<Choice>),
}

#[derive(ThreadAware)]
struct Skipping {
    a: Probe,
    #[thread_aware(skip)]
    b: Probe,
    c: Probe,
    #[thread_aware(skip)]
    d: std::sync::Arc<str>,
}

#[derive(ThreadAware)]
struct SkippingUnnamed(
    #[thread_aware(skip)] Probe,
    Probe,
    #[thread_aware(skip)] Probe,
);

#[derive(ThreadAware)]
enum SkippingVariants {
    All(#[thread_aware(skip)] Probe),
    Some {
        #[thread_aware(skip)]
        a: Probe,
        b: Probe,
    },
}

#[derive(ThreadAware)]
struct SkippingAll {
    #[thread_aware(skip)]
    a: Probe,
}

// proves: TA-15
#[test]
fn every_field_is_relocated_once_in_order() {
    let mut named = Named {
        first: Probe(1),
        second: vec![Probe(2), Probe(3)],
        third: (Probe(4), 0),
    };
    assert_eq!(reached(&mut named), [1, 2, 3, 4]);
    assert_eq!(named.third.1, 0);
    assert_eq!(
        reached(&mut Unnamed(Probe(1), Some(Probe(2)), Probe(3))),
        [1, 2, 3]
    );
    assert_eq!(reached(&mut Unit), []);
    assert_eq!(reached(&mut Nothing {}), []);
}

// proves: TA-15
#[test]
fn the_fields_of_the_present_variant_are_relocated_in_order() {
    assert_eq!(reached(&mut Choice::Unit), []);
    assert_eq!(reached(&mut Choice::Unnamed(Probe(1), Probe(2))), [1, 2]);
    let named = || Choice::Named {
        b: Probe(2),
        a: Probe(1),
    };
    assert_eq!(reached(&mut named()), [1, 2], "in the order of declaration");
    assert_eq!(reached(&mut Choice::Nested(Box::new(named()))), [1, 2]);
    assert_eq!(reached(&mut None::<Never>), []);
}

// proves: TA-15
#[test]
fn skipped_fields_are_untouched() {
    let mut skipping = Skipping {
        a: Probe(1),
        b: Probe(2),
        c: Probe(3),
        d: "d".into(),
    };
    assert_eq!(reached(&mut skipping), [1, 3]);
    assert_eq!((skipping.b.0, &*skipping.d), (2, "d"));
    let mut unnamed = SkippingUnnamed(Probe(1), Probe(2), Probe(3));
    assert_eq!(reached(&mut unnamed), [2]);
    assert_eq!((unnamed.0.0, unnamed.2.0), (1, 3));
    let mut all = SkippingVariants::All(Probe(1));
    assert_eq!(reached(&mut all), []);
    assert!(matches!(all, SkippingVariants::All(Probe(1))));
    let mut some = SkippingVariants::Some {
        a: Probe(1),
        b: Probe(2),
    };
    assert_eq!(reached(&mut some), [2]);
    assert!(matches!(some, SkippingVariants::Some { a: Probe(1), .. }));
    let mut all = SkippingAll { a: Probe(1) };
    assert_eq!(reached(&mut all), []);
    assert_eq!(all.a.0, 1);
}

#[test]
fn source_and_destination_are_passed_on() {
    let cores = pinned_affinities(&[1, 2]);
    let mut seen = probe::Places::default();
    let mut holder = Holder {
        source: std::mem::take(&mut seen),
    };
    holder.relocate(None, cores[1]);
    holder.relocate(Some(cores[1]), cores[0]);
    let expected = [(None, cores[1]), (Some(cores[1]), cores[0])];
    assert_eq!(holder.source.0, expected);
}

/// Its field has the name of an argument.
#[derive(ThreadAware)]
struct Holder {
    source: probe::Places,
}
