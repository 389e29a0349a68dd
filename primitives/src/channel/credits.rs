//! The count of places that are not taken.

use crate::pad::CachePadded;
use crate::sync::{AtomicU64, Ordering, pause};

/// How many pauses a sender makes at most between two tries, as a power of two.
const PAUSES_MAX_LOG2: u32 = 6;

/// Places of one channel, and how many of them are taken.
pub(super) struct Credits {
    taken: CachePadded<AtomicU64>,
    capacity: usize,
}

impl Credits {
    /// `capacity` places, all free.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            taken: CachePadded::new(AtomicU64::new(0)),
            capacity,
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Takes `count` credits if there are as many, all or none.
    #[inline]
    pub(super) fn take(&self, count: usize) -> bool {
        self.take_beyond(0, count)
    }

    /// Takes `count` credits, all or none, and only if `kept` are left then.
    ///
    /// Lock-free: a turn is repeated only when another thread has changed the count meanwhile.
    #[inline]
    pub(super) fn take_beyond(&self, kept: usize, count: usize) -> bool {
        let mut pauses_log2 = 0;
        loop {
            let taken = self.taken.load(Ordering::Relaxed);
            if kept + count > self.free_of(taken) {
                return false;
            }
            let next = taken + count as u64;
            let won =
                self.taken
                    .compare_exchange(taken, next, Ordering::Relaxed, Ordering::Relaxed);
            if won.is_ok() {
                return true;
            }
            pause(1 << pauses_log2);
            pauses_log2 = (pauses_log2 + 1).min(PAUSES_MAX_LOG2);
        }
    }

    /// Gives `count` taken credits back.
    #[inline]
    pub(super) fn give(&self, count: usize) {
        self.taken.fetch_sub(count as u64, Ordering::Relaxed);
    }

    /// How many credits can be taken now.
    pub(super) fn free(&self) -> usize {
        self.free_of(self.taken.load(Ordering::Relaxed))
    }

    fn free_of(&self, taken: u64) -> usize {
        self.capacity - taken as usize
    }
}
