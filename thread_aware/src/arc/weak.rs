//! Handles that do not keep the values alive.
//!
//! Owner: a weak handle holds its lineage's memory, so that nodes stay where they are. Rule: a node
//! with handles belongs to a held lineage, so counting one more handle there is enough; else the
//! lineage is taken first, as long as anybody has it. Model: `upgrade_meets_last_drop`.

use core::{fmt, marker::PhantomData, ptr::NonNull};

use super::{
    handle::{Arc, Owns},
    lineage::Lineage,
    node::{HANDLES_MAX, Node, pointer, too_many_handles},
    strategy::Strategy,
};
use crate::{ThreadAware, affinity::Affinity, sync::Ordering::Relaxed};

/// A handle of an [`Arc`]'s partition that does not keep the lineage's values alive.
///
/// It is upgraded to the value of the partition that it is in, as long as the lineage has any
/// handle or storage, wherever that is. Relocating it changes the partition if the destination has
/// a value by then; it never makes one.
///
/// ```
/// use thread_aware::{Arc, PerCore, ThreadAware, Weak, affinity::pinned_affinities};
///
/// let cores = pinned_affinities(&[2]);
/// let mut here = Arc::<_, PerCore>::new(|| 5);
/// let mut weak = Arc::downgrade(&here);
/// here.relocate(Some(cores[0]), cores[1]);
/// weak.relocate(Some(cores[0]), cores[1]);
/// assert!(Arc::ptr_eq(&weak.upgrade().expect("there is a handle"), &here));
/// assert!(Weak::<i32, PerCore>::new().upgrade().is_none());
/// ```
pub struct Weak<T: ?Sized, S: Strategy> {
    node: Option<NonNull<Node<T>>>,
    owned: Owns<T, S>,
}

impl<T: ?Sized, S: Strategy> Weak<T, S> {
    /// A weak handle of nothing; it never upgrades and allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            node: None,
            owned: PhantomData,
        }
    }

    /// # Safety
    ///
    /// The caller took a weak reference for this, on the lineage that `node` is a part of.
    pub(super) unsafe fn of(node: NonNull<Node<T>>) -> Self {
        Self {
            node: Some(node),
            owned: PhantomData,
        }
    }

    fn node(&self) -> Option<&Node<T>> {
        // SAFETY: Valid: the weak reference keeps the memory. Shared: as ever.
        self.node.map(|node| unsafe { node.as_ref() })
    }

    fn lineage(&self) -> Option<&Lineage<T>> {
        // SAFETY: Valid: the weak reference keeps the memory. Shared: as ever.
        self.node().map(|node| unsafe { &*node.lineage })
    }

    /// A handle of the value, or `None` when the lineage has no handle and no storage any more.
    ///
    /// While the partition has handles this is one exchange on its own count.
    #[must_use]
    pub fn upgrade(&self) -> Option<Arc<T, S>> {
        let (place, node, lineage) = (self.node?, self.node()?, self.lineage()?);
        if !join(node) {
            if !lineage.try_hold() {
                return None;
            }
            if node.enter() > 0 {
                // Others were faster, and their partition holds the lineage already.
                // SAFETY: The reference taken above, which is not the last.
                unsafe { Lineage::release(lineage.raw()) };
            }
        }
        // SAFETY: The handle counted above holds the lineage.
        let value = unsafe { lineage.value(node) };
        let value = pointer(value.expect("a weak handle is made of a partition with a value"));
        // SAFETY: The handle was counted above, and the partition holds the lineage.
        Some(unsafe { Arc::from_parts(place, value) })
    }

    /// How many handles there are in the partition of this weak one.
    #[must_use]
    pub fn strong_count(&self) -> usize {
        // Relaxed: it may be another one at once.
        self.node()
            .map_or(0, |node| node.counts.handles.load(Relaxed))
    }

    /// Whether both are in one partition of one lineage, or both are of nothing.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

/// Counts one more handle in a partition that has some.
fn join<T: ?Sized>(node: &Node<T>) -> bool {
    let mut handles = node.counts.handles.load(Relaxed);
    while handles > 0 {
        if handles > HANDLES_MAX {
            too_many_handles();
        }
        // Relaxed: what the value is was published before this weak handle was made.
        match node
            .counts
            .handles
            .compare_exchange(handles, handles + 1, Relaxed, Relaxed)
        {
            Ok(_) => return true,
            Err(now) => handles = now,
        }
    }
    false
}

impl<T: Send + Sync + ?Sized, S: Strategy> ThreadAware for Weak<T, S> {
    /// Goes to the partition of `destination`, if that has a value.
    fn relocate(&mut self, _: Option<Affinity>, destination: Affinity) {
        let Some(lineage) = self.lineage() else {
            return;
        };
        if let Ok(Some(place)) = lineage.find::<S>(destination) {
            // SAFETY: Valid: the weak reference keeps the memory. Shared: as ever.
            if unsafe { place.as_ref() }.has_value() {
                self.node = Some(place);
            }
        }
    }
}

impl<T: ?Sized, S: Strategy> Clone for Weak<T, S> {
    fn clone(&self) -> Self {
        if let Some(lineage) = self.lineage() {
            lineage.hold_memory();
        }
        Self {
            node: self.node,
            owned: PhantomData,
        }
    }
}

impl<T: ?Sized, S: Strategy> Drop for Weak<T, S> {
    fn drop(&mut self) {
        if let Some(lineage) = self
            .node()
            .and_then(|node| NonNull::new(node.lineage.cast_mut()))
        {
            // SAFETY: The reference of this weak handle, used no more.
            unsafe { Lineage::release_memory(lineage) };
        }
    }
}

impl<T: ?Sized, S: Strategy> Default for Weak<T, S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized, S: Strategy> fmt::Debug for Weak<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}

// SAFETY: Its upgrade is an `Arc`, with the same needs.
unsafe impl<T: Send + Sync + ?Sized, S: Strategy> Send for Weak<T, S> {}

// SAFETY: As for `Send`.
unsafe impl<T: Send + Sync + ?Sized, S: Strategy> Sync for Weak<T, S> {}
