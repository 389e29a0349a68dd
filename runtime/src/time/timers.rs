//! A shard's armed timers: the wheel, with wakers as values.
//!
//! Owner: the shard's context. The wheel is borrowed for the steps on it alone; wakers are cloned,
//! run and dropped outside that borrow, since a foreign waker may do anything, also arm or drop a
//! timer.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Waker;

use super::Instant;
use super::wheel::{TimerKey, Wheel};
use crate::metrics::ShardCounters;
use crate::task::wake;

/// Timers that one call of [`Timers::fire`] wakes at most, so that tasks and I/O get their turn in
/// between.
const FIRE_MAX: usize = 256;

/// The timers of one shard.
#[derive(Debug)]
pub(crate) struct Timers {
    /// Unlike that of any other shard's timers, of this runtime or another one.
    number: u32,
    wheel: RefCell<Wheel<Waker>>,
    counters: Arc<ShardCounters>,
}

impl Timers {
    /// No timers, at `now`.
    pub(crate) fn new(now: Instant, counters: Arc<ShardCounters>) -> Self {
        // Relaxed: only that no number is given twice matters. 2^32 shards of one process do not
        // happen.
        static NUMBERS: AtomicU32 = AtomicU32::new(0);
        Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            wheel: RefCell::new(Wheel::new(now.as_nanos())),
            counters,
        }
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Wakes whose deadline is at or before `now`, at most [`FIRE_MAX`] of them, and returns how
    /// many. While more are due, [`Timers::next`] is not after `now`.
    pub(crate) fn fire(&self, now: Instant) -> usize {
        let mut fired = 0;
        while fired < FIRE_MAX {
            let expired = self.wheel.borrow_mut().pop_expired(now.as_nanos());
            let Some(waker) = expired else { break };
            wake(waker);
            fired += 1;
        }
        self.counters.timers_fired.add(fired as u64);
        fired
    }

    /// Until when the shard may sleep: never later than the next deadline, and rarely before it.
    /// `None` without timers.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.wheel.borrow().next_ns().map(Instant::from_nanos)
    }

    /// Arms a timer that wakes `waker` at `deadline`.
    pub(super) fn arm(&self, deadline: Instant, waker: Waker) -> TimerKey {
        self.counters.timers_armed.add(1);
        self.wheel.borrow_mut().insert(deadline.as_nanos(), waker)
    }

    /// Lets an armed timer wake `waker` instead. `false` when it has fired or been disarmed.
    pub(super) fn rearm(&self, key: TimerKey, waker: &Waker) -> bool {
        match self.wheel.borrow_mut().get_mut(key) {
            None => return false,
            Some(armed) if armed.will_wake(waker) => return true,
            Some(_) => {}
        }
        let waker = waker.clone();
        let replaced = match self.wheel.borrow_mut().get_mut(key) {
            Some(armed) => Some(std::mem::replace(armed, waker)),
            // The clone itself disarmed the timer: it is not armed any more.
            None => None,
        };
        replaced.is_some()
    }

    /// Disarms a timer, in constant time.
    pub(super) fn disarm(&self, key: TimerKey) {
        let waker = self.wheel.borrow_mut().cancel(key);
        drop(waker);
    }
}
