//! Values by partition, without a handle.
//!
//! Owner: a storage holds its lineage once, from its first insert. Rule: the lineage's pointer is
//! set by one exchange and never changes. Model: `storages_first_inserts_race`.

use alloc::sync::Arc as StdArc;
use core::{
    fmt,
    marker::PhantomData,
    ptr::{self, NonNull},
};

pub use super::strategy::Strategy;
use super::{
    error::{RelocateError, StorageError},
    handle::{Arc, Owns},
    lineage::Lineage,
    making,
    node::pointer,
};
use crate::{
    affinity::Affinity,
    sync::{AtomicPtr, Owned, Site, acquire, release},
};

/// The values of a lineage by partition: at most one each, written once.
///
/// Fill one with [`insert`](Self::insert) and hand it to
/// [`Arc::from_storage`](crate::Arc::from_storage), when values exist before the handles do. As
/// long as a storage lives, so do its values, with or without handles.
///
/// ```
/// use std::sync::Arc as StdArc;
/// use thread_aware::{PerNuma, affinity::pinned_affinities, storage::Storage};
///
/// static TABLES: Storage<str, PerNuma> = Storage::new();
///
/// let cores = pinned_affinities(&[2, 2]);
/// assert_eq!(TABLES.insert(cores[0], "left".into()), Ok(()));
/// assert_eq!(TABLES.insert(cores[1], "again".into()), Err("again".into()));
/// assert_eq!(TABLES.get(cores[1]).as_deref(), Some("left")); // the same region
/// assert_eq!(TABLES.get(cores[2]), None);
/// ```
pub struct Storage<T: ?Sized, S: Strategy> {
    /// Null until the first insert.
    lineage: AtomicPtr<Lineage<T>>,
    owned: Owns<T, S>,
}

impl<T: ?Sized, S: Strategy> Storage<T, S> {
    /// A storage without values; it allocates nothing.
    #[cfg(not(corelane_loom))]
    #[must_use]
    pub const fn new() -> Self {
        Self {
            lineage: AtomicPtr::new(ptr::null_mut()),
            owned: PhantomData,
        }
    }

    /// A storage without values; in a model build no atomic is made by a const function.
    #[cfg(corelane_loom)]
    #[must_use]
    pub fn new() -> Self {
        Self {
            lineage: AtomicPtr::new(ptr::null_mut()),
            owned: PhantomData,
        }
    }

    /// Another storage of a lineage that the caller holds.
    pub(super) fn of(lineage: &Lineage<T>) -> Self {
        lineage.hold();
        let storage = Self::new();
        // Shared with nobody yet, so any ordering does.
        storage
            .lineage
            .store(lineage.raw().as_ptr(), release(Site::StoragePublish));
        storage
    }

    /// Puts in the value of `affinity`'s partition, unless that has one.
    ///
    /// The cost is one process-wide lock for a moment, and at the first insert of a topology the
    /// memory for all its partitions.
    ///
    /// # Errors
    ///
    /// `value` itself, when the partition has a value or one is being made, and when `affinity`
    /// names no partition: it is anonymous, or its index is not below the strategy's count.
    ///
    /// # Panics
    ///
    /// When the strategy counts differently for two affinities of one topology, or more than 65,536
    /// partitions.
    pub fn insert(&self, affinity: Affinity, value: StdArc<T>) -> Result<(), StdArc<T>> {
        match self.lineage_or_new().place::<S>(affinity) {
            Ok(node) => {
                let lineage = self.lineage_or_new();
                // SAFETY: Valid: this storage holds the lineage. Shared: as ever.
                making::insert(lineage, unsafe { node.as_ref() }, value)
            }
            Err(RelocateError::Anonymous | RelocateError::OutOfRange(_)) => Err(value),
            Err(error) => panic!("insert refused: {error}"),
        }
    }

    /// As `insert`, with the reason.
    pub(super) fn try_insert(
        &self,
        affinity: Affinity,
        value: StdArc<T>,
    ) -> Result<(), StorageError> {
        let lineage = self.lineage_or_new();
        let node = lineage.place::<S>(affinity).map_err(StorageError::Place)?;
        // SAFETY: Valid: this storage holds the lineage. Shared: as ever.
        let inserted = making::insert(lineage, unsafe { node.as_ref() }, value);
        inserted.map_err(|_| StorageError::Occupied(affinity))
    }

    /// The value of `affinity`'s partition, or `None` when there is none or no such partition.
    ///
    /// ```
    /// use thread_aware::{PerCore, affinity, storage::Storage};
    ///
    /// assert_eq!(Storage::<i32, PerCore>::new().get(affinity::current()), None);
    /// ```
    #[must_use]
    pub fn get(&self, affinity: Affinity) -> Option<StdArc<T>> {
        let lineage = self.lineage()?;
        let node = lineage.find::<S>(affinity).ok().flatten()?;
        // SAFETY: Valid: this storage holds the lineage. Shared: as ever.
        let node = unsafe { node.as_ref() };
        // SAFETY: This storage holds the lineage.
        unsafe { lineage.value(node) }.cloned()
    }

    /// A new handle of the value of `affinity`'s partition.
    pub(super) fn handle(&self, affinity: Affinity) -> Result<Arc<T, S>, StorageError> {
        let absent = StorageError::Absent(affinity);
        let lineage = self.lineage().ok_or(absent)?;
        let place = lineage
            .find::<S>(affinity)
            .map_err(StorageError::Place)?
            .ok_or(absent)?;
        // SAFETY: Valid: this storage holds the lineage. Shared: as ever.
        let node = unsafe { place.as_ref() };
        // SAFETY: This storage holds the lineage.
        let value = pointer(unsafe { lineage.value(node) }.ok_or(absent)?);
        if node.enter() == 0 {
            lineage.hold();
        }
        // SAFETY: The handle was counted just now, and the partition holds the lineage.
        Ok(unsafe { Arc::from_parts(place, value) })
    }

    fn lineage(&self) -> Option<&Lineage<T>> {
        let lineage = self.lineage.load(acquire(Site::StorageRead));
        // SAFETY: Valid: null or held by this storage. Shared: it was complete before the Release
        // that the load has seen.
        unsafe { lineage.as_ref() }
    }

    fn lineage_or_new(&self) -> &Lineage<T> {
        if let Some(lineage) = self.lineage() {
            return lineage;
        }
        let ours = Lineage::of_storage();
        let (success, failure) = (release(Site::StoragePublish), acquire(Site::StorageRead));
        let null = ptr::null_mut();
        match self
            .lineage
            .compare_exchange(null, ours.as_ptr(), success, failure)
        {
            // SAFETY: Valid: the storage holds it from now on. Shared: as ever.
            Ok(_) => unsafe { ours.as_ref() },
            Err(theirs) => {
                // SAFETY: Nobody else has seen this lineage, nor uses it below.
                unsafe { Lineage::release(ours) };
                // SAFETY: Valid: held by this storage. Shared: complete, as `lineage` says.
                unsafe { &*theirs }
            }
        }
    }
}

impl<T: ?Sized, S: Strategy> Drop for Storage<T, S> {
    fn drop(&mut self) {
        if let Some(lineage) = NonNull::new(self.lineage.owned()) {
            // SAFETY: The storage's own reference, used no more.
            unsafe { Lineage::release(lineage) };
        }
    }
}

impl<T: ?Sized, S: Strategy> Default for Storage<T, S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug + ?Sized, S: Strategy> fmt::Debug for Storage<T, S> {
    /// Shows the values that there are, without their partitions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        if let Some(lineage) = self.lineage() {
            // SAFETY: This storage holds the lineage.
            list.entries(unsafe { lineage.values() });
        }
        list.finish()
    }
}

// SAFETY: A storage lends and hands out values on every thread that has it, and may be the last to
// drop them: `T: Send + Sync` is what that takes. Nothing of `S` is kept.
unsafe impl<T: Send + Sync + ?Sized, S: Strategy> Send for Storage<T, S> {}

// SAFETY: As for `Send`.
unsafe impl<T: Send + Sync + ?Sized, S: Strategy> Sync for Storage<T, S> {}
