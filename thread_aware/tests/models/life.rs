//! Models of how long things live: handles, partitions, lineages, memory.

use std::sync::atomic::Ordering::Relaxed;

use loom::thread;
use thread_aware::{Arc, ThreadAware, Weak, affinity::pinned_affinities, model};

use crate::models::{Handle, cores, explore, lineage, two_partitions};

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    (
        "opposite_moves_carry_the_lineage",
        opposite_moves_carry_the_lineage,
    ),
    (
        "last_handle_leaves_while_one_arrives",
        last_handle_leaves_while_one_arrives,
    ),
    (
        "last_drop_sees_what_others_did",
        last_drop_sees_what_others_did,
    ),
    (
        "reference_that_is_given_brings_what_was_seen",
        reference_that_is_given_brings_what_was_seen,
    ),
    (
        "closed_partition_brings_what_was_seen",
        closed_partition_brings_what_was_seen,
    ),
    (
        "last_partition_sees_what_others_did",
        last_partition_sees_what_others_did,
    ),
    ("upgrade_meets_last_drop", upgrade_meets_last_drop),
    (
        "weak_handle_outlives_the_values",
        weak_handle_outlives_the_values,
    ),
    ("hits_write_no_common_line", hits_write_no_common_line),
    (
        "writes_do_not_grow_with_cores",
        writes_do_not_grow_with_cores,
    ),
    ("spare_references_travel", spare_references_travel),
    (
        "count_looks_once_at_each_partition",
        count_looks_once_at_each_partition,
    ),
];

/// Each goes to where the other one comes from.
pub(crate) fn opposite_moves_carry_the_lineage() {
    explore(|| {
        let ([mut here, there], drops) = two_partitions();
        let opposite = thread::spawn(move || {
            let mut there = there;
            there.relocate(Some(cores()[1]), cores()[0]);
            there.look();
        });
        here.relocate(Some(cores()[0]), cores()[1]);
        here.look();
        drop(here);
        opposite.join().expect("no panic");
        assert_eq!(drops.load(Relaxed), 2);
    });
}

/// A partition's count goes to zero and back, in either order or never.
pub(crate) fn last_handle_leaves_while_one_arrives() {
    explore(|| {
        let ([mut here, there], drops) = two_partitions();
        let leaver = thread::spawn(move || {
            there.look();
            drop(there);
        });
        here.relocate(Some(cores()[0]), cores()[1]);
        here.look();
        leaver.join().expect("no panic");
        assert_eq!((drops.load(Relaxed), Arc::strong_count(&here)), (0, 1));
        drop(here);
        assert_eq!(drops.load(Relaxed), 2);
    });
}

/// Two handles of one partition are dropped; the second drop is the lineage's end.
pub(crate) fn last_drop_sees_what_others_did() {
    explore(|| {
        let (mine, drops) = lineage();
        let other = mine.clone();
        let dropper = thread::spawn(move || {
            other.look();
            drop(other);
        });
        mine.look();
        drop(mine);
        dropper.join().expect("no panic");
        assert_eq!(drops.load(Relaxed), 1);
    });
}

/// The last handle of a partition takes its reference along, and a third thread ends the lineage.
pub(crate) fn reference_that_is_given_brings_what_was_seen() {
    explore(|| {
        let ([mut here, there], drops) = two_partitions();
        let other = here.clone();
        let user = thread::spawn(move || {
            other.look();
            drop(other);
        });
        let last = thread::spawn(move || drop(there));
        here.relocate(Some(cores()[0]), cores()[1]);
        drop(here);
        user.join().expect("no panic");
        last.join().expect("no panic");
        assert_eq!(drops.load(Relaxed), 2);
    });
}

/// Two handles, each the last one where it is, meet in one partition and part again: references
/// that one brings are spare, and whoever leaves takes one along.
pub(crate) fn spare_references_travel() {
    explore(|| {
        let ([mut here, there], drops) = two_partitions();
        fn visit(handle: &mut Handle, home: usize) {
            handle.relocate(None, cores()[2]);
            handle.look();
            handle.relocate(None, cores()[home]);
        }
        // The value of the place where they meet.
        visit(&mut here, 0);
        let visitor = thread::spawn(move || {
            let mut there = there;
            visit(&mut there, 1);
            there.look();
        });
        here.relocate(None, cores()[2]);
        here.look();
        drop(here);
        visitor.join().expect("no panic");
        assert_eq!(drops.load(Relaxed), 3);
    });
}

/// Two handles of a partition are dropped, and a third thread ends the lineage.
pub(crate) fn closed_partition_brings_what_was_seen() {
    explore(|| {
        let ([here, there], drops) = two_partitions();
        let other = here.clone();
        let user = thread::spawn(move || {
            other.look();
            drop(other);
        });
        let closer = thread::spawn(move || drop(here));
        drop(there);
        user.join().expect("no panic");
        closer.join().expect("no panic");
        assert_eq!(drops.load(Relaxed), 2);
    });
}

/// The last handles of two partitions are dropped.
pub(crate) fn last_partition_sees_what_others_did() {
    explore(|| {
        let ([here, there], drops) = two_partitions();
        let dropper = thread::spawn(move || {
            there.look();
            drop(there);
        });
        here.look();
        drop(here);
        dropper.join().expect("no panic");
        assert_eq!(drops.load(Relaxed), 2);
    });
}

/// A weak handle is upgraded while the last handle goes.
pub(crate) fn upgrade_meets_last_drop() {
    explore(|| {
        let (mine, drops) = lineage();
        let weak = Arc::downgrade(&mine);
        let upgrader = thread::spawn(move || match weak.upgrade() {
            Some(handle) => handle.look(),
            None => assert!(weak.upgrade().is_none()),
        });
        mine.look();
        drop(mine);
        upgrader.join().expect("no panic");
        assert_eq!(drops.load(Relaxed), 1);
    });
}

/// The memory's last user is a weak handle or the last handle.
pub(crate) fn weak_handle_outlives_the_values() {
    explore(|| {
        let ([here, there], drops) = two_partitions();
        let mut weak = Arc::downgrade(&there);
        drop(there);
        let user = thread::spawn(move || {
            weak.relocate(None, cores()[0]);
            assert!(weak.strong_count() <= 1);
            assert!(!weak.ptr_eq(&Weak::new()));
        });
        drop(here);
        user.join().expect("no panic");
        assert_eq!(drops.load(Relaxed), 2);
    });
}

/// Two handles go back and forth between two partitions each, where others stay.
pub(crate) fn hits_write_no_common_line() {
    explore(|| {
        let (mut mine, _) = lineage();
        let mut others = [mine.clone(), mine.clone(), mine.clone()];
        for (other, core) in others.iter_mut().zip(1..) {
            other.relocate(Some(cores()[0]), cores()[core]);
        }
        mine.relocate(None, cores()[0]);
        let [_one, two, _three] = &others;
        let _zero = mine.clone();
        let mut other = two.clone();
        /// The lines that one thread writes, in units of 128 bytes.
        fn lines(handle: &mut Handle, from: usize, to: usize) -> Vec<usize> {
            let cores = cores();
            model::writes();
            handle.relocate(Some(cores[from]), cores[to]);
            drop(handle.clone());
            handle.relocate(Some(cores[to]), cores[to]);
            handle.relocate(Some(cores[to]), cores[from]);
            let writes = model::writes();
            assert_eq!(
                writes.len(),
                6,
                "two a hit, one a clone, one a drop, none in place"
            );
            let mut lines: Vec<usize> = writes.iter().map(|write| write / 128).collect();
            lines.sort_unstable();
            lines.dedup();
            lines
        }
        let there = thread::spawn(move || lines(&mut other, 2, 3));
        let here = lines(&mut mine, 0, 1);
        let there = there.join().expect("no panic");
        assert!(
            here.iter().all(|line| !there.contains(line)),
            "{here:x?} {there:x?}"
        );
    });
}

/// What a thread writes is the same with 3 partitions and with 256.
pub(crate) fn writes_do_not_grow_with_cores() {
    explore(|| {
        let counts = [3, 256].map(|count| {
            let cores = pinned_affinities(&[count]);
            let (mut mine, drops) = lineage();
            let mut counted = Vec::new();
            let mut count = |what: &mut dyn FnMut()| {
                model::writes();
                what();
                counted.push(model::writes().len());
            };
            let mut other = mine.clone();
            other.relocate(Some(cores[0]), cores[1]);
            mine.relocate(None, cores[0]);
            let mut stays = Some(mine.clone());
            count(&mut || mine.relocate(Some(cores[0]), cores[0]));
            count(&mut || mine.relocate(Some(cores[0]), cores[1]));
            count(&mut || drop(mine.clone()));
            count(&mut || stays = None); // closes partition 0
            count(&mut || mine.relocate(Some(cores[1]), cores[0])); // opens it
            drop(other);
            count(&mut || drop(Arc::downgrade(&mine).upgrade()));
            count(&mut || mine.relocate(Some(cores[0]), cores[1])); // brings the reference along
            count(&mut || mine.relocate(Some(cores[1]), cores[2])); // makes the value
            drop(mine);
            assert_eq!(drops.load(Relaxed), 3);
            counted
        });
        assert_eq!(counts[0], [0, 2, 2, 2, 3, 4, 2, 5]);
        assert_eq!(counts[0], counts[1]);
    });
}

/// What the handles of a value are counted by grows with the partitions, and not faster.
pub(crate) fn count_looks_once_at_each_partition() {
    explore(|| {
        for count in [3, 256] {
            let cores = pinned_affinities(&[count]);
            let (mut mine, _) = lineage();
            let _stays = mine.clone();
            mine.relocate(Some(cores[0]), cores[1]);
            model::reads();
            assert_eq!(Arc::strong_count(&mine), 1);
            let reads = model::reads();
            // Each state, a few links between tables, and the one count.
            assert!((count..count + 8).contains(&reads), "{reads} for {count}");
        }
    });
}
