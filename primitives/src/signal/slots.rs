//! The slots of a plain signal: who may write to which one.
//!
//! A block is 64 slots of one cache line each, and a word for each that says whether it is taken.
//! Who exchanges that word (Acquire) writes to the slot alone, until it has published it or gives
//! it back; who has replaced a published slot frees it by a store (Release), which takes half of
//! what an exchange does (bench row `signal_set_0`). Whoever reads a slot may find it written
//! meanwhile, which it finds out by itself (see `plain`).

use crate::sync::{
    AtomicU64, Ordering, Site, acquire, acquire_fence, release, release_fence, yield_now,
};
use std::sync::OnceLock;

/// Slots of a block.
const SLOTS: usize = if cfg!(corelane_loom) { 3 } else { 64 };
/// Words of a slot.
pub(super) const WORDS: usize = if cfg!(corelane_loom) { 2 } else { 8 };
/// Blocks that an index can name.
const BLOCKS_MAX: usize = (1 << INDEX_BITS) / 64;
/// Bits of an index.
pub(super) const INDEX_BITS: u32 = 12;

/// A value as words; those behind it are 0.
pub(super) type Bits = [u64; WORDS];

/// The number of a slot, below 2^12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotIndex(pub(super) u16);

#[repr(align(64))]
struct Slot([AtomicU64; WORDS]);

const FREE: u64 = 0;
const TAKEN: u64 = 1;

/// Slots, and more of them behind.
pub(super) struct Block {
    taken: [AtomicU64; SLOTS],
    slots: Box<[Slot]>,
    next: OnceLock<Box<Block>>,
}

impl Block {
    pub(super) fn new() -> Self {
        Self {
            taken: std::array::from_fn(|_| AtomicU64::new(FREE)),
            slots: (0..SLOTS)
                .map(|_| Slot(std::array::from_fn(|_| AtomicU64::new(0))))
                .collect(),
            next: OnceLock::new(),
        }
    }

    /// Takes the first free slot: a lone writer alternates between the first two.
    #[inline]
    fn take(&self) -> Option<usize> {
        self.taken.iter().position(|word| {
            // Acquire, partner SignalFree: the word named another slot before this one was freed.
            word.load(Ordering::Relaxed) == FREE
                && word
                    .compare_exchange(FREE, TAKEN, acquire(Site::SignalTake), Ordering::Relaxed)
                    .is_ok()
        })
    }
}

/// All blocks of one signal.
pub(super) struct Slots {
    first: Block,
    /// How many blocks were added to the first one.
    added: AtomicU64,
}

impl Slots {
    pub(super) fn new() -> Self {
        Self {
            first: Block::new(),
            added: AtomicU64::new(0),
        }
    }

    /// Takes a free slot, from a new block if there is none.
    #[inline]
    pub(super) fn take(&self) -> Taken<'_> {
        // A second turn only when 4,096 writers are between taking and publishing: one of them
        // then goes on first.
        loop {
            let mut block = &self.first;
            for number in 0..BLOCKS_MAX {
                if let Some(place) = block.take() {
                    // Partner SignalCopyFence: who sees a store of this writer to the slot sees
                    // that the word names it no more.
                    release_fence(Site::SignalFillFence);
                    let index = SlotIndex((number * 64 + place) as u16);
                    return Taken { slots: self, index };
                }
                if number + 1 < BLOCKS_MAX {
                    block = block.next.get_or_init(|| {
                        self.added.fetch_add(1, Ordering::Relaxed);
                        Box::new(Block::new())
                    });
                }
            }
            yield_now();
        }
    }

    /// Frees a slot that its word names no more, or that was never published.
    pub(super) fn free(&self, index: SlotIndex) {
        let (block, place) = self.place(index);
        // Release, partner SignalTake.
        block.taken[place].store(FREE, release(Site::SignalFree));
    }

    /// Copies `count` words, which another thread may be writing.
    #[inline]
    pub(super) fn copy(&self, index: SlotIndex, count: usize) -> Bits {
        let (block, place) = self.place(index);
        let Slot(words) = &block.slots[place];
        let mut bits = [0; WORDS];
        for (bits, word) in bits.iter_mut().zip(words).take(count) {
            *bits = word.load(Ordering::Relaxed);
        }
        // Partner SignalFillFence.
        acquire_fence(Site::SignalCopyFence);
        bits
    }

    /// How many blocks were added since none of the slots was free.
    pub(super) fn added(&self) -> u64 {
        self.added.load(Ordering::Relaxed)
    }

    #[inline]
    fn place(&self, index: SlotIndex) -> (&Block, usize) {
        let mut block = &self.first;
        for _ in 0..index.0 / 64 {
            let next = block.next.get();
            block = next.expect("an index names a slot that was taken");
        }
        (block, usize::from(index.0 % 64))
    }
}

/// The right to write to a slot; dropped, it frees it.
pub(super) struct Taken<'a> {
    slots: &'a Slots,
    index: SlotIndex,
}

impl Taken<'_> {
    pub(super) fn index(&self) -> SlotIndex {
        self.index
    }

    pub(super) fn fill(&self, bits: &Bits, count: usize) {
        let (block, place) = self.slots.place(self.index);
        let Slot(words) = &block.slots[place];
        for (word, bits) in words.iter().zip(bits).take(count) {
            word.store(*bits, Ordering::Relaxed);
        }
    }

    /// The slot was published: whoever replaces it frees it.
    pub(super) fn publish(self) {
        std::mem::forget(self);
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.slots.free(self.index);
    }
}
