//! The two buffer traits, and the types of std and `bytes` that have them.
//!
//! Rule: the memory of a buffer stays where it is while the value moves. A driver takes the pointer
//! once, stores the value, and lets the kernel use the pointer until the operation's last
//! completion.

use std::ops::RangeBounds;
use std::rc::Rc;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::slice::Slice;

/// What an operation with an owned buffer gives back: its result, and the buffer, also after an
/// error.
///
/// Take both where the buffer is wanted again, and `.0` where the result is all:
///
/// ```
/// use corelane::io::BufResult;
/// use corelane::net::TcpStream;
///
/// async fn exchange(stream: &TcpStream) -> std::io::Result<[u8; 4]> {
///     stream.write_all("ping").await.0?;
///     let (read, answer): BufResult<(), _> = stream.read_exact(Box::new([0; 4])).await;
///     read?;
///     Ok(*answer)
/// }
/// ```
pub type BufResult<T, B> = (std::io::Result<T>, B);

/// A buffer whose initialised bytes can be written to a stream or file.
///
/// # Safety
///
/// - [`as_init_ptr`](IoBuf::as_init_ptr) is valid for reads of [`bytes_init`](IoBuf::bytes_init)
///   bytes, all initialised, and nobody writes to them while the value is neither borrowed mutably
///   nor given away.
/// - Pointer and length stay the same when the value is moved, until it is used mutably or dropped.
///
/// # Example
///
/// ```
/// use corelane::io::IoBuf;
/// assert_eq!(vec![1_u8, 2, 3].as_slice(), [1, 2, 3]);
/// assert_eq!("text".slice(1..3).as_slice(), b"ex");
/// ```
pub unsafe trait IoBuf: 'static {
    /// Points at the first byte.
    fn as_init_ptr(&self) -> *const u8;

    /// Counts the bytes that hold data.
    fn bytes_init(&self) -> usize;

    /// Shows the bytes that hold data.
    fn as_slice(&self) -> &[u8] {
        // SAFETY: Valid: the trait's contract says so. Exclusive: shared reads only, for as long as
        // `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.as_init_ptr(), self.bytes_init()) }
    }

    /// Takes the part `range` of the buffer as a buffer of its own; [`Slice::into_inner`] gives the
    /// whole back.
    ///
    /// A range without an end reaches to the end of what the buffer holds (writing) or can hold
    /// (reading).
    ///
    /// # Panics
    ///
    /// If the range starts behind the bytes that hold data, or ends before it starts.
    fn slice(self, range: impl RangeBounds<usize>) -> Slice<Self>
    where
        Self: Sized,
    {
        Slice::new(self, range)
    }
}

/// A buffer that data can be read into.
///
/// # Safety
///
/// - [`as_buf_mut_ptr`](IoBufMut::as_buf_mut_ptr) is valid for writes of
///   [`bytes_total`](IoBufMut::bytes_total) bytes, and by nobody else as long as the value is owned
///   or borrowed mutably.
/// - It points at the same place as [`as_init_ptr`](IoBuf::as_init_ptr), and stays the same when
///   the value is moved, until it is used otherwise.
///
/// # Example
///
/// ```
/// use corelane::io::IoBufMut;
/// assert!(Vec::with_capacity(512).bytes_total() >= 512);
/// assert_eq!(vec![0_u8; 4].into_boxed_slice().bytes_total(), 4);
/// ```
pub unsafe trait IoBufMut: IoBuf {
    /// Points at the first byte, to write from there.
    fn as_buf_mut_ptr(&mut self) -> *mut u8;

    /// Counts the bytes that the buffer can hold.
    fn bytes_total(&self) -> usize;

    /// Tells the buffer that its first `n` bytes hold data now.
    ///
    /// A buffer with a length of its own (`Vec`, `BytesMut`) has the length `n` afterwards; one of
    /// a fixed length (`Box<[u8]>`) ignores this.
    ///
    /// # Safety
    ///
    /// The first `n` bytes are initialised, and `n` is at most
    /// [`bytes_total`](IoBufMut::bytes_total).
    unsafe fn set_init(&mut self, n: usize);
}

/// Copies as much of `bytes` into the buffer as it can hold, sets its length, and returns how much
/// that was: a read without a stream.
#[cfg(test)]
pub(crate) fn copy_in<B: IoBufMut>(buf: &mut B, bytes: &[u8]) -> usize {
    let n = bytes.len().min(buf.bytes_total());
    let target = buf.as_buf_mut_ptr();
    // SAFETY: Valid: `n` is at most the length of both. Exclusive: `buf` is borrowed mutably, so
    // `bytes` is not in it.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, n) };
    // SAFETY: Valid: the first `n` bytes were written just now. Exclusive: `buf` is borrowed
    // mutably.
    unsafe { buf.set_init(n) };
    n
}

/// Buffers that are read alone: a type whose bytes stand on the heap, or are static, and never
/// change while owned.
macro_rules! read_only {
    ($($type:ty),* $(,)?) => {$(
        // SAFETY: The bytes of this type stand outside the value, so moving it does not move them;
        // they are all initialised, and safe code changes them through a mutable borrow of the
        // value alone.
        unsafe impl IoBuf for $type {
            fn as_init_ptr(&self) -> *const u8 {
                self.as_ptr()
            }

            fn bytes_init(&self) -> usize {
                self.len()
            }
        }
    )*};
}

read_only!(
    Vec<u8>,
    Box<[u8]>,
    Rc<[u8]>,
    Arc<[u8]>,
    String,
    Bytes,
    BytesMut,
    &'static [u8],
    &'static str
);

// SAFETY: The array stands on the heap, all initialised; the box alone owns it.
unsafe impl<const N: usize> IoBuf for Box<[u8; N]> {
    fn as_init_ptr(&self) -> *const u8 {
        (**self).as_ptr()
    }

    fn bytes_init(&self) -> usize {
        N
    }
}

// SAFETY: The allocation of `capacity` bytes belongs to this vector alone and moves only when it
// grows.
unsafe impl IoBufMut for Vec<u8> {
    fn as_buf_mut_ptr(&mut self) -> *mut u8 {
        self.as_mut_ptr()
    }

    fn bytes_total(&self) -> usize {
        self.capacity()
    }

    unsafe fn set_init(&mut self, n: usize) {
        // SAFETY: Valid: the caller promises `n` initialised bytes within the capacity. Exclusive:
        // `&mut self`.
        unsafe { self.set_len(n) };
    }
}

// SAFETY: As for `Vec`: `BytesMut` alone may write to its part of the allocation, up to its
// capacity.
unsafe impl IoBufMut for BytesMut {
    fn as_buf_mut_ptr(&mut self) -> *mut u8 {
        self.as_mut_ptr()
    }

    fn bytes_total(&self) -> usize {
        self.capacity()
    }

    unsafe fn set_init(&mut self, n: usize) {
        // SAFETY: Valid: the caller promises `n` initialised bytes within the capacity. Exclusive:
        // `&mut self`.
        unsafe { self.set_len(n) };
    }
}

// SAFETY: The box alone owns its bytes, all initialised, of a fixed length.
unsafe impl IoBufMut for Box<[u8]> {
    fn as_buf_mut_ptr(&mut self) -> *mut u8 {
        self.as_mut_ptr()
    }

    fn bytes_total(&self) -> usize {
        self.len()
    }

    unsafe fn set_init(&mut self, _n: usize) {}
}

// SAFETY: The box alone owns its bytes, all initialised, of a fixed length.
unsafe impl<const N: usize> IoBufMut for Box<[u8; N]> {
    fn as_buf_mut_ptr(&mut self) -> *mut u8 {
        (**self).as_mut_ptr()
    }

    fn bytes_total(&self) -> usize {
        N
    }

    unsafe fn set_init(&mut self, _n: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readable<B: IoBuf>(buf: B, expected: &[u8]) {
        let before = buf.as_init_ptr();
        let moved = Box::new(buf);
        assert_eq!(
            moved.as_init_ptr(),
            before,
            "the bytes moved with the value"
        );
        assert_eq!(moved.as_slice(), expected);
    }

    #[test]
    fn every_type_shows_its_bytes_and_keeps_them_in_place() {
        readable(b"abc".to_vec(), b"abc");
        readable(b"abc".to_vec().into_boxed_slice(), b"abc");
        readable(Box::new(*b"abc"), b"abc");
        readable(Rc::<[u8]>::from(&b"abc"[..]), b"abc");
        readable(Arc::<[u8]>::from(&b"abc"[..]), b"abc");
        readable(String::from("abc"), b"abc");
        readable(Bytes::copy_from_slice(b"abc"), b"abc");
        readable(BytesMut::from(&b"abc"[..]), b"abc");
        readable("abc", b"abc");
        readable(&b"abc"[..], b"abc");
        readable(Vec::new(), b"");
    }

    fn filled<B: IoBufMut>(mut buf: B) -> (usize, Vec<u8>) {
        let n = copy_in(&mut buf, b"0123456789");
        (n, buf.as_slice().to_vec())
    }

    #[test]
    fn every_mutable_type_takes_what_fits() {
        assert_eq!(filled(Vec::new()), (0, vec![]));
        assert_eq!(
            filled(vec![b'x'; 4].into_boxed_slice()),
            (4, b"0123".to_vec())
        );
        assert_eq!(filled(Box::new(*b"xxxx")), (4, b"0123".to_vec()));
        assert_eq!(filled(Vec::with_capacity(64)), (10, b"0123456789".to_vec()));
        assert_eq!(filled(vec![b'x'; 64]), (10, b"0123456789".to_vec()));
        assert_eq!(
            filled(BytesMut::with_capacity(64)),
            (10, b"0123456789".to_vec())
        );
    }
}
