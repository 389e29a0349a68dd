//! The reading end.

use super::reader::{Look, Reader};
use super::shared::Shared;
use crate::Folded;
use crate::panics::Panics;
use crate::park::Looks;
use crate::sync::Arc;
use crate::timers::Alarm;
use std::time::Duration;

/// Values that one batch takes at most before their slots are handed back.
const BATCH_MAX: usize = 256;

/// The reading end of a [`Ring`](crate::Ring).
///
/// There is one, and it cannot be cloned. It may be moved to any thread and dropped there. Dropping
/// it closes the ring: later pushes are refused, claims that come late get their value back, and
/// what is inside is dropped.
///
/// It waits by [`recv`](Self::recv), [`ready`](Self::ready), their polls and blocking forms, or as
/// a `Stream`.
///
/// ```
/// let (ring, mut consumer) = corelane_primitives::Ring::new(8);
/// assert_eq!(ring.push("one"), Ok(()));
/// assert_eq!(consumer.pop(), Some("one"));
/// assert_eq!(consumer.pop(), None);
/// ```
pub struct RingConsumer<T> {
    pub(super) reader: Reader<T>,
    pub(super) parked: bool,
    pub(super) looks: Looks,
    /// When the claim that stands first may be stepped over, on the ring's clock, as the last look
    /// has found; the largest number when there is none.
    pub(super) due_ns: u64,
    /// The same while it sleeps, if the host has timers.
    pub(super) alarm: Option<(u64, Alarm)>,
}

impl<T> RingConsumer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self {
            reader: Reader::new(shared),
            parked: false,
            looks: Looks::default(),
            due_ns: u64::MAX,
            alarm: None,
        }
    }

    /// Takes the oldest value, hands its slot back, and wakes a push that waits for room.
    ///
    /// Costs a fence; many values are cheaper by [`fold`](Self::fold) or
    /// [`pop_batch`](Self::pop_batch). `None` says that there is no value now, or that a claim
    /// stands first (see [`is_held_up`](Self::is_held_up)); whether more can come tells
    /// [`is_finished`](Self::is_finished).
    ///
    /// # Panics
    ///
    /// If a producer's waker does. The value is dropped then.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.reader.note_peak();
        let value = self.reader.next();
        self.reader.release();
        value
    }

    /// Moves up to `max` values to the end of `out` and returns how many. `out` may grow.
    ///
    /// # Panics
    ///
    /// If a producer's waker does. What was taken is in `out`.
    pub fn pop_batch(&mut self, out: &mut Vec<T>, max: usize) -> usize {
        self.fold(max, (), |(), value| out.push(value)).consumed
    }

    /// Gives up to `max` values one by one to `f`, each with what `f` returned for the one before,
    /// `acc` for the first. Allocates nothing.
    ///
    /// Takes what is there and does not wait. Slots are handed back, and pushes that wait for room
    /// woken, once for each 256 values. The value at which `f` panics counts as taken.
    ///
    /// ```
    /// let (ring, mut consumer) = corelane_primitives::Ring::new(8);
    /// for word in ["a", "ring", "of", "words"] {
    ///     assert_eq!(ring.push(word), Ok(()));
    /// }
    /// let folded = consumer.fold(3, String::new(), |all, word| all + word);
    /// assert_eq!((folded.acc.as_str(), folded.consumed, folded.skipped), ("aringof", 3, 0));
    /// ```
    ///
    /// # Panics
    ///
    /// If `f` or a producer's waker does.
    pub fn fold<A>(&mut self, max: usize, acc: A, mut f: impl FnMut(A, T) -> A) -> Folded<A> {
        let mut folded = Folded {
            acc,
            consumed: 0,
            skipped: 0,
        };
        while folded.consumed < max {
            self.reader.note_peak();
            let batch = Batch(&mut self.reader);
            let wanted = (max - folded.consumed).min(BATCH_MAX);
            let mut taken = 0;
            while taken < wanted {
                let Some(value) = batch.0.next() else { break };
                taken += 1;
                folded.acc = f(folded.acc, value);
            }
            folded.consumed += taken;
            folded.skipped += batch.0.release();
            if taken < wanted {
                break;
            }
        }
        folded
    }

    /// Whether the ring is closed and everything in it was taken.
    pub fn is_finished(&self) -> bool {
        self.reader.is_over()
    }

    /// Whether a claim stands first that was not published yet, so that nothing behind it can be
    /// taken. Steps over it if it is old enough.
    pub fn is_held_up(&mut self) -> bool {
        let look = self.reader.look();
        self.reader.release();
        matches!(look, Look::HeldUp { .. })
    }

    /// Refuses all later pushes. What is inside, and what was claimed before, can still be taken.
    ///
    /// # Panics
    ///
    /// If the waker of a producer does that waits for room. The ring is closed all the same.
    pub fn close(&mut self) {
        self.reader.shared.close();
    }

    /// How many slots the ring has.
    pub fn capacity(&self) -> usize {
        self.reader.shared.slots.capacity()
    }

    /// How many slots are taken now, never more than the capacity.
    pub fn occupancy(&self) -> usize {
        self.reader.shared.occupancy()
    }

    /// The highest occupancy so far, as it was met at the start of drains.
    pub fn peak(&self) -> usize {
        self.reader.shared.peak()
    }

    /// How many places were passed that had no value, as [`Ring::skipped`](crate::Ring::skipped).
    pub fn skipped(&self) -> u64 {
        self.reader.shared.skipped()
    }

    /// The measured time a value, in ns, as [`Ring::drain_ns`](crate::Ring::drain_ns).
    pub fn drain_ns(&self) -> Option<f64> {
        self.reader.shared.drain.drain_ns()
    }

    /// How old a value can get, as [`Ring::age_bound`](crate::Ring::age_bound).
    pub fn age_bound(&self) -> Option<Duration> {
        self.reader.shared.drain.bound(self.capacity())
    }
}

/// Hands slots back, also when the caller's function panics.
struct Batch<'a, T>(&'a mut Reader<T>);

impl<T> Drop for Batch<'_, T> {
    fn drop(&mut self) {
        let mut panics = Panics::default();
        panics.run(|| self.0.release());
        panics.resume();
    }
}

impl<T> Drop for RingConsumer<T> {
    fn drop(&mut self) {
        let mut panics = Panics::default();
        let reader = &mut self.reader;
        panics.run(|| reader.shared.consumer.clear());
        panics.run(|| reader.shared.close());
        reader.drain(|value| {
            panics.run(|| drop(value));
        });
        panics.run(|| reader.release());
        panics.resume();
    }
}

impl<T> std::fmt::Debug for RingConsumer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RingConsumer")
            .field("capacity", &self.capacity())
            .field("occupancy", &self.occupancy())
            .field("is_finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}
