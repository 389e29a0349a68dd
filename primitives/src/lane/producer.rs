//! The writing end.

use super::WriteChunk;
use super::shared::Handle;
use crate::Full;
use crate::sync::{Ordering, Site, acquire, release};

/// The writing end of a [`lane()`](crate::lane()).
///
/// It may be moved to any thread and dropped there. Dropping it wakes a parked consumer, which
/// still gets everything that was pushed.
///
/// [`push`](Self::push) neither fences nor wakes, so that a caller pushes what it has and then
/// calls [`notify`](Self::notify) once. A caller that polls the lane anyway never needs `notify`.
///
/// ```
/// let (mut producer, mut consumer) = corelane_primitives::lane(2);
/// assert_eq!(producer.push_batch(&mut (0..5)), 2); // two slots
/// assert!(!producer.notify()); // the consumer is awake
/// assert_eq!((consumer.pop(), consumer.pop()), (Some(0), Some(1)));
/// ```
pub struct Producer<T> {
    pub(super) shared: Handle<T>,
    /// The next position to write: the shared tail, which this end alone stores, or ahead of it by
    /// what is staged.
    tail: usize,
    /// A head seen earlier; the true one is never behind it.
    head_seen: usize,
    pub(super) parked: bool,
}

impl<T> Producer<T> {
    pub(super) fn new(shared: Handle<T>, start: usize) -> Self {
        Self {
            shared,
            tail: start,
            head_seen: start,
            parked: false,
        }
    }

    /// Pushes `value`, or hands it back when every slot is taken.
    ///
    /// Wait-free: at most one load of the consumer's line, and one store. Whether the consumer is
    /// gone is not looked at: values pushed after it left fill the slots and are dropped with this
    /// end. Ask [`is_abandoned`](Self::is_abandoned).
    ///
    /// # Errors
    ///
    /// [`Full`] when the consumer is a whole ring behind.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<(), Full<T>> {
        if self.room_at_least(1) == 0 {
            return Err(Full(value));
        }
        let tail = self.tail;
        // SAFETY: Valid: there is room, as just seen. Exclusive: `&mut self` is the only producer.
        unsafe { self.shared.slots().write(tail, value) };
        self.publish(tail.wrapping_add(1));
        Ok(())
    }

    /// As [`push`](Self::push), but the consumer sees the value only after the next
    /// [`flush`](Self::flush), push, batch or commit, when this end waits for room, or when it is
    /// dropped.
    ///
    /// A value that is seen at once costs its line a way across; staged ones share it (bench row
    /// `mesh_one_way`).
    ///
    /// # Errors
    ///
    /// [`Full`], as `push`.
    #[inline]
    pub fn stage(&mut self, value: T) -> Result<(), Full<T>> {
        if self.room_at_least(1) == 0 {
            return Err(Full(value));
        }
        // SAFETY: This is the producer, and there is room at the tail for one.
        unsafe { self.shared.slots().write(self.tail, value) };
        self.tail = self.tail.wrapping_add(1);
        Ok(())
    }

    /// Makes staged values visible by one Release store.
    #[inline]
    pub fn flush(&mut self) {
        self.publish(self.tail);
    }

    /// Pushes from `values` until the lane is full or they end, and returns how many.
    ///
    /// No value is taken from the iterator without a slot for it. All become visible by one Release
    /// store at the end. If the iterator panics, what it gave before is published.
    pub fn push_batch(&mut self, values: &mut impl Iterator<Item = T>) -> usize {
        /// Publishes what was written, also on unwinding.
        struct Batch<'a, T> {
            producer: &'a mut Producer<T>,
            written: usize,
        }
        impl<T> Drop for Batch<'_, T> {
            fn drop(&mut self) {
                self.producer
                    .publish(self.producer.tail.wrapping_add(self.written));
            }
        }

        let (fewest, most) = values.size_hint();
        let room = self.room_at_least(most.unwrap_or(fewest).min(self.capacity()));
        let mut batch = Batch {
            producer: self,
            written: 0,
        };
        while batch.written < room {
            let position = batch.producer.tail.wrapping_add(batch.written);
            let slots = batch.producer.shared.slots();
            let run = slots.run(position, room - batch.written);
            for index in 0..run.len() {
                let Some(value) = values.next() else {
                    return batch.written;
                };
                // SAFETY: Valid: fewer than `room` slots from the tail on are written. Exclusive:
                // the batch borrows the only producer mutably.
                unsafe { run.write(index, value) };
                batch.written += 1;
            }
        }
        batch.written
    }

    /// Reserves up to `slots` free slots, to be filled in place and published as one.
    ///
    /// The chunk may have fewer slots than asked for, down to none.
    ///
    /// ```
    /// let (mut producer, mut consumer) = corelane_primitives::lane(8);
    /// let mut chunk = producer.write_chunk(3);
    /// while chunk.push(7).is_ok() {}
    /// assert_eq!(chunk.commit(), 3);
    /// assert_eq!(consumer.read_chunk(8).sum::<i32>(), 21);
    /// ```
    pub fn write_chunk(&mut self, slots: usize) -> WriteChunk<'_, T> {
        let room = self.room_at_least(slots.min(self.capacity()));
        WriteChunk::new(self, slots.min(room))
    }

    /// Tells a parked consumer that there are values; returns whether this call woke it.
    ///
    /// Call it once after a batch of pushes. With the consumer awake it costs a SeqCst fence and a
    /// load.
    ///
    /// # Panics
    ///
    /// If the consumer's waker does. The consumer then counts as not yet woken.
    pub fn notify(&self) -> bool {
        self.shared.consumer_seat.wake()
    }

    /// Whether the consumer looks parked and not yet woken.
    ///
    /// A hint for who defers [`notify`](Self::notify): it costs one load of a line that changes
    /// only when the consumer parks or goes on, and does not replace the notify.
    #[inline]
    pub fn consumer_looks_parked(&self) -> bool {
        self.shared.consumer_seat.looks_parked()
    }

    /// How many slots are free now; it can only grow until the next push.
    pub fn slots(&self) -> usize {
        let head = self.shared.head.load(acquire(Site::LaneReadHead));
        self.capacity() - self.tail.wrapping_sub(head)
    }

    /// How many slots the lane has.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.shared.slots().capacity()
    }

    /// Whether the consumer is gone, so that nothing pushed from now on is ever read.
    pub fn is_abandoned(&self) -> bool {
        // Relaxed: nothing that the consumer wrote is read because of it.
        self.shared.consumer_left.load(Ordering::Relaxed)
    }

    /// The known number of free slots; looks at the consumer's line only if fewer than `wanted` are
    /// known.
    #[inline]
    pub(super) fn room_at_least(&mut self, wanted: usize) -> usize {
        let (capacity, tail) = (self.capacity(), self.tail);
        let room = capacity - tail.wrapping_sub(self.head_seen);
        if room >= wanted {
            return room;
        }
        // Acquire, partner LaneRelease: the values of the slots behind the head are out before we
        // write.
        let head = self.shared.head.load(acquire(Site::LaneReadHead));
        self.head_seen = head;
        capacity - tail.wrapping_sub(head)
    }

    /// The next position to write.
    #[inline]
    pub(super) fn tail(&self) -> usize {
        self.tail
    }

    /// Makes every position before `tail` visible. All of them have been filled.
    #[inline]
    pub(super) fn publish(&mut self, tail: usize) {
        // Release, partner LaneReadTail: the values are in their slots before the tail passes them.
        self.shared.tail.store(tail, release(Site::LanePublish));
        self.tail = tail;
    }
}

impl<T> Drop for Producer<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: The handle is not used after its end's drop.
        unsafe { Handle::end_producer(self.shared.shared(), self.tail) };
    }
}

impl<T> std::fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Producer")
            .field("capacity", &self.capacity())
            .field("slots", &self.slots())
            .field("is_abandoned", &self.is_abandoned())
            .finish()
    }
}
