//! The partitions of one topology, side by side, and the list of such tables.
//!
//! Owner: a lineage, which frees the list when its memory ends.
//! Rule: a table is complete before the Release exchange that appends it, and never changes its
//! place or length; whoever follows the list reads with Acquire. Model:
//! `topology_is_appended_while_others_read`.

use core::{
    iter,
    marker::PhantomData,
    ptr::{self, NonNull},
};

pub(super) use super::node::Slot;
use super::{block, lineage::Lineage, node::Node};
use crate::{
    affinity::TopologyId,
    sync::{AtomicPtr, Owned, Site, acquire, release},
};

/// The most partitions of one topology.
pub(super) const SLOTS_MAX: usize = 1 << 16;

/// What stands before a table's slots: the link to the list's next table.
type Link<T> = AtomicPtr<Slot<T>>;

/// The table of `topology`, if it is in the list.
///
/// # Errors
///
/// The length of that table, if it is not `len`.
pub(super) fn find<T: ?Sized>(
    list: &Link<T>,
    topology: TopologyId,
    len: usize,
) -> Result<Option<NonNull<Slot<T>>>, usize> {
    let mut link = list;
    while let Some(table) = load(link) {
        if table.topology() == topology {
            return table.checked(len).map(Some);
        }
        link = table.next();
    }
    Ok(None)
}

/// The table of `topology`, appended now if it was not there.
pub(super) fn find_or_append<T: ?Sized>(
    list: &Link<T>,
    topology: TopologyId,
    len: usize,
    lineage: NonNull<Lineage<T>>,
) -> Result<NonNull<Slot<T>>, usize> {
    if let Some(found) = find(list, topology, len)? {
        return Ok(found);
    }
    let ours = allocate(topology, len, lineage);
    let (success, failure) = (release(Site::TablePublish), acquire(Site::TableRead));
    let mut link = list;
    loop {
        let Err(theirs) = link.compare_exchange(ptr::null_mut(), ours.as_ptr(), success, failure)
        else {
            return Ok(ours);
        };
        // SAFETY: The exchange failed, so it is not null.
        let theirs = unsafe { NonNull::new_unchecked(theirs) };
        // SAFETY: A table of the list, which the exchange has seen.
        let table = unsafe { Table::new(theirs) };
        if table.topology() == topology {
            // SAFETY: `ours` was never shown to anybody.
            unsafe { free_one(ours) };
            return table.checked(len);
        }
        link = table.next();
    }
}

/// A table of a list that is borrowed for `'a`.
struct Table<'a, T: ?Sized> {
    slots: NonNull<Slot<T>>,
    list: PhantomData<&'a Slot<T>>,
}

impl<'a, T: ?Sized> Table<'a, T> {
    /// # Safety
    ///
    /// `slots` is a table of a list that lives for `'a`, and the caller has seen the Release that
    /// appended it.
    unsafe fn new(slots: NonNull<Slot<T>>) -> Self {
        Self {
            slots,
            list: PhantomData,
        }
    }

    fn first(&self) -> &'a Node<T> {
        // SAFETY: Valid: a table has at least one slot, and lives as long as its list. Shared: it
        // was complete before the Release that `new` asks for.
        unsafe { self.slots.as_ref() }
    }

    fn topology(&self) -> TopologyId {
        self.first().topology
    }

    /// The slots, if there are `len`.
    fn checked(&self, len: usize) -> Result<NonNull<Slot<T>>, usize> {
        let first = self.first().len;
        if first == len {
            Ok(self.slots)
        } else {
            Err(first)
        }
    }

    fn next(&self) -> &'a Link<T> {
        // SAFETY: `allocate` put a link before the slots.
        let link = unsafe { block::header::<Link<T>, _>(self.slots) };
        // SAFETY: Valid and shared: as for the slots.
        unsafe { link.as_ref() }
    }

    fn nodes(&self) -> impl Iterator<Item = &'a Node<T>> + use<'a, T> {
        let slots = self.slots;
        (0..self.first().len).map(move |index| {
            // SAFETY: In bounds of the table, which lives for `'a`.
            let node = unsafe { node(slots, index) };
            // SAFETY: Valid and shared: as for the first one.
            unsafe { node.as_ref() }
        })
    }
}

/// The table that `link` leads to.
fn load<T: ?Sized>(link: &Link<T>) -> Option<Table<'_, T>> {
    let slots = NonNull::new(link.load(acquire(Site::TableRead)))?;
    // SAFETY: A table of the list, which the load has seen.
    Some(unsafe { Table::new(slots) })
}

/// The node at `index`.
///
/// # Safety
///
/// `slots` is a table of more than `index` slots, whose memory lives on.
#[inline]
pub(super) unsafe fn node<T: ?Sized>(slots: NonNull<Slot<T>>, index: usize) -> NonNull<Node<T>> {
    // SAFETY: Valid: a table has at least one slot, and its memory lives (the caller's promise).
    // Shared: a table is shown to others only complete.
    let first = unsafe { slots.as_ref() };
    debug_assert!(index < first.len, "every index is checked");
    // SAFETY: In bounds of the table's one allocation (the caller's promise).
    let slot = unsafe { slots.add(index) };
    // SAFETY: Valid: the caller's promise. Shared: as for the first one.
    NonNull::from(&**unsafe { slot.as_ref() })
}

/// Every node of every table.
pub(super) fn nodes<T: ?Sized>(list: &Link<T>) -> impl Iterator<Item = &Node<T>> {
    let tables = iter::successors(load(list), |table| load(table.next()));
    tables.flat_map(|table| table.nodes())
}

fn allocate<T: ?Sized>(
    topology: TopologyId,
    len: usize,
    lineage: NonNull<Lineage<T>>,
) -> NonNull<Slot<T>> {
    let slots = block::allocate::<Link<T>, Slot<T>>(AtomicPtr::new(ptr::null_mut()), len);
    for index in 0..len {
        let node = Node::empty(topology, len, slots.as_ptr(), lineage.as_ptr());
        // SAFETY: In bounds of the block.
        let slot = unsafe { slots.add(index) };
        // SAFETY: Valid: in the block, and aligned. Exclusive: nobody else knows it yet.
        unsafe { slot.write(Slot::new(node)) };
    }
    slots
}

/// Frees one table.
///
/// # Safety
///
/// Nobody else has a pointer into it.
unsafe fn free_one<T: ?Sized>(slots: NonNull<Slot<T>>) {
    // SAFETY: Valid: `allocate` made it.
    let len = unsafe { slots.as_ref() }.len;
    for index in 0..len {
        // SAFETY: In bounds of the block.
        let mut slot = unsafe { slots.add(index) };
        // SAFETY: Valid: `allocate` wrote it. Exclusive: the caller's promise.
        let handles = unsafe { slot.as_mut() }.counts.handles.owned();
        // A handle here would be left without its memory.
        assert_eq!(handles, 0, "a partition with handles is never freed");
        // SAFETY: As above; it is used no more.
        unsafe { slot.drop_in_place() };
    }
    // SAFETY: `allocate` made the block of `len` slots.
    unsafe { block::free::<Link<T>, _>(slots, len) };
}

/// Frees all tables.
///
/// # Safety
///
/// Nobody else has a pointer into any of them.
pub(super) unsafe fn free<T: ?Sized>(list: &mut Link<T>) {
    let mut next = list.owned();
    while let Some(slots) = NonNull::new(next) {
        // SAFETY: `allocate` put a link before the slots.
        let mut link = unsafe { block::header::<Link<T>, _>(slots) };
        // SAFETY: Valid: a table of the list. Exclusive: the caller's promise.
        next = unsafe { link.as_mut() }.owned();
        // SAFETY: The caller's promise, and the list has lost it.
        unsafe { free_one(slots) };
    }
}
