//! Rings on such a clock.

use crate::clock::ByHand;
use corelane_primitives::{Ring, RingConsumer};
use std::sync::Arc;

/// A ring that steps over claims after 50 ms of a clock that is moved by hand.
pub(crate) fn ring_by_hand<T>(capacity: usize) -> (Arc<ByHand>, Ring<T>, RingConsumer<T>) {
    let clock = Arc::new(ByHand::default());
    let (ring, consumer) = Ring::builder(capacity)
        .timers(clock.clone())
        .build()
        .expect("a power of two");
    (clock, ring, consumer)
}
