//! The slots of a ring: what stands at a position, who may change it, and the memory of values.
//!
//! A *place* is a position times four: two bits of its word are left for what stands there, and
//! places wrap as integers do.

use crate::RingError;
use crate::sync::{AtomicU64, Ordering, Site, UnsafeCell, acquire, release};
use std::mem::MaybeUninit;

/// What one position adds to a place.
pub(super) const STEP: u64 = 4;
/// The bits of a word that are not part of the place.
pub(super) const FLAGS: u64 = STEP - 1;
/// Slots at most.
const CAPACITY_MAX: usize = 1 << 31;

/// Free, or claimed and not yet written: the tail tells which.
const FREE: u64 = 0;
const WRITING: u64 = 1;
const PUBLISHED: u64 = 2;
const SKIPPED: u64 = 3;

/// How far it is from one place to a later one, in positions.
#[inline(always)]
pub(super) fn distance(from: u64, to: u64) -> u64 {
    (to & !FLAGS).wrapping_sub(from & !FLAGS) / STEP
}

/// What the consumer finds at its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Nobody has begun to write there.
    Free,
    Writing,
    Value,
    Skipped,
}

/// What a producer finds at the tail.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// The slot is free for this place.
    Free,
    /// The slot is still used for the place a lap before, which nobody has begun to write.
    FullBehindClaim,
    Full,
    /// The place is no longer the tail.
    Passed,
}

struct Slot<T> {
    /// place | state
    word: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
}

pub(super) struct Slots<T> {
    slots: Box<[Slot<T>]>,
    /// The capacity, a power of two, less one.
    mask: usize,
}

// SAFETY: Valid: words are Send. Exclusive: the slots hold values of T, which may leave or be
// dropped on another thread, hence `T: Send`.
unsafe impl<T: Send> Send for Slots<T> {}
// SAFETY: Valid: words are Sync. Exclusive: a value is touched only by who owns its slot (module
// header), so no two threads share a `&T`, and `T: Send` suffices.
unsafe impl<T: Send> Sync for Slots<T> {}

impl<T> Slots<T> {
    /// Slots for the positions from that of `start` on.
    pub(super) fn new(capacity: usize, start: u64) -> Result<Self, RingError> {
        let mut slots = reserve(capacity)?;
        let mask = capacity as u64 - 1;
        let first = start / STEP;
        slots.extend((0..capacity as u64).map(|index| {
            // The first position from `start` on that falls on this slot.
            let position = first.wrapping_add(index.wrapping_sub(first) & mask);
            Slot {
                word: AtomicU64::new(position.wrapping_mul(STEP) | FREE),
                value: UnsafeCell::new(MaybeUninit::uninit()),
            }
        }));
        Ok(Self {
            slots: slots.into_boxed_slice(),
            mask: capacity - 1,
        })
    }

    #[inline(always)]
    pub(super) fn capacity(&self) -> usize {
        self.mask + 1
    }

    /// What stands between two places of one slot.
    #[inline(always)]
    fn lap(&self) -> u64 {
        self.capacity() as u64 * STEP
    }

    #[inline(always)]
    fn slot(&self, place: u64) -> &Slot<T> {
        // Truncation is as good as any: the mask keeps the low bits.
        &self.slots[(place / STEP) as usize & self.mask]
    }

    /// Whether a producer may claim `place`, which it takes for the tail.
    #[inline(always)]
    pub(super) fn room(&self, place: u64) -> Room {
        // Acquire, partner ClaimFree: the value of the last lap is out before this one is written.
        let word = self.slot(place).word.load(acquire(Site::ClaimReadFree));
        if word == place | FREE {
            Room::Free
        } else if word & !FLAGS != place.wrapping_sub(self.lap()) {
            Room::Passed
        } else if word & FLAGS == FREE {
            Room::FullBehindClaim
        } else {
            Room::Full
        }
    }

    /// Takes the slot of a claimed place, unless the claim was stepped over.
    #[inline(always)]
    pub(super) fn begin(&self, place: u64) -> bool {
        self.change(place, WRITING)
    }

    /// Gives a claimed place up, or steps over it: false when its claimer has begun to write, or
    /// somebody was quicker.
    pub(super) fn skip(&self, place: u64) -> bool {
        self.change(place, SKIPPED)
    }

    #[inline(always)]
    fn change(&self, place: u64, state: u64) -> bool {
        // Release, partner ClaimReadFree: who finds this place passed reads a tail that has passed
        // it, and does not try the same place again.
        let success = release(Site::ClaimChange);
        // Acquire, partner ClaimChange: whose claim was stepped over finds the slots free that the
        // consumer had passed before, and takes no ring with room for a full one.
        let failure = acquire(Site::ClaimReadChange);
        self.slot(place)
            .word
            .compare_exchange(place | FREE, place | state, success, failure)
            .is_ok()
    }

    /// Fills the slot of `place`, and publishes it.
    ///
    /// # Safety
    ///
    /// The caller has claimed this place, this is its only fill, and nobody comes between: its
    /// `begin` has succeeded, or nothing is ever stepped over.
    #[inline(always)]
    pub(super) unsafe fn fill(&self, place: u64, value: T) {
        let slot = self.slot(place);
        slot.value.with_mut(|cell| {
            // SAFETY: Valid: the cell lives in `self.slots`. Exclusive: by this function's contract
            // nobody else may write here or pass the place; the consumer was done with the slot
            // before it stored *free* (Acquire in `room`).
            let cell = unsafe { &mut *cell };
            cell.write(value);
        });
        // Release, partner ClaimReadSlot: the value is in its slot.
        slot.word
            .store(place | PUBLISHED, release(Site::ClaimPublish));
    }

    /// What stands at the consumer's place.
    #[inline(always)]
    pub(super) fn look(&self, place: u64) -> Found {
        // Acquire, partner ClaimPublish: the value is in its slot.
        let word = self.slot(place).word.load(acquire(Site::ClaimReadSlot));
        debug_assert_eq!(word & !FLAGS, place, "the slot of another lap");
        match word & FLAGS {
            FREE => Found::Free,
            WRITING => Found::Writing,
            PUBLISHED => Found::Value,
            _ => Found::Skipped,
        }
    }

    /// Moves the value of `place` out.
    ///
    /// # Safety
    ///
    /// The caller is the consumer; `look` has found a value at this place, and it was not taken
    /// since.
    #[inline(always)]
    pub(super) unsafe fn take(&self, place: u64) -> T {
        self.slot(place).value.with(|cell| {
            // SAFETY: Valid: the cell lives in `self.slots`. Exclusive: the word says *published*,
            // which only the consumer changes.
            let cell = unsafe { &*cell };
            // SAFETY: Valid: it was filled before the word that `look` read with Acquire.
            // Exclusive: by this function's contract nobody else moves it out.
            unsafe { cell.assume_init_read() }
        })
    }

    /// Hands the slot of `place` to whoever claims it a lap later. The consumer's, when the slot
    /// holds no value any more.
    #[inline(always)]
    pub(super) fn free(&self, place: u64) {
        let next = place.wrapping_add(self.lap());
        // Release, partner ClaimReadFree: the value is out.
        self.slot(place)
            .word
            .store(next | FREE, release(Site::ClaimFree));
    }

    /// Whether somebody has begun to write at `place`, or gave it up. A hint.
    #[inline(always)]
    pub(super) fn is_begun(&self, place: u64) -> bool {
        let word = self.slot(place).word.load(Ordering::Relaxed);
        word & !FLAGS == place && word & FLAGS != FREE
    }

    /// Takes a value that is still inside when all handles are gone.
    pub(super) fn take_rest(&mut self, index: usize) -> Option<T> {
        // Relaxed: `&mut self` says that everybody is gone, which has ordered all they did.
        let word = self.slots[index].word.load(Ordering::Relaxed);
        if word & FLAGS != PUBLISHED {
            return None;
        }
        let place = word & !FLAGS;
        self.free(place);
        // SAFETY: Valid: the word said *published*, and says so no more. Exclusive: `&mut self`.
        Some(unsafe { self.take(place) })
    }
}

/// Memory for `capacity` slots, none of them made yet.
fn reserve<S>(capacity: usize) -> Result<Vec<S>, RingError> {
    if !capacity.is_power_of_two() || capacity > CAPACITY_MAX {
        return Err(RingError::Capacity(capacity));
    }
    let mut slots = Vec::new();
    match slots.try_reserve_exact(capacity) {
        Ok(()) => Ok(slots),
        Err(_) => Err(RingError::Memory(capacity)),
    }
}

#[cfg(all(test, not(corelane_loom)))]
mod tests {
    use super::{CAPACITY_MAX, reserve};
    use crate::RingError;

    /// Only reserved: code that moves such a value would take a compiler's whole memory.
    #[test]
    fn slots_without_memory_are_an_error() {
        let slots = reserve::<[u64; 1 << 40]>(CAPACITY_MAX);
        assert_eq!(slots.err(), Some(RingError::Memory(CAPACITY_MAX)));
        assert!(reserve::<()>(CAPACITY_MAX).is_ok());
    }
}
