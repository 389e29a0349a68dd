//! Positions that a producer holds before it has their values.

use super::shared::{Claimed, Shared};
use super::slots::STEP;
use crate::{Full, PushError};
use std::fmt;

/// Positions reserved by [`Ring64::claim`](crate::Ring64::claim).
///
/// Each push fills the next one. Dropped, it gives up those that are left; the consumer passes
/// them.
pub struct Claim64<'a> {
    shared: &'a Shared,
    next: u64,
    left: usize,
}

impl<'a> Claim64<'a> {
    pub(super) fn new(shared: &'a Shared, slots: usize) -> Result<Self, PushError> {
        let capacity = shared.capacity();
        assert!(
            (1..=capacity).contains(&slots),
            "{slots} slots asked of a ring of {capacity}"
        );
        match shared.claim(slots, slots) {
            Ok(claimed) => Ok(Self::reserve(shared, claimed)),
            Err(refusal) => {
                shared.count_refused(slots);
                Err(refusal)
            }
        }
    }

    fn reserve(shared: &'a Shared, claimed: Claimed) -> Self {
        let mut place = claimed.first;
        for _ in 0..claimed.count {
            shared.slots().reserve(place);
            place = place.wrapping_add(STEP);
        }
        Self {
            shared,
            next: claimed.first,
            left: claimed.count,
        }
    }

    /// How many positions are still to be filled.
    pub fn slots(&self) -> usize {
        self.left
    }

    /// Fills the next position and shows it to the consumer.
    ///
    /// # Errors
    ///
    /// [`Full`] when every position of the claim is filled.
    ///
    /// # Panics
    ///
    /// If the consumer's waker does. The value is pushed all the same.
    #[inline]
    pub fn push(&mut self, value: u64) -> Result<(), Full<u64>> {
        let Some(place) = self.step() else {
            return Err(Full(value));
        };
        self.shared.slots().publish(place, value);
        // The consumer may have begun to sleep since the claim.
        self.shared.desk().wake();
        Ok(())
    }

    fn step(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let place = self.next;
        self.next = place.wrapping_add(STEP);
        Some(place)
    }
}

impl Drop for Claim64<'_> {
    fn drop(&mut self) {
        if self.left == 0 {
            return;
        }
        while let Some(place) = self.step() {
            self.shared.slots().give_up(place);
        }
        // What was pushed behind them may be taken now.
        self.shared.desk().wake();
    }
}

impl fmt::Debug for Claim64<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim64")
            .field("slots", &self.left)
            .finish()
    }
}
