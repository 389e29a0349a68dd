//! Rings on a clock that a test moves by hand.

pub(crate) use crate::bell::{ByHand, bell};
use corelane_primitives::{Ring, RingConsumer};
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

/// A ring that steps over claims after 50 ms of a clock that is moved by hand.
pub(crate) fn ring_by_hand<T>(capacity: usize) -> (Arc<ByHand>, Ring<T>, RingConsumer<T>) {
    let clock = Arc::new(ByHand::default());
    let (ring, consumer) = Ring::builder(capacity)
        .timers(clock.clone())
        .build()
        .expect("a power of two");
    (clock, ring, consumer)
}

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Calls a function when woken.
pub(crate) struct Act<F>(pub(crate) F);

impl<F: Fn() + Send + Sync + 'static> Wake for Act<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        (self.0)();
    }
}

pub(crate) fn cx(waker: &Waker) -> Context<'_> {
    Context::from_waker(waker)
}
