//! Time, for what has a timeout: the optional hook of a host, and the system's clock without one.
//!
//! Owner: whoever waits holds its [`Alarm`]. `std::time::Instant::now` stands in this file alone,
//! so that a host that gives [`Timers`] replaces all time that a primitive sees. Nothing here is
//! on an element's way: a clock is read when somebody waits, when a claim holds somebody up, and
//! for each 64th drained element.

use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// One armed timer of a [`Timers`], as that one names it: wide enough for a place, a serial number
/// and a thread's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerId(pub u128);

/// A host's clock, and the means to be woken at a point of it.
///
/// A primitive needs it for waits of tasks that end by time: a push with a timeout, and a consumer
/// that sleeps behind a claim that nobody publishes. Waits without a timeout, and blocking forms,
/// which sleep in the kernel, work without it.
///
/// One value may serve tasks on many threads at once; each call means the executor of the thread
/// that makes it.
///
/// ```
/// use corelane_primitives::{TimerId, Timers};
/// use std::sync::Mutex;
/// use std::task::Waker;
///
/// /// A clock that a test moves by hand.
/// #[derive(Default)]
/// struct ByHand(Mutex<(u64, Vec<(u64, Waker)>)>);
///
/// impl ByHand {
///     fn advance(&self, ns: u64) {
///         let mut inner = self.0.lock().expect("no call panics in here");
///         inner.0 += ns;
///         let now = inner.0;
///         let (due, rest) = inner.1.drain(..).partition(|(at, _)| *at <= now);
///         inner.1 = rest;
///         drop(inner);
///         let due: Vec<(u64, Waker)> = due;
///         due.into_iter().for_each(|(_, waker)| waker.wake());
///     }
/// }
///
/// impl Timers for ByHand {
///     fn now_ns(&self) -> u64 {
///         self.0.lock().expect("no call panics in here").0
///     }
///     fn wake_at(&self, at_ns: u64, waker: &Waker) -> TimerId {
///         let mut inner = self.0.lock().expect("no call panics in here");
///         inner.1.push((at_ns, waker.clone()));
///         TimerId(0)
///     }
///     fn forget(&self, _timer: TimerId) {} // its waker is then called for nothing
/// }
/// # let clock = ByHand::default();
/// # clock.wake_at(5, Waker::noop());
/// # clock.advance(5);
/// # assert_eq!(clock.now_ns(), 5);
/// ```
pub trait Timers: Send + Sync {
    /// Nanoseconds since this clock's origin. Never goes back.
    fn now_ns(&self) -> u64;

    /// Calls `waker` once when `now_ns` has reached `at_ns`, and not before. It may call it in this
    /// very call when that is so already.
    fn wake_at(&self, at_ns: u64, waker: &Waker) -> TimerId;

    /// Drops the waker of `timer` without calling it. A timer that has fired, or that another
    /// thread's executor holds, may be left alone: a needless wake is harmless.
    fn forget(&self, timer: TimerId);
}

/// The clock of one primitive: the host's, or else the system's.
#[derive(Clone, Default)]
pub(crate) struct Clock(Option<Arc<dyn Timers>>);

impl Clock {
    /// The host's clock, or the system's for `None`.
    pub(crate) fn new(timers: Option<Arc<dyn Timers>>) -> Self {
        Self(timers)
    }

    /// Nanoseconds since the clock's origin.
    pub(crate) fn now_ns(&self) -> u64 {
        match &self.0 {
            Some(timers) => timers.now_ns(),
            None => system_now_ns(),
        }
    }

    /// The host's timers, if it gave any.
    pub(crate) fn timers(&self) -> Option<&Arc<dyn Timers>> {
        self.0.as_ref()
    }
}

/// Nanoseconds on the system's monotonic clock since the first reading in this process. 584 years
/// fit. Blocking forms, which sleep in the kernel, read this one whatever the host's clock says.
pub(crate) fn system_now_ns() -> u64 {
    static ORIGIN: OnceLock<Instant> = OnceLock::new();
    let now = Instant::now();
    // Two threads may race for the first reading; the loser's then lies before the origin: zero.
    let since = now.saturating_duration_since(*ORIGIN.get_or_init(|| now));
    nanos(since)
}

/// `duration` in nanoseconds, or the largest number, which stands for no end at all.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The end of one wait by time. Dropping it takes its timer back.
pub(crate) struct Alarm {
    timers: Arc<dyn Timers>,
    at_ns: u64,
    armed: Option<(TimerId, Waker)>,
}

impl Alarm {
    /// Goes off `after` from now. No timer is armed before the first poll.
    pub(crate) fn new(timers: &Arc<dyn Timers>, after: Duration) -> Self {
        Self::at(timers, timers.now_ns().saturating_add(nanos(after)))
    }

    /// Goes off at `at_ns` of that clock.
    pub(crate) fn at(timers: &Arc<dyn Timers>, at_ns: u64) -> Self {
        Self {
            at_ns,
            timers: Arc::clone(timers),
            armed: None,
        }
    }

    /// Ready once the time has come, never early; otherwise the waker is called then.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.timers.now_ns() >= self.at_ns {
            self.disarm();
            return Poll::Ready(());
        }
        let is_armed = self
            .armed
            .as_ref()
            .is_some_and(|(_, waker)| waker.will_wake(cx.waker()));
        if !is_armed {
            self.disarm();
            let id = self.timers.wake_at(self.at_ns, cx.waker());
            self.armed = Some((id, cx.waker().clone()));
        }
        Poll::Pending
    }

    fn disarm(&mut self) {
        if let Some((id, _waker)) = self.armed.take() {
            self.timers.forget(id);
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.disarm();
    }
}
