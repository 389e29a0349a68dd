//! The ring through which the kernel takes receive buffers.
//!
//! Owner: the shard's thread writes entries and the tail; the kernel reads them and keeps its own
//! head. Rule: an entry is written before the tail that shows it is stored with Release; the kernel
//! reads the tail with Acquire.

use std::io;
use std::mem::size_of;
use std::ptr::NonNull;

use io_uring::IoUring;
use io_uring::types::BufRingEntry;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::sync::{AtomicU16, Ordering};

/// A registered ring of provided buffers. Its memory must outlive the registration: whoever owns it
/// unregisters first.
#[derive(Debug)]
pub(super) struct BufferRing {
    entries: NonNull<BufRingEntry>,
    bytes: usize,
    mask: u16,
    /// Buffers given so far, also those that are not shown yet.
    tail: u16,
    shown: u16,
}

/// The most buffers that one ring takes.
pub(super) const BUFFERS_MAX: u16 = 1 << 15;

impl BufferRing {
    /// Maps a ring for at least `buffers` buffers and registers it under `group`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` above [`BUFFERS_MAX`]; else what the kernel says to the mapping or the
    /// registration.
    pub(super) fn register(ring: &IoUring, group: u16, buffers: u16) -> io::Result<Self> {
        let slots = buffers
            .max(1)
            .checked_next_power_of_two()
            .filter(|n| *n <= BUFFERS_MAX);
        let slots = slots.ok_or(io::ErrorKind::InvalidInput)?;
        let bytes = usize::from(slots) * size_of::<BufRingEntry>();
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let at = std::ptr::null_mut();
        // SAFETY: Valid: a new anonymous mapping at a place of the kernel's choice. Exclusive:
        // nobody else knows it.
        let memory = unsafe { mmap_anonymous(at, bytes, protection, MapFlags::PRIVATE) }?;
        let entries = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let this = Self {
            entries,
            bytes,
            mask: slots - 1,
            tail: 0,
            shown: 0,
        };
        let address = entries.as_ptr().addr() as u64;
        // SAFETY: Valid: `address` is page-aligned and holds `slots` zeroed entries until `this`
        // drops, which its owner does after the ring is closed or the group unregistered.
        // Exclusive: no other ring knows the mapping.
        unsafe {
            ring.submitter()
                .register_buf_ring_with_flags(address, slots, group, 0)
        }?;
        Ok(this)
    }

    /// Adds a buffer; the kernel sees it after [`BufferRing::publish`]. At most as many as
    /// `register` was told.
    pub(super) fn push(&mut self, id: u16, start: *mut u8, bytes: usize) {
        let index = usize::from(self.tail & self.mask);
        // SAFETY: Valid: the index is masked to the mapping's entries. Exclusive: only the address
        // is taken here.
        let entry = unsafe { self.entries.add(index) }.as_ptr();
        // SAFETY: Valid: within the mapping, zeroed, so any bits are an entry. Exclusive: the
        // kernel reads an entry only between head and tail, and there are at least as many entries
        // as buffers, so it has consumed this one; the tail, which shares the first entry's bytes,
        // is written through this thread alone.
        let entry = unsafe { &mut *entry };
        entry.set_addr(start.addr() as u64);
        entry.set_len(u32::try_from(bytes).expect("a receive buffer is shorter than 4 GiB"));
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Shows the kernel what was pushed.
    pub(super) fn publish(&mut self) {
        if self.tail == self.shown {
            return;
        }
        // SAFETY: Valid: the first entry of the mapping, as the function asks. Exclusive: only an
        // address is computed.
        let tail = unsafe { BufRingEntry::tail(self.entries.as_ptr()) };
        // SAFETY: Valid: two aligned bytes in the mapping. Exclusive: atomic, so the kernel may
        // read meanwhile.
        let shared = unsafe { AtomicU16::from_ptr(tail.cast_mut()) };
        // Release: pairs with the kernel's Acquire of the tail; the entries are written.
        shared.store(self.tail, Ordering::Release);
        self.shown = self.tail;
    }
}

impl Drop for BufferRing {
    fn drop(&mut self) {
        // SAFETY: Valid: mapped in `register` with this length. Exclusive: the owner has
        // unregistered the group or closed the ring, so the kernel does not look here any more.
        let unmapped = unsafe { munmap(self.entries.as_ptr().cast(), self.bytes) };
        debug_assert!(
            unmapped.is_ok(),
            "a mapping of our own was refused: {unmapped:?}"
        );
    }
}
