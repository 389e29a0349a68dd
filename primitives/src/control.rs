//! The control plane: what changes seldom, as immutable snapshots.
//!
//! Owner: whoever changes something takes the writer's lock, makes the next snapshot and publishes
//! it; readers load the newest one and never wait. No element takes this way: [`Control::turns`]
//! counts the changes, so that a test can prove it. No foreign code runs in the lock.

use crate::sync::{AtomicU64, Mutex, Ordering, Site, Swap, lock, release};
use std::sync::Arc;

/// One thing that changes seldom; `None` until the first change.
pub(crate) struct Control<S> {
    writer: Mutex<()>,
    newest: Swap<S>,
    turns: AtomicU64,
}

impl<S> Control<S> {
    pub(crate) fn new() -> Self {
        Self {
            writer: Mutex::new(()),
            newest: Swap::empty(),
            turns: AtomicU64::new(0),
        }
    }

    /// Lends the newest snapshot. It never waits.
    #[inline]
    pub(crate) fn read<R>(&self, read: impl FnOnce(Option<&S>) -> R) -> R {
        self.newest.read(read)
    }

    /// Replaces the snapshot by what `next` makes of it; changes are one at a time.
    ///
    /// `next` runs in the lock, and the old snapshot may be dropped in it: neither runs foreign
    /// code.
    pub(crate) fn change(&self, next: impl FnOnce(Option<&S>) -> Option<S>) {
        let _writer = lock(&self.writer);
        let next = self.newest.read(next);
        self.newest.store(next.map(Arc::new));
        // Release: whoever sees this turn, and fences, finds its snapshot.
        self.turns.fetch_add(1, release(Site::ControlTurn));
    }

    /// How many changes there were. A snapshot read behind this and a fence has at least as many.
    pub(crate) fn turns(&self) -> u64 {
        // Relaxed: the caller's fence acquires it.
        self.turns.load(Ordering::Relaxed)
    }
}
