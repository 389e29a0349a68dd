//! Pinning, on the machine that the tests run on, and what a registry chooses.

use std::{error::Error, fs, num::NonZero, rc::Rc, thread};

use super::tree::{Tree, core, four_by_two, ids};
use thread_aware::{
    affinity::{enter, pinned_affinities},
    registry::{
        PinError, ProcessorCount, RegistryError, ThreadRegistry, original_mask, pin_current_thread,
        restore_mask,
    },
    topology::{ProcessorId, Topology},
};

/// What the kernel says about the current thread, as it writes it.
fn allowed_now() -> String {
    let status = fs::read_to_string("/proc/thread-self/status").expect("procfs is mounted");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.expect("the kernel writes it").trim().into()
}

/// Runs `f` on a thread of its own, so that a pin ends with it.
fn apart<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| scope.spawn(f).join().expect("the thread does not panic"))
}

fn exactly(count: usize) -> ProcessorCount {
    ProcessorCount::Exactly(NonZero::new(count).expect("tests ask for some"))
}

/// Above what a kernel has processors for, and still in reach of a mask.
const MISSING: ProcessorId = ProcessorId::new(1023);

#[test]
fn a_pinned_thread_is_allowed_its_processor_alone() {
    for id in original_mask().expect("the kernel tells") {
        apart(|| {
            pin_current_thread(id).expect("it is allowed");
            assert_eq!(allowed_now(), id.number().to_string());
        });
    }
}

#[test]
fn a_refused_pin_names_the_processor_and_changes_nothing() {
    apart(|| {
        let before = allowed_now();
        let error = pin_current_thread(MISSING).expect_err("there is no such processor");
        assert!(
            matches!(
                error,
                PinError::Refused {
                    processor: MISSING,
                    ..
                }
            ),
            "{error:?}"
        );
        assert!(error.to_string().contains("processor 1023"), "{error}");
        assert!(error.source().is_some(), "what the kernel said is kept");
        assert_eq!(allowed_now(), before);
    });
}

#[test]
fn a_number_beyond_every_mask_is_refused_without_a_panic() {
    for number in [1 << 16, u32::MAX] {
        let id = ProcessorId::new(number);
        assert!(matches!(pin_current_thread(id), Err(PinError::OutOfReach(named)) if named == id));
        assert!(matches!(restore_mask(&[id]), Err(PinError::OutOfReach(named)) if named == id));
    }
}

#[test]
fn a_thread_made_by_a_pinned_one_gets_the_original_mask_back() {
    let before = apart(allowed_now);
    let mask = original_mask().expect("the kernel tells");
    apart(|| {
        pin_current_thread(mask[0]).expect("it is allowed");
        assert_eq!(
            original_mask().expect("it is remembered"),
            mask,
            "a pin does not change it"
        );
        let (inherited, restored) = apart(|| {
            let inherited = allowed_now();
            restore_mask(&mask).expect("the process started with it");
            (inherited, allowed_now())
        });
        assert_eq!(inherited, mask[0].number().to_string());
        assert_eq!(restored, before);
    });
}

#[test]
fn a_mask_without_any_possible_processor_is_refused() {
    apart(|| {
        let before = allowed_now();
        assert!(matches!(restore_mask(&[]), Err(PinError::EmptyMask)));
        let refused = restore_mask(&[MISSING]);
        assert!(matches!(
            refused,
            Err(PinError::Refused {
                processor: MISSING,
                ..
            })
        ));
        assert_eq!(allowed_now(), before);
    });
}

#[test]
fn a_registry_pins_its_affinities_to_different_processors_and_knows_where_it_is() {
    let registry = ThreadRegistry::new(&ProcessorCount::All);
    assert_eq!(
        registry.num_affinities(),
        original_mask().expect("the kernel tells").len()
    );
    let mut pins: Vec<String> = registry
        .affinities()
        .map(|affinity| {
            apart(|| {
                assert_eq!(registry.current_affinity(), None);
                registry.pin_to(affinity);
                assert_eq!(registry.current_affinity(), Some(affinity));
                allowed_now()
            })
        })
        .collect();
    pins.sort_unstable();
    pins.dedup();
    assert_eq!(pins.len(), registry.num_affinities());
}

#[test]
fn pinning_or_restoring_by_hand_ends_what_the_registry_knew() {
    let registry = ThreadRegistry::new(&exactly(1));
    let affinity = registry.affinities().next().expect("it has one");
    let processor = registry
        .processor_of(affinity)
        .expect("it is the registry's");
    apart(|| {
        registry.pin_to(affinity);
        pin_current_thread(processor).expect("it is allowed");
        assert_eq!(registry.current_affinity(), None);
        registry
            .try_pin_to(affinity)
            .expect("its processor is allowed");
        restore_mask(&original_mask().expect("it is remembered")).expect("it was granted before");
        assert_eq!(registry.current_affinity(), None);
    });
}

#[test]
fn an_entered_affinity_counts_before_the_pin() {
    let topology = Tree::of(&four_by_two()).topology(0..8);
    let registry =
        ThreadRegistry::from_topology(&topology, &ProcessorCount::All).expect("all are allowed");
    let fourth = registry.affinities().nth(3);
    let entered = enter(fourth.expect("it has eight"), Rc::new(()));
    assert_eq!(registry.current_affinity(), fourth);
    drop(entered);
    let _foreign = enter(pinned_affinities(&[8])[3], Rc::new(()));
    assert_eq!(registry.current_affinity(), None);
}

#[test]
fn an_affinity_of_another_topology_is_not_pinned() {
    let registry = ThreadRegistry::default();
    let foreign = pinned_affinities(&[1])[0];
    let refused = registry.try_pin_to(foreign);
    assert!(matches!(refused, Err(PinError::Foreign(named)) if named == foreign));
}

#[test]
fn a_pin_that_is_refused_panics_with_the_processor() {
    // A machine whose processor the kernel has not.
    let tree = Tree::of(&[core(&[MISSING.number()])]);
    let topology = tree.topology([MISSING.number()]);
    let registry =
        ThreadRegistry::from_topology(&topology, &ProcessorCount::Auto).expect("it has one");
    let affinity = registry.affinities().next().expect("it has one");
    let refused = registry.try_pin_to(affinity);
    assert!(matches!(
        refused,
        Err(PinError::Refused {
            processor: MISSING,
            ..
        })
    ));
    let panic = thread::spawn(move || registry.pin_to(affinity)).join();
    let message = panic
        .expect_err("the kernel refuses it")
        .downcast::<String>();
    assert!(message.is_ok_and(|message| message.contains("processor 1023")));
}

#[test]
fn counts_choose_cores_before_siblings_and_respect_what_is_allowed() {
    let tree = Tree::of(&four_by_two());
    tree.write("sys/fs/cgroup/cpu.max", "250000 100000");
    let topology = tree.topology([1, 2, 3, 5, 6, 7]);
    let chosen = |count: &ProcessorCount| {
        let registry = ThreadRegistry::from_topology(&topology, count).expect("they are enough");
        let processors = registry.affinities().map(|a| registry.processor_of(a));
        processors
            .map(|id| id.expect("it is the registry's"))
            .collect::<Vec<_>>()
    };
    let at_most = |count| ProcessorCount::AtMost(NonZero::new(count).expect("not zero"));
    assert_eq!(
        chosen(&ProcessorCount::Auto),
        ids([1, 2]),
        "the quota reaches for two"
    );
    assert_eq!(chosen(&exactly(4)), ids([1, 2, 3, 5]));
    assert_eq!(chosen(&at_most(3)), ids([1, 2, 3]));
    assert_eq!(chosen(&at_most(99)), chosen(&ProcessorCount::All));
    assert_eq!(chosen(&ProcessorCount::All), ids([1, 2, 3, 5, 6, 7]));
    assert_eq!(ProcessorCount::default(), ProcessorCount::Auto);
}

#[test]
fn asking_for_more_than_is_allowed_is_an_error_with_both_numbers() {
    let topology = Tree::of(&four_by_two()).topology([0, 4]);
    let refused = ThreadRegistry::from_topology(&topology, &exactly(3));
    assert!(matches!(
        refused,
        Err(RegistryError::TooFew { asked, allowed: 2 }) if asked.get() == 3
    ));
    assert!(matches!(
        ThreadRegistry::try_new(&exactly(1 << 20)),
        Err(RegistryError::TooFew { .. })
    ));
}

#[test]
fn a_topology_read_by_a_pinned_thread_is_still_the_whole_process() {
    let whole = Topology::detect().expect("the machine can be read");
    apart(|| {
        pin_current_thread(whole.allowed()[0]).expect("it is allowed");
        let again = Topology::detect().expect("the machine can be read");
        assert_eq!(again.allowed(), whole.allowed());
    });
}
