//! `affinity::{Affinity, pinned_affinities}`.

use std::collections::HashSet;

use thread_aware::affinity::{Affinity, pinned_affinities};

const fn numbers(affinity: Affinity) -> [usize; 4] {
    [
        affinity.processor_index(),
        affinity.memory_region_index(),
        affinity.processor_count(),
        affinity.memory_region_count(),
    ]
}

#[test]
fn affinities_are_ordered_by_region_and_processor() {
    let all = pinned_affinities(&[2, 1]);
    let expected = [[0, 0, 3, 2], [1, 0, 3, 2], [2, 1, 3, 2]];
    assert_eq!(
        all.iter().map(|a| numbers(*a)).collect::<Vec<_>>(),
        expected
    );
    assert!(pinned_affinities(&[]).is_empty());
}

#[test]
fn affinities_are_plain_values() {
    fn plain<T: Copy + Send + Sync + Unpin + std::panic::UnwindSafe + 'static>(_: T) {}

    let all = pinned_affinities(&[2]);
    plain(all[0]);
    assert_eq!(all, pinned_affinities(&[2]));
    assert_ne!(all[0], all[1]);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 2);
    assert!(format!("{:?}", all[0]).starts_with("Affinity"));
    assert!(std::panic::catch_unwind(|| pinned_affinities(&[1 << 16])).is_err());
}
