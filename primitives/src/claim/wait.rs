//! Waiting at either end: poll functions and futures.
//!
//! Pushes that wait are on the ring's list, and go in the order of their coming; the consumer has
//! a place of its own.

use super::consumer::RingConsumer;
use super::reader::Look;
use super::ring::Ring;
use super::shared::Shared;
use crate::PushError;
use crate::push_wait::{PushWait, Room};
use crate::timers::{Alarm, Clock};
use crate::waiters::WaitList;
use futures_core::{FusedStream, Stream};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

impl<T> Ring<T> {
    /// Pushes `value` as soon as there is room, for `timeout` at most; `Duration::MAX` waits for
    /// as long as it takes.
    ///
    /// Completes at the first poll when there is room that nobody waits for; otherwise it waits
    /// its turn. The time counts from the first poll, and ends on the clock of the ring's
    /// [`timers`](crate::RingBuilder::timers), never early. A wait allocates its place on the list.
    ///
    /// ```
    /// use corelane_primitives::{PushError, Ring};
    /// use std::time::Duration;
    ///
    /// # fn block_on<F: Future>(future: F) -> F::Output {
    /// #     let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    /// #     match std::pin::pin!(future).poll(&mut cx) {
    /// #         std::task::Poll::Ready(output) => output,
    /// #         std::task::Poll::Pending => unreachable!("nothing here waits"),
    /// #     }
    /// # }
    /// # block_on(async {
    /// let (ring, consumer) = Ring::new(1);
    /// assert_eq!(ring.push_wait(1, Duration::MAX).await, Ok(()));
    /// drop(consumer);
    /// assert_eq!(ring.push_wait(2, Duration::MAX).await, Err(PushError::Closed(2)));
    /// # });
    /// ```
    ///
    /// # Errors
    ///
    /// [`PushError::Closed`] also when the ring closes meanwhile, [`PushError::TimedOut`] when the
    /// time has passed, and [`PushError::NoTimers`] when a time was given to a ring without timers.
    ///
    /// # Cancel safety
    ///
    /// The value is pushed in the poll that completes. A future dropped before leaves nothing in
    /// the ring, drops the value, and passes on the room that it was granted.
    pub fn push_wait(
        &self,
        value: T,
        timeout: Duration,
    ) -> impl Future<Output = Result<(), PushError<T>>> {
        PushWait::new(self.shared(), value, timeout)
    }
}

impl<T> RingConsumer<T> {
    /// Waits until there is a value (`true`) or the ring is closed and empty (`false`).
    ///
    /// On Pending the waker is kept and called by whoever publishes next. Behind a claim that
    /// nobody publishes it sleeps on; with the ring's [`timers`](crate::RingBuilder::timers) it
    /// wakes when that claim may be stepped over. Who gives up waiting calls
    /// [`unpark`](Self::unpark), or takes one needless wake. A consumer that has just had values
    /// runs again by itself 16 times before it sleeps, behind the other tasks of its executor.
    ///
    /// # Panics
    ///
    /// If the waker of a producer does that waits for room.
    pub fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if let Some(ready) = self.found() {
            self.looks.found();
            self.unpark();
            return Poll::Ready(ready);
        }
        if !self.parked && self.looks.again(cx) {
            return Poll::Pending;
        }
        self.reader.shared.consumer.park(cx.waker());
        self.parked = true;
        if let Some(ready) = self.found() {
            self.unpark();
            return Poll::Ready(ready);
        }
        if self.poll_alarm(cx).is_ready() {
            // The claim may be stepped over now.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Waits as [`poll_ready`](Self::poll_ready) does: `true` says that there is a value, `false`
    /// that none will come.
    ///
    /// # Cancel safety
    ///
    /// Dropped at any time it leaves nothing behind: it takes no value.
    pub fn ready(&mut self) -> impl Future<Output = bool> {
        Ready { consumer: self }
    }

    /// Takes the oldest value as soon as there is one; `None` once the ring is closed and empty.
    ///
    /// Completes at the first poll when there is a value. Costs what [`pop`](Self::pop) does; who
    /// has much to take waits by [`ready`](Self::ready) and takes a batch.
    ///
    /// # Cancel safety
    ///
    /// The value is taken in the poll that completes; a future dropped before takes nothing.
    pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
        Receiving { consumer: self }
    }

    /// Takes back a wait that returned Pending, so that no wake comes of it any more.
    pub fn unpark(&mut self) {
        self.alarm = None;
        if std::mem::take(&mut self.parked) {
            self.reader.shared.consumer.unpark();
        }
    }

    pub(super) fn found(&mut self) -> Option<bool> {
        let look = self.reader.look();
        // Places without a value may have been passed: there is room then.
        self.reader.release();
        self.due_ns = u64::MAX;
        match look {
            Look::Value => Some(true),
            Look::Over => Some(false),
            Look::Empty | Look::HeldUp { due_ns: None } => None,
            Look::HeldUp {
                due_ns: Some(due_ns),
            } => {
                self.due_ns = due_ns;
                None
            }
        }
    }

    /// Ready when the claim that stands first may be stepped over.
    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let clock = &self.reader.shared.clock;
        let Some(timers) = clock.timers().filter(|_| self.due_ns != u64::MAX) else {
            self.alarm = None;
            return Poll::Pending;
        };
        match &mut self.alarm {
            Some((due_ns, alarm)) if *due_ns == self.due_ns => alarm.poll(cx),
            _ => {
                let alarm = Alarm::at(timers, self.due_ns);
                let (_, alarm) = self.alarm.insert((self.due_ns, alarm));
                alarm.poll(cx)
            }
        }
    }

    /// How long until the claim that stands first may be stepped over; the largest number when
    /// none does.
    pub(super) fn until_due_ns(&self) -> u64 {
        if self.due_ns == u64::MAX {
            return u64::MAX;
        }
        self.due_ns
            .saturating_sub(self.reader.shared.clock.now_ns())
    }

    pub(super) fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if ready!(self.poll_ready(cx)) {
            return Poll::Ready(self.pop());
        }
        Poll::Ready(None)
    }
}

impl<T> Room for Shared<T> {
    type Value = T;

    fn try_push(&self, value: T) -> Result<(), PushError<T>> {
        self.push(value)
    }

    fn waiters(&self) -> &WaitList {
        &self.waiters
    }

    fn free_slots(&self) -> usize {
        Shared::free_slots(self)
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn count_refused(&self) {
        Shared::count_refused(self);
    }
}

struct Ready<'a, T> {
    consumer: &'a mut RingConsumer<T>,
}

impl<T> Future for Ready<'_, T> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool> {
        self.consumer.poll_ready(cx)
    }
}

impl<T> Drop for Ready<'_, T> {
    fn drop(&mut self) {
        self.consumer.unpark();
    }
}

struct Receiving<'a, T> {
    consumer: &'a mut RingConsumer<T>,
}

impl<T> Future for Receiving<'_, T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.consumer.poll_recv(cx)
    }
}

impl<T> Drop for Receiving<'_, T> {
    fn drop(&mut self) {
        self.consumer.unpark();
    }
}

/// Ends when the ring is closed and empty.
impl<T> Stream for RingConsumer<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll_recv(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        if self.is_finished() {
            return (0, Some(0));
        }
        (0, None)
    }
}

impl<T> FusedStream for RingConsumer<T> {
    fn is_terminated(&self) -> bool {
        self.is_finished()
    }
}
