//! `registry::{ProcessorCount, ThreadRegistry}`.

use std::{num::NonZero, panic, thread};

use thread_aware::{
    affinity::{Affinity, pinned_affinities},
    registry::{ProcessorCount, ThreadRegistry},
};

#[test]
fn a_registry_knows_its_affinities() {
    let registry = ThreadRegistry::new(&ProcessorCount::All);
    let all: Vec<Affinity> = registry.affinities().collect();
    assert_eq!(all.len(), registry.num_affinities());
    assert!(all.iter().all(|a| a.processor_count() == all.len()));
    for (index, affinity) in registry.affinities().enumerate() {
        assert_eq!(affinity.processor_index(), index);
    }
    assert!(ThreadRegistry::default().num_affinities() > 0);
    assert!(format!("{registry:?}").contains("ThreadRegistry"));
}

#[test]
fn a_pinned_thread_knows_where_it_is() {
    let registry = ThreadRegistry::new(&ProcessorCount::All);
    for affinity in registry.affinities() {
        thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(registry.current_affinity(), None);
                registry.pin_to(affinity);
                assert_eq!(registry.current_affinity(), Some(affinity));
            });
        });
    }
}

#[test]
fn counts_are_exact_or_bounds() {
    let one = NonZero::<usize>::MIN;
    let many = NonZero::new(1 << 15).expect("it is not zero");
    let of = |count| ThreadRegistry::new(&count).num_affinities();
    assert_eq!(of(ProcessorCount::Exactly(one)), 1);
    assert_eq!(of(ProcessorCount::AtMost(one)), 1);
    assert_eq!(of(ProcessorCount::AtMost(many)), of(ProcessorCount::All));
    assert!(of(ProcessorCount::Auto) <= of(ProcessorCount::All));
    assert!(panic::catch_unwind(|| of(ProcessorCount::Exactly(many))).is_err());
}

#[test]
fn counts_are_plain_values() {
    let name = |count: &ProcessorCount| match count {
        ProcessorCount::Auto => "auto",
        ProcessorCount::Exactly(_) => "exactly",
        ProcessorCount::AtMost(_) => "at most",
        ProcessorCount::All => "all",
        _ => "another",
    };
    let counts = vec![ProcessorCount::default()];
    assert_eq!(
        (name(&counts[0]), counts.clone()),
        ("auto", vec![ProcessorCount::Auto])
    );
    assert_eq!(format!("{:?}", ProcessorCount::All), "All");
}

#[test]
fn an_index_that_a_registry_has_not_is_refused() {
    let registry = ThreadRegistry::new(&ProcessorCount::Exactly(NonZero::<usize>::MIN));
    let foreign = pinned_affinities(&[1 << 10])[1000];
    assert!(
        thread::spawn(move || registry.pin_to(foreign))
            .join()
            .is_err()
    );
}
