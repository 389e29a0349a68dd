//! The slots of a lane: raw memory, and the two ways to touch it.

use crate::LaneError;
use crate::sync::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::{NonNull, slice_from_raw_parts_mut};

/// The largest capacity, in slots.
const CAPACITY_MAX: usize = 1 << 31;

pub(super) type Slot<T> = UnsafeCell<MaybeUninit<T>>;

/// Where the slots are. Each end keeps a copy beside its positions, which saves it two loads from
/// the shared part at every call (bench row `lanes/round_trip`).
pub(super) struct Slots<T> {
    first: NonNull<Slot<T>>,
    /// The capacity, a power of two, less one.
    mask: usize,
}

impl<T> Clone for Slots<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slots<T> {}

impl<T> Slots<T> {
    #[inline(always)]
    pub(super) fn capacity(self) -> usize {
        self.mask + 1
    }

    /// Writes `value` into the slot of `position`.
    ///
    /// # Safety
    ///
    /// The memory lives, the caller is the producer, and `position` is free: at or after the tail,
    /// and less than a whole ring after a head that it read with Acquire.
    #[inline(always)]
    pub(super) unsafe fn write(self, position: usize, value: T) {
        // SAFETY: By this function's contract, for a run of one slot.
        unsafe { self.run(position, 1).write(0, value) };
    }

    /// Moves the value of `position` out; the caller never reads it again.
    ///
    /// # Safety
    ///
    /// The memory lives, the slot of `position` holds a value that nobody has moved out, and no
    /// other thread touches it.
    #[inline(always)]
    pub(super) unsafe fn read(self, position: usize) -> T {
        // SAFETY: By this function's contract, for a run of one slot.
        unsafe { self.run(position, 1).read(0) }
    }

    /// The slots from that of `position` on, up to `count` of them and up to the end of the memory:
    /// within a run the next slot is the next in memory (bench row `one_way_batch`).
    #[inline(always)]
    pub(super) fn run(self, position: usize, count: usize) -> Run<T> {
        let index = position & self.mask;
        Run {
            // SAFETY: Valid: the masked index is below the capacity. Exclusive: no access yet.
            first: unsafe { self.first.add(index) },
            len: count.min(self.capacity() - index),
        }
    }
}

/// Slots that lie one behind the other.
pub(super) struct Run<T> {
    first: NonNull<Slot<T>>,
    len: usize,
}

impl<T> Run<T> {
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Writes `value` into the slot at `index`.
    ///
    /// # Safety
    ///
    /// `index` is below the run's length; otherwise as [`Slots::write`].
    #[inline(always)]
    pub(super) unsafe fn write(&self, index: usize, value: T) {
        // SAFETY: Valid: by this function's contract. Exclusive: only a shared reference to the
        // cell comes of it.
        unsafe { self.slot(index) }.with_mut(|slot| {
            // SAFETY: Valid: as the cell. Exclusive: by this function's contract the consumer has
            // given the slot back, and the tail has not yet passed it on.
            let slot = unsafe { &mut *slot };
            slot.write(value);
        });
    }

    /// Moves the value at `index` out.
    ///
    /// # Safety
    ///
    /// `index` is below the run's length; otherwise as [`Slots::read`].
    #[inline(always)]
    pub(super) unsafe fn read(&self, index: usize) -> T {
        // SAFETY: Valid: by this function's contract. Exclusive: only a shared reference to the
        // cell comes of it.
        unsafe { self.slot(index) }.with(|slot| {
            // SAFETY: Valid: as the cell. Exclusive: by this function's contract.
            let slot = unsafe { &*slot };
            // SAFETY: Valid and exclusive: by this function's contract the value is there, and is
            // ours.
            unsafe { slot.assume_init_read() }
        })
    }

    /// The cell at `index`.
    ///
    /// # Safety
    ///
    /// `index` is below the run's length, and the memory outlives the reference.
    #[inline(always)]
    unsafe fn slot<'a>(&self, index: usize) -> &'a Slot<T> {
        // SAFETY: Valid: the run lies within the memory. Exclusive: no access yet.
        let slot = unsafe { self.first.add(index) };
        // SAFETY: Valid: the cell was made with the memory, which lives. Exclusive: nobody makes
        // a mutable reference to a cell.
        unsafe { slot.as_ref() }
    }
}

/// Owns the slots' memory, not the values in it.
pub(super) struct Memory<T>(Slots<T>);

impl<T> Memory<T> {
    /// Allocates `capacity` slots.
    pub(super) fn new(capacity: usize) -> Result<Self, LaneError> {
        let mut slots = reserve::<T>(capacity)?;
        slots.resize_with(capacity, || UnsafeCell::new(MaybeUninit::uninit()));
        let first = NonNull::from(Box::leak(slots.into_boxed_slice())).cast();
        Ok(Self(Slots {
            first,
            mask: capacity - 1,
        }))
    }

    #[inline(always)]
    pub(super) fn slots(&self) -> Slots<T> {
        self.0
    }
}

impl<T> Drop for Memory<T> {
    fn drop(&mut self) {
        let slots = slice_from_raw_parts_mut(self.0.first.as_ptr(), self.0.capacity());
        // SAFETY: Valid: the pointer came from a box of this length. Exclusive: the ends, which
        // hold the copies of it, are gone: each keeps the lane alive.
        drop(unsafe { Box::from_raw(slots) });
    }
}

/// Memory for `capacity` slots, none of them made yet.
fn reserve<T>(capacity: usize) -> Result<Vec<Slot<T>>, LaneError> {
    if !capacity.is_power_of_two() || capacity > CAPACITY_MAX {
        return Err(LaneError::Capacity(capacity));
    }
    let mut slots = Vec::new();
    match slots.try_reserve_exact(capacity) {
        Ok(()) => Ok(slots),
        Err(_) => Err(LaneError::Memory(capacity)),
    }
}

#[cfg(all(test, not(corelane_loom)))]
mod tests {
    use super::{CAPACITY_MAX, reserve};
    use crate::LaneError;

    #[test]
    fn largest_capacity_is_2_to_the_31() {
        assert!(reserve::<()>(CAPACITY_MAX).is_ok());
        let above = CAPACITY_MAX << 1;
        assert_eq!(reserve::<()>(above).err(), Some(LaneError::Capacity(above)));
    }

    #[test]
    fn slots_without_memory_are_an_error() {
        let slots = reserve::<[u64; 1 << 40]>(CAPACITY_MAX);
        assert_eq!(slots.err(), Some(LaneError::Memory(CAPACITY_MAX)));
    }
}
