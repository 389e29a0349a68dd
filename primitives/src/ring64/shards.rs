//! Several rings in front of one consumer.

use super::builder::Ring64Builder;
use super::consumer::Consumer64;
use super::desk::Desk;
use super::shared::Shared;
use crate::block::block_on_for;
use crate::panics::Panics;
use crate::push_wait::PushWait;
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::{PushError, RingError};
use std::fmt;
use std::future::Future;
use std::time::Duration;
use thread_aware::{ThreadAware, affinity::Affinity};

/// Shards at most.
const SHARDS_MAX: usize = 1 << 16;

/// A handle that has not pushed yet.
const NO_SHARD: u64 = u64::MAX;

/// Rings side by side, so that producers meet seldom: many producers, one consumer, an order each.
///
/// This is a producer's handle; each clone is another one. At its first push a handle takes the
/// shard that the fewest producers use, and it sticks to that one: its own values keep their order.
/// Values of two producers have none, and the capacity is each shard's: one may refuse while
/// another is empty. A shard that no producer took is never walked. Otherwise all is as in
/// [`Ring64`](crate::Ring64), and so are the calls.
///
/// ```
/// let (first, mut consumer) = corelane_primitives::Shards64::new(4, 4096);
/// let second = first.clone();
/// assert_eq!(first.push(1), Ok(()));
/// assert_eq!(second.push(2), Ok(()));
/// assert_eq!(first.push_batch(&[3, 4]), Ok(2));
/// assert_eq!(first.occupancy(), 4);
/// let sum = consumer.fold(100, 0, |sum, value| sum + value);
/// assert_eq!((sum.acc, sum.consumed), (10, 4));
/// ```
pub struct Shards64 {
    shards: Arc<Vec<Arc<Shared>>>,
    desk: Arc<Desk>,
    /// This handle's shard. Threads that share a handle share its shard.
    own: AtomicU64,
}

impl Shards64 {
    /// Makes `shards` rings of `capacity_each` slots.
    ///
    /// # Panics
    ///
    /// If `capacity_each` is not a power of two from 1 to 2^31, if `shards` is not from 1 to 2^16,
    /// or if there is no memory. [`try_new`](Self::try_new) tells the same by an error.
    pub fn new(shards: usize, capacity_each: usize) -> (Self, Consumer64) {
        match Self::try_new(shards, capacity_each) {
            Ok(ends) => ends,
            Err(error) => panic!("{error}"),
        }
    }

    /// [`new`](Self::new), or why that cannot be.
    ///
    /// # Errors
    ///
    /// [`RingError::Shards`], [`RingError::Capacity`] or [`RingError::Memory`].
    pub fn try_new(shards: usize, capacity_each: usize) -> Result<(Self, Consumer64), RingError> {
        Self::try_with_start_sequence(shards, capacity_each, 0)
    }

    /// [`try_new`](Self::try_new) with the first position of each shard at `sequence` (modulo
    /// 2^61), so that tests reach the wrap.
    ///
    /// # Errors
    ///
    /// Those of [`try_new`](Self::try_new).
    pub fn try_with_start_sequence(
        shards: usize,
        capacity_each: usize,
        sequence: u64,
    ) -> Result<(Self, Consumer64), RingError> {
        Ring64Builder::new(capacity_each)
            .start_sequence(sequence)
            .build_shards(shards)
    }

    pub(super) fn with_settings(
        shards: usize,
        capacity_each: usize,
        sequence: u64,
        desk: Arc<Desk>,
    ) -> Result<(Self, Consumer64), RingError> {
        if !(1..=SHARDS_MAX).contains(&shards) {
            return Err(RingError::Shards(shards));
        }
        let shards = (0..shards)
            .map(|_| Shared::new(capacity_each, sequence, Arc::clone(&desk)).map(Arc::new))
            .collect::<Result<Vec<_>, _>>()?;
        let consumer = Consumer64::new(Arc::clone(&desk), shards.iter().map(Arc::clone));
        let handle = Self {
            shards: Arc::new(shards),
            desk,
            own: AtomicU64::new(NO_SHARD),
        };
        Ok((handle, consumer))
    }

    /// As [`Ring64::push`](crate::Ring64::push), into this producer's shard.
    ///
    /// # Errors
    ///
    /// [`PushError::Full`] when that shard is full, and [`PushError::Closed`].
    ///
    /// # Panics
    ///
    /// If the consumer's waker does. The value is pushed all the same.
    #[inline]
    pub fn push(&self, value: u64) -> Result<(), PushError<u64>> {
        self.shard().push_or_count(value)
    }

    /// As [`Ring64::push_batch`](crate::Ring64::push_batch), into this producer's shard.
    ///
    /// # Errors
    ///
    /// [`PushError::Full`] when there is room for none, and [`PushError::Closed`].
    ///
    /// # Panics
    ///
    /// As [`push`](Self::push).
    pub fn push_batch(&self, values: &[u64]) -> Result<usize, PushError> {
        self.shard().push_batch(values)
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
        PushWait::new(self.shard(), value, timeout)
    }

    /// [`push_wait`](Self::push_wait) for a plain thread: sleeps while there is no room, for
    /// `timeout` of the system's clock at most. Not for a task.
    ///
    /// # Errors
    ///
    /// [`PushError::Closed`], and [`PushError::TimedOut`] when the time has passed, never early.
    pub fn blocking_push(&self, value: u64, timeout: Duration) -> Result<(), PushError<u64>> {
        let mut push = PushWait::new(self.shard(), value, Duration::MAX);
        block_on_for(&mut push, timeout).unwrap_or_else(|| Err(push.time_out()))
    }

    /// Refuses all later pushes. What is inside can still be taken.
    pub fn close(&self) {
        let mut panics = Panics::default();
        for shard in self.shards.iter() {
            panics.run(|| shard.close());
        }
        panics.run(|| self.desk.wake());
        panics.resume();
    }

    /// Whether the rings were closed, or their consumer is gone.
    pub fn is_closed(&self) -> bool {
        self.shards.iter().all(|shard| shard.is_closed())
    }

    /// How many shards there are.
    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    /// How many slots all shards have together.
    pub fn capacity(&self) -> usize {
        self.shards.iter().map(|shard| shard.capacity()).sum()
    }

    /// How many values were refused so far.
    pub fn refused(&self) -> u64 {
        self.shards.iter().map(|shard| shard.refused()).sum()
    }

    /// How many positions were claimed and given up, of those that the consumer has passed.
    pub fn skipped(&self) -> u64 {
        self.shards.iter().map(|shard| shard.skipped()).sum()
    }

    /// How many positions were claimed so far.
    pub fn pushed(&self) -> u64 {
        self.shards.iter().map(|shard| shard.pushed()).sum()
    }

    /// How many values the consumer has taken and handed the slots back of.
    pub fn popped(&self) -> u64 {
        self.shards.iter().map(|shard| shard.popped()).sum()
    }

    /// How many slots are taken now, of all shards together.
    pub fn occupancy(&self) -> usize {
        self.shards.iter().map(|shard| shard.occupancy()).sum()
    }

    /// The sum of each shard's highest occupancy so far; they may have met it at different times.
    pub fn peak(&self) -> usize {
        self.shards.iter().map(|shard| shard.peak()).sum()
    }

    /// How many reserved positions were stepped over since nobody filled them in time. The others
    /// of those that are [`skipped`](Self::skipped) were given up.
    pub fn stepped_over(&self) -> u64 {
        self.shards.iter().map(|shard| shard.stepped_over()).sum()
    }

    /// How many nanoseconds a value takes on the average while there are values: a moving mean, on
    /// the ring's clock. `None` until it was measured, as [`Ring::drain_ns`](crate::Ring::drain_ns)
    /// tells.
    pub fn drain_ns(&self) -> Option<f64> {
        self.desk.drain.drain_ns()
    }

    /// How old the oldest value can get before it is taken, at the measured pace:
    /// [`capacity`](Self::capacity) times [`drain_ns`](Self::drain_ns).
    pub fn age_bound(&self) -> Option<Duration> {
        self.desk.drain.bound(self.capacity())
    }

    #[inline(always)]
    fn shard(&self) -> &Shared {
        let own = self.own.load(Ordering::Relaxed);
        if own == NO_SHARD {
            return self.take_shard();
        }
        &self.shards[own as usize]
    }

    /// Takes the shard with the fewest producers, the first of them.
    #[cold]
    fn take_shard(&self) -> &Shared {
        // Ends: each turn but the last one, another handle has taken a shard.
        loop {
            let (index, owners) = self.fewest();
            let shard = &self.shards[index];
            if !shard.own(owners) {
                continue;
            }
            self.desk.use_shard(index);
            let own = self.own.compare_exchange(
                NO_SHARD,
                index as u64,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            return match own {
                Ok(_) => shard,
                Err(other) => {
                    // Another thread with this very handle was quicker.
                    shard.disown();
                    &self.shards[other as usize]
                }
            };
        }
    }

    fn fewest(&self) -> (usize, u64) {
        let owners = self.shards.iter().map(|shard| shard.owners());
        let fewest = owners.enumerate().min_by_key(|(_, owners)| *owners);
        fewest.expect("there is at least one shard")
    }
}

impl Clone for Shards64 {
    /// Another producer, with a shard of its own choice.
    fn clone(&self) -> Self {
        self.desk.add_producer();
        Self {
            shards: Arc::clone(&self.shards),
            desk: Arc::clone(&self.desk),
            own: AtomicU64::new(NO_SHARD),
        }
    }
}

impl Drop for Shards64 {
    fn drop(&mut self) {
        let own = self.own.load(Ordering::Relaxed);
        if own != NO_SHARD {
            self.shards[own as usize].disown();
        }
        if self.desk.remove_producer() {
            self.close();
        }
    }
}

/// A ring is one place for all cores.
impl ThreadAware for Shards64 {
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {}
}

impl fmt::Debug for Shards64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shards64")
            .field("shards", &self.shards())
            .field("occupancy", &self.occupancy())
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
