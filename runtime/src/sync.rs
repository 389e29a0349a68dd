//! The only file of this crate that names atomics.
//!
//! Data moves by Release and Acquire; `fence(SeqCst)` stands only in sleep and wake. What needs a model (lanes, sleep
//! and wake) lives in `corelane-primitives`, whose own `sync` swaps in loom's types.

pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU16, AtomicU64, Ordering, fence,
};

/// A count that one thread writes and any thread reads.
///
/// Adding is a load and a store, not a read-modify-write: the owner is the only writer.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds `n`. Only the owning shard calls this.
    pub(crate) fn add(&self, n: u64) {
        self.0.store(
            self.0.load(Ordering::Relaxed).wrapping_add(n),
            Ordering::Relaxed,
        );
    }

    /// Raises the value to `n` if it is below. Only the owning shard calls this.
    pub(crate) fn raise(&self, n: u64) {
        if self.0.load(Ordering::Relaxed) < n {
            self.0.store(n, Ordering::Relaxed);
        }
    }

    /// The value now, from any thread.
    pub(crate) fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
