//! The shards' timers for primitives, which know no executor.

use std::rc::Rc;
use std::task::Waker;

use corelane_primitives::{TimerId, Timers};

use super::Instant;
use super::wheel::TimerKey;
use crate::shard::Context;

/// The bits of a timer's key in its id; the number of the shard's timers stands above them.
const KEY_BITS: u32 = 96;

/// The clock and the timers of whatever shard asks: what a primitive needs for waits of tasks that
/// end by time.
///
/// One value serves all shards, also in a simulation, whose time is virtual. The waits belong on
/// shards; a thread outside has a primitive's blocking forms, which need no timers.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use corelane::time::ShardTimers;
/// use corelane_primitives::{PushError, Ring};
///
/// # async fn example() -> Result<(), corelane_primitives::RingError> {
/// let (ring, consumer) = Ring::builder(1).timers(Arc::new(ShardTimers)).build()?;
/// assert_eq!(ring.push("inside"), Ok(()));
/// let waited = ring.push_wait("too many", Duration::from_millis(5)).await;
/// assert_eq!(waited, Err(PushError::TimedOut("too many")));
/// # drop(consumer);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct ShardTimers;

impl Timers for ShardTimers {
    fn now_ns(&self) -> u64 {
        Instant::now().as_nanos()
    }

    /// Never early; late by at most 4,096 ns beside what the shard's other work takes.
    ///
    /// # Panics
    ///
    /// Outside a shard.
    fn wake_at(&self, at_ns: u64, waker: &Waker) -> TimerId {
        let waker = waker.clone();
        Context::with(|context| {
            let timers = Rc::clone(context.timers());
            let key = timers.arm(Instant::from_nanos(at_ns), waker);
            TimerId(u128::from(timers.number()) << KEY_BITS | key.to_bits())
        })
    }

    /// Of another shard's timer, which fires then, it does nothing.
    fn forget(&self, timer: TimerId) {
        let timers = Context::try_with(|context| Rc::clone(context.timers()));
        let own = timers.filter(|timers| u128::from(timers.number()) == timer.0 >> KEY_BITS);
        if let Some(timers) = own {
            timers.disarm(TimerKey::from_bits(timer.0));
        }
    }
}
