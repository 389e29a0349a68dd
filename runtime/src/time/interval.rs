//! Ticks at a fixed distance.

use std::future::Future;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::{Instant, Sleep, sleep_until};
use crate::shard;

/// Ticks every `period`, the first time at once.
///
/// See [`Interval`] for what happens to ticks that nobody was there to take.
///
/// # Panics
///
/// With a period of zero, and outside a shard.
///
/// ```
/// # use std::time::Duration;
/// # async fn example() {
/// let mut interval = corelane::time::interval(Duration::from_millis(1));
/// let first = interval.tick().await;
/// let second = interval.tick().await;
/// assert!(second - first >= Duration::from_millis(1));
/// # }
/// ```
#[must_use]
pub fn interval(period: Duration) -> Interval {
    interval_at(
        shard::Context::with(|context| context.clock().now()),
        period,
    )
}

/// Ticks every `period`, the first time at `start`.
///
/// # Panics
///
/// With a period of zero.
#[must_use]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert!(!period.is_zero(), "an interval's period is zero");
    Interval {
        sleep: sleep_until(start),
        period,
    }
}

/// The ticks `start`, `start + period`, `start + 2 × period` and so on.
///
/// Ticks that are missed are skipped, never made up for in a burst: a tick that is taken late is
/// followed by the next one that is still to come, on the same grid.
#[derive(Debug)]
pub struct Interval {
    /// Ends at the next tick.
    sleep: Sleep,
    period: Duration,
}

impl Interval {
    /// Waits for the next tick and returns when it was due.
    ///
    /// # Cancel safety
    ///
    /// A dropped call takes no tick.
    pub async fn tick(&mut self) -> Instant {
        poll_fn(|cx| self.poll_tick(cx)).await
    }

    /// As [`Interval::tick`], by hand.
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        let due = self.sleep.deadline();
        Pin::new(&mut self.sleep).poll(cx).map(|()| {
            let now = shard::Context::with(|context| context.clock().now());
            self.sleep.reset(after(due, self.period, now));
            due
        })
    }

    /// The distance of two ticks.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Lets the next tick come one period from now, and the later ones follow it.
    ///
    /// # Panics
    ///
    /// Outside a shard.
    pub fn reset(&mut self) {
        let now = shard::Context::with(|context| context.clock().now());
        self.sleep.reset(now.saturating_add(self.period));
    }
}

/// The first tick of the grid through `due` that is after `due` and not before `now`.
fn after(due: Instant, period: Duration, now: Instant) -> Instant {
    let next = due.saturating_add(period);
    // Zero only for a period of more than 584 years, and then `next` is the last instant already.
    let Some(period_ns) = u64::try_from(period.as_nanos()).ok().filter(|_| next < now) else {
        return next;
    };
    let missed = now
        .duration_since(next)
        .as_nanos()
        .div_ceil(u128::from(period_ns));
    let skipped = u64::try_from(missed * u128::from(period_ns)).unwrap_or(u64::MAX);
    next.saturating_add(Duration::from_nanos(skipped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(due: u64, period: u64, now: u64) -> u64 {
        let instant = Instant::from_nanos;
        after(instant(due), Duration::from_nanos(period), instant(now)).as_nanos()
    }

    #[test]
    fn missed_ticks_are_skipped_on_the_grid() {
        assert_eq!(next(100, 10, 100), 110);
        assert_eq!(next(100, 10, 109), 110);
        assert_eq!(next(100, 10, 110), 110);
        assert_eq!(next(100, 10, 111), 120);
        assert_eq!(next(100, 10, 1_005), 1_010);
        assert_eq!(next(100, u64::MAX, 1_005), u64::MAX);
        assert_eq!(next(100, 1, u64::MAX), u64::MAX);
    }
}
