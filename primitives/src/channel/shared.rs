//! One channel as its ends share it.

use super::credits::Credits;
use super::passage::Passage;
use crate::claim::{Ring, RingConsumer};
use crate::panics::Panics;
use crate::sync::{AtomicU64, Ordering, pause};
use crate::timers::Clock;
use crate::waiters::WaitList;
use crate::{ChannelError, Closed, PushError, RingError};
use std::sync::Arc as StdArc;

/// Items that a handle which has waited may send in one turn.
const RUN: usize = 64;

/// How many items a handle may still send in its turn. Relaxed throughout: tasks that share a
/// handle may make its turn a little longer, and no more than that.
pub(super) struct Run(AtomicU64);

impl Run {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Its turn has come, and one item of it is sent.
    pub(super) fn begin(&self) {
        self.0.store(RUN as u64 - 1, Ordering::Relaxed);
    }
}

/// What who wants credits is told. Only the ring knows whether the channel is closed: credits that
/// were taken say nothing about that.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Credit {
    Taken,
    Full,
    Closed,
}

pub(super) struct Shared<T, P: Passage<T>> {
    credits: Credits,
    /// Who waits for credits.
    pub(super) waiters: WaitList,
    /// How many of them want more than one.
    bulk: AtomicU64,
    /// Who waits for the close.
    pub(super) closing: WaitList,
    /// Handles that can send.
    senders: AtomicU64,
    pub(super) clock: Clock,
    ring: Ring<P::Item>,
}

impl<T, P: Passage<T>> Shared<T, P> {
    /// A channel with one sender, and the reading end of its ring.
    pub(super) fn new(
        capacity: usize,
        timers: Option<StdArc<dyn crate::Timers>>,
    ) -> Result<(Self, RingConsumer<P::Item>), ChannelError> {
        let slots = match capacity {
            0 => return Err(ChannelError::Capacity(0)),
            _ => capacity.checked_next_power_of_two(),
        };
        let slots = slots.ok_or(ChannelError::Capacity(capacity))?;
        let made = Ring::builder(slots).without_claims().build();
        let (ring, consumer) = made.map_err(|error| match error {
            RingError::Memory(_) => ChannelError::Memory(capacity),
            _ => ChannelError::Capacity(capacity),
        })?;
        let shared = Self {
            credits: Credits::new(capacity),
            waiters: WaitList::new(),
            bulk: AtomicU64::new(0),
            closing: WaitList::new(),
            senders: AtomicU64::new(1),
            clock: Clock::new(timers),
            ring,
        };
        Ok((shared, consumer))
    }

    pub(super) fn capacity(&self) -> usize {
        self.credits.capacity()
    }

    pub(super) fn occupancy(&self) -> usize {
        self.ring.occupancy()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.ring.is_closed()
    }

    /// Takes `count` credits, whoever waits. Closed comes before Full.
    #[inline]
    pub(super) fn take(&self, count: usize) -> Credit {
        match self.credits.take(count) {
            true => Credit::Taken,
            false => self.refusal(),
        }
    }

    /// Takes `count` credits unless others wait for theirs and it is not the handle's turn. Closed
    /// comes before Full.
    #[inline]
    pub(super) fn try_take(&self, count: usize, run: &Run) -> Credit {
        if self.waiters.is_idle() {
            return self.take(count);
        }
        if count == 1 && self.go_on(run) {
            return Credit::Taken;
        }
        self.refusal()
    }

    /// Takes a credit for the next item of a handle's turn, while others wait. It leaves all that
    /// they were granted.
    fn go_on(&self, run: &Run) -> bool {
        let left = run.0.load(Ordering::Relaxed);
        let kept = if left == 0 || self.is_exact() {
            self.capacity()
        } else {
            self.turns(self.capacity())
        };
        let taken = self.credits.take_beyond(kept, 1);
        if taken {
            run.0.store(left - 1, Ordering::Relaxed);
        }
        taken
    }

    #[cold]
    fn refusal(&self) -> Credit {
        if self.is_closed() {
            Credit::Closed
        } else {
            Credit::Full
        }
    }

    /// How many credits those on the list may count on.
    ///
    /// Each that comes to its turn uses up to `RUN` of what is free, so no more are told than will
    /// find something; whoever leaves the list has the rest counted anew. As many as one likes when
    /// each finds the channel closed.
    pub(super) fn free(&self) -> usize {
        if self.is_closed() {
            return usize::MAX;
        }
        let free = self.credits.free();
        if self.is_exact() {
            return free;
        }
        free.min(self.turns(free))
    }

    /// Whether each place that is free is granted: a small channel has none for turns, and who
    /// wants many must be seen to get them.
    fn is_exact(&self) -> bool {
        self.capacity() < RUN || self.bulk.load(Ordering::Relaxed) > 0
    }

    /// How many turns so many free places are for.
    fn turns(&self, free: usize) -> usize {
        1 + free / RUN
    }

    /// Somebody begins to wait for more than one credit. Counted before it is on the list.
    pub(super) fn add_bulk(&self) {
        self.bulk.fetch_add(1, Ordering::Relaxed);
    }

    /// Somebody no longer waits for more than one credit. Counted before it leaves the list.
    pub(super) fn remove_bulk(&self) {
        self.bulk.fetch_sub(1, Ordering::Relaxed);
    }

    /// What those are granted who wait for the close.
    pub(super) fn ended(&self) -> usize {
        if self.is_closed() { usize::MAX } else { 0 }
    }

    /// Gives `count` credits back, and tells those who wait.
    ///
    /// # Panics
    ///
    /// If the waker of one of them does.
    #[inline]
    pub(super) fn give(&self, count: usize) {
        self.credits.give(count);
        self.waiters.notify(|| self.free());
    }

    /// Sends `value` on a credit that the caller has taken, and that is the item's from now on.
    #[inline]
    pub(super) fn push(&self, value: T) -> Result<(), Closed<T>> {
        let mut item = P::pack(value);
        loop {
            match self.ring.push(item) {
                Ok(()) => return Ok(()),
                // The credit says that a slot is free. The news of it, which move on their own, are
                // late: the next look finds them.
                Err(PushError::Full(refused)) => {
                    item = refused;
                    pause(1);
                }
                Err(refused) => {
                    self.give(1);
                    return Err(Closed(P::refuse(refused.into_inner())));
                }
            }
        }
    }

    /// Refuses all later sends, and ends all waits.
    pub(super) fn close(&self) {
        let mut panics = Panics::default();
        // One step, for all that is ever told: who was told by one call is told so by all others.
        panics.run(|| self.ring.close());
        panics.run(|| self.waiters.notify(|| self.free()));
        panics.run(|| self.closing.notify(|| self.ended()));
        panics.resume();
    }

    pub(super) fn add_sender(&self) {
        // Relaxed: it is counted through a handle that is counted already.
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    /// A sender goes; the last one closes the channel.
    pub(super) fn remove_sender(&self) {
        // Relaxed: only the number counts. Closing stands behind every send in the ring's order.
        if self.senders.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.close();
        }
    }

    /// One more sender, unless the last one has gone.
    pub(super) fn try_add_sender(&self) -> bool {
        let mut senders = self.senders.load(Ordering::Relaxed);
        while senders > 0 {
            let counted = self.senders.compare_exchange(
                senders,
                senders + 1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match counted {
                Ok(_) => return true,
                Err(now) => senders = now,
            }
        }
        false
    }
}
