//! Fills wait for room, for so long; who times out again and again is not waited for any more.

use std::sync::Arc;
use std::time::Duration;

use corelane_primitives::{PushError, Ring, Timers};

/// How long a fill waits for room.
pub const FILL_TIMEOUT: Duration = Duration::from_secs(1);

/// So many timeouts in a row trip the breaker.
pub const TIMEOUTS_MAX: u32 = 3;

/// So long a tripped breaker lets nothing wait; then one fill tries.
pub const RESET_AFTER: Duration = Duration::from_secs(1);

/// Limits of a [`Breaker`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerLimits {
    /// Timeouts in a row that trip it; [`TIMEOUTS_MAX`] by default.
    pub timeouts_max: u32,
    /// How long it stays tripped; [`RESET_AFTER`] by default.
    pub reset_after: Duration,
}

impl Default for BreakerLimits {
    fn default() -> Self {
        Self {
            timeouts_max: TIMEOUTS_MAX,
            reset_after: RESET_AFTER,
        }
    }
}

/// Says whether to wait for somebody who has not kept up.
///
/// It has no clock: whoever asks says what time it is.
///
/// ```
/// use corelane_examples::words::{Breaker, BreakerLimits};
///
/// let limits = BreakerLimits::default();
/// let mut breaker = Breaker::new(limits);
/// for _ in 1..limits.timeouts_max {
///     assert!(!breaker.timed_out(0));
/// }
/// assert!(breaker.timed_out(0)); // it trips
/// assert!(!breaker.lets_wait(1));
/// assert!(breaker.lets_wait(limits.reset_after.as_nanos() as u64));
/// ```
#[derive(Clone, Debug)]
pub struct Breaker {
    limits: BreakerLimits,
    /// Timeouts since the last success.
    timeouts: u32,
    /// While it is tripped: until when nothing waits.
    until_ns: Option<u64>,
}

impl Breaker {
    /// A breaker that has not tripped.
    pub fn new(limits: BreakerLimits) -> Self {
        Self {
            limits,
            timeouts: 0,
            until_ns: None,
        }
    }

    /// Whether to wait now. Once its time is over, a tripped breaker lets one try.
    pub fn lets_wait(&self, now_ns: u64) -> bool {
        self.until_ns.is_none_or(|until_ns| now_ns >= until_ns)
    }

    /// Whether it is tripped, and nothing has got through since.
    pub fn is_tripped(&self) -> bool {
        self.until_ns.is_some()
    }

    /// What waited got through: all is well again.
    pub fn succeeded(&mut self) {
        self.timeouts = 0;
        self.until_ns = None;
    }

    /// What waited timed out; says whether that tripped the breaker. A try that times out leaves
    /// it tripped, for another such time.
    pub fn timed_out(&mut self, now_ns: u64) -> bool {
        self.timeouts = self.timeouts.saturating_add(1);
        if self.timeouts < self.limits.timeouts_max {
            return false;
        }
        let reset_ns = u64::try_from(self.limits.reset_after.as_nanos()).unwrap_or(u64::MAX);
        self.until_ns
            .replace(now_ns.saturating_add(reset_ns))
            .is_none()
    }
}

/// Why a fill was not sent. It is handed back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unsent<T> {
    /// There was no room in time.
    #[error("a fill found no room in time")]
    TimedOut(T),
    /// There was no room in time, and that has tripped the breaker.
    #[error("fills found no room in time again and again; the breaker has tripped")]
    Tripped(T),
    /// The breaker is tripped, and the ring was full.
    #[error("the breaker is tripped")]
    Broken(T),
    /// Whoever takes the fills is gone.
    #[error("nobody takes fills any more")]
    Closed(T),
}

/// The sending end of the fills: none of them is refused for want of room while there is time.
pub struct Fills<T> {
    ring: Ring<T>,
    timers: Arc<dyn Timers>,
    timeout: Duration,
    breaker: Breaker,
}

impl<T> Fills<T> {
    /// Sends into `ring`, which must have these `timers`.
    pub fn new(
        ring: Ring<T>,
        timers: Arc<dyn Timers>,
        timeout: Duration,
        limits: BreakerLimits,
    ) -> Self {
        Self {
            ring,
            timers,
            timeout,
            breaker: Breaker::new(limits),
        }
    }

    /// Sends `fill`, and waits for room at most for the timeout; while the breaker is tripped not
    /// at all.
    ///
    /// # Errors
    ///
    /// [`Unsent`] hands the fill back.
    ///
    /// # Panics
    ///
    /// When the ring has no timers.
    ///
    /// # Cancel safety
    ///
    /// A future dropped before its end drops the fill.
    pub async fn send(&mut self, fill: T) -> Result<(), Unsent<T>> {
        if !self.breaker.lets_wait(self.timers.now_ns()) {
            return match self.ring.push(fill) {
                Ok(()) => Ok(()),
                Err(PushError::Closed(fill)) => Err(Unsent::Closed(fill)),
                Err(refused) => Err(Unsent::Broken(refused.into_inner())),
            };
        }
        match self.ring.push_wait(fill, self.timeout).await {
            Ok(()) => {
                self.breaker.succeeded();
                Ok(())
            }
            Err(PushError::TimedOut(fill)) => {
                Err(if self.breaker.timed_out(self.timers.now_ns()) {
                    Unsent::Tripped(fill)
                } else {
                    Unsent::TimedOut(fill)
                })
            }
            Err(PushError::NoTimers(_)) => panic!("the ring of the fills has no timers"),
            Err(refused) => Err(Unsent::Closed(refused.into_inner())),
        }
    }

    /// Whether the breaker is tripped.
    pub fn is_tripped(&self) -> bool {
        self.breaker.is_tripped()
    }
}

impl<T> std::fmt::Debug for Fills<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fills")
            .field("timeout", &self.timeout)
            .field("breaker", &self.breaker)
            .finish_non_exhaustive()
    }
}
