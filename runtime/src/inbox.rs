//! The inbox of a shard: how threads outside the shards submit.
//!
//! Owner: any thread puts, the shard takes. Locked and bounded: it is the slow way in on purpose;
//! shards among themselves use lanes. Wakers and jobs run outside the lock.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::error::contain;
use crate::home::ResidentKey;
use crate::sync::{AtomicU64, Ordering};
use crate::task::{Departure, Departures, wake_all};

/// Something to do on the shard, made outside of it.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// Jobs taken a turn at most, so that tasks and I/O get their turn in between.
const TAKE_MAX: usize = 64;

/// Why a job was not taken in; it is handed back.
pub(crate) enum Refused {
    Full(Job),
    Closed(Job),
}

#[derive(Default)]
struct Content {
    jobs: VecDeque<Job>,
    /// Who waits for room.
    waiters: Vec<Waker>,
    closed: bool,
}

/// A bounded, locked queue.
pub(crate) struct Inbox {
    capacity: usize,
    content: Mutex<Content>,
    /// What is left for the shard to do: jobs that were put and have not been started, and
    /// departures. A turn takes no lock without need, and a runtime that drains waits for both as
    /// for tasks.
    waiting: AtomicU64,
    /// Values of the shard that are to be dropped: put without the lock, and never refused.
    departures: Departures,
}

impl std::fmt::Debug for Inbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inbox")
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

impl Inbox {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            content: Mutex::default(),
            waiting: AtomicU64::new(0),
            departures: Departures::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a job in. The caller then rings the shard. When it is full, `waiter` is woken at room.
    pub(crate) fn put(&self, job: Job, waiter: Option<&Waker>) -> Result<(), Refused> {
        let mut content = self.lock();
        if content.closed {
            return Err(Refused::Closed(job));
        }
        if content.jobs.len() >= self.capacity {
            if let Some(waiter) = waiter
                && !content.waiters.iter().any(|known| known.will_wake(waiter))
            {
                content.waiters.push(waiter.clone());
            }
            return Err(Refused::Full(job));
        }
        content.jobs.push_back(job);
        // Release: pairs with the Acquire in `has_any`; the jobs themselves are under the lock.
        self.waiting.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Takes a departure in, without a lock. The caller then rings the shard.
    pub(crate) fn depart(&self, departure: Departure) {
        self.departures.put(departure);
        // Release: pairs with the Acquire in `has_any`. It comes last: who sees the number finds
        // the departure.
        self.waiting.fetch_add(1, Ordering::Release);
    }

    /// Takes the departures, oldest first. The shard says [`Inbox::started`] of each.
    pub(crate) fn departed(&self) -> impl Iterator<Item = ResidentKey> {
        self.departures.take()
    }

    /// Whether there are jobs that have not been started, or departures.
    pub(crate) fn has_any(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    /// Takes up to [`TAKE_MAX`] jobs and wakes who waited for the room. The shard says
    /// [`Inbox::started`] of each.
    pub(crate) fn take(&self) -> Vec<Job> {
        if !self.has_any() {
            return Vec::new();
        }
        let mut content = self.lock();
        let count = content.jobs.len().min(TAKE_MAX);
        let jobs = content.jobs.drain(..count).collect();
        let waiters = std::mem::take(&mut content.waiters);
        drop(content);
        wake_all(waiters);
        jobs
    }

    /// One job that was taken has run: what it started is counted as a task by now. Or a value that
    /// departed was dropped.
    pub(crate) fn started(&self) {
        // Release: pairs with the Acquire in `has_any`, so that who misses the job sees its task. A
        // departure may be taken before it is counted: the number wraps for that moment.
        self.waiting.fetch_sub(1, Ordering::Release);
    }

    /// Takes nothing more in. Jobs that wait are dropped, and who waits for room is told.
    pub(crate) fn close(&self) {
        let mut content = self.lock();
        content.closed = true;
        let left = std::mem::take(&mut *content);
        content.closed = true;
        self.waiting
            .fetch_sub(left.jobs.len() as u64, Ordering::Release);
        drop(content);
        for job in left.jobs {
            // Its captures are the user's, and so are their drops.
            contain("the drop of a call that was never started", || drop(job));
        }
        wake_all(left.waiters);
    }
}
