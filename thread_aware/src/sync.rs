//! Atomics, cells and locks, from std or, under `--cfg corelane_loom`, from loom.
//!
//! No other file of this crate names an atomic or a cell, so that the models run the production
//! types. Every ordering that matters has a [`Site`]. In ordinary builds a site vanishes; in a
//! model build the environment variable `CORELANE_WEAKEN` names one site that becomes Relaxed, and
//! `tests/loom_mutants.rs` demands that some model then fails.

/// The atomics of core, as types that are relocated like any other, not as something to work with.
pub(crate) use core::sync::atomic as plain;
#[cfg(feature = "std")]
pub(crate) use core::sync::atomic::Ordering;
#[cfg(feature = "std")]
pub(crate) use imp::{
    AtomicPtr, AtomicU64, AtomicUsize, Backoff, Condvar, Mutex, MutexGuard, UnsafeCell,
    process_wide, thread_number,
};

/// Hands out numbers from 1, each once in the life of the process.
///
/// It stands in statics, so it is core's atomic in model builds too; no model depends on it.
#[cfg(feature = "std")]
pub(crate) struct Numbers(plain::AtomicU64);

#[cfg(feature = "std")]
impl Numbers {
    pub(crate) const fn new() -> Self {
        Self(plain::AtomicU64::new(1))
    }

    pub(crate) fn next(&self) -> u64 {
        // Relaxed: only the number itself has to be unique; it publishes nothing.
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

#[cfg(feature = "std")]
macro_rules! sites {
    ($($(#[$doc:meta])* $site:ident = $name:literal,)+) => {
        /// A place whose ordering a model must depend on.
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Site { $($(#[$doc])* $site,)+ }

        #[cfg(corelane_loom)]
        impl Site {
            /// The names of all sites.
            pub(crate) const NAMES: &'static [&'static str] = &[$($name,)+];

            fn name(self) -> &'static str {
                match self { $(Site::$site => $name,)+ }
            }
        }
    };
}

#[cfg(feature = "std")]
sites! {
    /// A partition's value is published; partner: `PartitionRead`.
    PartitionPublish = "partition.publish",
    /// Whoever arrives reads whether a partition has its value.
    PartitionRead = "partition.read",
    /// A table of partitions enters its lineage's list; partner: `TableRead`.
    TablePublish = "table.publish",
    /// Whoever looks for a partition follows the list.
    TableRead = "table.read",
    /// The first insert gives a storage its lineage; partner: `StorageRead`.
    StoragePublish = "storage.publish",
    /// Whoever uses a storage reads its lineage.
    StorageRead = "storage.read",
    /// A handle leaves its partition; partners: `HandlesLast`, `HandlesGiven`.
    HandlesLeave = "handles.leave",
    /// The last handle of a partition has seen all that left before.
    HandlesLast = "handles.last",
    /// The same for a last handle that takes the partition's lineage reference with it.
    HandlesGiven = "handles.given",
    /// A partition or a storage lets its lineage go; partner: `StrongLast`.
    StrongRelease = "strong.release",
    /// The last of them has seen what all did with the values.
    StrongLast = "strong.last",
    /// A weak handle lets its lineage's memory go; partner: `WeakLast`.
    WeakRelease = "weak.release",
    /// The last of them has seen what all did with the memory.
    WeakLast = "weak.last",
}

/// The Acquire of `site`.
#[cfg(feature = "std")]
#[inline(always)]
pub(crate) fn acquire(site: Site) -> Ordering {
    imp::order(site, Ordering::Acquire)
}

/// The Release of `site`.
#[cfg(feature = "std")]
#[inline(always)]
pub(crate) fn release(site: Site) -> Ordering {
    imp::order(site, Ordering::Release)
}

/// An atomic that nobody else can reach any more.
#[cfg(feature = "std")]
pub(crate) trait Owned {
    type Value;

    /// What is in it; a model checks that every other access came before.
    fn owned(&mut self) -> Self::Value;
}

#[cfg(all(feature = "std", not(corelane_loom)))]
mod imp {
    use super::{Ordering, Owned, Site};
    pub(crate) use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};
    pub(crate) use crossbeam_utils::Backoff;
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

    #[inline(always)]
    pub(super) fn order(_site: Site, order: Ordering) -> Ordering {
        order
    }

    /// A number for the current thread, from 1, that no other thread of the process ever has.
    pub(crate) use crate::affinity::thread_number;

    /// A locked value that the whole process shares.
    macro_rules! process_wide {
        ($name:ident: $type:ty = $value:expr) => {
            static $name: $crate::sync::Mutex<$type> = $crate::sync::Mutex::new($value);
        };
    }
    pub(crate) use process_wide;

    impl Owned for AtomicUsize {
        type Value = usize;

        fn owned(&mut self) -> usize {
            *self.get_mut()
        }
    }

    impl<T> Owned for AtomicPtr<T> {
        type Value = *mut T;

        fn owned(&mut self) -> *mut T {
            *self.get_mut()
        }
    }

    /// `std`'s cell with loom's closure calls.
    pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(core::cell::UnsafeCell::new(value))
        }

        #[inline(always)]
        pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}

#[cfg(all(feature = "std", corelane_loom))]
#[path = "sync_loom.rs"]
mod imp;
