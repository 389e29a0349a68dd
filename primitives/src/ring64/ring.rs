//! The producers' handle of one ring.

use super::builder::Ring64Builder;
use super::claim::Claim64;
use super::consumer::Consumer64;
use super::desk::Desk;
use super::shared::Shared;
use crate::block::block_on_for;
use crate::panics::Panics;
use crate::push_wait::PushWait;
use crate::sync::Arc;
use crate::{PushError, RingError};
use std::fmt;
use std::future::Future;
use std::time::Duration;
use thread_aware::{ThreadAware, affinity::Affinity};

/// A bounded ring of 64-bit integers: many producers, one consumer, one order.
///
/// This is a producer's handle; each clone is another one. The last one to go closes the ring.
/// All 2^64 values may be pushed. Memory is 16 bytes a slot and about a kilobyte, allocated once.
///
/// A push claims its position by a compare-exchange that succeeds only while there is room, then
/// fills the slot. A refused push changes nothing, so the consumer never waits for what does not
/// come. No caller's code runs between the two, and a push is never stepped over: a thread that
/// the system stops just there holds back what was pushed after it until it goes on.
///
/// ```
/// use corelane_primitives::{PushError, Ring64};
///
/// let (ring, mut consumer) = Ring64::new(1024);
/// std::thread::scope(|scope| {
///     for producer in 0..4_u64 {
///         let ring = ring.clone();
///         scope.spawn(move || {
///             for value in 0..100 {
///                 assert_eq!(ring.push(producer << 32 | value), Ok(()));
///             }
///         });
///     }
/// });
/// let folded = consumer.fold(1024, 0, |sum, value| sum + (value & 0xffff_ffff));
/// assert_eq!((folded.acc, folded.consumed), (4 * 4_950, 400));
/// ```
pub struct Ring64 {
    shared: Arc<Shared>,
}

impl Ring64 {
    /// Makes a ring of `capacity` slots, all allocated now.
    ///
    /// # Panics
    ///
    /// If `capacity` is not a power of two from 1 to 2^31, or if there is no memory for the slots.
    /// [`try_new`](Self::try_new) tells the same by an error.
    pub fn new(capacity: usize) -> (Self, Consumer64) {
        Self::with_start_sequence(capacity, 0)
    }

    /// The settings of a ring of `capacity` slots.
    pub fn builder(capacity: usize) -> Ring64Builder {
        Ring64Builder::new(capacity)
    }

    /// [`new`](Self::new), or why that cannot be.
    ///
    /// # Errors
    ///
    /// [`RingError::Capacity`] unless `capacity` is a power of two from 1 to 2^31,
    /// [`RingError::Memory`] if the slots cannot be allocated.
    pub fn try_new(capacity: usize) -> Result<(Self, Consumer64), RingError> {
        Self::try_with_start_sequence(capacity, 0)
    }

    /// [`new`](Self::new) with the first position at `sequence` (modulo 2^61, where positions
    /// wrap), so that tests reach the wrap.
    ///
    /// # Panics
    ///
    /// As [`new`](Self::new).
    pub fn with_start_sequence(capacity: usize, sequence: u64) -> (Self, Consumer64) {
        match Self::try_with_start_sequence(capacity, sequence) {
            Ok(ends) => ends,
            Err(error) => panic!("{error}"),
        }
    }

    /// [`with_start_sequence`](Self::with_start_sequence), or why that cannot be.
    ///
    /// # Errors
    ///
    /// Those of [`try_new`](Self::try_new).
    pub fn try_with_start_sequence(
        capacity: usize,
        sequence: u64,
    ) -> Result<(Self, Consumer64), RingError> {
        Self::builder(capacity).start_sequence(sequence).build()
    }

    pub(super) fn with_settings(
        capacity: usize,
        sequence: u64,
        desk: Arc<Desk>,
    ) -> Result<(Self, Consumer64), RingError> {
        let shared = Arc::new(Shared::new(capacity, sequence, Arc::clone(&desk))?);
        let consumer = Consumer64::new(desk, std::iter::once(Arc::clone(&shared)));
        Ok((Self { shared }, consumer))
    }

    /// Pushes `value`, or hands it back.
    ///
    /// Lock-free. Costs a compare-exchange and two stores; a fence and a load besides while the
    /// consumer sleeps now and then, and a wake if it does.
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
    pub fn push(&self, value: u64) -> Result<(), PushError<u64>> {
        self.shared.push_or_count(value)
    }

    /// Pushes as many of `values` as there is room for, from the first on, and returns how many.
    /// They stand in one run, and one compare-exchange claims them all.
    ///
    /// What finds no room is counted as refused.
    ///
    /// # Errors
    ///
    /// [`PushError::Full`] when there is room for none, and [`PushError::Closed`].
    ///
    /// # Panics
    ///
    /// As [`push`](Self::push).
    pub fn push_batch(&self, values: &[u64]) -> Result<usize, PushError> {
        self.shared.push_batch(values)
    }

    /// Pushes `value` as soon as there is room, for `timeout` at most; `Duration::MAX` waits for
    /// as long as it takes.
    ///
    /// Completes at the first poll when there is room that nobody waits for; otherwise it waits its
    /// turn, asleep. The time counts from the first poll, and ends on the clock of the ring's
    /// [`timers`](crate::Ring64Builder::timers), never early. A wait allocates its place on the
    /// list.
    ///
    /// # Errors
    ///
    /// [`PushError::Closed`] also when the ring closes meanwhile, [`PushError::TimedOut`] when the
    /// time has passed, and [`PushError::NoTimers`] when a time was given to a ring without timers.
    ///
    /// # Cancel safety
    ///
    /// The value is pushed in the poll that completes. A future dropped before leaves nothing in
    /// the ring, and passes on the room that it was granted.
    pub fn push_wait(
        &self,
        value: u64,
        timeout: Duration,
    ) -> impl Future<Output = Result<(), PushError<u64>>> {
        PushWait::new(&*self.shared, value, timeout)
    }

    /// [`push_wait`](Self::push_wait) for a plain thread: sleeps while there is no room, for
    /// `timeout` of the system's clock at most. Not for a task.
    ///
    /// # Errors
    ///
    /// [`PushError::Closed`], and [`PushError::TimedOut`] when the time has passed, never early.
    pub fn blocking_push(&self, value: u64, timeout: Duration) -> Result<(), PushError<u64>> {
        let mut push = PushWait::new(&*self.shared, value, Duration::MAX);
        block_on_for(&mut push, timeout).unwrap_or_else(|| Err(push.time_out()))
    }

    /// Reserves `slots` positions in one run, to be filled one by one: room first, then the work.
    ///
    /// The consumer waits for them, and takes nothing that comes later before. Positions that the
    /// claim does not fill until it is dropped are given up, and counted as skipped.
    ///
    /// ```
    /// let (ring, mut consumer) = corelane_primitives::Ring64::new(4);
    /// let mut claim = ring.claim(3).expect("four slots are free");
    /// claim.push(1).expect("three were claimed");
    /// assert_eq!(ring.push(2), Ok(()));
    /// drop(claim); // two positions are given up
    /// let folded = consumer.fold(4, Vec::new(), |mut all, value| {
    ///     all.push(value);
    ///     all
    /// });
    /// assert_eq!((folded.acc, folded.skipped), (vec![1, 2], 2));
    /// ```
    ///
    /// # Errors
    ///
    /// [`PushError::Full`] unless all of them are free, and [`PushError::Closed`].
    ///
    /// # Panics
    ///
    /// If `slots` is zero or more than the capacity.
    pub fn claim(&self, slots: usize) -> Result<Claim64<'_>, PushError> {
        Claim64::new(&self.shared, slots)
    }

    /// Refuses all later pushes. What is inside can still be taken.
    pub fn close(&self) {
        let mut panics = Panics::default();
        panics.run(|| self.shared.close());
        panics.run(|| self.shared.desk().wake());
        panics.resume();
    }

    /// Whether the ring was closed, or its consumer is gone.
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// Whether this ring is that of a [`RingChannel`](crate::RingChannel) that has failed.
    pub fn is_failed(&self) -> bool {
        self.shared.is_failed()
    }

    /// How many slots the ring has.
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
    }

    /// How many values were refused so far.
    pub fn refused(&self) -> u64 {
        self.shared.refused()
    }

    /// How many positions were claimed and given up, of those that the consumer has passed.
    pub fn skipped(&self) -> u64 {
        self.shared.skipped()
    }

    /// How many positions were claimed so far. With nothing moving, this is what was popped and
    /// skipped, and what is inside.
    pub fn pushed(&self) -> u64 {
        self.shared.pushed()
    }

    /// How many values the consumer has taken and handed the slots back of.
    pub fn popped(&self) -> u64 {
        self.shared.popped()
    }

    /// How many slots are taken now, never more than the capacity.
    pub fn occupancy(&self) -> usize {
        self.shared.occupancy()
    }

    /// The highest occupancy so far, as the consumer met it at the start of its drains.
    pub fn peak(&self) -> usize {
        self.shared.peak()
    }

    /// How many reserved positions were stepped over since nobody filled them in time. The others
    /// of those that are [`skipped`](Self::skipped) were given up.
    pub fn stepped_over(&self) -> u64 {
        self.shared.stepped_over()
    }

    /// How many nanoseconds a value takes on the average while there are values: a moving mean, on
    /// the ring's clock. `None` until it was measured, as [`Ring::drain_ns`](crate::Ring::drain_ns)
    /// tells.
    pub fn drain_ns(&self) -> Option<f64> {
        self.shared.desk().drain.drain_ns()
    }

    /// How old the oldest value can get before it is taken, at the measured pace:
    /// [`capacity`](Self::capacity) times [`drain_ns`](Self::drain_ns).
    pub fn age_bound(&self) -> Option<Duration> {
        self.shared.desk().drain.bound(self.capacity())
    }
}

impl Clone for Ring64 {
    fn clone(&self) -> Self {
        self.shared.desk().add_producer();
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl Drop for Ring64 {
    fn drop(&mut self) {
        if self.shared.desk().remove_producer() {
            self.close();
        }
    }
}

/// A ring is one place for all cores.
impl ThreadAware for Ring64 {
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {}
}

impl fmt::Debug for Ring64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring64")
            .field("capacity", &self.capacity())
            .field("occupancy", &self.occupancy())
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
