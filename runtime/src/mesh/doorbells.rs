//! Doorbells: one bit a sender, so that a target looks only at lanes with news.
//!
//! Owner: one shard looks and clears; any shard sets its own bit. Rule: a sender publishes, sets
//! its bit, fences and rings if the target sleeps; the target looks, takes what was published,
//! clears the bit and then looks at what was published once more. Model: `tests/loom_doorbells.rs`.

use crossbeam_utils::CachePadded;

use crate::shard::ShardIndex;
use crate::sync::modelled::{AtomicU64, Ordering, Site, acquire, release};

/// The doorbells of one target.
#[derive(Debug)]
pub(crate) struct Doorbells(Box<[CachePadded<AtomicU64>]>);

impl Doorbells {
    /// Doorbells for `shards` senders.
    pub(crate) fn new(shards: usize) -> Self {
        Self(
            (0..shards.div_ceil(64))
                .map(|_| CachePadded::new(AtomicU64::new(0)))
                .collect(),
        )
    }

    /// Sets the bit of `from`. Any thread.
    pub(crate) fn set(&self, from: ShardIndex) {
        // Release: pairs with the Acquire in `look`, so that what `from` published is seen. A bit
        // that is set already is set again: whoever set it may have been seen before the news.
        self.0[from.get() / 64].fetch_or(1 << (from.get() % 64), release(Site::DOORBELL_SET));
    }

    /// Whether any bit is set.
    pub(crate) fn any(&self) -> bool {
        self.0.iter().any(|word| word.load(Ordering::Relaxed) != 0)
    }

    /// Calls `news` with each sender whose bit is set, and leaves the bits. The owner alone.
    pub(crate) fn look(&self, mut news: impl FnMut(ShardIndex)) {
        for (number, word) in self.0.iter().enumerate() {
            // Acquire: pairs with the Release in `set`.
            let mut bits = word.load(acquire(Site::DOORBELL_LOOK));
            while bits != 0 {
                news(ShardIndex::new(
                    number * 64 + bits.trailing_zeros() as usize,
                ));
                bits &= bits - 1;
            }
        }
    }

    /// Takes the bit of `from` back. The owner looks once more after this, at the bells and then at
    /// what `from` published: news that came after the last look may have set the bit before.
    pub(crate) fn clear(&self, from: ShardIndex) {
        // Relaxed: the next look reads this word behind this change, which keeps what was set
        // before it (a release sequence), so that its Acquire sees the news.
        self.0[from.get() / 64].fetch_and(!(1 << (from.get() % 64)), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_stays_until_it_is_cleared() {
        let bells = Doorbells::new(130);
        for from in [0, 63, 64, 129] {
            bells.set(ShardIndex::new(from));
            bells.set(ShardIndex::new(from));
        }
        assert!(bells.any());
        let mut seen = Vec::new();
        bells.look(|from| seen.push(from));
        assert_eq!(seen, [0, 63, 64, 129].map(ShardIndex::new));
        seen.into_iter().for_each(|from| bells.clear(from));
        assert!(!bells.any());
    }
}
