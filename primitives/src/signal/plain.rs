//! Values without pointers, in slots of atomic words.
//!
//! One word says which slot has the newest value and which version that is, in 12 and 52 bits, of
//! which the highest says that nothing follows. A writer fills a slot of its own and exchanges the
//! word; a reader loads the word, copies the slot, and loads the word again: if that is the same,
//! the slot was not written meanwhile, since versions never repeat. So nobody waits for anybody,
//! nothing is allocated, and a copy that may be torn is never looked at.

use super::keep::{Follow, Keep, Mark, Version};
use super::slots::{Bits, INDEX_BITS, SlotIndex, Slots, WORDS};
use crate::pad::CachePadded;
use crate::sync::{AtomicU64, Ordering, Site, acquire, release};
use bytemuck::{CheckedBitPattern, NoUninit};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;
const LAST: u64 = 1 << 63;

/// How [`Signal::plain`](super::Signal::plain) keeps its value: in place, as words.
pub struct Plain<T> {
    newest: CachePadded<AtomicU64>,
    slots: Slots,
    value: PhantomData<T>,
}

/// version << 12 | index of the slot; the highest bit says that nothing follows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(u64);

impl Word {
    fn new(version: u64, index: SlotIndex, follow: Follow) -> Self {
        let last = match follow {
            Follow::More => 0,
            Follow::Nothing => LAST,
        };
        Self(last | (version << INDEX_BITS & !LAST) | u64::from(index.0))
    }

    #[inline]
    fn index(self) -> SlotIndex {
        SlotIndex((self.0 & INDEX_MASK) as u16)
    }

    #[inline]
    fn is_last(self) -> bool {
        self.0 & LAST != 0
    }

    #[inline]
    pub(super) fn mark(self) -> Mark {
        Mark {
            version: Version((self.0 & !LAST) >> INDEX_BITS),
            is_last: self.is_last(),
        }
    }

    /// The word of the next value.
    fn next(self, index: SlotIndex, follow: Follow) -> Self {
        Self::new(self.mark().version.0 + 1, index, follow)
    }
}

impl<T: NoUninit + CheckedBitPattern> Plain<T> {
    /// How many words a value has.
    const COUNT: usize = {
        assert!(
            size_of::<T>() <= WORDS * 8,
            "a plain value has at most 64 bytes"
        );
        size_of::<T>().div_ceil(8)
    };

    pub(super) fn new(value: T) -> Self {
        let slots = Slots::new();
        let taken = slots.take();
        taken.fill(&Self::bits_of(&value), Self::COUNT);
        let word = Word::new(0, taken.index(), Follow::More);
        taken.publish();
        Self {
            newest: CachePadded::new(AtomicU64::new(word.0)),
            slots,
            value: PhantomData,
        }
    }

    fn bits_of(value: &T) -> Bits {
        let mut bits = [0; WORDS];
        let bytes = bytemuck::bytes_of_mut(&mut bits);
        bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(value));
        bits
    }

    /// The value of words that were published together.
    #[inline]
    fn value_of(bits: &Bits) -> T {
        let bytes = &bytemuck::bytes_of(bits)[..size_of::<T>()];
        let value = bytemuck::checked::try_pod_read_unaligned(bytes);
        value.expect("words that were published together are a value")
    }

    /// Which value is the newest: another one has another word.
    #[inline]
    pub(super) fn load(&self) -> Word {
        // Acquire, partner SignalPublish: the slot has the value.
        Word(self.newest.load(acquire(Site::SignalRead)))
    }

    /// The newest value, and its word.
    #[inline]
    pub(super) fn copy(&self) -> (Word, T) {
        // Repeats only when another value was published meanwhile.
        loop {
            let word = self.load();
            let bits = self.slots.copy(word.index(), Self::COUNT);
            // Relaxed: the copy's fence orders it.
            if self.newest.load(Ordering::Relaxed) == word.0 {
                return (word, Self::value_of(&bits));
            }
        }
    }

    /// Puts `next` in place of `last`, whose slot is then free; `Err` says what was found instead.
    fn publish(&self, last: Word, next: Word) -> Result<Version, Word> {
        // Release, partner SignalRead. What it read of `last` it has acquired: so the stores to
        // the freed slot come before those of its next owner.
        let published = self.newest.compare_exchange(
            last.0,
            next.0,
            release(Site::SignalPublish),
            acquire(Site::SignalRead),
        );
        match published {
            Ok(_) => Ok(next.mark().version),
            Err(found) => Err(Word(found)),
        }
    }
}

impl<T: NoUninit + CheckedBitPattern> Keep<T> for Plain<T> {
    #[inline]
    fn mark(&self) -> Mark {
        self.load().mark()
    }

    #[inline]
    fn read<R>(&self, read: impl FnOnce(Mark, &T) -> R) -> R {
        let (word, value) = self.copy();
        read(word.mark(), &value)
    }

    fn get(&self) -> Arc<T> {
        Arc::new(self.copy().1)
    }

    fn put(&self, value: T, follow: Follow) -> Result<Version, T> {
        let mut last = self.load();
        if last.is_last() {
            return Err(value);
        }
        let taken = self.slots.take();
        taken.fill(&Self::bits_of(&value), Self::COUNT);
        // Repeats only when another value was published meanwhile.
        while !last.is_last() {
            match self.publish(last, last.next(taken.index(), follow)) {
                Ok(version) => {
                    taken.publish();
                    self.slots.free(last.index());
                    return Ok(version);
                }
                Err(found) => last = found,
            }
        }
        Err(value)
    }

    fn replace(&self, mut next: impl FnMut(&T) -> T) -> Option<Version> {
        let mut taken = None;
        // Repeats only when another value was published meanwhile.
        loop {
            let (last, value) = self.copy();
            if last.is_last() {
                return None;
            }
            let value = next(&value);
            let slot = taken.take().unwrap_or_else(|| self.slots.take());
            slot.fill(&Self::bits_of(&value), Self::COUNT);
            match self.publish(last, last.next(slot.index(), Follow::More)) {
                Ok(version) => {
                    slot.publish();
                    self.slots.free(last.index());
                    return Some(version);
                }
                Err(_) => taken = Some(slot),
            }
        }
    }

    fn close(&self) {
        let mut last = self.load();
        // Repeats only when another value was published meanwhile.
        while !last.is_last() {
            match self.publish(last, Word(last.0 | LAST)) {
                Ok(_) => return,
                Err(found) => last = found,
            }
        }
    }

    fn blocks_added(&self) -> u64 {
        self.slots.added()
    }
}

impl<T> fmt::Debug for Plain<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Word(self.newest.load(Ordering::Relaxed));
        f.debug_tuple("Plain").field(&word.mark()).finish()
    }
}

#[cfg(all(test, not(corelane_loom)))]
mod tests {
    use super::{Follow, Plain, SlotIndex, Word};
    use crate::Version;
    use crate::signal::keep::Keep;

    // proves: S-12
    #[test]
    fn parts_of_a_word_do_not_mix() {
        for version in [0, 1, u64::from(u32::MAX) + 1, (1 << 51) - 1] {
            for index in [0, 1, 64, 4_095] {
                for follow in [Follow::More, Follow::Nothing] {
                    let word = Word::new(version, SlotIndex(index), follow);
                    assert_eq!(word.index(), SlotIndex(index));
                    assert_eq!(word.mark().version, Version(version));
                    assert_eq!(word.is_last(), follow == Follow::Nothing);
                }
            }
        }
    }

    // proves: S-12
    #[test]
    fn versions_go_on_beyond_32_bits() {
        let mut plain = Plain::new(7_u64);
        let many = u64::from(u32::MAX);
        let index = Word(*plain.newest.get_mut()).index();
        *plain.newest.get_mut() = Word::new(many, index, Follow::More).0;
        assert_eq!(plain.put(8, Follow::More), Ok(Version(many + 1)));
        assert_eq!(plain.replace(|value| value + 1), Some(Version(many + 2)));
        plain.read(|mark, value| assert_eq!((mark.version, *value), (Version(many + 2), 9)));
    }
}
