//! What the models ask of this module, in a model build alone.

use std::cell::Cell;
use std::fmt;
use std::ptr::{self, NonNull};

use super::returns::{Linked, Links, Stack};

/// Something to link, with a value.
struct Parcel<T> {
    value: T,
    next: Cell<*mut Self>,
}

impl<T> Linked for Parcel<T> {
    fn link<'a>(item: NonNull<Self>) -> &'a Cell<*mut Self> {
        // SAFETY: Valid: parcels are made in `send` and freed in `take` and in the drop, when they
        // have left the list. Exclusive: the cell has one owner at a time.
        let parcel: &'a Self = unsafe { item.as_ref() };
        &parcel.next
    }
}

/// The returns of one pair, with any values.
pub struct Returns<T>(Stack<Parcel<T>>);

// SAFETY: Valid: parcels own their values, which go from one thread to another, hence `T: Send`.
// Exclusive: a parcel is in one hand at a time, which is what the models show.
unsafe impl<T: Send> Send for Returns<T> {}
// SAFETY: as for Send.
unsafe impl<T: Send> Sync for Returns<T> {}

impl<T> Returns<T> {
    /// Nothing is on its way back.
    #[allow(clippy::new_without_default, reason = "loom makes nothing by default")]
    pub fn new() -> Self {
        Self(Stack::new())
    }

    /// Makes `values` visible together, the first one as the oldest.
    pub fn publish(&self, values: impl IntoIterator<Item = T>) {
        let mut links = Links::default();
        for value in values {
            let next = Cell::new(ptr::null_mut());
            let parcel = Box::leak(Box::new(Parcel { value, next }));
            links.push(NonNull::from(parcel));
        }
        self.0.publish(&mut links);
    }

    /// Takes all, oldest first.
    pub fn take(&self) -> Vec<T> {
        let mut first = self.0.take();
        let parcels = std::iter::from_fn(|| {
            let parcel = Parcel::unlink(&mut first)?;
            // SAFETY: Valid: it came from a box in `publish`. Exclusive: it has just left the list.
            Some(unsafe { Box::from_raw(parcel.as_ptr()) }.value)
        });
        parcels.collect()
    }
}

impl<T> Drop for Returns<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl<T> fmt::Debug for Returns<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Returns").finish_non_exhaustive()
    }
}
