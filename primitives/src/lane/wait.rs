//! Waiting at either end: poll functions and futures.
//!
//! An end that finds nothing parks (mark, fence), looks once more, and then tells the other end
//! what that one may not know yet, so that two ends whose callers forgot `notify` never sleep
//! together.

use super::{Consumer, Producer};
use crate::sync::Ordering;
use crate::{Closed, Full};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

impl<T> Producer<T> {
    /// Waits until `slots` slots are free or the consumer is gone.
    ///
    /// On Pending the waker is kept and called once enough room was made, not for each slot. Ask
    /// for more than one slot to be woken seldom. Values pushed without a [`notify`](Self::notify)
    /// are announced. Who gives up waiting calls [`unpark`](Self::unpark), or takes one needless
    /// wake.
    ///
    /// # Errors
    ///
    /// [`Closed`] when the consumer is gone, whether or not there is room.
    ///
    /// # Panics
    ///
    /// If `slots` is more than the capacity, which would wait for ever; or if the consumer's waker
    /// does.
    pub fn poll_room(&mut self, cx: &mut Context<'_>, slots: usize) -> Poll<Result<(), Closed>> {
        assert!(
            slots <= self.capacity(),
            "{slots} slots asked of a lane of {}",
            self.capacity()
        );
        if let Some(room) = self.granted(slots) {
            self.unpark();
            return Poll::Ready(room);
        }
        // A consumer that has taken all that it sees would never make room.
        self.flush();
        let seat = &*self.shared.producer_seat;
        // Relaxed: `park` marks this end asleep with Release after it.
        seat.wanted.store(slots, Ordering::Relaxed);
        seat.parker.park(cx.waker());
        self.parked = true;
        if let Some(room) = self.granted(slots) {
            self.unpark();
            return Poll::Ready(room);
        }
        self.shared.consumer_seat.wake_after_fence();
        Poll::Pending
    }

    /// Waits until `slots` slots are free, so that as many pushes cannot fail.
    ///
    /// # Errors
    ///
    /// [`Closed`] when the consumer is gone.
    ///
    /// # Panics
    ///
    /// Those of [`poll_room`](Self::poll_room).
    ///
    /// # Cancel safety
    ///
    /// Dropped at any time it leaves nothing behind: room is not taken before a push.
    pub fn room(&mut self, slots: usize) -> impl Future<Output = Result<(), Closed>> {
        Room {
            producer: self,
            slots,
        }
    }

    /// Pushes `value` as soon as there is room, and wakes a parked consumer.
    ///
    /// Completes at the first poll when there is room. Each call fences; a caller with many values
    /// waits for [`room`](Self::room), pushes, and calls [`notify`](Self::notify) once.
    ///
    /// # Errors
    ///
    /// [`Closed`] with the value when the consumer is gone.
    ///
    /// # Cancel safety
    ///
    /// The value is pushed in the poll that completes. A future dropped before leaves nothing in
    /// the lane and drops the value with it; to keep the value, wait for [`room`](Self::room) and
    /// push then.
    pub fn send(&mut self, value: T) -> impl Future<Output = Result<(), Closed<T>>> {
        Sending {
            producer: self,
            value: Some(value),
        }
    }

    /// Takes back a wait that returned Pending, so that no wake comes of it any more.
    pub fn unpark(&mut self) {
        if std::mem::take(&mut self.parked) {
            self.shared.producer_seat.parker.unpark();
        }
    }

    /// Room first, then whether the consumer left: the room that a leaving consumer makes while it
    /// drops its values comes after its leaving, and is never granted.
    fn granted(&mut self, slots: usize) -> Option<Result<(), Closed>> {
        let enough = self.room_at_least(slots) >= slots;
        if self.is_abandoned() {
            return Some(Err(Closed(())));
        }
        enough.then_some(Ok(()))
    }
}

impl<T> Consumer<T> {
    /// Waits until there is a value (`true`) or the producer is gone and the lane empty (`false`).
    ///
    /// On Pending the waker is kept and called when the producer [notifies](Producer::notify),
    /// waits for room, or leaves. Slots freed without a [`notify`](Self::notify) are announced. Who
    /// gives up waiting calls [`unpark`](Self::unpark), or takes one needless wake.
    ///
    /// # Panics
    ///
    /// If the producer's waker does.
    pub fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if let Some(ready) = self.found() {
            self.unpark();
            return Poll::Ready(ready);
        }
        self.shared.consumer_seat.park(cx.waker());
        self.parked = true;
        if let Some(ready) = self.found() {
            self.unpark();
            return Poll::Ready(ready);
        }
        // The lane is empty: whatever room the producer waits for is there.
        self.shared.producer_seat.parker.wake_after_fence();
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

    /// Takes the oldest value as soon as there is one; `None` once the producer is gone and the
    /// lane empty.
    ///
    /// Completes at the first poll when there is a value, and then [notifies](Self::notify) the
    /// producer: a fence each, and at most one wake for all the room that it waits for. A caller
    /// with much to take waits by [`ready`](Self::ready), takes a batch, and notifies
    /// once.
    ///
    /// # Cancel safety
    ///
    /// The value is taken in the poll that completes; a future dropped before takes nothing.
    pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
        Receiving { consumer: self }
    }

    /// Takes back a wait that returned Pending, so that no wake comes of it any more.
    pub fn unpark(&mut self) {
        if std::mem::take(&mut self.parked) {
            self.shared.consumer_seat.unpark();
        }
    }

    fn found(&mut self) -> Option<bool> {
        if self.len_at_least(1) > 0 {
            return Some(true);
        }
        if !self.is_abandoned() {
            return None;
        }
        // It may have pushed between the two looks; nothing follows now.
        Some(self.len_at_least(1) > 0)
    }
}

struct Room<'a, T> {
    producer: &'a mut Producer<T>,
    slots: usize,
}

impl<T> Future for Room<'_, T> {
    type Output = Result<(), Closed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let slots = self.slots;
        self.producer.poll_room(cx, slots)
    }
}

impl<T> Drop for Room<'_, T> {
    fn drop(&mut self) {
        self.producer.unpark();
    }
}

struct Sending<'a, T> {
    producer: &'a mut Producer<T>,
    /// Gone once the future is ready.
    value: Option<T>,
}

/// The value is never pinned.
impl<T> Unpin for Sending<'_, T> {}

impl<T> Future for Sending<'_, T> {
    type Output = Result<(), Closed<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let granted = std::task::ready!(self.producer.poll_room(cx, 1));
        let value = self
            .value
            .take()
            .expect("a future is not polled after it was ready");
        if granted.is_err() {
            return Poll::Ready(Err(Closed(value)));
        }
        match self.producer.push(value) {
            Ok(()) => {
                self.producer.notify();
                Poll::Ready(Ok(()))
            }
            Err(Full(_)) => unreachable!("the room was there, and only this end takes it"),
        }
    }
}

impl<T> Drop for Sending<'_, T> {
    fn drop(&mut self) {
        self.producer.unpark();
    }
}

struct Ready<'a, T> {
    consumer: &'a mut Consumer<T>,
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
    consumer: &'a mut Consumer<T>,
}

impl<T> Future for Receiving<'_, T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if !std::task::ready!(self.consumer.poll_ready(cx)) {
            return Poll::Ready(None);
        }
        let value = self.consumer.pop();
        self.consumer.notify();
        Poll::Ready(value)
    }
}

impl<T> Drop for Receiving<'_, T> {
    fn drop(&mut self) {
        self.consumer.unpark();
    }
}
