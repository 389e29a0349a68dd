//! Writing many values for one store.

use super::Producer;
use crate::Full;

/// Free slots of a lane, made by [`Producer::write_chunk`].
///
/// Values pushed here stand in their final slots but are invisible until [`commit`](Self::commit)
/// publishes them all by one Release store. Dropped without it, the chunk drops them and publishes
/// nothing; forgotten, it leaks them.
pub struct WriteChunk<'a, T> {
    producer: &'a mut Producer<T>,
    slots: usize,
    filled: usize,
}

impl<'a, T> WriteChunk<'a, T> {
    pub(super) fn new(producer: &'a mut Producer<T>, slots: usize) -> Self {
        Self {
            producer,
            slots,
            filled: 0,
        }
    }

    /// How many slots are still to be filled.
    pub fn slots(&self) -> usize {
        self.slots - self.filled
    }

    /// How many slots are filled.
    pub fn len(&self) -> usize {
        self.filled
    }

    /// Whether no slot is filled yet.
    pub fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Fills the next slot.
    ///
    /// # Errors
    ///
    /// [`Full`] when every slot of the chunk is filled.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<(), Full<T>> {
        if self.filled == self.slots {
            return Err(Full(value));
        }
        let position = self.producer.tail().wrapping_add(self.filled);
        // SAFETY: Valid: the producer found `slots` slots free when it made the chunk. Exclusive:
        // the chunk borrows the only producer mutably.
        unsafe { self.producer.shared.slots().write(position, value) };
        self.filled += 1;
        Ok(())
    }

    /// Publishes all filled slots by one Release store and returns how many. Nobody is woken by it.
    pub fn commit(mut self) -> usize {
        let filled = std::mem::take(&mut self.filled);
        let tail = self.producer.tail().wrapping_add(filled);
        self.producer.publish(tail);
        filled
    }

    /// Takes the value filled last back out.
    fn take_back(&mut self) -> Option<T> {
        self.filled = self.filled.checked_sub(1)?;
        let position = self.producer.tail().wrapping_add(self.filled);
        // SAFETY: Valid: this chunk has filled `position`, and `filled` no longer counts it, so it
        // is read once. Exclusive: the tail has not passed it, so the consumer does not read it,
        // and the chunk borrows the producer mutably.
        Some(unsafe { self.producer.shared.slots().read(position) })
    }
}

impl<T> Drop for WriteChunk<'_, T> {
    fn drop(&mut self) {
        // A panicking value leaks those before it; the lane stays whole.
        while let Some(value) = self.take_back() {
            drop(value);
        }
    }
}

impl<T> std::fmt::Debug for WriteChunk<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteChunk")
            .field("slots", &self.slots())
            .field("len", &self.filled)
            .finish()
    }
}
