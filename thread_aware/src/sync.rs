//! The one file of this crate that names atomics.

/// The atomics of core, as types that are relocated like any other, not as something to work with.
pub(crate) use core::sync::atomic as plain;
#[cfg(feature = "std")]
use core::sync::atomic::{AtomicU64, Ordering};

/// Hands out numbers from 1, each once in the life of the process.
#[cfg(feature = "std")]
pub(crate) struct Numbers(AtomicU64);

#[cfg(feature = "std")]
impl Numbers {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(1))
    }

    pub(crate) fn next(&self) -> u64 {
        // Relaxed: only the number itself has to be unique; it publishes nothing.
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}
