//! What the rings of one consumer share: where it sleeps, its pace, its clock, and how many
//! producers there are.

use crate::drain::DrainTime;
use crate::park::Parker;
use crate::sync::{AtomicU64, Ordering};
use crate::timers::Clock;

pub(super) struct Desk {
    parker: Parker,
    pub(super) clock: Clock,
    pub(super) drain: DrainTime,
    /// How old a reserved place gets that nobody fills.
    pub(super) skip_after_ns: u64,
    /// Handles that can push.
    producers: AtomicU64,
    /// How many of the shards, from the first on, have had a producer.
    used: AtomicU64,
}

impl Desk {
    /// For one producer's handle, and one shard that it uses.
    pub(super) fn new(clock: Clock, skip_after_ns: u64) -> Self {
        Self {
            parker: Parker::new(),
            clock,
            drain: DrainTime::new(),
            skip_after_ns,
            producers: AtomicU64::new(1),
            used: AtomicU64::new(1),
        }
    }

    #[inline(always)]
    pub(super) fn parker(&self) -> &Parker {
        &self.parker
    }

    /// Wakes the consumer if it sleeps. Not inlined: the way of who found it awake stays short.
    #[cold]
    #[inline(never)]
    pub(super) fn wake(&self) {
        self.parker.wake();
    }

    pub(super) fn add_producer(&self) {
        // Relaxed: it is counted through a handle that is counted already.
        self.producers.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the producer that goes was the last one.
    pub(super) fn remove_producer(&self) -> bool {
        // Relaxed: only the number counts. What the last one does then, closing, stands behind
        // every claim of the others in the order of the front's word.
        self.producers.fetch_sub(1, Ordering::Relaxed) == 1
    }

    /// Whether no handle is left that could claim, or fill what it has claimed.
    pub(super) fn is_abandoned(&self) -> bool {
        // Relaxed: who steps over because of this still races for the slot's word.
        self.producers.load(Ordering::Relaxed) == 0
    }

    /// Says that the shard at `index` has a producer, before that one claims.
    pub(super) fn use_shard(&self, index: usize) {
        // Relaxed: a new shard's publisher fences before it looks whether the consumer sleeps, and
        // the consumer fences when it parks and counts the shards after that.
        self.used.fetch_max(index as u64 + 1, Ordering::Relaxed);
    }

    /// How many shards, from the first on, may hold anything.
    pub(super) fn used_shards(&self) -> usize {
        self.used.load(Ordering::Relaxed) as usize
    }
}
