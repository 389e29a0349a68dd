//! The one clock of the runtime.
//!
//! Owner: a shard holds one [`Clock`]; threads outside the shards read the real one.
//! `std::time::Instant::now` stands in this file alone, so that a simulation replaces all time by
//! replacing one value.

use std::cell::Cell;
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;

use thread_aware::ThreadAware;
use thread_aware::affinity::Affinity;

use crate::shard::Context;

/// A point in time on a monotonic clock, in nanoseconds since the clock's origin.
///
/// The origin of the real clock is its first reading in this process; a simulation's virtual clock
/// starts at zero. 584 years fit. Readings of a simulation and of the real clock have nothing to do
/// with each other.
///
/// ```
/// use std::time::Duration;
/// use corelane::time::Instant;
///
/// let start = Instant::now();
/// let deadline = start + Duration::from_millis(5);
/// assert_eq!(deadline.duration_since(start), Duration::from_millis(5));
/// assert_eq!(start.duration_since(deadline), Duration::ZERO);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// Reads the current shard's clock, or the real one outside the shards.
    ///
    /// Costs one reading of the monotonic clock, 20 to 50 ns; in a simulation a load.
    #[must_use]
    pub fn now() -> Self {
        Context::try_with(|context| context.clock().now()).unwrap_or_else(real)
    }

    /// The time since `earlier`, or zero when `earlier` is the later one.
    #[must_use]
    pub fn duration_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The time since `earlier`, or `None` when `earlier` is the later one.
    #[must_use]
    pub fn checked_duration_since(self, earlier: Self) -> Option<Duration> {
        self.0.checked_sub(earlier.0).map(Duration::from_nanos)
    }

    /// The time that has passed since `self` on the clock that [`Instant::now`] reads.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        Self::now().duration_since(self)
    }

    /// `self + duration`, or `None` when that lies beyond the last instant.
    #[must_use]
    pub fn checked_add(self, duration: Duration) -> Option<Self> {
        let ns = u64::try_from(duration.as_nanos()).ok()?;
        self.0.checked_add(ns).map(Self)
    }

    /// `self - duration`, or `None` when that lies before the clock's origin.
    #[must_use]
    pub fn checked_sub(self, duration: Duration) -> Option<Self> {
        let ns = u64::try_from(duration.as_nanos()).ok()?;
        self.0.checked_sub(ns).map(Self)
    }

    /// `self + duration`, or the last instant, which never comes.
    #[must_use]
    pub fn saturating_add(self, duration: Duration) -> Self {
        self.checked_add(duration).unwrap_or(Self(u64::MAX))
    }

    /// `self - duration`, or the clock's origin.
    #[must_use]
    pub fn saturating_sub(self, duration: Duration) -> Self {
        self.checked_sub(duration).unwrap_or(Self(0))
    }

    /// Nanoseconds since the clock's origin.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The instant that lies `ns` nanoseconds after the clock's origin.
    #[must_use]
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    /// # Panics
    ///
    /// When the sum lies beyond the last instant; see [`Instant::saturating_add`].
    fn add(self, duration: Duration) -> Self {
        self.checked_add(duration)
            .expect("an instant plus a duration lies beyond 584 years")
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    /// # Panics
    ///
    /// When the difference lies before the clock's origin; see [`Instant::saturating_sub`].
    fn sub(self, duration: Duration) -> Self {
        self.checked_sub(duration)
            .expect("an instant minus a duration lies before the origin")
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    /// As [`Instant::duration_since`]: zero when `earlier` is the later one.
    fn sub(self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Instant({:?})", Duration::from_nanos(self.0))
    }
}

impl ThreadAware for Instant {
    /// Changes nothing: all shards of a runtime read one clock.
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {}
}

/// Where a shard's time comes from: an enum, so that a reading costs one branch.
#[derive(Debug, Clone)]
pub(crate) enum Clock {
    /// The monotonic clock of the system.
    Real,
    /// Nanoseconds that the simulation's loop moves on.
    Virtual(Rc<Cell<u64>>),
}

impl Clock {
    /// Reads the clock.
    pub(crate) fn now(&self) -> Instant {
        match self {
            Self::Real => real(),
            Self::Virtual(ns) => Instant(ns.get()),
        }
    }
}

fn real() -> Instant {
    static ORIGIN: OnceLock<std::time::Instant> = OnceLock::new();
    let now = std::time::Instant::now();
    // Two threads may race for the first reading; the loser's `now` may then lie before the origin:
    // zero.
    let since = now.saturating_duration_since(*ORIGIN.get_or_init(|| now));
    // 584 years of uptime do not happen, so the product and the sum fit.
    Instant(since.as_secs() * 1_000_000_000 + u64::from(since.subsec_nanos()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_clock_moves_only_by_hand() {
        let ns = Rc::new(Cell::new(7));
        let clock = Clock::Virtual(Rc::clone(&ns));
        assert_eq!(clock.now().as_nanos(), 7);
        assert_eq!(clock.now().as_nanos(), 7);
        ns.set(9);
        assert_eq!(clock.now() - Instant(7), Duration::from_nanos(2));
    }

    #[test]
    fn real_clock_never_goes_back() {
        let mut last = Clock::Real.now();
        for _ in 0..10_000 {
            let now = Clock::Real.now();
            assert!(now >= last);
            last = now;
        }
    }

    #[test]
    fn arithmetic_saturates_where_it_says_so() {
        let instant = Instant(10);
        assert_eq!(instant.saturating_add(Duration::MAX), Instant(u64::MAX));
        assert_eq!(instant.saturating_sub(Duration::MAX), Instant(0));
        assert_eq!(instant.checked_add(Duration::from_nanos(u64::MAX)), None);
        assert_eq!(instant.checked_sub(Duration::from_nanos(11)), None);
        assert_eq!(instant.checked_duration_since(Instant(11)), None);
        assert_eq!(instant - Instant(11), Duration::ZERO);
        assert_eq!(
            instant + Duration::from_nanos(5) - Duration::from_nanos(5),
            instant
        );
    }

    #[test]
    #[should_panic(expected = "before the origin")]
    fn instant_before_the_origin_panics() {
        let _ = Instant(10) - Duration::from_nanos(11);
    }
}
