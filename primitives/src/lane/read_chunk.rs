//! Reading many values for one store.

use super::Consumer;
use std::iter::FusedIterator;

/// The oldest values of a lane, made by [`Consumer::read_chunk`].
///
/// It yields values from the lane itself. Dropped, it hands back the slots of those it yielded by
/// one Release store; the others stay first in the lane. Forgotten, it delays that to the next pop.
///
/// ```
/// let (mut producer, mut consumer) = corelane_primitives::lane(4);
/// producer.push_batch(&mut (1..=3));
/// assert_eq!(consumer.read_chunk(3).next(), Some(1));
/// assert_eq!(consumer.read_chunk(3).collect::<Vec<_>>(), [2, 3]);
/// ```
pub struct ReadChunk<'a, T> {
    consumer: &'a mut Consumer<T>,
    /// How many values are still to be yielded.
    left: usize,
}

impl<'a, T> ReadChunk<'a, T> {
    pub(super) fn new(consumer: &'a mut Consumer<T>, len: usize) -> Self {
        Self {
            consumer,
            left: len,
        }
    }
}

impl<T> Iterator for ReadChunk<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: Valid: the consumer knew of `left` values when it made the chunk, and one less
        // each time. Exclusive: the chunk borrows the consumer mutably, so only it takes.
        Some(unsafe { self.consumer.take() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    /// As `next` until the end, by runs of slots (bench row `one_way_batch`).
    #[inline]
    fn fold<B, F: FnMut(B, T) -> B>(mut self, init: B, mut f: F) -> B {
        let mut folded = init;
        while self.left > 0 {
            let run = self.consumer.run(self.left);
            for index in 0..run.len() {
                self.left -= 1;
                // SAFETY: Valid: the consumer knew of `left` values when it made the chunk, and one
                // less each time. Exclusive: the chunk borrows the consumer mutably.
                let value = unsafe { self.consumer.take_from(&run, index) };
                folded = f(folded, value);
            }
        }
        folded
    }
}

impl<T> ExactSizeIterator for ReadChunk<'_, T> {}

impl<T> FusedIterator for ReadChunk<'_, T> {}

impl<T> Drop for ReadChunk<'_, T> {
    fn drop(&mut self) {
        self.consumer.release();
    }
}

impl<T> std::fmt::Debug for ReadChunk<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadChunk")
            .field("len", &self.left)
            .finish()
    }
}
