//! The receiving end.

use super::passage::{AsIs, Passage};
use super::receive::{Batching, Receiving};
use super::shared::Shared;
use crate::claim::RingConsumer;
use crate::panics::Panics;
use crate::sync::Arc;
use crate::{Folded, RecvError};
use std::fmt;
use std::future::Future;
use std::task::{Context, Poll};

/// Items that one drain takes at most.
const DRAIN_MAX: usize = 256;

/// The receiving end of a channel, made by [`channel`](crate::channel).
///
/// There is one, and it cannot be cloned. It may be moved to any thread and dropped there. It is a
/// stream that ends when the channel is closed and everything was taken. Dropping it closes the
/// channel, wakes all who wait to send, and drops what is inside.
///
/// ```compile_fail,E0599
/// let (sender, receiver) = corelane_primitives::channel::<u32>(8);
/// let second = receiver.clone();
/// ```
///
/// Whatever it takes in one call is one drain: its places are given back together, and each send
/// that waited for one of them is woken once.
///
/// ```
/// let (sender, mut receiver) = corelane_primitives::channel(8);
/// for number in 1..=5 {
///     assert!(sender.try_send(number).is_ok());
/// }
/// let folded = receiver.fold(4, 0, |sum, number| sum + number);
/// assert_eq!((folded.acc, folded.consumed), (10, 4));
/// assert_eq!(receiver.blocking_recv(), Some(5));
/// ```
pub struct Receiver<T, P: Passage<T> = AsIs> {
    shared: Arc<Shared<T, P>>,
    pub(super) consumer: RingConsumer<P::Item>,
}

impl<T, P: Passage<T>> Receiver<T, P> {
    pub(super) fn new(shared: Arc<Shared<T, P>>, consumer: RingConsumer<P::Item>) -> Self {
        Self { shared, consumer }
    }

    /// Takes the oldest item, if there is one.
    ///
    /// # Errors
    ///
    /// [`RecvError::Empty`] when there is none now, [`RecvError::Closed`] at the end.
    ///
    /// # Panics
    ///
    /// If a sender's waker does, or a relocation. The item is dropped then.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, RecvError> {
        match self.take() {
            Some(value) => Ok(value),
            None if self.consumer.is_finished() => Err(RecvError::Closed),
            None => Err(RecvError::Empty),
        }
    }

    /// Takes the oldest item as soon as there is one; `None` once the channel is closed and empty.
    ///
    /// Completes at the first poll when there is one. Who has much to take does it in drains:
    /// [`recv_batch`](Self::recv_batch), or [`ready`](Self::ready) and [`fold`](Self::fold).
    ///
    /// # Cancel safety
    ///
    /// The item is taken in the poll that completes; a future dropped before takes nothing.
    pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
        Receiving { receiver: self }
    }

    /// Moves up to `max` items, and up to 256, to the end of `out` as soon as there is one, and
    /// says how many; 0 at the end, or if `max` is 0. `out` may grow.
    ///
    /// # Cancel safety
    ///
    /// As [`recv`](Self::recv).
    ///
    /// # Panics
    ///
    /// If a sender's waker does, or a relocation. What was taken before is in `out`.
    pub fn recv_batch<'a>(
        &'a mut self,
        out: &'a mut Vec<T>,
        max: usize,
    ) -> impl Future<Output = usize> {
        Batching {
            receiver: self,
            out,
            max,
        }
    }

    /// Gives up to `max` items, and up to 256, one by one to `f`, each with what `f` returned for
    /// the one before, `acc` for the first. Takes what is there and does not wait. Allocates
    /// nothing.
    ///
    /// # Panics
    ///
    /// If `f` does, a relocation or a sender's waker. The item at which it panics counts as taken.
    pub fn fold<A>(&mut self, max: usize, acc: A, mut f: impl FnMut(A, T) -> A) -> Folded<A> {
        let mut drain = Drain {
            shared: &self.shared,
            taken: 0,
        };
        let max = max.min(DRAIN_MAX);
        self.consumer.fold(max, acc, |acc, item| {
            drain.taken += 1;
            f(acc, P::arrive(item))
        })
    }

    /// Waits until there is an item (`true`) or the channel is closed and empty (`false`).
    ///
    /// # Cancel safety
    ///
    /// Dropped at any time it leaves nothing behind: it takes no item.
    pub fn ready(&mut self) -> impl Future<Output = bool> {
        self.consumer.ready()
    }

    /// The poll of [`ready`](Self::ready). On Pending the waker is kept and called by whoever sends
    /// next; who gives up waiting drops the receiver, or takes one needless wake.
    pub fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        self.consumer.poll_ready(cx)
    }

    /// [`recv`](Self::recv) for a plain thread: sleeps while the channel is empty. Not for a task.
    pub fn blocking_recv(&mut self) -> Option<T> {
        if self.consumer.blocking_ready() {
            self.take()
        } else {
            None
        }
    }

    /// [`ready`](Self::ready) for a plain thread. Not for a task.
    pub fn blocking_ready(&mut self) -> bool {
        self.consumer.blocking_ready()
    }

    /// Refuses all later sends, also of those who wait and of permits. What is inside can still be
    /// taken, and then the channel ends.
    ///
    /// # Panics
    ///
    /// If the waker of a sender does. The channel is closed all the same.
    pub fn close(&mut self) {
        self.shared.close();
    }

    /// Whether the channel was closed, by either side or since all senders are gone.
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// Whether the channel is closed and everything was taken.
    pub fn is_finished(&self) -> bool {
        self.consumer.is_finished()
    }

    /// How many items the channel holds at most.
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
    }

    /// How many items are inside now, never more than the capacity.
    pub fn occupancy(&self) -> usize {
        self.shared.occupancy()
    }

    #[inline]
    pub(super) fn take(&mut self) -> Option<T> {
        let item = self.consumer.pop()?;
        let drain = Drain {
            shared: &self.shared,
            taken: 1,
        };
        let value = P::arrive(item);
        drop(drain);
        Some(value)
    }
}

/// Gives the places of one drain back, also when the caller's function panics.
struct Drain<'a, T, P: Passage<T>> {
    shared: &'a Shared<T, P>,
    taken: usize,
}

impl<T, P: Passage<T>> Drop for Drain<'_, T, P> {
    #[inline]
    fn drop(&mut self) {
        if self.taken > 0 {
            self.shared.give(self.taken);
        }
    }
}

impl<T, P: Passage<T>> Drop for Receiver<T, P> {
    fn drop(&mut self) {
        let mut panics = Panics::default();
        panics.run(|| self.shared.close());
        // The consumer goes next, and drops what is inside.
        panics.resume();
    }
}

impl<T, P: Passage<T>> fmt::Debug for Receiver<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("capacity", &self.capacity())
            .field("occupancy", &self.occupancy())
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
