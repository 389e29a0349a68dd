//! What wakes a sleeping shard: its sleep word, and two ways to ring it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};

use corelane_primitives::{Epoch, SleepWord};
use rustix::event::{EventfdFlags, eventfd};

use crate::sync::{AtomicI32, Ordering};

/// A shard's bell. It lives as long as the process, since any thread may hold a waker that rings
/// it.
#[derive(Debug)]
pub(crate) struct Bell {
    /// Says whether the shard sleeps, and whether it has been rung.
    pub(crate) sleep: SleepWord,
    event: OwnedFd,
    /// The ring of the shard that sleeps here now, or -1: the target of `MSG_RING`.
    ring: AtomicI32,
}

impl Bell {
    /// Makes a bell with an eventfd of its own.
    pub(crate) fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self {
            sleep: SleepWord::new(),
            event,
            ring: AtomicI32::new(-1),
        })
    }

    /// The eventfd, which the shard's driver watches. Its count is never needed: any write is a
    /// ring.
    pub(crate) fn event(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }

    /// The ring to send `MSG_RING` to, if the shard's driver has one.
    pub(crate) fn ring_fd(&self) -> Option<RawFd> {
        // Relaxed: the number alone is used; a stale one names a ring that is closed only after the
        // last shard stopped.
        let fd = self.ring.load(Ordering::Relaxed);
        (fd >= 0).then_some(fd)
    }

    /// Names the ring that takes `MSG_RING`, or takes the name back.
    pub(crate) fn set_ring_fd(&self, fd: Option<RawFd>) {
        self.ring.store(fd.unwrap_or(-1), Ordering::Relaxed);
    }

    /// Rings through the eventfd, from any thread, and marks the sleeper of `epoch` rung.
    pub(crate) fn ring_event(&self, epoch: Epoch) {
        loop {
            match rustix::io::write(&self.event, &1_u64.to_ne_bytes()) {
                // WOULDBLOCK: the count is at its limit, so the eventfd is readable and the ring is
                // made already.
                Ok(_) | Err(rustix::io::Errno::AGAIN) => break,
                Err(rustix::io::Errno::INTR) => {}
                // An eventfd that is owned here takes 8-byte writes; anything else is a broken
                // process.
                Err(error) => panic!("a shard's eventfd refused a write: {error}"),
            }
        }
        self.sleep.mark_rung(epoch);
    }
}

#[cfg(test)]
impl Bell {
    /// A bell for as long as the process lives, as those of shards, and no leak to a leak checker.
    pub(crate) fn for_test() -> &'static Self {
        static BELLS: std::sync::Mutex<Vec<&'static Bell>> = std::sync::Mutex::new(Vec::new());
        let bell: &'static Self = Box::leak(Box::new(Self::new().expect("an eventfd is left")));
        BELLS.lock().expect("nobody panics here").push(bell);
        bell
    }
}
