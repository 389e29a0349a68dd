//! The shards' clock and timers, for rings whose pushes end by time.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

use corelane::time::{Instant, sleep_until};
use corelane::{JoinHandle, ShardLocal};
use corelane_primitives::{TimerId, Timers};

/// The tasks of one shard that sleep for a ring: one a wait.
static SLEEPING: ShardLocal<RefCell<HashMap<TimerId, JoinHandle<()>>>> =
    ShardLocal::new(RefCell::default);

/// Timers of whichever shard calls; for shards alone.
#[derive(Debug, Default)]
pub(super) struct ShardTimers {
    // Relaxed: an id is only to be another one each time.
    last: AtomicU64,
}

impl Timers for ShardTimers {
    fn now_ns(&self) -> u64 {
        Instant::now().as_nanos()
    }

    fn wake_at(&self, at_ns: u64, waker: &Waker) -> TimerId {
        let id = TimerId(self.last.fetch_add(1, Ordering::Relaxed));
        let waker = waker.clone();
        let sleeping = corelane::spawn(async move {
            sleep_until(Instant::from_nanos(at_ns)).await;
            drop(SLEEPING.with(|sleeping| sleeping.borrow_mut().remove(&id)));
            waker.wake();
        });
        SLEEPING.with(|timers| timers.borrow_mut().insert(id, sleeping));
        id
    }

    fn forget(&self, timer: TimerId) {
        let sleeping = SLEEPING.with(|sleeping| sleeping.borrow_mut().remove(&timer));
        if let Some(sleeping) = sleeping {
            sleeping.abort();
        }
    }
}
