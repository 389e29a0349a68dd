//! The inbox of a shard: how threads outside the shards submit.
//!
//! Owner: any thread puts, the shard takes. Locked and bounded: it is the slow way in on purpose;
//! shards among themselves use lanes. Wakers and jobs run outside the lock.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::sync::{AtomicBool, Ordering};

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
    /// A hint that jobs are there, so that a turn takes no lock without need.
    any: AtomicBool,
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
            any: AtomicBool::new(false),
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
        self.any.store(true, Ordering::Release);
        Ok(())
    }

    /// Whether there may be jobs.
    pub(crate) fn has_any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Takes up to [`TAKE_MAX`] jobs and wakes who waited for the room.
    pub(crate) fn take(&self) -> Vec<Job> {
        if !self.has_any() {
            return Vec::new();
        }
        let mut content = self.lock();
        let count = content.jobs.len().min(TAKE_MAX);
        let jobs = content.jobs.drain(..count).collect();
        self.any.store(!content.jobs.is_empty(), Ordering::Release);
        let waiters = std::mem::take(&mut content.waiters);
        drop(content);
        waiters.into_iter().for_each(Waker::wake);
        jobs
    }

    /// Takes nothing more in. Jobs that wait are dropped, and who waits for room is told.
    pub(crate) fn close(&self) {
        let mut content = self.lock();
        content.closed = true;
        let left = std::mem::take(&mut *content);
        content.closed = true;
        self.any.store(false, Ordering::Release);
        drop(content);
        drop(left.jobs);
        left.waiters.into_iter().for_each(Waker::wake);
    }
}
