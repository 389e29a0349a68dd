//! A push that waits its turn for room, for a while or for as long as it takes.

use crate::PushError;
use crate::timers::{Alarm, Clock};
use crate::waiters::{WaitList, Waiter};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// How often one poll tries again when its room was taken by a push that did not wait.
const TRIES_MAX: usize = 8;

/// A ring, to who waits for room in it.
pub(crate) trait Room {
    type Value;

    /// Pushes, or hands the value back without counting that.
    fn try_push(&self, value: Self::Value) -> Result<(), PushError<Self::Value>>;
    fn waiters(&self) -> &WaitList;
    /// How many slots are free now, or the largest number when no push waits any more.
    fn free_slots(&self) -> usize;
    fn clock(&self) -> &Clock;
    /// A push has ended by time.
    fn count_refused(&self);
}

/// A push that waits for room.
pub(crate) struct PushWait<'a, R: Room> {
    shared: &'a R,
    /// Gone once the future is ready.
    value: Option<R::Value>,
    timeout: Duration,
    waiter: Waiter,
    alarm: Option<Alarm>,
}

/// The value is never pinned.
impl<R: Room> Unpin for PushWait<'_, R> {}

impl<'a, R: Room> PushWait<'a, R> {
    pub(crate) fn new(shared: &'a R, value: R::Value, timeout: Duration) -> Self {
        Self {
            shared,
            value: Some(value),
            timeout,
            waiter: Waiter::new(),
            alarm: None,
        }
    }

    /// Ends the wait without having pushed.
    pub(crate) fn time_out(&mut self) -> PushError<R::Value> {
        self.leave();
        self.shared.count_refused();
        PushError::TimedOut(self.take())
    }

    fn take(&mut self) -> R::Value {
        self.value
            .take()
            .expect("a future is not polled after it was ready")
    }

    fn leave(&mut self) {
        let shared = self.shared;
        self.waiter.leave(shared.waiters(), || shared.free_slots());
    }

    /// `None` when the ring is full.
    fn try_push(&mut self) -> Option<Result<(), PushError<R::Value>>> {
        let value = self.take();
        match self.shared.try_push(value) {
            Err(PushError::Full(value)) => {
                self.value = Some(value);
                None
            }
            pushed => Some(pushed),
        }
    }

    fn poll_push(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), PushError<R::Value>>> {
        let shared = self.shared;
        if self.waiter.is_new()
            && shared.waiters().is_idle()
            && let Some(pushed) = self.try_push()
        {
            return Poll::Ready(pushed);
        }
        for _ in 0..TRIES_MAX {
            let free = || shared.free_slots();
            ready!(self.waiter.poll(shared.waiters(), 1, free, cx));
            if let Some(pushed) = self.try_push() {
                self.leave();
                return Poll::Ready(pushed);
            }
            self.waiter.retry(shared.waiters(), free);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<R: Room> Future for PushWait<'_, R> {
    type Output = Result<(), PushError<R::Value>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.timeout != Duration::MAX && this.alarm.is_none() {
            let Some(timers) = this.shared.clock().timers() else {
                return Poll::Ready(Err(PushError::NoTimers(this.take())));
            };
            this.alarm = Some(Alarm::new(timers, this.timeout));
        }
        if let Poll::Ready(pushed) = this.poll_push(cx) {
            return Poll::Ready(pushed);
        }
        if this
            .alarm
            .as_mut()
            .is_some_and(|alarm| alarm.poll(cx).is_ready())
        {
            return Poll::Ready(Err(this.time_out()));
        }
        Poll::Pending
    }
}

impl<R: Room> Drop for PushWait<'_, R> {
    fn drop(&mut self) {
        self.leave();
    }
}
