//! Receiving: the stash first, then at once, then by an armed receive.
//!
//! Order: a multishot receive delivers into the stash, so nothing is received at once while one is
//! armed; bytes keep their order, and a dropped read leaves them where they are. A stash that
//! nobody empties ends its receive ([`STASH_CHUNKS`], [`STASH_BYTES`]), so that one connection
//! cannot drain the shard's buffers.

use std::io;
use std::mem::MaybeUninit;
use std::rc::Rc;
use std::task::{Context, Poll};

use io_uring::{opcode, types::Fd};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::driver::{BUFFER_GROUP, Op};
use super::slots::Key;
use super::stream::Socket;
use crate::io::{Chunk, Wait};

/// Chunks that a stream may hold before its receive is ended.
const STASH_CHUNKS: usize = 16;
/// Bytes that a stream may hold before its receive is ended.
const STASH_BYTES: usize = 64 * 1024;

/// Small pieces in a row after which a stream no longer counts as one of large pieces.
const BULK_HOLD: u8 = 16;

/// Receives at once that are left out after one that found nothing.
const SKIPS: u8 = 15;

/// What comes behind the bytes that have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// More, as far as is known.
    Open,
    /// Nothing: the peer has sent everything.
    Finished,
    /// An error, to be told once.
    Failed(Errno),
}

/// What a try to read came to.
enum Tried<T> {
    Ready(io::Result<T>),
    Wait,
}

impl Socket {
    pub(super) fn poll_read(
        self: &Rc<Self>,
        wait: &Wait<'_>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let (start, len) = (buf.as_mut_ptr().cast::<MaybeUninit<u8>>(), buf.len());
        // SAFETY: Valid: the bytes of `buf`, which are initialised and stay so: only received bytes
        // are written. Exclusive: `buf` is borrowed mutably and not used while this slice lives.
        let room = unsafe { std::slice::from_raw_parts_mut(start, len) };
        self.poll_into(wait, cx, room)
    }

    pub(super) fn poll_into(
        self: &Rc<Self>,
        wait: &Wait<'_>,
        cx: &mut Context<'_>,
        room: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        if room.is_empty() {
            return Poll::Ready(Ok(0));
        }
        match self.try_into(room) {
            Tried::Ready(result) => Poll::Ready(result),
            Tried::Wait => {
                wait.wait(cx.waker());
                Poll::Pending
            }
        }
    }

    fn try_into(self: &Rc<Self>, room: &mut [MaybeUninit<u8>]) -> Tried<usize> {
        let stashed = self.take_stashed(room);
        if stashed > 0 {
            return Tried::Ready(Ok(stashed));
        }
        if let Some(ended) = self.take_end() {
            return Tried::Ready(ended.map(|()| 0));
        }
        if let Some(key) = self.receive.get() {
            if self.is_bulk() && room.len() > self.driver.pool().slot_bytes() {
                self.end_receive(key);
            }
            return Tried::Wait;
        }
        if self.hot.get() {
            return Tried::Wait;
        }
        let received = if self.expects_nothing() {
            Ok(None)
        } else {
            self.receive_now(room)
        };
        match received {
            Ok(Some(n)) => Tried::Ready(Ok(n)),
            Ok(None) => self
                .arm_read()
                .map_or_else(|error| Tried::Ready(Err(error)), |()| Tried::Wait),
            Err(error) => Tried::Ready(Err(error.into())),
        }
    }

    /// Receives at once; `None` when nothing has arrived.
    pub(super) fn receive_now(&self, room: &mut [MaybeUninit<u8>]) -> Result<Option<usize>, Errno> {
        loop {
            match rustix::net::recv(&self.fd, &mut *room, RecvFlags::DONTWAIT) {
                Ok((_, n)) => {
                    self.driver.counters().inline_io.add(1);
                    if n == 0 {
                        self.end.set(End::Finished);
                    }
                    self.measure(n > self.driver.pool().slot_bytes());
                    return Ok(Some(n));
                }
                Err(Errno::AGAIN) => {
                    self.skips.set(SKIPS);
                    return Ok(None);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether bytes come in larger pieces than the shard's buffers.
    fn is_bulk(&self) -> bool {
        self.bulk.get() > 0
    }

    /// Whether a receive at once is likely to find nothing, as the last one did. A poll, which the
    /// reader then needs, tells as well and costs no call of its own; now and then it is tried all
    /// the same.
    fn expects_nothing(&self) -> bool {
        if self.polled.replace(false) || !self.is_bulk() {
            return false;
        }
        let skips = self.skips.get();
        self.skips.set(skips.saturating_sub(1));
        skips > 0
    }

    /// Takes in whether the last piece was larger than a receive buffer. The end of a large message
    /// is a small piece: it takes some of those in a row to change the way back.
    pub(super) fn measure(&self, large: bool) {
        self.bulk.set(if large {
            BULK_HOLD
        } else {
            self.bulk.get().saturating_sub(1)
        });
    }

    pub(super) fn poll_read_chunk(
        self: &Rc<Self>,
        wait: &Wait<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Chunk>> {
        match self.try_chunk() {
            Tried::Ready(result) => Poll::Ready(result),
            Tried::Wait => {
                wait.wait(cx.waker());
                Poll::Pending
            }
        }
    }

    fn try_chunk(self: &Rc<Self>) -> Tried<Chunk> {
        let stashed = self.stash.borrow_mut().pop();
        if let Some(chunk) = stashed {
            return Tried::Ready(Ok(chunk));
        }
        if let Some(ended) = self.take_end() {
            return Tried::Ready(ended.map(|()| Chunk::end()));
        }
        if self.receive.get().is_some() || self.hot.get() {
            return Tried::Wait;
        }
        match self.chunk_now() {
            Ok(Some(chunk)) => Tried::Ready(Ok(chunk)),
            Ok(None) => Tried::Wait,
            Err(error) => Tried::Ready(Err(error)),
        }
    }

    /// Receives at once into a buffer of the pool, and else sees to the wake.
    fn chunk_now(self: &Rc<Self>) -> io::Result<Option<Chunk>> {
        let pool = self.driver.pool();
        let Some(id) = pool.take() else {
            // A receive still finds one that the kernel has. A poll would not do: it would come at
            // once when there are bytes, for a reader without a buffer.
            if self.driver.given.get() > 0 {
                self.arm()?;
            } else {
                self.starve();
            }
            return Ok(None);
        };
        let received = pool.fill(id, |slot| {
            let (start, len) = (slot.as_mut_ptr().cast::<MaybeUninit<u8>>(), slot.len());
            // SAFETY: Valid: the bytes of `slot`, initialised before and after. Exclusive: `slot`
            // is borrowed mutably and not used while this slice lives.
            self.receive_now(unsafe { std::slice::from_raw_parts_mut(start, len) })
        });
        match received {
            Ok(Some(n)) if n > 0 => Ok(Some(pool.chunk(id, n))),
            Ok(Some(_)) => {
                pool.give_back(id);
                Ok(Some(Chunk::end()))
            }
            Ok(None) => {
                pool.give_back(id);
                self.arm().map(|()| None)
            }
            Err(error) => {
                pool.give_back(id);
                Err(error.into())
            }
        }
    }

    /// Copies stashed bytes into `room`, as many as fit.
    fn take_stashed(&self, room: &mut [MaybeUninit<u8>]) -> usize {
        let mut taken = 0;
        while taken < room.len() {
            let (n, spent) = self.stash.borrow_mut().copy(&mut room[taken..]);
            if n == 0 {
                break;
            }
            taken += n;
            drop(spent);
        }
        taken
    }

    /// The end, if it has come: for ever when the peer has finished, once for an error.
    fn take_end(&self) -> Option<io::Result<()>> {
        match self.end.get() {
            End::Open => None,
            End::Finished => Some(Ok(())),
            End::Failed(error) => {
                self.end.set(End::Open);
                Some(Err(error.into()))
            }
        }
    }

    /// Arms what wakes a reader into its own buffer. Where bytes come in larger pieces than the
    /// shard's buffers that is a poll: received at once, they are copied once (bench `tcp`, row
    /// `echo_16k_c64`).
    fn arm_read(self: &Rc<Self>) -> io::Result<()> {
        if self.is_bulk() {
            self.arm_poll()
        } else {
            self.arm()
        }
    }

    /// Makes this the hot stream, or arms a receive.
    fn arm(self: &Rc<Self>) -> io::Result<()> {
        if self.driver.heat(self) {
            return Ok(());
        }
        self.arm_receive()
    }

    /// Arms a multishot receive, or a poll where that or its buffers are missing.
    pub(super) fn arm_receive(self: &Rc<Self>) -> io::Result<()> {
        let driver = &self.driver;
        driver.feed();
        if driver.given.get() == 0 {
            return self.arm_poll();
        }
        let receive = opcode::RecvMulti::new(Fd(self.raw_fd()), BUFFER_GROUP).build();
        let key = driver.start(Op::Receive(Rc::clone(self)), receive)?;
        self.receive.set(Some(key));
        self.receive_ends.set(false);
        Ok(())
    }

    pub(super) fn arm_poll(self: &Rc<Self>) -> io::Result<()> {
        if self.readable.get().is_none() {
            let key = self.poll_once(Op::Readable(Rc::clone(self)), PollFlags::IN)?;
            self.readable.set(Some(key));
        }
        Ok(())
    }

    /// Queues this socket for the next receive buffer that returns.
    fn starve(self: &Rc<Self>) {
        if !self.starved.replace(true) {
            self.driver.counters().buffers_exhausted.add(1);
            self.driver.starved.borrow_mut().push_back(Rc::clone(self));
        }
    }

    /// A receive buffer has returned.
    pub(super) fn fed(&self) {
        self.starved.set(false);
        self.readers.wake_all();
    }

    /// A multishot receive has delivered, or ended.
    pub(super) fn received(&self, result: i32, buffer: Option<u16>, last: bool) {
        if last {
            self.receive.set(None);
        }
        if let Some(id) = buffer {
            let len = usize::try_from(result).unwrap_or(0);
            let chunk = self.driver.pool().chunk(id, len);
            self.measure(len == self.driver.pool().slot_bytes());
            if self.open.get() && len > 0 {
                self.stash.borrow_mut().push(chunk);
                self.limit_stash();
            }
        }
        if result == 0 {
            self.end.set(End::Finished);
        } else if result < 0 {
            match Errno::from_raw_os_error(-result) {
                Errno::NOBUFS => self.driver.ran_dry(),
                // Asked for, or a signal: whoever reads on arms again.
                Errno::CANCELED | Errno::INTR | Errno::AGAIN => {}
                error => self.end.set(End::Failed(error)),
            }
        }
        self.readers.wake_all();
    }

    /// Ends the receive of a stash that nobody empties.
    fn limit_stash(&self) {
        let full = {
            let stash = self.stash.borrow();
            stash.chunks() >= STASH_CHUNKS || stash.bytes() >= STASH_BYTES
        };
        if let (true, Some(key)) = (full, self.receive.get()) {
            self.end_receive(key);
        }
    }

    /// Asks the kernel, once, to end the receive in flight.
    fn end_receive(&self, key: Key) {
        if !self.receive_ends.replace(true) {
            self.driver.cancel(key);
        }
    }

    /// A poll for bytes has ended.
    pub(super) fn readable(&self) {
        self.readable.set(None);
        self.polled.set(true);
        self.readers.wake_all();
    }
}
