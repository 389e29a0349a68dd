//! Memory of tasks and work items: a shard's cache of blocks, one list a size class.
//!
//! Owner: one shard's thread. Every block comes from the global allocator by itself, so a block may
//! be given to any shard's cache or straight back to the allocator, on any thread.
//! A task of a size seen before thus allocates nothing (bench row `spawn_join`).

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell};
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

/// Free blocks by size class.
#[derive(Debug)]
pub(crate) struct Blocks {
    lists: RefCell<Vec<Vec<NonNull<u8>>>>,
    bytes: Cell<usize>,
}

/// The class of a layout, and the layout that blocks of that class are allocated with.
///
/// `None` for what is too large or too strictly aligned to keep.
const fn class(layout: Layout) -> (Option<usize>, Layout) {
    if layout.align() > ALIGN || layout.size() > KEPT_BYTES_MAX {
        return (None, layout);
    }
    let size = if layout.size() == 0 { 1 } else { layout.size() };
    let (class, size) = if size <= LINEAR_MAX {
        let units = size.div_ceil(ALIGN);
        (units - 1, units * ALIGN)
    } else {
        // The doubling that `size` falls into, and its quarter of that doubling, rounded up.
        let log = (size - 1).ilog2() as usize;
        let quarter = (1 << log) / 4;
        let quarters = (size - (1 << log)).div_ceil(quarter);
        (
            LINEAR_CLASSES + (log - 10) * 4 + quarters - 1,
            (1 << log) + quarters * quarter,
        )
    };
    match Layout::from_size_align(size, ALIGN) {
        Ok(layout) => (Some(class), layout),
        Err(_) => (None, layout),
    }
}

impl Blocks {
    pub(crate) fn new() -> Self {
        let lists = (0..CLASSES).map(|_| Vec::new()).collect();
        Self {
            lists: RefCell::new(lists),
            bytes: Cell::new(0),
        }
    }

    /// A block for `layout`, which must not be empty in size.
    #[inline]
    pub(crate) fn take(&self, layout: Layout) -> NonNull<u8> {
        let (class, layout) = class(layout);
        if let Some(class) = class
            && let Some(block) = self.lists.borrow_mut()[class].pop()
        {
            self.bytes.set(self.bytes.get() - layout.size());
            return block;
        }
        fresh(layout)
    }

    /// Takes back a block that was made for `layout`, by this cache, another one or none.
    #[inline]
    pub(crate) fn give(&self, block: NonNull<u8>, layout: Layout) {
        let (class, class_layout) = class(layout);
        let bytes = self.bytes.get() + class_layout.size();
        match class {
            Some(class) if bytes <= CACHE_BYTES_MAX => {
                self.lists.borrow_mut()[class].push(block);
                self.bytes.set(bytes);
            }
            _ => free(block, layout),
        }
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        for (number, list) in self.lists.get_mut().iter_mut().enumerate() {
            let layout = class_layout(number);
            for block in list.drain(..) {
                // SAFETY: Valid: blocks of a class are allocated with the layout of that class.
                // Exclusive: the list owned the block, and it has just left the list.
                unsafe { dealloc(block.as_ptr(), layout) };
            }
        }
    }
}

/// The layout that blocks of a class have: the inverse of [`class`].
fn class_layout(number: usize) -> Layout {
    let size = match number.checked_sub(LINEAR_CLASSES) {
        None => (number + 1) * ALIGN,
        Some(above) => {
            let doubling = 1 << (10 + above / 4);
            doubling + (above % 4 + 1) * (doubling / 4)
        }
    };
    Layout::from_size_align(size, ALIGN).expect("a class is far smaller than the address space")
}

fn fresh(layout: Layout) -> NonNull<u8> {
    debug_assert!(layout.size() > 0);
    // SAFETY: Valid: a task or item is never empty, it has a header, so the size is not 0.
    // Exclusive: the block is new.
    let block = unsafe { alloc(layout) };
    NonNull::new(block).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Gives a block that was made for `layout` back to the global allocator. Any thread.
pub(crate) fn free(block: NonNull<u8>, layout: Layout) {
    let (_, layout) = class(layout);
    // SAFETY: Valid: every block for a layout is allocated with the layout of its class. Exclusive:
    // the caller gives the block away.
    unsafe { dealloc(block.as_ptr(), layout) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_holds_its_sizes_and_is_its_own_inverse() {
        let mut last = 0;
        for size in 1..=KEPT_BYTES_MAX {
            let (class, layout) = class(Layout::from_size_align(size, 8).unwrap());
            let class = class.unwrap();
            assert!(layout.size() >= size && layout.size() < size + size / 4 + 64);
            assert!(
                class == last || class == last + 1,
                "size {size} skips a class"
            );
            assert_eq!(class_layout(class), layout);
            last = class;
        }
        assert_eq!(last, CLASSES - 1);
    }

    #[test]
    fn a_size_seen_before_takes_the_same_block() {
        let blocks = Blocks::new();
        for size in [1, 64, 65, 1_000, 1_025, 5_000, KEPT_BYTES_MAX] {
            let layout = Layout::from_size_align(size, 16).unwrap();
            let first = blocks.take(layout);
            blocks.give(first, layout);
            let second = blocks.take(layout);
            assert_eq!(first, second);
            blocks.give(second, layout);
        }
    }

    #[test]
    fn large_and_strictly_aligned_blocks_are_not_kept() {
        let blocks = Blocks::new();
        for layout in [
            Layout::from_size_align(KEPT_BYTES_MAX + 1, 8).unwrap(),
            Layout::from_size_align(256, 4_096).unwrap(),
        ] {
            let block = blocks.take(layout);
            assert_eq!(block.as_ptr().addr() % layout.align(), 0);
            blocks.give(block, layout);
        }
        assert_eq!(blocks.bytes.get(), 0);
    }
}
