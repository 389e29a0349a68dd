//! Waiting at an end of a lane on a thread that has nothing else to do.
//!
//! Rule: whoever waits here is woken as a task would be; nothing spins, and nothing has a timer.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use super::{Consumer, Producer};
use crate::Closed;

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

struct Sleeper(Thread);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Parks the thread until `future` is ready. One that is ready at once costs no allocation.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
        return output;
    }
    let waker = Waker::from(Arc::new(Sleeper(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        // This poll replaces the waker that does nothing, and looks once more.
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        thread::park();
    }
}
