//! Affinities as plain values: indices, counts and topology ids.

use std::{collections::HashSet, thread};

use proptest::prelude::*;
use thread_aware::affinity::{Affinity, pinned_affinities};

// proves: TA-9
#[test]
fn an_affinity_fits_in_two_words_and_copies() {
    assert!(size_of::<Affinity>() <= 16);
    let all = pinned_affinities(&[1]);
    let copied = all[0];
    assert_eq!(copied, all[0]);
}

// proves: TA-9
#[test]
fn different_shapes_of_equal_size_do_not_alias() {
    let shapes: [&[usize]; 6] = [&[4], &[2, 2], &[1, 3], &[3, 1], &[4, 0], &[0, 4]];
    let ids: HashSet<_> = shapes
        .iter()
        .map(|shape| pinned_affinities(shape)[0].topology())
        .collect();
    assert_eq!(ids.len(), shapes.len());
}

#[test]
fn a_shape_without_processors_has_no_affinities() {
    assert!(pinned_affinities(&[]).is_empty());
    assert!(pinned_affinities(&[0, 0]).is_empty());
}

#[test]
fn an_empty_region_still_counts_as_a_region() {
    let all = pinned_affinities(&[1, 0, 1]);
    assert_eq!(
        all.iter()
            .map(|a| a.memory_region_index())
            .collect::<Vec<_>>(),
        [0, 2]
    );
    assert!(
        all.iter()
            .all(|a| a.memory_region_count() == 3 && a.processor_count() == 2)
    );
}

#[test]
fn the_largest_shape_works_and_a_larger_one_panics() {
    let most = pinned_affinities(&[Affinity::COUNT_MAX]);
    assert_eq!(
        most[Affinity::COUNT_MAX - 1].processor_index(),
        Affinity::COUNT_MAX - 1
    );
    for counts in [&[Affinity::COUNT_MAX, 1][..], &[usize::MAX, usize::MAX]] {
        assert!(std::panic::catch_unwind(|| pinned_affinities(counts)).is_err());
    }
    assert!(std::panic::catch_unwind(|| pinned_affinities(&vec![0; 1 << 16])).is_err());
}

#[test]
fn threads_that_make_the_same_shapes_at_once_agree_on_their_affinities() {
    let make = || {
        (1..200)
            .map(|n| pinned_affinities(&[n, 7]))
            .collect::<Vec<_>>()
    };
    let threads: Vec<_> = (0..4).map(|_| thread::spawn(make)).collect();
    for thread in threads {
        assert_eq!(thread.join().expect("the thread does not panic"), make());
    }
}

proptest! {
    #[test]
    fn every_index_is_below_its_count_and_regions_fill_in_order(
        counts in prop::collection::vec(0_usize..9, 0..9),
    ) {
        let all = pinned_affinities(&counts);
        prop_assert_eq!(all.len(), counts.iter().sum::<usize>());
        let mut per_region = vec![0; counts.len()];
        for (index, affinity) in all.iter().enumerate() {
            prop_assert_eq!(affinity.processor_index(), index);
            prop_assert_eq!(affinity.processor_count(), all.len());
            prop_assert_eq!(affinity.memory_region_count(), counts.len());
            prop_assert!(!affinity.is_anonymous());
            per_region[affinity.memory_region_index()] += 1;
        }
        prop_assert_eq!(per_region, counts);
        prop_assert!(all.is_sorted_by_key(|a| a.memory_region_index()));
    }

    // proves: TA-9
    #[test]
    fn equal_shapes_are_equal_and_different_ones_share_no_topology(
        a in prop::collection::vec(1_usize..4, 1..5),
        b in prop::collection::vec(1_usize..4, 1..5),
    ) {
        let ids = (pinned_affinities(&a)[0].topology(), pinned_affinities(&b)[0].topology());
        prop_assert_eq!(ids.0 == ids.1, a == b);
    }
}
