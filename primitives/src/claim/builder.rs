//! The settings of a ring.

use super::shared::Claims;
use super::{Ring, RingConsumer};
use crate::RingError;
use crate::timers::{Clock, Timers, nanos};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

const SKIP_AFTER: Duration = Duration::from_millis(50);

/// Makes a [`Ring`] that is not made like most.
///
/// ```
/// use corelane_primitives::Ring;
/// use std::time::Duration;
///
/// let (ring, consumer) = Ring::<String>::builder(1024)
///     .skip_after(Duration::from_millis(5))
///     .build()?;
/// # drop((ring, consumer));
/// # Ok::<(), corelane_primitives::RingError>(())
/// ```
#[must_use = "a builder makes nothing before `build`"]
pub struct RingBuilder<T> {
    capacity: usize,
    skip_after: Duration,
    timers: Option<Arc<dyn Timers>>,
    sequence: u64,
    holds_claims: bool,
    values: PhantomData<fn() -> T>,
}

impl<T> RingBuilder<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            skip_after: SKIP_AFTER,
            timers: None,
            sequence: 0,
            holds_claims: true,
            values: PhantomData,
        }
    }

    /// How long a claim may hold the ring up before it is stepped over: 50 ms unless set.
    ///
    /// The time counts from when somebody was first held up by it: the consumer with nothing else
    /// to take, or a producer that found the ring full. Shorter than the longest pause that the
    /// system makes with a thread, it turns late values into errors of
    /// [`Claim::publish`](crate::Claim::publish). `Duration::MAX` never steps over.
    pub fn skip_after(mut self, skip_after: Duration) -> Self {
        self.skip_after = skip_after;
        self
    }

    /// The clock and timers of the host: none unless set.
    ///
    /// With them, tasks may push with a timeout, and a consumer's task that sleeps behind a claim
    /// wakes to step over it. The ring reads no other clock then, except in blocking calls.
    pub fn timers(mut self, timers: Arc<dyn Timers>) -> Self {
        self.timers = Some(timers);
        self
    }

    /// Nobody calls [`Ring::claim`], so nothing is ever stepped over, and a push need not ask for
    /// its slot (bench rows `mpsc_N`).
    pub(crate) fn without_claims(mut self) -> Self {
        self.holds_claims = false;
        self
    }

    /// The first position, modulo 2^62, where positions wrap; so that tests reach the wrap.
    #[doc(hidden)]
    pub fn start_sequence(mut self, sequence: u64) -> Self {
        self.sequence = sequence;
        self
    }

    /// Makes the ring and its one consumer.
    ///
    /// # Errors
    ///
    /// [`RingError::Capacity`] unless the capacity is a power of two from 1 to 2^31,
    /// [`RingError::Memory`] if the slots cannot be allocated.
    pub fn build(self) -> Result<(Ring<T>, RingConsumer<T>), RingError> {
        let clock = Clock::new(self.timers);
        let claims = match self.holds_claims {
            true => Claims::Held {
                skip_after_ns: nanos(self.skip_after),
            },
            false => Claims::Filled,
        };
        Ring::with_settings(self.capacity, self.sequence, clock, claims)
    }
}

impl<T> std::fmt::Debug for RingBuilder<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RingBuilder")
            .field("capacity", &self.capacity)
            .field("skip_after", &self.skip_after)
            .field("has_timers", &self.timers.is_some())
            .finish_non_exhaustive()
    }
}
