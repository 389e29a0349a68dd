//! The `Arc` of `thread_aware`: relocated, cloned and dropped.

use std::hint::black_box;

use corelane_bench_harness::BenchError;
use thread_aware::{
    Arc, PerCore, ThreadAware,
    affinity::{Affinity, pinned_affinities},
};

use super::Hold;

/// Two cores, and a handle in the partition of each.
struct Places {
    cores: Vec<Affinity>,
    handles: [Arc<u64, PerCore>; 2],
}

impl Places {
    fn new() -> Self {
        let cores = pinned_affinities(&[2]);
        let mut first = Arc::new(|| 7);
        let mut second = first.clone();
        second.relocate(Some(cores[0]), cores[1]);
        // The first handle of a lineage is in no partition until it is relocated.
        first.relocate(None, cores[0]);
        Self {
            cores,
            handles: [first, second],
        }
    }

    fn check(&self, at: u64, handle: &Arc<u64, PerCore>) -> Result<(), BenchError> {
        let is_there = Arc::ptr_eq(handle, &self.handles[at as usize]);
        BenchError::check("handles with the core's value", 1, u64::from(is_there))?;
        BenchError::check("value", 7, **handle)
    }
}

/// An operation: a handle is relocated to where it is.
pub(super) fn same(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let places = Places::new();
    let mut handle = places.handles[1].clone();
    let (from, here) = (places.cores[0], places.cores[1]);
    for _ in 0..ops {
        black_box(&mut handle).relocate(Some(from), here);
    }
    hold();
    places.check(1, &handle)
}

fn to_and_fro(handle: &mut Arc<u64, PerCore>, cores: &[Affinity], ops: u64) {
    let (mut from, mut to) = (cores[0], cores[1]);
    for _ in 0..ops {
        black_box(&mut *handle).relocate(Some(from), to);
        std::mem::swap(&mut from, &mut to);
    }
}

/// An operation: a handle is relocated to the other core; both have more handles of the value.
pub(super) fn hit(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let places = Places::new();
    let mut handle = places.handles[0].clone();
    to_and_fro(&mut handle, &places.cores, ops);
    hold();
    places.check(ops % 2, &handle)
}

/// An operation: the lineage's only handle is relocated to the other core, which has its value.
pub(super) fn hit_alone(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let Places { cores, handles } = Places::new();
    let addresses = handles.each_ref().map(Arc::as_ptr);
    let [mut handle, other] = handles;
    drop(other);
    to_and_fro(&mut handle, &cores, ops);
    hold();
    let is_there = Arc::as_ptr(&handle) == addresses[(ops % 2) as usize];
    BenchError::check("handles with the core's value", 1, u64::from(is_there))
}

/// An operation: a handle is cloned, and the clone dropped.
pub(super) fn clone_drop(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let places = Places::new();
    let handle = &places.handles[1];
    for _ in 0..ops {
        let clone = black_box(handle).clone();
        black_box(&clone);
    }
    hold();
    BenchError::check("handles", 1, Arc::strong_count(handle) as u64)?;
    places.check(1, handle)
}
