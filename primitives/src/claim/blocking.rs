//! Waiting at an end of a ring on a thread that has nothing else to do.

use super::consumer::RingConsumer;
use super::ring::Ring;
use crate::PushError;
use crate::block::{block_on_for, nap, thread_waker};
use crate::push_wait::PushWait;
use std::task::{Context, Poll};
use std::time::Duration;

impl<T> Ring<T> {
    /// [`push_wait`](Self::push_wait) for a plain thread: sleeps while there is no room, for
    /// `timeout` of the system's clock at most. Not for a task: it would hold up all others of its
    /// thread.
    ///
    /// # Errors
    ///
    /// [`PushError::Closed`], and [`PushError::TimedOut`] when the time has passed, never early.
    ///
    /// ```
    /// use corelane_primitives::{PushError, Ring};
    /// use std::time::Duration;
    ///
    /// let (ring, mut consumer) = Ring::new(1);
    /// assert_eq!(ring.push("inside"), Ok(()));
    /// let waited = ring.blocking_push("too many", Duration::from_millis(1));
    /// assert_eq!(waited, Err(PushError::TimedOut("too many")));
    /// assert_eq!(consumer.blocking_recv(), Some("inside"));
    /// ```
    pub fn blocking_push(&self, value: T, timeout: Duration) -> Result<(), PushError<T>> {
        let mut push = PushWait::new(self.shared(), value, Duration::MAX);
        block_on_for(&mut push, timeout).unwrap_or_else(|| Err(push.time_out()))
    }
}

impl<T> RingConsumer<T> {
    /// [`recv`](Self::recv) for a plain thread: sleeps while the ring is empty; `None` once it is
    /// closed and empty. Not for a task.
    pub fn blocking_recv(&mut self) -> Option<T> {
        // A value that was seen stays until it is taken.
        if self.blocking_ready() {
            self.pop()
        } else {
            None
        }
    }

    /// [`ready`](Self::ready) for a plain thread: sleeps until there is a value (`true`) or the
    /// ring is closed and empty (`false`). Behind a claim it sleeps until that may be stepped over,
    /// whether or not the ring has timers. Not for a task.
    ///
    /// ```
    /// use corelane_primitives::Ring;
    /// use std::time::Duration;
    ///
    /// let (ring, mut consumer) = Ring::new(64);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || {
    ///         for value in 0..1_000_u64 {
    ///             ring.blocking_push(value, Duration::MAX).expect("the consumer is there");
    ///         }
    ///     });
    ///     let mut sum = 0;
    ///     while consumer.blocking_ready() {
    ///         sum = consumer.fold(256, sum, |sum, value| sum + value).acc;
    ///     }
    ///     assert_eq!(sum, 499_500);
    /// });
    /// ```
    pub fn blocking_ready(&mut self) -> bool {
        if let Some(ready) = self.found() {
            return ready;
        }
        let waker = thread_waker();
        let mut cx = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(ready) = self.poll_ready(&mut cx) {
                return ready;
            }
            nap(self.until_due_ns());
        }
    }
}
