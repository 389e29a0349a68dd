//! Positions that a producer holds before it has their values.

use super::shared::{Claimed, Shared};
use super::slots::STEP;
use crate::PushError;
use crate::panics::Panics;
use std::error::Error;
use std::fmt;

/// Positions reserved by [`Ring64::claim`](crate::Ring64::claim).
///
/// Each push fills the next one. Dropped, it gives up those that are left, and the consumer passes
/// them. Forgotten, or kept for longer than the ring's
/// [`skip_after`](crate::Ring64Builder::skip_after), it holds the ring up until the consumer, or a
/// producer that finds the ring full, steps over what is not filled.
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
                shared.refuse(refusal.is_full(), slots);
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
    /// [`ClaimError::Filled`] when every position of the claim is filled, and
    /// [`ClaimError::SteppedOver`] when the ring has gone on without the one that was next; the
    /// claim may have later ones.
    ///
    /// # Panics
    ///
    /// If the consumer's waker does. The value is pushed all the same.
    #[inline]
    pub fn push(&mut self, value: u64) -> Result<(), ClaimError> {
        let Some(place) = self.step() else {
            return Err(ClaimError::Filled(value));
        };
        if !self.shared.slots().begin(place) {
            return Err(ClaimError::SteppedOver(value));
        }
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
            self.shared.slots().skip(place);
        }
        // What was pushed behind them may be taken now.
        let mut panics = Panics::default();
        panics.run(|| self.shared.desk().wake());
        panics.resume();
    }
}

impl fmt::Debug for Claim64<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim64")
            .field("slots", &self.left)
            .finish()
    }
}

/// Why a claim took no value. The value comes back in field 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClaimError {
    /// Every position of the claim is filled. The caller's fault.
    Filled(u64),
    /// The ring has waited for as long as it may, and went on without this position.
    SteppedOver(u64),
}

impl ClaimError {
    /// Gives the refused value back.
    pub fn into_inner(self) -> u64 {
        match self {
            Self::Filled(value) | Self::SteppedOver(value) => value,
        }
    }
}

impl fmt::Display for ClaimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Filled(_) => "every position of the claim is filled",
            Self::SteppedOver(_) => "the ring went on without this position",
        })
    }
}

impl Error for ClaimError {}
