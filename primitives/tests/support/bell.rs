//! Wakers that count, and a clock that a test moves by hand.

use corelane_primitives::{TimerId, Timers};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};
use std::time::Duration;

#[derive(Default)]
struct Inner {
    now_ns: u64,
    timers: Vec<(u128, u64, Waker)>,
    armed: u128,
}

/// A clock that a test moves by hand.
#[derive(Default)]
pub(crate) struct ByHand(Mutex<Inner>);

impl ByHand {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the clock on, and calls the wakers that are due.
    pub(crate) fn advance(&self, by: Duration) {
        let due = {
            let mut inner = self.inner();
            inner.now_ns += u64::try_from(by.as_nanos()).expect("a test is short");
            let now_ns = inner.now_ns;
            let timers = std::mem::take(&mut inner.timers);
            let (due, rest) = timers
                .into_iter()
                .partition(|(_, at_ns, _)| *at_ns <= now_ns);
            inner.timers = rest;
            let due: Vec<(u128, u64, Waker)> = due;
            due
        };
        due.into_iter().for_each(|(_, _, waker)| waker.wake());
    }

    /// How many timers are armed now.
    pub(crate) fn armed(&self) -> usize {
        self.inner().timers.len()
    }
}

impl Timers for ByHand {
    fn now_ns(&self) -> u64 {
        self.inner().now_ns
    }

    fn wake_at(&self, at_ns: u64, waker: &Waker) -> TimerId {
        let waker = waker.clone();
        let mut inner = self.inner();
        inner.armed += 1;
        let id = inner.armed;
        inner.timers.push((id, at_ns, waker));
        TimerId(id)
    }

    fn forget(&self, timer: TimerId) {
        self.inner().timers.retain(|(id, _, _)| *id != timer.0);
    }
}

/// Counts wakes.
#[derive(Default)]
pub(crate) struct Bell(AtomicUsize);

impl Bell {
    pub(crate) fn rings(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

pub(crate) fn bell() -> (Arc<Bell>, Waker) {
    let bell = Arc::new(Bell::default());
    (bell.clone(), Waker::from(bell))
}
