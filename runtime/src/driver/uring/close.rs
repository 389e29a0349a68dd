//! The end of a driver: cancel, reap, and what stays open after it.

use std::io;
use std::time::Duration;

use io_uring::{IoUring, opcode};

use super::driver::{BUFFER_GROUP, Uring};
use super::ring::{Block, Ring};
use super::slots::Key;
use super::stream::Socket;
use super::token::Token;
use crate::time::Instant;

/// How long one wait for completions lasts before the cancel is said again.
const ROUND: Duration = Duration::from_millis(20);

/// A closed driver's ring, kept so that its descriptor's number names nothing else.
///
/// Other shards send ring messages by that number until they have stopped. Drop this after the last
/// one has.
pub(crate) struct RingKeepalive {
    _ring: IoUring,
}

impl std::fmt::Debug for RingKeepalive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RingKeepalive").finish_non_exhaustive()
    }
}

impl Uring {
    /// As [`Driver::close`](crate::driver::Driver::close).
    ///
    /// What is in flight after `limit` stays with the kernel: its buffers, descriptors and the
    /// receive buffers are leaked on purpose, since the kernel may still write to them. The count
    /// that is returned says how many.
    pub(crate) fn close(&self, limit: Duration) -> io::Result<usize> {
        self.bell.set_ring_fd(None);
        self.closing.set(true);
        self.cool(Socket::arm_receive);
        for socket in std::mem::take(&mut *self.starved.borrow_mut()) {
            socket.fed();
        }
        let deadline = Instant::now().saturating_add(limit);
        let mut cancelled = false;
        while self.in_flight() > 0 {
            let left = deadline.duration_since(Instant::now());
            // What waits behind a full queue goes first: a cancel finds only what was submitted.
            if !cancelled && !self.has_backlog() {
                self.cancel_all();
                cancelled = true;
            }
            let before = self.in_flight();
            self.reap_for(left.min(ROUND))?;
            cancelled &= self.in_flight() < before || self.has_backlog();
            if left.is_zero() {
                break;
            }
        }
        self.finish()
    }

    /// Takes the ring out of a closed driver. The caller keeps it until every shard has stopped.
    pub(crate) fn release_ring(&self) -> Option<RingKeepalive> {
        if !self.closing.get() {
            return None;
        }
        let ring = self.ring.borrow_mut().take()?;
        Some(RingKeepalive {
            _ring: ring.into_inner(),
        })
    }

    /// Operations in flight, with the poll on the bell.
    pub(super) fn in_flight(&self) -> usize {
        self.slots.borrow().live() + usize::from(self.bell_armed.get())
    }

    /// Delivers completions until one came or `time` is over.
    pub(super) fn reap_for(&self, time: Duration) -> io::Result<()> {
        let entered = match &mut *self.ring.borrow_mut() {
            Some(ring) if ring.has_backlog() => ring.enter(Block::No),
            Some(ring) => ring.enter(Block::For(time)),
            None => Ok(()),
        };
        self.after_enter();
        entered
    }

    fn has_backlog(&self) -> bool {
        self.ring.borrow().as_ref().is_some_and(Ring::has_backlog)
    }

    /// Cancels each operation by its name. One cancel for all would be quadratic in the kernel,
    /// which starts its search anew for each that it finds: half a second for 10,000.
    fn cancel_all(&self) {
        let keys: Vec<Key> = self.slots.borrow().keys().collect();
        for key in keys {
            self.cancel(key);
        }
        if let Some(ring) = &mut *self.ring.borrow_mut() {
            let bell = opcode::AsyncCancel::new(Token::Bell.pack()).build();
            ring.push(bell.user_data(Token::Ignore.pack()));
        }
    }

    /// Frees what the kernel is done with and leaks the rest.
    fn finish(&self) -> io::Result<usize> {
        self.messages.borrow_mut().abandon();
        let leaked = self.slots.borrow_mut().leak();
        self.counters().leaked_operations.add(leaked as u64);
        let Some(buffers) = self.buffers.borrow_mut().take() else {
            return Ok(leaked);
        };
        let unregistered = match &*self.ring.borrow() {
            Some(ring) => ring.inner().submitter().unregister_buf_ring(BUFFER_GROUP),
            None => Ok(()),
        };
        if leaked > 0 || unregistered.is_err() {
            // A receive may still be on its way into these.
            std::mem::forget(buffers);
            std::mem::forget(std::rc::Rc::clone(self.pool()));
        }
        Ok(leaked)
    }
}

impl Drop for Uring {
    /// A driver that was not closed (its shard's thread unwinds) cancels and reaps for a moment,
    /// then leaks.
    fn drop(&mut self) {
        if !self.closing.get()
            && let Err(error) = self.close(ROUND)
        {
            tracing::warn!(%error, "a ring could not be closed");
        }
    }
}
