//! The reading end.

use super::ReadChunk;
use super::shared::Handle;
use super::slots::Run;
use crate::sync::{Ordering, Site, acquire, release};

/// The reading end of a [`lane()`](crate::lane()).
///
/// It may be moved to any thread and dropped there. Dropping it drops the values inside and wakes a
/// parked producer.
///
/// [`pop`](Self::pop) hands its slot back at once, but neither fences nor wakes: call
/// [`notify`](Self::notify) after a batch if the producer may wait for room. [`recv`](Self::recv)
/// does.
///
/// ```
/// let (mut producer, mut consumer) = corelane_primitives::lane(4);
/// producer.push_batch(&mut [1, 2, 3].into_iter());
/// let mut out = Vec::new();
/// assert_eq!(consumer.pop_batch(&mut out, 2), 2);
/// assert_eq!((out, consumer.len()), (vec![1, 2], 1));
/// ```
pub struct Consumer<T> {
    pub(super) shared: Handle<T>,
    /// The next position to read. Ahead of the shared head while taken slots are not yet handed
    /// back.
    head: usize,
    /// A tail seen earlier; the true one is never behind it.
    tail_seen: usize,
    pub(super) parked: bool,
}

impl<T> Consumer<T> {
    pub(super) fn new(shared: Handle<T>, start: usize) -> Self {
        Self {
            shared,
            head: start,
            tail_seen: start,
            parked: false,
        }
    }

    /// Takes the oldest value, or `None` when the lane is empty.
    ///
    /// Wait-free: at most one load of the producer's line, and one store. `None` does not tell
    /// whether the producer is gone: ask [`is_abandoned`](Self::is_abandoned), then pop once more.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.len_at_least(1) == 0 {
            return None;
        }
        // SAFETY: Valid: there is a value, as just seen. Exclusive: `&mut self`.
        let value = unsafe { self.take() };
        self.release();
        Some(value)
    }

    /// Moves up to `max` values to the end of `out` and returns how many.
    ///
    /// Their slots are handed back by one Release store. Reserves room in `out` first.
    pub fn pop_batch(&mut self, out: &mut Vec<T>, max: usize) -> usize {
        let chunk = self.read_chunk(max);
        let count = chunk.len();
        out.reserve(count);
        out.extend(chunk);
        count
    }

    /// Gives the oldest values, up to `max`, as an iterator; what it does not yield stays in the
    /// lane.
    ///
    /// When the chunk is dropped, the slots of all it yielded are handed back by one Release store.
    pub fn read_chunk(&mut self, max: usize) -> ReadChunk<'_, T> {
        let len = self.len_at_least(max.min(self.shared.slots().capacity()));
        ReadChunk::new(self, max.min(len))
    }

    /// Tells a parked producer about room, once there is as much as it waits for; returns whether
    /// this call woke it.
    ///
    /// Call it once after a batch of pops. With the producer awake it costs a SeqCst fence and a
    /// load.
    ///
    /// # Panics
    ///
    /// If the producer's waker does. The producer then counts as not yet woken.
    pub fn notify(&self) -> bool {
        let seat = &*self.shared.producer_seat;
        // Relaxed: the wish was stored before the mark that was just seen with Acquire.
        seat.parker
            .wake_if(|| self.free_slots() >= seat.wanted.load(Ordering::Relaxed))
    }

    /// Whether the producer looks parked and not yet woken: a hint, as
    /// [`Producer::consumer_looks_parked`](super::Producer::consumer_looks_parked).
    #[inline]
    pub fn producer_looks_parked(&self) -> bool {
        self.shared.producer_seat.parker.looks_parked()
    }

    /// How many values are inside now; it can only grow until the next pop.
    pub fn len(&self) -> usize {
        self.shared
            .tail
            .load(acquire(Site::LaneReadTail))
            .wrapping_sub(self.head)
    }

    /// Whether the lane is empty now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many slots the lane has.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.shared.slots().capacity()
    }

    /// Whether the producer is gone. Everything it pushed is then there to be popped, and nothing
    /// follows.
    pub fn is_abandoned(&self) -> bool {
        // Acquire, partner LaneLeave: a pop after this sees every value.
        self.shared.producer_left.load(acquire(Site::LaneReadLeft))
    }

    /// The slots from the head on that lie one behind the other, up to `count`.
    #[inline(always)]
    pub(super) fn run(&self, count: usize) -> Run<T> {
        self.shared.slots().run(self.head, count)
    }

    /// As [`take`](Self::take), out of a run that began at the head and is read in order.
    ///
    /// # Safety
    ///
    /// As for `take`; `index` counts the values taken from `run` so far.
    #[inline(always)]
    pub(super) unsafe fn take_from(&mut self, run: &Run<T>, index: usize) -> T {
        self.head = self.head.wrapping_add(1);
        // SAFETY: As in `take`.
        unsafe { run.read(index) }
    }

    /// Takes the oldest value without handing its slot back.
    ///
    /// # Safety
    ///
    /// There is one: `len_at_least` said so, and nothing was taken since that it did not count.
    #[inline(always)]
    pub(super) unsafe fn take(&mut self) -> T {
        let position = self.head;
        self.head = position.wrapping_add(1);
        // SAFETY: Valid: `position` lies before a tail that was read with Acquire, so its value is
        // there, and `head` has just passed it, so it is read once. Exclusive: the shared head has
        // not passed it, so the producer does not write it, and `&mut self` keeps out another
        // consumer.
        unsafe { self.shared.slots().read(position) }
    }

    /// The known number of values; looks at the producer's line only if fewer than `wanted` are
    /// known.
    #[inline]
    pub(super) fn len_at_least(&mut self, wanted: usize) -> usize {
        let head = self.head;
        let len = self.tail_seen.wrapping_sub(head);
        if len >= wanted {
            return len;
        }
        // Acquire, partner LanePublish: the values before the tail are in their slots.
        let tail = self.shared.tail.load(acquire(Site::LaneReadTail));
        self.tail_seen = tail;
        tail.wrapping_sub(head)
    }

    /// Hands back the slots of all values taken so far.
    #[inline]
    pub(super) fn release(&mut self) {
        // Release, partner LaneReadHead: the values are out before the producer may write there.
        self.shared
            .head
            .store(self.head, release(Site::LaneRelease));
    }

    /// How many slots the producer finds free, as far as this end can see.
    fn free_slots(&self) -> usize {
        // Relaxed: no slot is touched because of these; this end alone stores the head.
        let head = self.shared.head.load(Ordering::Relaxed);
        let tail = self.shared.tail.load(Ordering::Relaxed);
        self.capacity() - tail.wrapping_sub(head)
    }
}

impl<T> Drop for Consumer<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: The handle is not used after its end's drop, and `head` is this consumer's
        // position.
        unsafe { Handle::end_consumer(self.shared.shared(), self.head) };
    }
}

impl<T> std::fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Consumer")
            .field("capacity", &self.capacity())
            .field("len", &self.len())
            .field("is_abandoned", &self.is_abandoned())
            .finish()
    }
}
