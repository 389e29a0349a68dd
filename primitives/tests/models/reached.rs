//! Whether a model has met what it is about: an assertion about a case that no schedule reaches
//! holds for nothing.

use std::sync::atomic::{AtomicU64, Ordering};

/// How often it was met, in all schedules together. Not loom's atomic: it lives across them.
pub(crate) struct Reached(AtomicU64);

impl Reached {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(crate) fn count(&self, times: u64) {
        self.0.fetch_add(times, Ordering::Relaxed);
    }

    /// After all schedules.
    #[track_caller]
    pub(crate) fn check(&self) {
        assert_ne!(self.0.load(Ordering::Relaxed), 0, "no schedule got there");
    }
}
