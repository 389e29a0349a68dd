//! Reads and writes with owned buffers, over the polls of any backend's stream.
//!
//! One flat future an operation: each layer of `async fn` would keep the buffer once more, and a
//! task's futures are what a shard with many streams touches most (bench `tcp`, row
//! `echo_64b_c1000`).
//!
//! Order: a buffer leaves its future only with the result, or in a drop that finds its send in the
//! kernel, which then keeps the buffer ([`Transfer::abandon`]).
#![allow(unsafe_code, reason = "buffers give room that is not initialised")]

use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, ready};

use super::uring::Flight;
use crate::io::{BufResult, IoBuf, IoBufMut, Wait, Waiters};
use crate::shard::Context;

/// A stream that receives into memory and sends from it when polled.
pub(crate) trait Transfer {
    /// Who waits for bytes.
    fn readers(&self) -> &Waiters;

    /// Who waits for room.
    fn writers(&self) -> &Waiters;

    /// Receives into `room`, or keeps the waker in `wait`.
    fn poll_recv(
        &self,
        cx: &mut TaskContext<'_>,
        wait: &Wait<'_>,
        room: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>>;

    /// Sends from `bytes`, or keeps the waker in `wait`. While `flight` names a send, the bytes
    /// stay where they are, and the next call has the same.
    fn poll_send(
        &self,
        cx: &mut TaskContext<'_>,
        wait: &Wait<'_>,
        flight: &mut Option<Flight>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>>;

    /// Keeps the buffer of a send that nobody waits for any more until the kernel is done.
    fn abandon(&self, flight: Flight, buf: impl IoBuf);

    /// Reads into an owned buffer.
    fn read<B: IoBufMut>(&self, buf: B) -> Read<'_, Self, B> {
        Read {
            stream: self,
            wait: Wait::new(self.readers()),
            buf: Some(buf),
            counted: false,
        }
    }

    /// Writes from an owned buffer what there is room for.
    fn write<B: IoBuf>(&self, buf: B) -> Write<'_, Self, B> {
        Write {
            stream: self,
            wait: Wait::new(self.writers()),
            buf: Some(buf),
            flight: None,
            counted: false,
        }
    }

    /// Writes all bytes of an owned buffer.
    fn write_all<B: IoBuf>(&self, buf: B) -> WriteAll<'_, Self, B> {
        WriteAll {
            write: self.write(buf),
            written: 0,
        }
    }
}

/// A read into an owned buffer.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Read<'a, S: ?Sized, B> {
    stream: &'a S,
    wait: Wait<'a>,
    buf: Option<B>,
    /// Whether the task's budget has this operation.
    counted: bool,
}

/// A write from an owned buffer.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Write<'a, S: Transfer + ?Sized, B: IoBuf> {
    stream: &'a S,
    wait: Wait<'a>,
    buf: Option<B>,
    flight: Option<Flight>,
    /// Whether the task's budget has this operation.
    counted: bool,
}

/// A write of all bytes of an owned buffer.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub(crate) struct WriteAll<'a, S: Transfer + ?Sized, B: IoBuf> {
    write: Write<'a, S, B>,
    written: usize,
}

/// What a future that is polled again after its end says.
const POLLED_AFTER_THE_END: &str = "a future is not polled after its end";

// The buffers are never pinned: they are moved in and out, and lend memory outside of themselves.
impl<S: ?Sized, B> Unpin for Read<'_, S, B> {}
impl<S: Transfer + ?Sized, B: IoBuf> Unpin for Write<'_, S, B> {}
impl<S: Transfer + ?Sized, B: IoBuf> Unpin for WriteAll<'_, S, B> {}

/// Takes an operation from the task's budget, once.
fn poll_counted(counted: &mut bool, cx: &TaskContext<'_>) -> Poll<()> {
    if !*counted {
        ready!(Context::poll_budget(cx));
        *counted = true;
    }
    Poll::Ready(())
}

impl<S: Transfer + ?Sized, B: IoBufMut> Future for Read<'_, S, B> {
    type Output = BufResult<usize, B>;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        ready!(poll_counted(&mut this.counted, cx));
        let buf = this.buf.as_mut().expect(POLLED_AFTER_THE_END);
        let (start, len) = (buf.as_buf_mut_ptr().cast(), buf.bytes_total());
        // SAFETY: Valid: the buffer promises room for `len` bytes. Exclusive: it is owned here and
        // not touched while this slice lives.
        let room = unsafe { std::slice::from_raw_parts_mut(start, len) };
        let result = ready!(this.stream.poll_recv(cx, &this.wait, room));
        let mut buf = this.buf.take().expect(POLLED_AFTER_THE_END);
        if let Ok(n) = result {
            // SAFETY: Valid: the first `n` bytes were received just now. Exclusive: the buffer is
            // owned here.
            unsafe { buf.set_init(n) };
        }
        Poll::Ready((result, buf))
    }
}

impl<S: Transfer + ?Sized, B: IoBuf> Write<'_, S, B> {
    /// Writes from behind the first `written` bytes.
    fn poll_from(&mut self, written: usize, cx: &mut TaskContext<'_>) -> Poll<io::Result<usize>> {
        ready!(poll_counted(&mut self.counted, cx));
        let buf = self.buf.as_ref().expect(POLLED_AFTER_THE_END);
        let bytes = &buf.as_slice()[written..];
        self.stream
            .poll_send(cx, &self.wait, &mut self.flight, bytes)
    }

    fn end<T>(&mut self, result: io::Result<T>) -> Poll<BufResult<T, B>> {
        let buf = self.buf.take().expect(POLLED_AFTER_THE_END);
        Poll::Ready((result, buf))
    }
}

impl<S: Transfer + ?Sized, B: IoBuf> Future for Write<'_, S, B> {
    type Output = BufResult<usize, B>;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let result = ready!(this.poll_from(0, cx));
        this.end(result)
    }
}

impl<S: Transfer + ?Sized, B: IoBuf> Future for WriteAll<'_, S, B> {
    type Output = BufResult<(), B>;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let Self { write, written } = self.get_mut();
        loop {
            let total = write.buf.as_ref().map_or(0, IoBuf::bytes_init);
            if *written == total {
                return write.end(Ok(()));
            }
            match ready!(write.poll_from(*written, cx)) {
                Ok(0) => return write.end(Err(io::ErrorKind::WriteZero.into())),
                Ok(n) => *written += n,
                Err(error) => return write.end(Err(error)),
            }
            write.counted = false;
        }
    }
}

impl<S: Transfer + ?Sized, B: IoBuf> Drop for Write<'_, S, B> {
    fn drop(&mut self) {
        if let (Some(flight), Some(buf)) = (self.flight.take(), self.buf.take()) {
            self.stream.abandon(flight, buf);
        }
    }
}
