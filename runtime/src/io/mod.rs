//! Owned buffers, and the traits of what reads and writes them.
//!
//! An operation takes its buffer by value and gives it back with the result ([`BufResult`]), so
//! that a driver may keep it until the kernel is done, even when the future was dropped. A buffer
//! is anything that is [`IoBuf`] (to write) or [`IoBufMut`] (to read into); [`Slice`] is a part of
//! one; a [`Chunk`] is a received piece in a buffer of the shard.
#![allow(
    unsafe_code,
    reason = "buffers hand raw memory to the kernel; each implementation argues for itself"
)]

mod buf;
mod compat;
mod pool;
mod slice;
mod traits;
mod waiters;

pub use buf::{BufResult, IoBuf, IoBufMut};
pub use compat::Compat;
pub use pool::Chunk;
pub use slice::Slice;
pub use traits::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

pub(crate) use pool::Pool;
pub(crate) use waiters::{Wait, Waiters};
