//! A part of a buffer, as a buffer of its own.

use std::ops::{Bound, RangeBounds};

use super::buf::{IoBuf, IoBufMut};

/// A part of an owned buffer, made by [`IoBuf::slice`].
///
/// Writing takes the bytes of the part that hold data; reading fills the part and never shortens
/// what the buffer held behind it.
///
/// # Example
///
/// ```
/// use corelane::io::IoBuf;
/// let part = vec![1_u8, 2, 3, 4].slice(1..3);
/// assert_eq!(part.as_slice(), [2, 3]);
/// assert_eq!(part.into_inner(), [1, 2, 3, 4]);
/// ```
#[derive(Debug)]
pub struct Slice<B> {
    inner: B,
    begin: usize,
    end: usize,
}

impl<B: IoBuf> Slice<B> {
    pub(super) fn new(inner: B, range: impl RangeBounds<usize>) -> Self {
        let begin = match range.start_bound() {
            Bound::Included(&begin) => begin,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => usize::MAX,
        };
        assert!(
            begin <= end,
            "a slice that ends at {end} cannot start at {begin}"
        );
        assert!(
            begin <= inner.bytes_init(),
            "a slice starts at {begin}, behind the data"
        );
        Self { inner, begin, end }
    }
}

impl<B> Slice<B> {
    /// Gives the whole buffer back.
    pub fn into_inner(self) -> B {
        self.inner
    }

    /// Shows the whole buffer.
    pub fn inner(&self) -> &B {
        &self.inner
    }

    /// Tells where the part begins, in bytes from the start of the buffer.
    pub fn begin(&self) -> usize {
        self.begin
    }
}

// SAFETY: A part of what the inner buffer promises: `begin` is within its initialised bytes
// (checked when made; the inner buffer is never shortened here), and the end is held to them.
unsafe impl<B: IoBuf> IoBuf for Slice<B> {
    fn as_init_ptr(&self) -> *const u8 {
        self.inner.as_init_ptr().wrapping_add(self.begin)
    }

    fn bytes_init(&self) -> usize {
        self.end
            .min(self.inner.bytes_init())
            .saturating_sub(self.begin)
    }
}

// SAFETY: As above, for the bytes that the inner buffer can hold.
unsafe impl<B: IoBufMut> IoBufMut for Slice<B> {
    fn as_buf_mut_ptr(&mut self) -> *mut u8 {
        self.inner.as_buf_mut_ptr().wrapping_add(self.begin)
    }

    fn bytes_total(&self) -> usize {
        self.end
            .min(self.inner.bytes_total())
            .saturating_sub(self.begin)
    }

    unsafe fn set_init(&mut self, n: usize) {
        let filled = self.begin + n;
        if filled > self.inner.bytes_init() {
            // SAFETY: Valid: everything before `begin` was initialised when the slice was made, and
            // the caller promises `n` bytes from there. Exclusive: `&mut self`.
            unsafe { self.inner.set_init(filled) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::buf::copy_in;
    use super::*;

    #[test]
    fn reading_into_a_slice_leaves_the_rest_alone() {
        let mut part = b"0123456789".to_vec().slice(2..5);
        assert_eq!(copy_in(&mut part, b"abcdef"), 3);
        assert_eq!(part.into_inner(), b"01abc56789");
    }

    #[test]
    fn reading_into_the_spare_room_makes_the_buffer_longer() {
        let mut buf = Vec::with_capacity(16);
        buf.extend_from_slice(b"01");
        let mut part = buf.slice(2..);
        assert_eq!(copy_in(&mut part, b"23"), 2);
        assert_eq!(part.as_slice(), b"23");
        assert_eq!(part.into_inner(), b"0123");
    }

    #[test]
    fn slices_nest_and_clamp() {
        let part = b"0123456789".to_vec().slice(1..=8).slice(2..100);
        assert_eq!(part.as_slice(), b"345678");
        assert_eq!(part.into_inner().into_inner(), b"0123456789");
    }

    #[test]
    fn an_empty_slice_holds_nothing() {
        let mut part = b"01".to_vec().slice(2..2);
        assert_eq!(part.as_slice(), b"");
        assert_eq!(copy_in(&mut part, b"x"), 0);
    }

    #[test]
    #[should_panic(expected = "behind the data")]
    fn a_slice_that_starts_behind_the_data_is_refused() {
        let _ = Vec::with_capacity(8).slice(1..);
    }
}
