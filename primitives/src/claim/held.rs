//! A claim that its producer holds: room for one value, taken before the value is there.

use super::shared::Shared;
use crate::SteppedOver;

/// A place in a [`Ring`](crate::Ring) that is taken and not yet filled.
///
/// The consumer waits for it, and takes nothing behind it before it is published, dropped or
/// stepped over. Dropping it gives the place up, and it is counted as a tombstone; forgetting it
/// holds the ring up until somebody steps over it.
///
/// ```
/// use corelane_primitives::Ring;
///
/// let (ring, mut consumer) = Ring::new(4);
/// let claim = ring.claim().expect("the ring is empty");
/// assert_eq!(ring.push("behind"), Ok(()));
/// assert_eq!(consumer.pop(), None, "the claim stands first");
/// assert_eq!(claim.publish("before"), Ok(()));
/// assert_eq!((consumer.pop(), consumer.pop()), (Some("before"), Some("behind")));
/// ```
#[must_use = "a claim that is dropped at once is a tombstone"]
pub struct Claim<'a, T> {
    shared: &'a Shared<T>,
    place: u64,
}

impl<'a, T> Claim<'a, T> {
    pub(super) fn new(shared: &'a Shared<T>, place: u64) -> Self {
        Self { shared, place }
    }

    /// Puts `value` into the place, and wakes the consumer if it sleeps.
    ///
    /// # Errors
    ///
    /// [`SteppedOver`] with the value when the ring has gone on without this claim.
    ///
    /// # Panics
    ///
    /// If the consumer's waker does. The value is published all the same.
    pub fn publish(self, value: T) -> Result<(), SteppedOver<T>> {
        let (shared, place) = (self.shared, self.place);
        // From here on the place is the value's; nothing can fail before it is there.
        std::mem::forget(self);
        shared.publish(place, value).map_err(SteppedOver)
    }
}

impl<T> Drop for Claim<'_, T> {
    fn drop(&mut self) {
        self.shared.give_up(self.place);
    }
}

impl<T> std::fmt::Debug for Claim<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Claim").finish_non_exhaustive()
    }
}
