//! What cannot be seen from outside: where things lie in memory, counts at their limits, and what
//! is done without the lock.

use core::mem::offset_of;
use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    process::Command,
    sync::{Barrier, mpsc},
    thread,
    time::Duration,
};

use crossbeam_utils::CachePadded;

use super::{
    handle::Arc,
    lineage::Lineage,
    making,
    node::{AWAITED, HANDLES_MAX, Node, Slot, kind},
    strategy::PerCore,
};
use crate::{
    ThreadAware,
    affinity::pinned_affinities,
    sync::{AtomicUsize, Ordering::Relaxed},
};

// proves: TA-16
#[test]
fn slots_share_no_line() {
    let padded = align_of::<CachePadded<u8>>();
    assert_eq!(
        (size_of::<Slot<u64>>(), align_of::<Slot<u64>>()),
        (padded, padded)
    );
    assert_eq!(
        (size_of::<Slot<str>>(), align_of::<Slot<str>>()),
        (padded, padded)
    );
    // What every arrival writes lies on another line than what it reads.
    assert_eq!(offset_of!(Node<u64>, counts) % 64, 0);
    assert_eq!(offset_of!(Node<str>, counts) % 64, 0);
}

// proves: TA-16
#[test]
fn lineage_keeps_its_counts_off_what_is_read() {
    let padded = align_of::<CachePadded<u8>>();
    assert_eq!(align_of::<Lineage<u64>>(), padded);
    let (shared, own, own_bytes) = Lineage::<u64>::layout();
    assert!(shared.abs_diff(own) >= padded);
    assert!(own_bytes <= 2 * padded && Lineage::<str>::layout().2 <= 2 * padded);
}

/// Names the way in which a child process counts beyond the limit.
const BEYOND: &str = "CORELANE_BEYOND";

// proves: TA-10
#[test]
fn count_beyond_its_limit_ends_the_process() {
    if let Ok(way) = env::var(BEYOND) {
        return count_beyond(&way);
    }
    let itself = env::current_exe().expect("a running program has a path");
    let name = "arc::tests::count_beyond_its_limit_ends_the_process";
    let ends = |way: &str| {
        let run = Command::new(&itself)
            .args([name, "--exact", "--nocapture"])
            .env(BEYOND, way)
            .output();
        let run = run.expect("the program that is running can be run");
        let said = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(said.contains(&format!("counts by {way}")), "{said}");
        // A panic would end it with a code.
        (run.status.success(), run.status.code())
    };
    assert_eq!(ends("nothing"), (true, Some(0)));
    for way in ["clone", "upgrade", "downgrade"] {
        assert_eq!(ends(way), (false, None), "{way}");
    }
}

/// Counts a handle more than the limit allows, as if all others had been leaked.
fn count_beyond(way: &str) {
    println!("counts by {way}");
    let handle = Arc::<_, PerCore>::new(|| 5);
    let weak = Arc::downgrade(&handle);
    let leak = || handle.node().counts.handles.fetch_add(HANDLES_MAX, Relaxed);
    match way {
        "clone" => {
            leak();
            drop(handle.clone());
        }
        "upgrade" => {
            leak();
            drop(weak.upgrade());
        }
        "downgrade" => {
            handle.lineage().leak_weak(HANDLES_MAX);
            drop(Arc::downgrade(&handle));
        }
        _ => {}
    }
}

// proves: TA-10
#[test]
fn count_of_a_value_that_several_partitions_have_never_wraps() {
    let cores = pinned_affinities(&[2]);
    let first = Arc::<_, PerCore>::new(|| 5);
    let mut home = first.clone();
    home.relocate(Some(cores[0]), cores[1]);
    home.relocate(Some(cores[1]), cores[0]);
    let nodes = [first.node(), home.node()];
    assert!(!core::ptr::eq(nodes[0], nodes[1]) && Arc::ptr_eq(&first, &home));
    for node in nodes {
        node.counts.handles.fetch_add(HANDLES_MAX, Relaxed);
    }
    assert_eq!(Arc::strong_count(&first), usize::MAX);
    for node in nodes {
        node.counts.handles.fetch_add(1, Relaxed);
    }
    assert_eq!(Arc::strong_count(&home), usize::MAX);
    for node in nodes {
        node.counts.handles.fetch_sub(HANDLES_MAX + 1, Relaxed);
    }
    assert_eq!(Arc::strong_count(&first), 2);
}

/// What only a hang takes.
const HANG: Duration = Duration::from_secs(30);

// proves: TA-6, TA-9
#[test]
fn lock_is_for_those_who_wait_alone() {
    let lock = making::lock();
    let (done, ended) = mpsc::channel();
    let mover = thread::spawn(move || {
        let (few, many) = (pinned_affinities(&[2]), pinned_affinities(&[3]));
        let mut handle = Arc::<_, PerCore>::new(|| 5);
        let stays = handle.clone();
        // A value is made, a topology is appended, and both are found again.
        for destination in [few[1], few[0], many[1], few[1], many[1], many[2], few[0]] {
            handle.relocate(Some(few[0]), destination);
        }
        assert!(Arc::ptr_eq(&handle, &stays));
        drop((handle, stays));
        done.send(()).expect("the test listens");
    });
    let waited = ended.recv_timeout(HANG);
    drop(lock);
    mover.join().expect("no panic");
    assert_eq!(waited, Ok(()), "somebody wanted the lock");
}

// proves: TA-6
#[test]
fn awaited_state_ends_under_the_lock() {
    for panics in [false, true] {
        let cores = pinned_affinities(&[2]);
        let inside = std::sync::Arc::new(Barrier::new(2));
        let (calls, maker_inside) = (AtomicUsize::new(0), inside.clone());
        let handle = Arc::<_, PerCore>::new_fn(move || {
            // The first call makes the first value, the second one is watched.
            if calls.fetch_add(1, Relaxed) == 1 {
                maker_inside.wait();
                maker_inside.wait();
                if panics {
                    resume_unwind(Box::new(()));
                }
            }
            5
        });
        let place = handle.lineage().place::<PerCore>(cores[1]);
        // SAFETY: Valid: `handle` keeps the lineage. Shared: as ever.
        let node = unsafe { place.expect("a partition").as_ref() };
        let go = || {
            let mut other = handle.clone();
            catch_unwind(AssertUnwindSafe(|| other.relocate(None, cores[1]))).is_err()
        };
        thread::scope(|scope| {
            let maker = scope.spawn(go);
            inside.wait();
            let waiter = scope.spawn(go);
            let awaited = (0..10_000_000).any(|_| {
                thread::yield_now();
                kind(node.state()) == AWAITED
            });
            let waiting = making::lock();
            inside.wait();
            assert!(awaited);
            for _ in 0..1_000 {
                thread::yield_now();
                assert_eq!(kind(node.state()), AWAITED);
            }
            drop(waiting);
            assert_eq!(maker.join().expect("the panic was caught"), panics);
            assert!(!waiter.join().expect("it does not panic"));
        });
    }
}
