//! Memory for padded values.
//!
//! Allocators serve sizes from lists of free pieces, but alignments beyond 16 bytes by a slow way
//! that splits larger pieces. So a block takes one alignment more than it needs, begins where the
//! alignment is met, and notes just before that how far it moved. A lineage is made in about half
//! the time by it: bench `relocate`, row `new_drop`.

use alloc::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use core::ptr::NonNull;

/// What stands before the values: the header, and before it the distance from the values back to
/// where the memory begins.
type Distance = usize;

/// What allocators give without being asked.
const BEGIN_ALIGN: usize = 16;

/// The bytes of both, which keep the alignment of either and of where the memory begins.
const fn note<H>() -> usize {
    assert!(align_of::<H>() <= align_of::<Distance>());
    (size_of::<Distance>() + size_of::<H>()).next_multiple_of(BEGIN_ALIGN)
}

/// The layout that is asked for, which holds `count` values wherever it begins.
fn layout<H, T>(count: usize) -> Layout {
    let values = Layout::array::<T>(count).expect("a table of at most 65,536 small slots fits");
    let slack = align_of::<T>().saturating_sub(BEGIN_ALIGN);
    let size = values.size() + slack + const { note::<H>() };
    Layout::from_size_align(size, BEGIN_ALIGN).expect("little more than the values")
}

/// Memory for `count` values, not written yet, behind `header`.
pub(super) fn allocate<H, T>(header: H, count: usize) -> NonNull<T> {
    let layout = layout::<H, T>(count);
    // SAFETY: The size is not 0.
    let Some(begin) = NonNull::new(unsafe { alloc(layout) }) else {
        handle_alloc_error(layout)
    };
    let note = const { note::<H>() };
    let past = begin.addr().get() + note;
    let distance = note + past.next_multiple_of(align_of::<T>()) - past;
    // SAFETY: In bounds: the distance is at most a note and an alignment, which `layout` added.
    let values = unsafe { begin.byte_add(distance) }.cast::<T>();
    // SAFETY: In bounds: the distance is at least a note.
    let place = unsafe { values.byte_sub(note) }.cast::<Distance>();
    // SAFETY: Valid and aligned: a whole number of words before an alignment of at least a word.
    // Exclusive: new memory.
    unsafe { place.write(distance) };
    // SAFETY: In bounds: a note is a distance and a header.
    let place = unsafe { place.add(1) }.cast::<H>();
    // SAFETY: As for the distance.
    unsafe { place.write(header) };
    values
}

/// The header that `values` were allocated behind.
///
/// # Safety
///
/// `values` came from `allocate` with this `H` and is not freed.
pub(super) unsafe fn header<H, T>(values: NonNull<T>) -> NonNull<H> {
    let back = const { note::<H>() - size_of::<Distance>() };
    // SAFETY: In bounds: `allocate` put it behind the distance, which begins the note.
    unsafe { values.byte_sub(back) }.cast()
}

/// Gives the memory back; values in it are not dropped, the header is.
///
/// # Safety
///
/// `values` came from `allocate` with this `H` and `count`, and nobody uses it any more.
pub(super) unsafe fn free<H, T>(values: NonNull<T>, count: usize) {
    // SAFETY: As the caller promised.
    let header = unsafe { header::<H, T>(values) };
    // SAFETY: Valid: `allocate` wrote it. Exclusive: the caller's promise.
    unsafe { header.drop_in_place() };
    // SAFETY: In bounds: `allocate` put the distance before the header.
    let place = unsafe { header.cast::<Distance>().sub(1) };
    // SAFETY: Valid: written by `allocate`. Exclusive: the caller's promise.
    let distance = unsafe { place.read() };
    // SAFETY: In bounds: back to where the memory begins.
    let begin = unsafe { values.byte_sub(distance) };
    // SAFETY: Allocated by `allocate` with this layout, and used no more.
    unsafe { dealloc(begin.as_ptr().cast(), layout::<H, T>(count)) };
}
