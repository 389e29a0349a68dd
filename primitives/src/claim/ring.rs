//! The producers' handle.

use super::builder::RingBuilder;
use super::consumer::RingConsumer;
use super::held::Claim;
use super::shared::{Claims, Shared};
use crate::sync::Arc;
use crate::timers::Clock;
use crate::{PushError, RingError};
use std::fmt;
use std::time::Duration;
use thread_aware::{ThreadAware, affinity::Affinity};

/// A bounded ring of values: many producers, one consumer, one order.
///
/// This is a producer's handle; each clone is another one, and the ring closes when the last is
/// dropped. Values of 64 bits go faster through a ring that holds nothing else; two parties alone
/// take a [`lane`](crate::lane()).
///
/// A push claims its place by a compare-exchange that succeeds only where a slot is free, so a
/// refused push leaves no trace, and the consumer never waits for a value that does not come. Where
/// a thread is stopped in the middle of a push, or holds a [`Claim`], what was pushed behind it
/// waits, as [`is_held_up`](crate::RingConsumer::is_held_up) tells: a claim is stepped over after
/// [`skip_after`](RingBuilder::skip_after), by the consumer or by a producer that finds the ring
/// full; only a thread stopped while it moves its value into the slot is waited for.
///
/// Memory is a slot a value, 8 bytes more each, and about a kilobyte, allocated once.
///
/// ```
/// use corelane_primitives::{PushError, Ring};
///
/// let (ring, mut consumer) = Ring::new(1024);
/// std::thread::scope(|scope| {
///     for name in ["a", "b"] {
///         let ring = ring.clone();
///         scope.spawn(move || {
///             for number in 0..100 {
///                 assert_eq!(ring.push(format!("{name}{number}")), Ok(()));
///             }
///         });
///     }
/// });
/// let folded = consumer.fold(1024, 0, |count, value| count + value.len());
/// assert_eq!((folded.acc, folded.consumed), (2 * (10 * 2 + 90 * 3), 200));
/// ```
pub struct Ring<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Ring<T> {
    /// Makes a ring of `capacity` slots, all allocated now, and its one consumer.
    ///
    /// # Panics
    ///
    /// If `capacity` is not a power of two from 1 to 2^31, or if there is no memory for the slots.
    /// [`try_new`](Self::try_new) tells the same by an error.
    pub fn new(capacity: usize) -> (Self, RingConsumer<T>) {
        match Self::try_new(capacity) {
            Ok(ends) => ends,
            Err(error) => panic!("{error}"),
        }
    }

    /// [`new`](Self::new), or why that cannot be.
    ///
    /// # Errors
    ///
    /// Those of [`RingBuilder::build`].
    pub fn try_new(capacity: usize) -> Result<(Self, RingConsumer<T>), RingError> {
        Self::builder(capacity).build()
    }

    /// A ring of `capacity` slots, with other settings than most.
    pub fn builder(capacity: usize) -> RingBuilder<T> {
        RingBuilder::new(capacity)
    }

    pub(super) fn with_settings(
        capacity: usize,
        sequence: u64,
        clock: Clock,
        claims: Claims,
    ) -> Result<(Self, RingConsumer<T>), RingError> {
        let shared = Arc::new(Shared::new(capacity, sequence, clock, claims)?);
        let consumer = RingConsumer::new(Arc::clone(&shared));
        Ok((Self { shared }, consumer))
    }

    pub(super) fn shared(&self) -> &Shared<T> {
        &self.shared
    }

    /// Pushes `value`, and wakes the consumer if it sleeps; or hands the value back.
    ///
    /// Lock-free: a try is repeated only when another producer has claimed meanwhile, or when this
    /// thread stood still in the middle for longer than `skip_after`. Costs two compare-exchanges,
    /// two stores, and a fence. Overtakes those who wait in [`push_wait`](Self::push_wait).
    ///
    /// # Errors
    ///
    /// [`PushError::Full`] when the consumer is a whole ring behind, which is counted, and
    /// [`PushError::Closed`].
    ///
    /// # Panics
    ///
    /// If the consumer's waker does. The value is pushed all the same.
    #[inline]
    pub fn push(&self, value: T) -> Result<(), PushError<T>> {
        let pushed = self.shared.push(value);
        if matches!(pushed, Err(PushError::Full(_))) {
            self.shared.count_refused();
        }
        pushed
    }

    /// Reserves the next place, to be filled later: room first, then the work.
    ///
    /// # Errors
    ///
    /// [`PushError::Full`] when the consumer is a whole ring behind, which is counted, and
    /// [`PushError::Closed`].
    pub fn claim(&self) -> Result<Claim<'_, T>, PushError> {
        match self.shared.claim() {
            Ok(place) => Ok(Claim::new(&self.shared, place)),
            Err(refusal) => {
                if refusal.is_full() {
                    self.shared.count_refused();
                }
                Err(refusal)
            }
        }
    }

    /// Refuses all later pushes. What is inside, and what was claimed before, can still be taken.
    ///
    /// # Panics
    ///
    /// If the waker of somebody does who waits at the ring. The ring is closed all the same.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Whether the ring was closed, or its consumer is gone.
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// How many slots the ring has.
    pub fn capacity(&self) -> usize {
        self.shared.slots.capacity()
    }

    /// How many slots are taken now, never more than the capacity.
    pub fn occupancy(&self) -> usize {
        self.shared.occupancy()
    }

    /// The highest occupancy so far, as the consumer met it at the start of its drains.
    pub fn peak(&self) -> usize {
        self.shared.peak()
    }

    /// How many places were claimed so far. With nothing moving, this is what was popped and
    /// skipped, and what is inside.
    pub fn pushed(&self) -> u64 {
        self.shared.pushed()
    }

    /// How many values the consumer has taken and handed the slots back of.
    pub fn popped(&self) -> u64 {
        self.shared.popped()
    }

    /// How many pushes and claims were refused by a full ring.
    pub fn refused(&self) -> u64 {
        self.shared.refused()
    }

    /// How many places the consumer has passed that had no value: claims that were dropped, and
    /// ones that were stepped over.
    pub fn skipped(&self) -> u64 {
        self.shared.skipped()
    }

    /// How many claims were dropped without a value.
    pub fn tombstones(&self) -> u64 {
        self.shared.tombstones()
    }

    /// How many claims were stepped over, since nobody published or dropped them in time.
    pub fn stepped_over(&self) -> u64 {
        self.shared.stepped_over()
    }

    /// How many pushes have claimed again, since their thread stood still for longer than
    /// `skip_after` in the middle.
    pub fn reclaimed(&self) -> u64 {
        self.shared.reclaimed()
    }

    /// The moving mean of the time that the consumer takes for one value, in ns. `None` until it
    /// was busy long enough to be measured: two times 64 values, or two rings full if that is less,
    /// without finding the ring empty.
    pub fn drain_ns(&self) -> Option<f64> {
        self.shared.drain.drain_ns()
    }

    /// How old the oldest value in the ring can get at the measured pace: capacity times
    /// [`drain_ns`](Self::drain_ns).
    pub fn age_bound(&self) -> Option<Duration> {
        self.shared.drain.bound(self.capacity())
    }
}

impl<T> Clone for Ring<T> {
    fn clone(&self) -> Self {
        self.shared.add_producer();
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        self.shared.remove_producer();
    }
}

/// A ring is one place for all cores.
impl<T: Send> ThreadAware for Ring<T> {
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {}
}

impl<T> fmt::Debug for Ring<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring")
            .field("capacity", &self.capacity())
            .field("occupancy", &self.occupancy())
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
