//! A ring with the task that takes from it: a handler on any executor, or on a thread.

use super::{Consumer64, Ring64, Ring64Builder};
use crate::RingError;
use crate::block::block_on;
use crate::timers::Timers;
use std::any::Any;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Values that the handler gets at most for one wake.
const BATCH_MAX: usize = 256;
const CAPACITY: usize = 4096;

/// A [`Ring64`] whose values go to a handler.
///
/// Producers take [`ring`](Self::ring) and push into that; they never message the handler's task,
/// which is woken when it sleeps, once for a batch. A handler that is too slow shows to them as a
/// full ring, or a wait that ends by time. One that panics fails the channel: each later push, and
/// each that waits, gets [`PushError::Failed`](crate::PushError::Failed) with its value. A waker of
/// a producer that panics while it is told of room counts as a panic of the handler.
///
/// The task ends when all producers and this handle are gone, or after a [`close`](Self::close),
/// with everything handled that was pushed. It is a future, so that any executor runs it.
///
/// ```
/// use corelane_primitives::RingChannel;
/// use std::thread;
///
/// let (channel, thread) = RingChannel::builder()
///     .capacity(1024)
///     .fold(0, |sum, value| sum + value)
///     .spawn_on(|task| thread::spawn(|| task.block()))
///     .expect("the capacity is a power of two");
/// let ring = channel.ring();
/// for value in 0..100 {
///     ring.push(value).expect("there is room for all");
/// }
/// channel.close();
/// let sum = thread.join().expect("no panic gets out of it");
/// assert_eq!(sum.expect("the handler does not panic"), 4_950);
/// ```
#[derive(Clone)]
pub struct RingChannel {
    ring: Ring64,
}

impl RingChannel {
    /// The settings of a channel.
    pub fn builder() -> RingChannelBuilder {
        RingChannelBuilder {
            ring: Ring64::builder(CAPACITY),
        }
    }

    /// The ring, for a producer.
    pub fn ring(&self) -> Ring64 {
        self.ring.clone()
    }

    /// Refuses all later pushes. What is inside is still handled, and then the task ends.
    pub fn close(&self) {
        self.ring.close();
    }

    /// Whether no push succeeds any more: closed, failed, or the task is gone.
    pub fn is_closed(&self) -> bool {
        self.ring.is_closed()
    }

    /// Whether the handler has panicked.
    pub fn is_failed(&self) -> bool {
        self.ring.is_failed()
    }
}

impl fmt::Debug for RingChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RingChannel")
            .field("ring", &self.ring)
            .field("is_failed", &self.is_failed())
            .finish()
    }
}

/// The settings of a [`RingChannel`]; made by [`RingChannel::builder`].
#[must_use = "a builder makes nothing"]
#[derive(Debug)]
pub struct RingChannelBuilder {
    ring: Ring64Builder,
}

impl RingChannelBuilder {
    /// How many slots the ring has, a power of two: 4,096 by default.
    pub fn capacity(mut self, slots: usize) -> Self {
        self.ring = self.ring.capacity(slots);
        self
    }

    /// As [`Ring64Builder::timers`].
    pub fn timers(mut self, timers: Arc<dyn Timers>) -> Self {
        self.ring = self.ring.timers(timers);
        self
    }

    /// As [`Ring64Builder::skip_after`].
    pub fn skip_after(mut self, skip_after: Duration) -> Self {
        self.ring = self.ring.skip_after(skip_after);
        self
    }

    /// Gives each value to `f`.
    pub fn handler<F: FnMut(u64)>(
        self,
        mut f: F,
    ) -> RingChannelTask<(), impl FnMut((), u64) + use<F>> {
        self.fold((), move |(), value| f(value))
    }

    /// Gives each value to `f`, with what `f` returned for the one before, `acc` for the first. The
    /// task ends with what it returned last.
    pub fn fold<A, F: FnMut(A, u64) -> A>(self, acc: A, f: F) -> RingChannelTask<A, F> {
        RingChannelTask {
            ring: self.ring,
            acc,
            f,
        }
    }
}

/// A channel that has its handler, and is not running yet.
#[must_use = "nothing runs before `spawn_on` or `run`"]
pub struct RingChannelTask<A, F> {
    ring: Ring64Builder,
    acc: A,
    f: F,
}

impl<A, F: FnMut(A, u64) -> A> RingChannelTask<A, F> {
    /// Makes the ring, and gives the task to `spawn`, which hands it to an executor or a thread and
    /// returns whatever that gives for it.
    ///
    /// # Errors
    ///
    /// Those of [`Ring64::try_new`].
    pub fn spawn_on<J>(
        self,
        spawn: impl FnOnce(RingChannelRun<A, F>) -> J,
    ) -> Result<(RingChannel, J), RingError> {
        let (channel, run) = self.run()?;
        Ok((channel, spawn(run)))
    }

    /// Makes the ring, and returns the task as the future that it is.
    ///
    /// # Errors
    ///
    /// Those of [`Ring64::try_new`].
    pub fn run(self) -> Result<(RingChannel, RingChannelRun<A, F>), RingError> {
        let (ring, consumer) = self.ring.build()?;
        let run = RingChannelRun {
            consumer,
            acc: Some(self.acc),
            f: self.f,
        };
        Ok((RingChannel { ring }, run))
    }
}

impl<A, F> fmt::Debug for RingChannelTask<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RingChannelTask")
            .field("ring", &self.ring)
            .finish_non_exhaustive()
    }
}

/// The task of a [`RingChannel`]: a future that ends with what the handler made of all values.
///
/// Each poll gives the handler up to 256 values, and hands their slots back as one batch.
///
/// # Cancel safety
///
/// Dropped before its end it closes the ring, and drops what is inside.
#[must_use = "a future does nothing before it is polled"]
pub struct RingChannelRun<A, F> {
    consumer: Consumer64,
    /// Gone while the handler has it, and at the end.
    acc: Option<A>,
    f: F,
}

impl<A, F: FnMut(A, u64) -> A> RingChannelRun<A, F> {
    /// Runs the task on this thread, which sleeps while there is nothing to handle. Not in a task.
    ///
    /// # Errors
    ///
    /// [`HandlerPanic`] when the handler has panicked.
    pub fn block(self) -> Result<A, HandlerPanic> {
        block_on(self)
    }

    fn handle(&mut self, acc: A) -> Result<A, HandlerPanic> {
        let (consumer, f) = (&mut self.consumer, &mut self.f);
        // Unwind safe: after a panic neither the handler nor its accumulator is used again.
        match catch_unwind(AssertUnwindSafe(|| consumer.fold(BATCH_MAX, acc, f).acc)) {
            Ok(acc) => Ok(acc),
            Err(panic) => {
                self.consumer.fail();
                Err(HandlerPanic(panic))
            }
        }
    }
}

/// Nothing in it is pinned.
impl<A, F> Unpin for RingChannelRun<A, F> {}

impl<A, F: FnMut(A, u64) -> A> Future for RingChannelRun<A, F> {
    type Output = Result<A, HandlerPanic>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let more = ready!(self.consumer.poll_ready(cx));
        let acc = self.acc.take();
        let acc = acc.expect("a future is not polled after it was ready");
        if !more {
            return Poll::Ready(Ok(acc));
        }
        match self.handle(acc) {
            Ok(acc) => {
                self.acc = Some(acc);
                // The next batch is another turn, after the executor's other tasks.
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

impl<A, F> fmt::Debug for RingChannelRun<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RingChannelRun")
            .field("consumer", &self.consumer)
            .finish_non_exhaustive()
    }
}

/// The handler of a [`RingChannel`] has panicked. The fault of who wrote it.
pub struct HandlerPanic(Box<dyn Any + Send>);

impl HandlerPanic {
    /// What the panic carries, for `std::panic::resume_unwind`.
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        self.0
    }
}

impl fmt::Debug for HandlerPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandlerPanic(..)")
    }
}

impl fmt::Display for HandlerPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the handler of a ring channel has panicked")
    }
}

impl Error for HandlerPanic {}
