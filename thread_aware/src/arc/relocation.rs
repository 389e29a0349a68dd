//! Moving a handle to another partition.
//!
//! Three ways, by what they cost: a handle that is there already (comparisons); a partition of the
//! same table that has its value (two atomic operations); everything else.

use core::ptr;

use super::{
    error::RelocateError,
    handle::Arc,
    lineage::Kept,
    making::{Claim, claim},
    node::{READY, pointer},
    strategy::{Strategy, is_single},
    table,
};
use crate::{ThreadAware, affinity::Affinity, sync::Ordering::Relaxed};

impl<T: Send + Sync + ?Sized, S: Strategy> ThreadAware for Arc<T, S> {
    /// Adopts the value of `destination`'s partition; see [`Arc`] for which that is.
    ///
    /// # Panics
    ///
    /// When the value's constructor does, and when the strategy counts differently for two
    /// affinities of one topology, or more than 65,536 partitions.
    #[inline]
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        if !self.go(destination) {
            self.relocate_far(source, destination);
        }
    }
}

impl<T: Send + Sync + ?Sized, S: Strategy> Arc<T, S> {
    /// Relocates the handle like [`ThreadAware::relocate`], and says when it could not.
    ///
    /// After an error the handle has the value that it had before.
    ///
    /// # Errors
    ///
    /// [`RelocateError`] when `destination` names no partition, when its value's maker waits for
    /// the calling thread, or when the strategy contradicts itself. What `relocate` counts is
    /// counted here too.
    ///
    /// # Panics
    ///
    /// When the value's constructor does.
    ///
    /// ```
    /// use thread_aware::{Arc, PerCore, RelocateError, affinity};
    ///
    /// let mut five = Arc::<_, PerCore>::new(|| 5);
    /// let nowhere = affinity::current();
    /// assert_eq!(Arc::try_relocate(&mut five, None, nowhere), Err(RelocateError::Anonymous));
    /// ```
    #[inline]
    pub fn try_relocate(
        this: &mut Self,
        source: Option<Affinity>,
        destination: Affinity,
    ) -> Result<(), RelocateError> {
        if this.go(destination) {
            return Ok(());
        }
        this.go_far(source, destination)
            .inspect_err(|error| this.count(*error))
    }

    /// Relocates within the handle's table, if the destination is there and has its value.
    ///
    /// Every access checks its index and count, except that a node remembers one affinity for
    /// which that was done: a strategy answers the same for the same affinity.
    #[inline]
    fn go(&mut self, destination: Affinity) -> bool {
        if is_single::<S>() {
            return S::index(destination) == 0;
        }
        let node = self.node();
        if node.topology != destination.topology() {
            return false;
        }
        // Relaxed: a number to compare.
        if node.at.load(Relaxed) == destination.word() {
            return true;
        }
        let (index, len) = (S::index(destination), S::count(destination).get());
        if node.len != len || index >= len {
            return false;
        }
        // SAFETY: Never null: an eager node has a topology that no affinity has.
        let slots = unsafe { ptr::NonNull::new_unchecked(node.slots) };
        // SAFETY: `index < len`, which is the table's number of slots.
        let target = unsafe { table::node(slots, index) };
        if target == self.node {
            return true;
        }
        // SAFETY: Valid: the handle's partition holds the lineage. Shared: as ever.
        let node = unsafe { target.as_ref() };
        if node.state() != READY {
            return false;
        }
        // SAFETY: READY was seen just now, and the lineage is held.
        let Some(value) = (unsafe { node.kept() }) else {
            return false;
        };
        // SAFETY: A node of this handle's table, and its value.
        unsafe { self.move_to(target, pointer(value)) };
        true
    }

    /// The long way, out of line so that the short ones need no stack.
    #[inline(never)]
    fn relocate_far(&mut self, source: Option<Affinity>, destination: Affinity) {
        if let Err(error) = self.go_far(source, destination) {
            self.keep(error);
        }
    }

    /// To a value that is not there yet, to another topology, or from the eager node.
    fn go_far(
        &mut self,
        source: Option<Affinity>,
        destination: Affinity,
    ) -> Result<(), RelocateError> {
        let lineage = self.lineage();
        let target = lineage.place::<S>(destination)?;
        if target == self.node {
            return Ok(());
        }
        // SAFETY: Valid: the handle's partition holds the lineage. Shared: as ever.
        let node = unsafe { target.as_ref() };
        let mut recorded = false;
        loop {
            // SAFETY: The handle's partition holds the lineage.
            if let Some(value) = unsafe { lineage.value(node) } {
                let value = pointer(value);
                // SAFETY: A node of this handle's lineage, and its value.
                unsafe { self.move_to(target, value) };
                return Ok(());
            }
            if !recorded && self.node().is_eager() {
                recorded = true;
                let is_only = source.is_none() && node.len == 1;
                self.record(if is_only { Some(destination) } else { source })?;
                continue;
            }
            match claim(lineage, node) {
                Claim::Mine(making) => making.finish(self.make(source, destination)),
                Claim::Changed => {}
                Claim::Cycle => return Err(RelocateError::Cycle),
            }
        }
    }

    /// Makes `source`'s partition the home of the eager value, if both are free.
    fn record(&self, source: Option<Affinity>) -> Result<(), RelocateError> {
        let Some(source) = source else {
            return Ok(());
        };
        match self.lineage().place::<S>(source) {
            Ok(home) => {
                // SAFETY: Valid: the handle's partition holds the lineage. Shared: as ever.
                self.lineage().record(unsafe { home.as_ref() });
                Ok(())
            }
            // A source that names no partition is as none.
            Err(RelocateError::Anonymous | RelocateError::OutOfRange(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The value of a partition that has none: made, or without a maker the one at hand.
    fn make(&self, source: Option<Affinity>, destination: Affinity) -> alloc::sync::Arc<T> {
        match self.lineage().maker() {
            Some(make) => make(self, source, destination),
            None => self.shared().clone(),
        }
    }

    #[cold]
    fn count(&self, error: RelocateError) {
        let kept = match error {
            RelocateError::Anonymous => Kept::Anonymous,
            RelocateError::OutOfRange(_) => Kept::OutOfRange,
            RelocateError::Cycle => Kept::Cycle,
            RelocateError::CountDiffers { .. } | RelocateError::TooManyPartitions(_) => return,
        };
        self.lineage().count(kept);
    }

    /// Stays, which is counted, unless the strategy is at fault.
    #[cold]
    fn keep(&self, error: RelocateError) {
        self.count(error);
        if let RelocateError::CountDiffers { .. } | RelocateError::TooManyPartitions(_) = error {
            panic!("relocation refused: {error}");
        }
    }
}
