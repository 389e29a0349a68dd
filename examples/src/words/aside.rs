//! What stands beside the words of one instrument, since it does not fit in them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::feed::Snapshot;

/// Asides that wait at most; a power of two. A batch brings one.
pub(super) const ASIDES_MAX: usize = 256;

/// Places that only snapshots take: an answer, and the one that closes the feed.
pub(super) const SNAPSHOTS_MAX: usize = 2;

/// Counts and wishes of one instrument, shared by its decoder and its book.
///
/// Five bits of a sequence number come round after 32 words, so a hole of 32 is invisible in them.
/// It is not in a count of 64 bits.
#[derive(Debug, Default)]
pub struct Board {
    missed: AtomicU64,
    wanted: AtomicBool,
}

impl Board {
    /// Sequence numbers so far that no word will ever have: what the ring refused, and what could
    /// not be packed.
    pub fn missed(&self) -> u64 {
        // Relaxed: the count is stored before the push of any later word, and read behind that
        // word's Acquire. It may be newer than the word.
        self.missed.load(Ordering::Relaxed)
    }

    /// Counts sequence numbers without a word. The decoder's, before it pushes anything later.
    pub(super) fn miss(&self, count: u64) {
        self.missed.fetch_add(count, Ordering::Relaxed);
    }

    /// Asks for a snapshot.
    pub(super) fn want(&self) {
        // Relaxed: it says one thing by itself, and only asks.
        self.wanted.store(true, Ordering::Relaxed);
    }

    /// Whether a snapshot was asked for since the last call.
    pub(super) fn take_wish(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) && self.wanted.swap(false, Ordering::Relaxed)
    }
}

/// Something to know between two words. It stands where as many words of the instrument were
/// pushed as it says, and is visible to whoever sees the next one.
#[derive(Debug)]
pub(super) enum Aside {
    /// A batch was decoded then.
    Decoded { words: u64, at_ns: u64 },
    /// The whole book as it is there, and how many numbers had no word until there.
    Whole {
        words: u64,
        missed: u64,
        snapshot: Snapshot,
    },
}

impl Aside {
    pub(super) fn words(&self) -> u64 {
        match self {
            Self::Decoded { words, .. } | Self::Whole { words, .. } => *words,
        }
    }
}
