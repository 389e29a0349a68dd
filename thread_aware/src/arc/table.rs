//! The partitions of one topology, side by side, and the list of such tables.
//!
//! Owner: a lineage, which frees the list when its memory ends.
//! Rule: a table is complete before the Release exchange that appends it, and never changes its
//! place or length; whoever follows the list reads with Acquire. Model:
//! `topology_is_appended_while_others_read`.

use alloc::boxed::Box;
use core::{
    iter,
    ptr::{self, NonNull},
};

pub(super) use super::node::Slot;
use super::{lineage::Lineage, node::Node};
use crate::{
    affinity::TopologyId,
    sync::{AtomicPtr, Owned, Site, acquire, release},
};

/// The most partitions of one topology.
pub(super) const SLOTS_MAX: usize = 1 << 16;

/// The table of `topology`, if it is in the list.
///
/// # Errors
///
/// The length of that table, if it is not `len`.
pub(super) fn find<T: ?Sized>(
    list: &AtomicPtr<Slot<T>>,
    topology: TopologyId,
    len: usize,
) -> Result<Option<NonNull<Slot<T>>>, usize> {
    let mut link = list;
    while let Some(slots) = NonNull::new(link.load(acquire(Site::TableRead))) {
        // SAFETY: Valid: a table lives as long as the list. Shared: it was complete before the
        // Release that the load above has seen.
        let first = unsafe { slots.as_ref() };
        if first.topology == topology {
            return if first.len == len {
                Ok(Some(slots))
            } else {
                Err(first.len)
            };
        }
        link = &first.next;
    }
    Ok(None)
}

/// The table of `topology`, appended now if it was not there.
pub(super) fn find_or_append<T: ?Sized>(
    list: &AtomicPtr<Slot<T>>,
    topology: TopologyId,
    len: usize,
    lineage: *const Lineage<T>,
) -> Result<NonNull<Slot<T>>, usize> {
    if let Some(found) = find(list, topology, len)? {
        return Ok(found);
    }
    let ours = allocate(topology, len, lineage);
    let (success, failure) = (release(Site::TablePublish), acquire(Site::TableRead));
    let mut link = list;
    loop {
        match link.compare_exchange(ptr::null_mut(), ours.as_ptr(), success, failure) {
            Ok(_) => return Ok(ours),
            Err(theirs) => {
                // SAFETY: Valid: a table lives as long as the list, and this is no null, since the
                // exchange failed. Shared: it was complete before the Release just seen.
                let first = unsafe { &*theirs };
                if first.topology == topology {
                    // SAFETY: `ours` was never shown to anybody.
                    unsafe { free_one(ours) };
                    let slots = NonNull::new(theirs).filter(|_| first.len == len);
                    return slots.ok_or(first.len);
                }
                link = &first.next;
            }
        }
    }
}

/// The node at `index`.
///
/// # Safety
///
/// `slots` is a table of more than `index` slots, whose memory lives on.
#[inline]
pub(super) unsafe fn node<T: ?Sized>(slots: NonNull<Slot<T>>, index: usize) -> NonNull<Node<T>> {
    // SAFETY: In bounds of the table's one allocation (the caller's promise).
    let slot = unsafe { slots.add(index) };
    // SAFETY: Valid: the caller's promise. Shared: a table is shown to others only complete.
    NonNull::from(&**unsafe { slot.as_ref() })
}

/// Every node of every table.
pub(super) fn nodes<T: ?Sized>(list: &AtomicPtr<Slot<T>>) -> impl Iterator<Item = &Node<T>> {
    iter::successors(table_at(list), |table| table_at(&table[0].next))
        .flatten()
        .map(|slot| &**slot)
}

/// The table that `link` leads to.
fn table_at<T: ?Sized>(link: &AtomicPtr<Slot<T>>) -> Option<&[Slot<T>]> {
    let slots = NonNull::new(link.load(acquire(Site::TableRead)))?;
    // SAFETY: Valid: a table lives as long as the list. Shared: it was complete before the Release
    // that the load above has seen.
    let len = unsafe { slots.as_ref() }.len;
    let table = NonNull::slice_from_raw_parts(slots, len);
    // SAFETY: As above; this is the whole allocation.
    Some(unsafe { table.as_ref() })
}

fn allocate<T: ?Sized>(
    topology: TopologyId,
    len: usize,
    lineage: *const Lineage<T>,
) -> NonNull<Slot<T>> {
    let empty = |index| {
        Slot::new(Node::empty(
            topology,
            (index, len),
            ptr::null_mut(),
            lineage,
        ))
    };
    let table: Box<[Slot<T>]> = (0..len).map(empty).collect();
    let slots: *mut Slot<T> = Box::into_raw(table).cast();
    for index in 0..len {
        // SAFETY: In bounds of the boxed slice.
        let slot = unsafe { slots.add(index) };
        // SAFETY: Valid: a slot of the slice. Exclusive: nobody else knows it yet.
        let slot = unsafe { &mut *slot };
        slot.slots = slots;
    }
    // SAFETY: A box is never null.
    unsafe { NonNull::new_unchecked(slots) }
}

/// Frees one table.
///
/// # Safety
///
/// Nobody else has a pointer into it.
unsafe fn free_one<T: ?Sized>(slots: NonNull<Slot<T>>) {
    // SAFETY: Valid: `allocate` made it.
    let len = unsafe { slots.as_ref() }.len;
    let table = ptr::slice_from_raw_parts_mut(slots.as_ptr(), len);
    // SAFETY: Valid: it is the boxed slice that `allocate` leaked. Exclusive: the caller's promise.
    let mut table = unsafe { Box::from_raw(table) };
    for slot in &mut table {
        // A handle here would be left without its memory.
        assert_eq!(
            slot.handles.owned(),
            0,
            "a partition with handles is never freed"
        );
    }
}

/// Frees all tables.
///
/// # Safety
///
/// Nobody else has a pointer into any of them.
pub(super) unsafe fn free<T: ?Sized>(list: &mut AtomicPtr<Slot<T>>) {
    let mut next = list.owned();
    while let Some(mut slots) = NonNull::new(next) {
        // SAFETY: Valid: a table of the list. Exclusive: the caller's promise.
        next = unsafe { slots.as_mut() }.next.owned();
        // SAFETY: The caller's promise, and the list has lost it.
        unsafe { free_one(slots) };
    }
}
