//! How long a ring's consumer takes for a value, while it has values to take.

use crate::sync::{AtomicU64, Ordering};
use crate::timers::Clock;
use std::time::Duration;

/// Values between two readings of the clock, or the ring's capacity if that is less.
const WINDOW_MAX: usize = 64;
/// The share of a new window in the moving mean, as a power of two.
const SHARE_LOG2: u32 = 3;

/// The measured time, as everybody reads it. Written by the consumer.
pub(crate) struct DrainTime {
    /// In 1/256 ns, so that means of less than a nanosecond a value are kept; zero: not measured.
    mean: AtomicU64,
}

impl DrainTime {
    pub(crate) fn new() -> Self {
        Self {
            mean: AtomicU64::new(0),
        }
    }

    /// The moving mean of the time that the consumer takes for one value. `None` until it was busy
    /// long enough to be measured.
    pub(crate) fn drain_ns(&self) -> Option<f64> {
        match self.mean.load(Ordering::Relaxed) {
            0 => None,
            mean => Some(mean as f64 / 256.0),
        }
    }

    /// What the oldest of `capacity` values waits for at most, at this pace.
    pub(crate) fn bound(&self, capacity: usize) -> Option<Duration> {
        let drain_ns = self.drain_ns()?;
        Some(Duration::from_nanos((drain_ns * capacity as f64) as u64))
    }

    fn note(&self, elapsed_ns: u64, values: u64) {
        let new = u64::try_from(u128::from(elapsed_ns) * 256 / u128::from(values));
        let new = new.unwrap_or(u64::MAX).max(1);
        let mean = match self.mean.load(Ordering::Relaxed) {
            0 => new,
            mean => mean - (mean >> SHARE_LOG2) + (new >> SHARE_LOG2),
        };
        self.mean.store(mean.max(1), Ordering::Relaxed);
    }
}

/// The consumer's side: counts what it takes, and reads the clock once a window.
///
/// A time between two windows counts only when the ring was never found empty in between, so it is
/// the consumer's pace and not the producers'.
pub(crate) struct DrainMeter {
    window: usize,
    taken: usize,
    started_ns: Option<u64>,
}

impl DrainMeter {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            window: capacity.min(WINDOW_MAX),
            taken: 0,
            started_ns: None,
        }
    }

    /// The consumer has taken `values` more. One addition, and a clock reading a window.
    #[inline]
    pub(crate) fn took(&mut self, values: usize, clock: &Clock, time: &DrainTime) {
        self.taken += values;
        if self.taken >= self.window {
            self.close_window(clock, time);
        }
    }

    /// The ring was found empty: the time until the next value is nobody's work.
    #[inline]
    pub(crate) fn idle(&mut self) {
        self.taken = 0;
        self.started_ns = None;
    }

    #[cold]
    fn close_window(&mut self, clock: &Clock, time: &DrainTime) {
        let now_ns = clock.now_ns();
        if let Some(started_ns) = self.started_ns {
            time.note(now_ns.saturating_sub(started_ns), self.taken as u64);
        }
        self.started_ns = Some(now_ns);
        self.taken = 0;
    }
}

#[cfg(all(test, not(corelane_loom)))]
mod tests {
    use super::{DrainMeter, DrainTime};
    use crate::timers::{Clock, TimerId, Timers};
    use std::sync::{Arc, Mutex};
    use std::task::Waker;
    use std::time::Duration;

    /// Each reading is a microsecond after the last.
    #[derive(Default)]
    struct Ticking(Mutex<u64>);

    impl Timers for Ticking {
        fn now_ns(&self) -> u64 {
            let mut now = self.0.lock().expect("no reading panics");
            *now += 1_000;
            *now
        }

        fn wake_at(&self, _at_ns: u64, _waker: &Waker) -> TimerId {
            TimerId(0)
        }

        fn forget(&self, _timer: TimerId) {}
    }

    #[test]
    fn pace_is_measured_only_while_the_ring_is_busy() {
        let clock = Clock::new(Some(Arc::new(Ticking::default())));
        let (mut meter, time) = (DrainMeter::new(4), DrainTime::new());
        for _ in 0..7 {
            meter.took(1, &clock, &time);
        }
        assert_eq!(time.drain_ns(), None, "only one window has ended");
        meter.idle();
        for _ in 0..4 {
            meter.took(1, &clock, &time);
        }
        assert_eq!(time.bound(4), None, "the ring was empty in between");
        meter.took(8, &clock, &time);
        assert_eq!(time.drain_ns(), Some(125.0));
        assert_eq!(time.bound(4), Some(Duration::from_nanos(500)));
    }

    #[test]
    fn mean_follows_the_pace() {
        let clock = Clock::new(Some(Arc::new(Ticking::default())));
        let (mut meter, time) = (DrainMeter::new(64), DrainTime::new());
        meter.took(64, &clock, &time);
        meter.took(100, &clock, &time);
        assert_eq!(time.drain_ns(), Some(10.0));
        for _ in 0..100 {
            meter.took(1_000, &clock, &time);
        }
        let mean = time.drain_ns().expect("it was measured above");
        assert!((0.9..1.1).contains(&mean), "{mean}");
    }
}
