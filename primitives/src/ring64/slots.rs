//! The slots: what stands at a position, and how it is told.
//!
//! A *place* is a position times eight, so that three bits of its word are left for flags and the
//! cursors still wrap as integers do. A slot's state word carries the whole place that it was last
//! filled for, so nobody ever resets it, and a value of an earlier lap is never taken again.

use crate::RingError;
use crate::sync::{AtomicU64, Ordering, Payload, Site, acquire, release};

/// What one position adds to a place.
pub(super) const STEP: u64 = 8;
/// The bits of a word that are not part of the place.
pub(super) const FLAGS: u64 = STEP - 1;
/// Slots at most.
const CAPACITY_MAX: usize = 1 << 31;

/// The slot holds a value. A slot that was never filled has no flag.
const VALUE: u64 = 1;
/// The claim was given up: there is no value at this position.
const TOMBSTONE: u64 = 2;
/// The position belongs to a `Claim64`, which looks for a sleeper whenever it fills one.
const RESERVED: u64 = 3;

/// How far it is from one place to a later one, in positions.
pub(super) fn distance(from: u64, to: u64) -> u64 {
    (to & !FLAGS).wrapping_sub(from & !FLAGS) / STEP
}

/// What the consumer finds at a position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Value,
    /// The position was claimed and given up.
    Hole,
    /// It is reserved by a `Claim64`, and not being filled.
    Reserved,
    /// Nobody has published it yet.
    Nothing,
}

/// State and value beside each other: four slots a line, and one line a push (of the layouts
/// measured, one array of both, and two arrays with a wide or narrow state, this was the fastest).
#[repr(align(16))]
struct Slot {
    /// place | flag
    state: AtomicU64,
    value: Payload,
}

/// Slots whose values were seen, in order.
pub(super) struct Run<'a>(&'a [Slot]);

impl Run<'_> {
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The values. The consumer's, once.
    #[inline(always)]
    pub(super) fn values(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|slot| slot.value.take())
    }
}

pub(super) struct Slots {
    slots: Box<[Slot]>,
    /// `capacity - 1`
    mask: usize,
}

impl Slots {
    pub(super) fn new(capacity: usize) -> Result<Self, RingError> {
        if !capacity.is_power_of_two() || capacity > CAPACITY_MAX {
            return Err(RingError::Capacity(capacity));
        }
        let mut slots = Vec::new();
        if slots.try_reserve_exact(capacity).is_err() {
            return Err(RingError::Memory(capacity));
        }
        slots.resize_with(capacity, || Slot {
            state: AtomicU64::new(0),
            value: Payload::new(),
        });
        Ok(Self {
            slots: slots.into_boxed_slice(),
            mask: capacity - 1,
        })
    }

    #[inline(always)]
    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }

    #[inline(always)]
    fn index(&self, place: u64) -> usize {
        // Truncation is as good as any: the mask keeps the low bits.
        (place / STEP) as usize & self.mask
    }

    #[inline(always)]
    fn slot(&self, place: u64) -> &Slot {
        &self.slots[self.index(place)]
    }

    /// Fills the slot of `place` and shows it. The caller has claimed it.
    #[inline(always)]
    pub(super) fn publish(&self, place: u64, value: u64) {
        let slot = self.slot(place);
        slot.value.put(value);
        // Release, partner Ring64ReadSlot: the value is there before the state tells it.
        slot.state
            .store(place | VALUE, release(Site::Ring64Publish));
    }

    /// Begins to fill the reserved `place`; false when somebody has stepped over it.
    pub(super) fn begin(&self, place: u64) -> bool {
        self.change_reserved(place, place)
    }

    /// Says that no value will come at the reserved `place`; false when it is not reserved now.
    pub(super) fn skip(&self, place: u64) -> bool {
        self.change_reserved(place, place | TOMBSTONE)
    }

    /// One of those who race for a reserved place wins.
    fn change_reserved(&self, place: u64, to: u64) -> bool {
        // Relaxed: it shows no value, and whoever fills the slot in a later lap does so because the
        // consumer has read this, so it cannot come later in the word's order.
        self.slot(place)
            .state
            .compare_exchange(place | RESERVED, to, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// What stands at `place`, the consumer's next one.
    #[inline(always)]
    pub(super) fn look(&self, place: u64) -> Look {
        // Acquire, partner Ring64Publish.
        let state = self.slot(place).state.load(acquire(Site::Ring64ReadSlot));
        if state == place | VALUE {
            Look::Value
        } else if state == place | TOMBSTONE {
            Look::Hole
        } else if state == place | RESERVED {
            Look::Reserved
        } else {
            Look::Nothing
        }
    }

    /// The values from `place` on, the consumer's next one, that stand one behind the other: up to
    /// `max`, and up to the end of the array. Each is taken once.
    ///
    /// First all states are read and then the values, in two tight loops: who folds these keeps
    /// what it folds into in a register, which it cannot across a load with Acquire (bench row
    /// `fold_1000`).
    #[inline(always)]
    pub(super) fn run(&self, place: u64, max: usize) -> Run<'_> {
        let first = self.index(place);
        let slots = &self.slots[first..first.saturating_add(max).min(self.slots.len())];
        let mut expected = place | VALUE;
        let mut stands = |slot: &Slot| {
            // Acquire, partner Ring64Publish.
            let there = slot.state.load(acquire(Site::Ring64ReadRun)) == expected;
            expected = expected.wrapping_add(STEP);
            there
        };
        let count = slots.iter().take_while(|slot| stands(slot)).count();
        Run(&slots[..count])
    }

    /// The value at `place`. The consumer's, once, after it has seen it.
    #[inline(always)]
    pub(super) fn take(&self, place: u64) -> u64 {
        self.slot(place).value.take()
    }

    /// Says that `place` is claimed by somebody who takes time to fill it.
    pub(super) fn reserve(&self, place: u64) {
        // Relaxed: it shows no value.
        self.slot(place)
            .state
            .store(place | RESERVED, Ordering::Relaxed);
    }

    /// Whether something stands at `place` already, as far as this thread can see.
    #[inline(always)]
    pub(super) fn is_taken(&self, place: u64) -> bool {
        let state = self.slot(place).state.load(Ordering::Relaxed);
        state.wrapping_sub(place | VALUE) < RESERVED // place with one of the three flags
    }
}

#[cfg(all(test, not(corelane_loom)))]
mod tests {
    use super::{FLAGS, STEP, Slots, distance};
    use crate::RingError;

    #[test]
    fn four_slots_share_a_line() {
        assert_eq!(size_of::<super::Slot>(), 16);
    }

    #[test]
    fn capacities_that_no_ring_can_have_are_refused() {
        for capacity in [0, 3, 1000, (1 << 31) + 1, 1 << 32] {
            assert_eq!(
                Slots::new(capacity).err(),
                Some(RingError::Capacity(capacity))
            );
        }
        assert!(Slots::new(1).is_ok());
    }

    #[test]
    fn distance_wraps_and_sees_no_flags() {
        let last = !FLAGS;
        assert_eq!(distance(last | 1, last.wrapping_add(STEP) | 3), 1);
        assert_eq!(distance(last | 3, last), 0);
    }
}
