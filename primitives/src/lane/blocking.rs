//! Waiting at an end of a lane on a thread that has nothing else to do.

use super::{Consumer, Producer};
use crate::Closed;
use crate::block::block_on;

impl<T> Producer<T> {
    /// [`send`](Self::send) for a plain thread: sleeps while there is no room.
    ///
    /// Costs what `send` costs when there is room; a sleep allocates its waker. Not for a task: it
    /// would hold up all others of its thread.
    ///
    /// # Errors
    ///
    /// [`Closed`] with the value when the consumer is gone.
    ///
    /// ```
    /// use corelane_primitives::lane;
    ///
    /// let (mut producer, mut consumer) = lane(4);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || {
    ///         for value in 0..1_000_u64 {
    ///             producer.blocking_send(value).expect("the other end is there");
    ///         }
    ///     });
    ///     let mut sum = 0;
    ///     while let Some(value) = consumer.blocking_recv() {
    ///         sum += value;
    ///     }
    ///     assert_eq!(sum, 499_500);
    /// });
    /// ```
    pub fn blocking_send(&mut self, value: T) -> Result<(), Closed<T>> {
        block_on(self.send(value))
    }

    /// [`room`](Self::room) for a plain thread: sleeps until `slots` slots are free, so that as
    /// many pushes cannot fail. Not for a task.
    ///
    /// # Errors
    ///
    /// [`Closed`] when the consumer is gone.
    ///
    /// # Panics
    ///
    /// If `slots` is more than the capacity.
    pub fn blocking_room(&mut self, slots: usize) -> Result<(), Closed> {
        block_on(self.room(slots))
    }
}

impl<T> Consumer<T> {
    /// [`recv`](Self::recv) for a plain thread: sleeps while the lane is empty; `None` once the
    /// producer is gone and the lane empty.
    ///
    /// Costs what `recv` costs when there is a value; a sleep allocates its waker. Not for a task:
    /// it would hold up all others of its thread. An example is at
    /// [`Producer::blocking_send`].
    pub fn blocking_recv(&mut self) -> Option<T> {
        block_on(self.recv())
    }

    /// [`ready`](Self::ready) for a plain thread: sleeps until there is a value (`true`)
    /// or the producer is gone and the lane empty (`false`). Not for a task.
    ///
    /// To take batches: wait here, take a chunk, and [`notify`](Self::notify) the producer once.
    ///
    /// ```
    /// use corelane_primitives::lane;
    ///
    /// let (mut producer, mut consumer) = lane(256);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || {
    ///         for start in (0..1_000_u64).step_by(100) {
    ///             producer.blocking_room(100).expect("the other end is there");
    ///             producer.push_batch(&mut (start..start + 100));
    ///             producer.notify();
    ///         }
    ///     });
    ///     let mut sum = 0;
    ///     while consumer.blocking_ready() {
    ///         sum += consumer.read_chunk(256).sum::<u64>();
    ///         consumer.notify();
    ///     }
    ///     assert_eq!(sum, 499_500);
    /// });
    /// ```
    pub fn blocking_ready(&mut self) -> bool {
        block_on(self.ready())
    }
}
