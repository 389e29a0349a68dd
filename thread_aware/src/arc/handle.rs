//! The handle: what is cloned, dropped and dereferenced.
//!
//! Owner: whoever has the handle. It counts in `node.handles` from its making to its drop.
//! Rule: a partition with handles holds its lineage at least once; its first handle brings that
//! reference, and its last one takes all of them away.

use alloc::sync::Arc as StdArc;
use core::{marker::PhantomData, mem, ops::Deref, ptr::NonNull};

use super::{
    error::Ignored,
    lineage::Lineage,
    node::{Node, pointer},
    storage::Storage,
    strategy::Strategy,
    weak::Weak,
};
use crate::sync::{Ordering::Relaxed, Site, acquire, release};

/// A shared pointer with a value of its own for each partition of the machine.
///
/// Like [`std::sync::Arc`] it is cloned cheaply and dereferences to its value, and all handles in
/// one partition share one value. Unlike it, a handle that is [relocated](crate::ThreadAware)
/// leaves that value behind and adopts the one of its destination, which is made at the first
/// visit. The [`Strategy`] `S` says which affinities share: [`PerCore`](crate::PerCore),
/// [`PerNuma`](crate::PerNuma), [`PerProcess`](crate::PerProcess) or one's own.
///
/// All handles that come from one construction are a *lineage*. When its last handle is dropped,
/// so is every partition's value, on whatever thread that happens.
///
/// # Which value a relocation gives
///
/// - A handle that is in the destination's partition already keeps its value.
/// - A partition that has a value gives that one, so handles sent to one partition point to one
///   value.
/// - Else it is made, at most once whoever arrives together: the constructor says from what. Those
///   who lose that race wait for the one who won.
/// - The value that is made at construction has no partition at first. The first relocation that
///   has to make a value also tells where the first one belongs: at its `source`. Going back there
///   finds it again. In a topology with one partition it belongs there, whatever the source.
///   A relocation from `None` tells no such place: while no other one names a source, the first
///   value belongs to no partition, and only handles that never moved have it.
///
/// When a constructor, a clone function or a nested relocation panics, the panic comes out of the
/// relocation, the handle is as it was, and the next attempt makes the value anew.
///
/// # When nothing happens
///
/// Relocating to an anonymous affinity, or one whose index is not below the strategy's count, keeps
/// the value and is counted ([`Arc::ignored`]). So does a relocation that would wait for ever:
/// a constructor may relocate handles of its own lineage, and constructors of several lineages may
/// relocate each other's, since before a thread waits it looks whether it is being waited for.
/// [`Arc::try_relocate`] tells all these as errors.
///
/// # Costs
///
/// A handle of a sized value is two words. Dereferencing is one load; a relocation within the
/// partition is a few comparisons; clone and drop are one atomic operation each, and a relocation
/// to a partition that has its value is two, all on cache lines that only the partitions concerned
/// use. The first handle to arrive in a partition and the last one to leave also touch the
/// lineage's count, unless they are the same one, which carries the reference over. A partition's
/// bookkeeping takes 128 bytes, for all partitions of a topology at once.
///
/// # Threads
///
/// A handle may be sent and shared between threads when its value may be both. Otherwise it stays
/// on its thread:
///
/// ```compile_fail,E0277
/// use std::cell::Cell;
/// use thread_aware::{Arc, PerCore};
///
/// let cell = Arc::<_, PerCore>::new(|| Cell::new(5));
/// std::thread::spawn(move || cell.set(6));
/// ```
///
/// # Example
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use thread_aware::{Arc, PerCore, ThreadAware, affinity::pinned_affinities};
///
/// let cores = pinned_affinities(&[2]);
/// let mut requests = Arc::<_, PerCore>::new(AtomicU64::default);
/// requests.fetch_add(1, Relaxed);
///
/// let other = requests.clone();
/// requests.relocate(Some(cores[0]), cores[1]);
/// assert_eq!(requests.load(Relaxed), 0); // core 1 counts for itself
/// assert_eq!(other.load(Relaxed), 1);
///
/// requests.relocate(Some(cores[1]), cores[0]);
/// assert!(Arc::ptr_eq(&requests, &other));
/// ```
pub struct Arc<T: ?Sized, S: Strategy> {
    pub(super) node: NonNull<Node<T>>,
    value: NonNull<T>,
    owned: Owns<T, S>,
}

/// Owns values of `T`, and nothing of `S`.
pub(super) type Owns<T, S> = PhantomData<(StdArc<T>, fn() -> S)>;

impl<T: ?Sized, S: Strategy> Arc<T, S> {
    /// A handle that counts in `node` already.
    ///
    /// # Safety
    ///
    /// `node` counts one handle that nobody else drops, its partition holds the lineage, and
    /// `value` is its value.
    pub(super) unsafe fn from_parts(node: NonNull<Node<T>>, value: NonNull<T>) -> Self {
        Self {
            node,
            value,
            owned: PhantomData,
        }
    }

    /// The first handle of `lineage`'s eager value.
    ///
    /// # Safety
    ///
    /// `lineage` is as `Lineage::with_eager` made it, and this is the only such call.
    pub(super) unsafe fn first(lineage: NonNull<Lineage<T>>, value: NonNull<T>) -> Self {
        // SAFETY: Valid: the lineage holds one reference for its first handle. Shared: as ever.
        let node = unsafe { lineage.as_ref() }.eager();
        // SAFETY: The eager node begins with one handle, which is this one, and READY.
        unsafe { Self::from_parts(node, value) }
    }

    /// The node that this handle counts in.
    #[inline]
    pub(super) fn node(&self) -> &Node<T> {
        // SAFETY: Valid: the handle's partition holds the lineage, which has the node. Shared: a
        // node is only changed through its atomics and its cell.
        unsafe { self.node.as_ref() }
    }

    /// What the handle is a part of.
    #[inline]
    pub(super) fn lineage(&self) -> &Lineage<T> {
        // SAFETY: Valid: the handle's partition holds it. Shared: as for nodes.
        unsafe { &*self.node().lineage }
    }

    /// Leaves the partition for `node`, which has `value`.
    ///
    /// A partition with handles holds the lineage once. A handle that is the last one brings that
    /// reference along: as the destination's, if it is the first there, else as a spare one, which
    /// the next to leave for an empty partition takes. So handles that come and go do not meet at
    /// the lineage's count. Who brings a reference has seen what the handles that left before did
    /// (`HandlesLeave`), as who closes a partition has.
    ///
    /// # Safety
    ///
    /// `node` is a partition of this lineage, and `value` its value.
    #[inline]
    pub(super) unsafe fn move_to(&mut self, node: NonNull<Node<T>>, value: NonNull<T>) {
        // Nothing below unwinds. The stores come before the atomic operations, which wait for them.
        let left = mem::replace(&mut self.node, node);
        self.value = value;
        // SAFETY: Valid: the lineage is held by the partition that is left below. Shared: as ever.
        let arrived = unsafe { node.as_ref() };
        let is_first = arrived.arrive() == 0;
        // SAFETY: As above; this handle still counts there.
        let before = unsafe { left.as_ref() };
        if is_first {
            if before.give_last() {
                arrived.add_spares(before.take_spares());
                return;
            }
            if !before.take_spare() {
                arrived.lineage().hold();
            }
        } else if before.counts.handles.load(Relaxed) == 1 && before.give_last() {
            // The look spares an exchange that would fail.
            arrived.add_spares(1 + before.take_spares());
            return;
        }
        // SAFETY: This handle counted there, and counts elsewhere now.
        unsafe { leave(left) };
    }

    /// Whether both handles have the same value, by its place and not by what it is.
    ///
    /// ```
    /// use thread_aware::{Arc, PerCore};
    ///
    /// let one = Arc::<_, PerCore>::new(|| 5);
    /// assert!(Arc::ptr_eq(&one, &one.clone()));
    /// assert!(!Arc::ptr_eq(&one, &Arc::new(|| 5)));
    /// ```
    #[inline]
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        core::ptr::addr_eq(this.value.as_ptr(), other.value.as_ptr())
    }

    /// The place of the value, valid as long as the lineage lives.
    ///
    /// ```
    /// use thread_aware::{Arc, PerCore};
    ///
    /// let five = Arc::<_, PerCore>::new(|| 5);
    /// assert!(core::ptr::eq(Arc::as_ptr(&five), &*five));
    /// ```
    #[inline]
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        this.value.as_ptr()
    }

    /// How many handles of the lineage have this handle's value, with this one.
    ///
    /// It is exact when no handle is cloned, dropped or moved meanwhile, never wraps, and costs one
    /// read a partition. Weak handles and storages do not count.
    ///
    /// ```
    /// use thread_aware::{Arc, PerCore, ThreadAware, affinity::pinned_affinities};
    ///
    /// let cores = pinned_affinities(&[2]);
    /// let one = Arc::<_, PerCore>::new(|| 5);
    /// let mut two = one.clone();
    /// assert_eq!(Arc::strong_count(&one), 2);
    /// two.relocate(Some(cores[0]), cores[1]);
    /// assert_eq!((Arc::strong_count(&one), Arc::strong_count(&two)), (1, 1));
    /// ```
    #[must_use]
    pub fn strong_count(this: &Self) -> usize {
        // SAFETY: The handle's partition holds the lineage.
        unsafe { this.lineage().handles_of(this.value) }
    }

    /// Gives the handle up for a std `Arc` of its value, which stays where it is from then on.
    ///
    /// ```
    /// use thread_aware::{Arc, PerCore};
    ///
    /// let shared: std::sync::Arc<i32> = Arc::<_, PerCore>::new(|| 5).into_arc();
    /// assert_eq!(*shared, 5);
    /// ```
    #[must_use]
    pub fn into_arc(self) -> StdArc<T> {
        self.shared().clone()
    }

    /// The std `Arc` that keeps the value.
    pub(super) fn shared(&self) -> &StdArc<T> {
        // SAFETY: The handle's partition holds the lineage.
        let value = unsafe { self.lineage().value(self.node()) };
        value.expect("a partition with handles has a value")
    }

    /// The lineage's values, as a storage that keeps them alive.
    ///
    /// It shows what the partitions have from now on, too, and values that are inserted into it are
    /// found by later relocations.
    ///
    /// ```
    /// use thread_aware::{Arc, PerCore, ThreadAware, affinity::pinned_affinities};
    ///
    /// let cores = pinned_affinities(&[2]);
    /// let mut five = Arc::<_, PerCore>::new(|| 5);
    /// let storage = Arc::storage(&five);
    /// assert_eq!(storage.get(cores[1]), None);
    /// five.relocate(Some(cores[0]), cores[1]);
    /// assert_eq!(storage.get(cores[1]).as_deref(), Some(&5));
    /// ```
    #[must_use]
    pub fn storage(this: &Self) -> StdArc<Storage<T, S>> {
        StdArc::new(Storage::of(this.lineage()))
    }

    /// A handle that does not keep the values alive.
    ///
    /// ```
    /// use thread_aware::{Arc, PerCore};
    ///
    /// let five = Arc::<_, PerCore>::new(|| 5);
    /// let weak = Arc::downgrade(&five);
    /// assert_eq!(weak.upgrade().as_deref(), Some(&5));
    /// drop(five);
    /// assert!(weak.upgrade().is_none());
    /// ```
    #[must_use]
    pub fn downgrade(this: &Self) -> Weak<T, S> {
        this.lineage().hold_memory();
        // SAFETY: The weak reference was just taken, and the node is the lineage's.
        unsafe { Weak::of(this.node) }
    }

    /// How many relocations of this lineage kept their value although another partition was named.
    ///
    /// ```
    /// use thread_aware::{Arc, PerCore, ThreadAware, affinity};
    ///
    /// let mut five = Arc::<_, PerCore>::new(|| 5);
    /// five.relocate(None, affinity::current()); // this thread entered none, so it is anonymous
    /// assert_eq!(Arc::ignored(&five).anonymous, 1);
    /// ```
    #[must_use]
    pub fn ignored(this: &Self) -> Ignored {
        this.lineage().ignored()
    }
}

impl<T: ?Sized> Node<T> {
    #[inline]
    fn lineage(&self) -> &Lineage<T> {
        // SAFETY: Valid: a node is a part of its lineage, and whoever asks holds that. Shared: as
        // ever.
        unsafe { &*self.lineage }
    }

    /// Takes the partition's last handle away together with its reference to the lineage.
    #[inline]
    fn give_last(&self) -> bool {
        let handles = &self.counts.handles;
        let success = acquire(Site::HandlesGiven);
        handles.compare_exchange(1, 0, success, Relaxed).is_ok()
    }
}

/// Ends one handle's stay in `node`'s partition.
///
/// It takes a pointer: once the handle has left, others may free the node, even before this
/// returns.
///
/// # Safety
///
/// The handle counted there and is used no more, or has moved on.
#[inline]
unsafe fn leave<T: ?Sized>(node: NonNull<Node<T>>) {
    // SAFETY: Valid: the partition holds the lineage until the subtraction. Shared: as ever.
    let handles = &unsafe { node.as_ref() }.counts.handles;
    if handles.fetch_sub(1, release(Site::HandlesLeave)) == 1 {
        // SAFETY: That was the partition's last handle.
        unsafe { close(node) };
    }
}

/// Gives back the reference that a partition without handles still has.
///
/// # Safety
///
/// The caller ended the partition's last handle.
#[cold]
#[inline(never)]
unsafe fn close<T: ?Sized>(node: NonNull<Node<T>>) {
    // SAFETY: Valid: the reference that is given back below is still held. Shared: as ever.
    let node = unsafe { node.as_ref() };
    // What is read is the subtraction's own result or a later one, and all changes of the count
    // are read-modify-writes, so this has seen whatever any handle did before it left. A fence
    // would do the same, but loom's sees more than a machine's does.
    node.counts.handles.load(acquire(Site::HandlesLast));
    let lineage = node.lineage.cast_mut();
    // SAFETY: Every node knows its lineage, which is never null.
    let lineage = unsafe { NonNull::new_unchecked(lineage) };
    let references = 1 + node.take_spares();
    // SAFETY: The reference that the partition's first handle brought, and those that later ones
    // left here.
    unsafe { Lineage::release_many(lineage, references) };
}

impl<T: ?Sized, S: Strategy> Clone for Arc<T, S> {
    /// Another handle in the same partition: one atomic addition to the partition's own count.
    #[inline]
    fn clone(&self) -> Self {
        self.node().enter();
        Self {
            node: self.node,
            value: self.value,
            owned: PhantomData,
        }
    }
}

impl<T: ?Sized, S: Strategy> Drop for Arc<T, S> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: The handle counted there until now.
        unsafe { leave(self.node) };
    }
}

impl<T: ?Sized, S: Strategy> Deref for Arc<T, S> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: Valid: the partition holds the lineage, which keeps the value. Shared: values are
        // only lent.
        unsafe { self.value.as_ref() }
    }
}

// SAFETY: A handle lends its value on every thread that it is moved to, and the last one of all
// threads drops it: `T: Sync` and `T: Send` are what that takes. Makers are Send and Sync; nothing
// of `S` is kept.
unsafe impl<T: Send + Sync + ?Sized, S: Strategy> Send for Arc<T, S> {}

// SAFETY: As for `Send`: a shared handle can be cloned, which gives a handle.
unsafe impl<T: Send + Sync + ?Sized, S: Strategy> Sync for Arc<T, S> {}

/// The handle of a value made just now, and the pointer to it.
pub(super) fn eager<T: ?Sized, S: Strategy>(
    value: StdArc<T>,
    maker: super::lineage::Maker<T>,
) -> Arc<T, S> {
    let place = pointer(&value);
    // SAFETY: The lineage was made for this one handle.
    unsafe { Arc::first(Lineage::with_eager(value, maker), place) }
}
