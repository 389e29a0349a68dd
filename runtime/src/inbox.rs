//! The inbox of a shard: how threads outside the shards submit.
//!
//! Owner: any thread puts, the shard takes. Locked and bounded: it is the slow way in on purpose;
//! shards among themselves use lanes. Wakers and jobs run outside the lock. Rule: what a departure
//! leaves is told by a bit, never by a count, since it may be taken before it is told of: a thread
//! that is stopped in between must not take the count of somebody else's. Models:
//! `tests/loom_inbox.rs`, and `tests/loom_idle.rs` for who looks whether anything is left.

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::task::Waker;

use crate::error::contain;
use crate::home::Residents;
use crate::sync::modelled::{AtomicU64, Mutex, MutexGuard, Ordering, Site, acquire, release};
use crate::task::{Departure, Departures, wake_all};

/// Something to do on the shard, made outside of it.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// Jobs taken a turn at most, so that tasks and I/O get their turn in between.
const TAKE_MAX: usize = 64;

/// In [`Inbox::waiting`]: there are departures, beside the jobs that it counts.
const DEPARTED: u64 = 1 << 63;

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
    /// What is left for the shard to do: jobs that were put and have not been started, departures
    /// that are being dropped as one more, and [`DEPARTED`]. A turn takes no lock without need, and
    /// a runtime that drains waits for all of it as for tasks.
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
            content: Mutex::new(Content::default()),
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
        // Relaxed: the jobs are under the lock, and the ring that comes next fences.
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Takes a departure in, without a lock. The caller then rings the shard.
    pub(crate) fn depart(&self, departure: Departure) {
        self.departures.put(departure);
        // Release: pairs with the Acquire in `drop_departed`: who takes the bit finds the
        // departure.
        self.waiting.fetch_or(DEPARTED, release(Site::INBOX_DEPART));
    }

    /// Whether there are jobs that have not been started, or departures.
    pub(crate) fn has_any(&self) -> bool {
        // Acquire: pairs with the Release in `started`, for who drains.
        self.waiting.load(acquire(Site::INBOX_LOOK)) > 0
    }

    /// What a turn does with the inbox: starts what was put, and drops from `residents` what has
    /// departed.
    pub(crate) fn work(&self, residents: &Residents) {
        // Relaxed: the lock orders the jobs, and taking the bit back the departures.
        let left = self.waiting.load(Ordering::Relaxed);
        if left & !DEPARTED > 0 {
            for job in self.take() {
                job();
                self.started();
            }
        }
        if left & DEPARTED > 0 {
            self.drop_departed(residents);
        }
    }

    #[cold]
    fn drop_departed(&self, residents: &Residents) {
        // In one step, so that nobody finds nothing left meanwhile; the bit is there, since the
        // shard alone takes it. Acquire: pairs with the Release in `depart`.
        self.waiting
            .fetch_sub(DEPARTED - 1, acquire(Site::INBOX_TAKE_DEPARTED));
        for key in self.departures.take() {
            let value = residents.remove(key);
            contain("the drop of a value whose handles are gone", || drop(value));
        }
        self.started();
    }

    /// Takes up to [`TAKE_MAX`] jobs and wakes who waited for the room.
    fn take(&self) -> Vec<Job> {
        let mut content = self.lock();
        let count = content.jobs.len().min(TAKE_MAX);
        let jobs = content.jobs.drain(..count).collect();
        let waiters = std::mem::take(&mut content.waiters);
        drop(content);
        wake_all(waiters);
        jobs
    }

    /// One job that was taken has run, or the departed values were dropped: what came of it is
    /// counted as tasks by now.
    fn started(&self) {
        // Release: pairs with the Acquire in `has_any`, so that who misses the job sees its task.
        self.waiting.fetch_sub(1, release(Site::INBOX_STARTED));
    }

    /// Takes nothing more in. Jobs that wait are dropped, and who waits for room is told.
    pub(crate) fn close(&self) {
        let mut content = self.lock();
        content.closed = true;
        let left = std::mem::take(&mut *content);
        content.closed = true;
        // Relaxed: it says nothing of what the jobs would have led to.
        self.waiting
            .fetch_sub(left.jobs.len() as u64, Ordering::Relaxed);
        drop(content);
        for job in left.jobs {
            contain("the drop of a call before its start", || drop(job));
        }
        wake_all(left.waiters);
    }
}

/// What the models ask for beside the rest.
#[cfg(corelane_loom)]
impl Inbox {
    /// The first step of a departure whose thread is stopped behind it.
    pub(crate) fn depart_half(&self, departure: Departure) {
        self.departures.put(departure);
    }
}
