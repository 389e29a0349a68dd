//! The count of places that are not taken.

use crate::pad::CachePadded;
use crate::sync::{AtomicU64, Ordering, pause};

const CLOSED: u64 = 1;
const ONE: u64 = 2;

/// How many pauses a sender makes at most between two tries, as a power of two.
const PAUSES_MAX_LOG2: u32 = 6;

/// What who wants credits is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Credit {
    Taken,
    Full,
    Closed,
}

/// Places of one channel, and how many of them are taken, with CLOSED in one word.
pub(super) struct Credits {
    word: CachePadded<AtomicU64>,
    capacity: usize,
}

impl Credits {
    /// `capacity` places, all free.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            word: CachePadded::new(AtomicU64::new(0)),
            capacity,
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Takes `count` credits, all or none. Closed comes before Full.
    #[inline]
    pub(super) fn take(&self, count: usize) -> Credit {
        self.take_beyond(0, count)
    }

    /// Takes `count` credits, all or none, and only if `kept` are left then.
    ///
    /// Lock-free: a turn is repeated only when another thread has changed the count meanwhile.
    #[inline]
    pub(super) fn take_beyond(&self, kept: usize, count: usize) -> Credit {
        let mut pauses_log2 = 0;
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if word & CLOSED != 0 {
                return Credit::Closed;
            }
            if kept + count > self.free_in(word) {
                return Credit::Full;
            }
            let next = word + count as u64 * ONE;
            let won = self
                .word
                .compare_exchange(word, next, Ordering::Relaxed, Ordering::Relaxed);
            if won.is_ok() {
                return Credit::Taken;
            }
            pause(1 << pauses_log2);
            pauses_log2 = (pauses_log2 + 1).min(PAUSES_MAX_LOG2);
        }
    }

    /// Gives `count` taken credits back.
    #[inline]
    pub(super) fn give(&self, count: usize) {
        self.word.fetch_sub(count as u64 * ONE, Ordering::Relaxed);
    }

    /// Nothing can be taken any more.
    pub(super) fn close(&self) {
        self.word.fetch_or(CLOSED, Ordering::Relaxed);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.word.load(Ordering::Relaxed) & CLOSED != 0
    }

    /// How many credits can be taken now; as many as one likes when each finds the channel closed.
    pub(super) fn free(&self) -> usize {
        let word = self.word.load(Ordering::Relaxed);
        if word & CLOSED != 0 {
            return usize::MAX;
        }
        self.free_in(word)
    }

    fn free_in(&self, word: u64) -> usize {
        self.capacity - (word / ONE) as usize
    }
}
