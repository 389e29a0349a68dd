//! The settings of rings of 64-bit integers.

use super::desk::Desk;
use super::{Consumer64, Ring64, Shards64};
use crate::RingError;
use crate::sync::Arc;
use crate::timers::{Clock, Timers, nanos};
use std::time::Duration;

const SKIP_AFTER: Duration = Duration::from_millis(50);

/// The settings of a [`Ring64`] or a [`Shards64`]; made by [`Ring64::builder`].
///
/// ```
/// use corelane_primitives::Ring64;
/// use std::time::Duration;
///
/// let (ring, _consumer) = Ring64::builder(1024)
///     .skip_after(Duration::from_millis(5))
///     .build()
///     .expect("a power of two");
/// assert_eq!(ring.capacity(), 1024);
/// ```
#[must_use = "a builder makes nothing before `build`"]
pub struct Ring64Builder {
    capacity: usize,
    sequence: u64,
    skip_after: Duration,
    timers: Option<std::sync::Arc<dyn Timers>>,
}

impl Ring64Builder {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            sequence: 0,
            skip_after: SKIP_AFTER,
            timers: None,
        }
    }

    /// How many slots each ring has, a power of two.
    pub(super) fn capacity(mut self, slots: usize) -> Self {
        self.capacity = slots;
        self
    }

    /// How long a reserved place holds others up before they go on without it, from when the first
    /// of them has met it: 50 ms by default. `Duration::MAX` waits for ever.
    pub fn skip_after(mut self, skip_after: Duration) -> Self {
        self.skip_after = skip_after;
        self
    }

    /// The host's clock and timers: for pushes of tasks that end by time, and for a sleeping
    /// consumer that is to step over a reserved place. None by default; then the system's clock
    /// measures, and blocking forms alone wait by time.
    pub fn timers(mut self, timers: std::sync::Arc<dyn Timers>) -> Self {
        self.timers = Some(timers);
        self
    }

    /// The first position, modulo 2^61: zero by default. Tests reach the wrap by it.
    pub fn start_sequence(mut self, sequence: u64) -> Self {
        self.sequence = sequence;
        self
    }

    /// Makes the ring, with all its slots.
    ///
    /// # Errors
    ///
    /// [`RingError::Capacity`] unless the capacity is a power of two from 1 to 2^31,
    /// [`RingError::Memory`] if the slots cannot be allocated.
    pub fn build(self) -> Result<(Ring64, Consumer64), RingError> {
        Ring64::with_settings(self.capacity, self.sequence, self.desk())
    }

    /// Makes `shards` rings of this capacity each, in front of one consumer.
    ///
    /// # Errors
    ///
    /// [`RingError::Shards`] unless `shards` is from 1 to 2^16, and those of
    /// [`build`](Self::build).
    pub fn build_shards(self, shards: usize) -> Result<(Shards64, Consumer64), RingError> {
        Shards64::with_settings(shards, self.capacity, self.sequence, self.desk())
    }

    fn desk(&self) -> Arc<Desk> {
        let clock = Clock::new(self.timers.clone());
        Arc::new(Desk::new(clock, nanos(self.skip_after)))
    }
}

impl std::fmt::Debug for Ring64Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring64Builder")
            .field("capacity", &self.capacity)
            .field("skip_after", &self.skip_after)
            .field("has_timers", &self.timers.is_some())
            .finish_non_exhaustive()
    }
}
