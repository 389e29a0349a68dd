//! Memory of tasks and work items: a shard's cache of blocks, one list a size class.
//!
//! Owner: one shard's thread. Every block comes from the global allocator by itself, so a block may
//! be given to any shard's cache or straight back to the allocator, on any thread. Free blocks are
//! linked through their own first bytes. A task of a size seen before thus allocates nothing (bench
//! row `spawn_join`).

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;

/// Blocks are aligned to a cache line, so that two tasks never share one.
const ALIGN: usize = 64;
/// Up to here classes are multiples of 64 bytes; above, four classes a doubling.
const LINEAR_MAX: usize = 1024;
const LINEAR_CLASSES: usize = LINEAR_MAX / ALIGN;
/// Blocks above this size are not kept.
const KEPT_BYTES_MAX: usize = 1 << 20;
const CLASSES: usize = LINEAR_CLASSES + 4 * 10;
/// What all lists together keep at most; the rest goes back to the allocator.
const CACHE_BYTES_MAX: usize = 64 << 20;

/// The list of blocks that are not kept.
const NOT_KEPT: usize = CLASSES;

/// What a block is for: its list, and the layout that it is allocated with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlockClass {
    list: usize,
    layout: Layout,
}

impl BlockClass {
    /// The class of blocks for `layout`, which must not be empty.
    pub(super) const fn of(layout: Layout) -> Self {
        assert!(layout.size() > 0, "a block has at least a header");
        if layout.align() > ALIGN || layout.size() > KEPT_BYTES_MAX {
            return Self {
                list: NOT_KEPT,
                layout,
            };
        }
        let size = layout.size();
        if size <= LINEAR_MAX {
            return Self::in_list(size.div_ceil(ALIGN) - 1);
        }
        // The doubling that `size` falls into, and its quarter of that doubling, rounded up.
        let log = (size - 1).ilog2() as usize;
        let quarters = (size - (1 << log)).div_ceil((1 << log) / 4);
        Self::in_list(LINEAR_CLASSES + (log - 10) * 4 + quarters - 1)
    }

    /// The class whose free blocks are in `list`.
    const fn in_list(list: usize) -> Self {
        let size = match list.checked_sub(LINEAR_CLASSES) {
            None => (list + 1) * ALIGN,
            Some(above) => {
                let doubling = 1 << (10 + above / 4);
                doubling + (above % 4 + 1) * (doubling / 4)
            }
        };
        match Layout::from_size_align(size, ALIGN) {
            Ok(layout) => Self { list, layout },
            Err(_) => panic!("a class is far smaller than the address space"),
        }
    }
}

/// A free block: all it holds is the next one.
struct Free(Option<NonNull<Free>>);

/// Free blocks by size class.
pub(crate) struct Blocks {
    lists: [Cell<Option<NonNull<Free>>>; CLASSES],
    bytes: Cell<usize>,
}

impl Blocks {
    pub(crate) const fn new() -> Self {
        Self {
            lists: [const { Cell::new(None) }; CLASSES],
            bytes: Cell::new(0),
        }
    }

    /// A block of `class`. Its content is arbitrary.
    #[inline]
    pub(super) fn take(&self, class: BlockClass) -> NonNull<u8> {
        if let Some(list) = self.lists.get(class.list)
            && let Some(block) = list.get()
        {
            // SAFETY: Valid: a block in a list begins with a `Free`, which `give` wrote.
            // Exclusive: the list owns the block, and this thread the list.
            let Free(next) = unsafe { block.read() };
            list.set(next);
            self.bytes.set(self.bytes.get() - class.layout.size());
            return block.cast();
        }
        allocate(class)
    }

    /// Takes a block of `class` back, whichever cache it came from.
    #[inline]
    pub(super) fn give(&self, block: NonNull<u8>, class: BlockClass) {
        let bytes = self.bytes.get() + class.layout.size();
        match self.lists.get(class.list) {
            Some(list) if bytes <= CACHE_BYTES_MAX => {
                let free = block.cast::<Free>();
                // SAFETY: Valid: a kept block has 64 bytes or more, aligned to 64. Exclusive: the
                // caller gives the block away.
                unsafe { free.write(Free(list.get())) };
                list.set(Some(free));
                self.bytes.set(bytes);
            }
            _ => deallocate(block, class),
        }
    }
}

const _: () = assert!(size_of::<Free>() <= ALIGN);

impl std::fmt::Debug for Blocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blocks")
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        for (number, list) in self.lists.iter().enumerate() {
            let mut block = list.take();
            while let Some(free) = block {
                // SAFETY: As in `take`.
                let Free(next) = unsafe { free.read() };
                deallocate(free.cast(), BlockClass::in_list(number));
                block = next;
            }
        }
    }
}

#[cold]
fn allocate(class: BlockClass) -> NonNull<u8> {
    // SAFETY: Valid: a class is never empty in size, as `of` asserts. Exclusive: the block is new.
    let block = unsafe { alloc(class.layout) };
    NonNull::new(block).unwrap_or_else(|| handle_alloc_error(class.layout))
}

/// Gives a block of `class` back to the global allocator. Any thread.
pub(super) fn deallocate(block: NonNull<u8>, class: BlockClass) {
    // SAFETY: Valid: every block of a class is allocated with the layout of its class. Exclusive:
    // the caller gives the block away.
    unsafe { dealloc(block.as_ptr(), class.layout) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(size: usize, align: usize) -> BlockClass {
        BlockClass::of(Layout::from_size_align(size, align).unwrap())
    }

    #[test]
    fn every_class_holds_its_sizes_and_none_is_skipped() {
        let mut last = 0;
        for size in 1..=KEPT_BYTES_MAX {
            let BlockClass { list, layout } = class(size, 8);
            assert!(layout.size() >= size && layout.size() < size + size / 4 + 64);
            assert!(
                list == last || list == last + 1,
                "size {size} skips a class"
            );
            last = list;
        }
        assert_eq!(last, CLASSES - 1);
    }

    #[test]
    fn a_size_seen_before_takes_the_same_block() {
        let blocks = Blocks::new();
        for size in [1, 64, 65, 1_000, 1_025, 5_000, KEPT_BYTES_MAX] {
            let class = class(size, 16);
            let first = blocks.take(class);
            let other = blocks.take(class);
            blocks.give(other, class);
            blocks.give(first, class);
            assert_eq!(blocks.take(class), first);
            assert_eq!(blocks.take(class), other);
            blocks.give(first, class);
            blocks.give(other, class);
        }
    }

    #[test]
    fn large_and_strictly_aligned_blocks_are_not_kept() {
        let blocks = Blocks::new();
        for class in [class(KEPT_BYTES_MAX + 1, 8), class(256, 4_096)] {
            let block = blocks.take(class);
            assert_eq!(block.as_ptr().addr() % class.layout.align(), 0);
            blocks.give(block, class);
        }
        assert_eq!(blocks.bytes.get(), 0);
    }
}
