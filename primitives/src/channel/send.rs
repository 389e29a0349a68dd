//! Waiting for places, and for the close.

use super::passage::Passage;
use super::permits::Permits;
use super::sender::Sender;
use super::shared::{Credit, Run, Shared};
use crate::timers::Alarm;
use crate::waiters::Waiter;
use crate::{Closed, SendError};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// How often one poll tries again when its credits were taken by somebody who did not wait.
const TRIES_MAX: usize = 8;

/// One wait for credits. Its owner calls `leave` when it has used them, and before it drops this.
#[derive(Default)]
pub(super) struct Turn {
    waiter: Waiter,
    /// Whether it is counted as one that wants many.
    is_bulk: bool,
}

impl Turn {
    /// Takes `count` credits, at once if nobody waits or it is the handle's turn, or else when that
    /// has come.
    #[inline]
    pub(super) fn poll<T, P: Passage<T>>(
        &mut self,
        shared: &Shared<T, P>,
        run: &Run,
        count: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Closed>> {
        if self.waiter.is_new() {
            match shared.try_take(count, run) {
                Credit::Taken => return Poll::Ready(Ok(())),
                Credit::Closed => return Poll::Ready(Err(Closed(()))),
                Credit::Full => {}
            }
        }
        self.wait(shared, run, count, cx)
    }

    #[cold]
    fn wait<T, P: Passage<T>>(
        &mut self,
        shared: &Shared<T, P>,
        run: &Run,
        count: usize,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Closed>> {
        if count > 1 && !self.is_bulk {
            self.is_bulk = true;
            shared.add_bulk();
        }
        let free = || shared.free();
        for _ in 0..TRIES_MAX {
            ready!(self.waiter.poll(&shared.waiters, count, free, cx));
            match shared.take(count) {
                Credit::Taken => {
                    if count == 1 {
                        run.begin();
                    }
                    return Poll::Ready(Ok(()));
                }
                Credit::Closed => return Poll::Ready(Err(Closed(()))),
                Credit::Full => self.waiter.retry(&shared.waiters, free),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Ends the wait. Passes on what it was granted and did not take.
    #[inline]
    pub(super) fn leave<T, P: Passage<T>>(&mut self, shared: &Shared<T, P>) {
        if self.waiter.is_new() {
            return;
        }
        if std::mem::take(&mut self.is_bulk) {
            shared.remove_bulk();
        }
        self.waiter.leave(&shared.waiters, || shared.free());
    }
}

/// A send that waits for its place.
pub(super) struct Sending<'a, T, P: Passage<T>> {
    sender: &'a Sender<T, P>,
    /// Gone once it has ended.
    value: Option<T>,
    turn: Turn,
}

/// The value is never pinned.
impl<T, P: Passage<T>> Unpin for Sending<'_, T, P> {}

impl<'a, T, P: Passage<T>> Sending<'a, T, P> {
    #[inline]
    pub(super) fn new(sender: &'a Sender<T, P>, value: T) -> Self {
        Self {
            sender,
            value: Some(value),
            turn: Turn::default(),
        }
    }

    #[inline]
    pub(super) fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed<T>>> {
        if self.sender.place.has_left() {
            return Poll::Ready(Err(Closed(self.take())));
        }
        let shared = &*self.sender.shared;
        let taken = ready!(self.turn.poll(shared, &self.sender.run, 1, cx));
        let value = self.take();
        let sent = match taken {
            // First the value, then others: their wakers may panic.
            Ok(()) => shared.push(value),
            Err(Closed(())) => Err(Closed(value)),
        };
        self.turn.leave(shared);
        Poll::Ready(sent)
    }

    /// Ends the wait without having sent.
    pub(super) fn give_up(&mut self) -> T {
        self.turn.leave(&self.sender.shared);
        self.take()
    }

    fn take(&mut self) -> T {
        self.value
            .take()
            .expect("a future is not polled after it was ready")
    }
}

impl<T, P: Passage<T>> Drop for Sending<'_, T, P> {
    #[inline]
    fn drop(&mut self) {
        self.turn.leave(&self.sender.shared);
    }
}

/// A send that waits for its place for a while.
pub(super) struct TimedSending<'a, T, P: Passage<T>> {
    sending: Sending<'a, T, P>,
    timeout: Duration,
    alarm: Option<Alarm>,
}

impl<'a, T, P: Passage<T>> TimedSending<'a, T, P> {
    pub(super) fn new(sender: &'a Sender<T, P>, value: T, timeout: Duration) -> Self {
        Self {
            sending: Sending::new(sender, value),
            timeout,
            alarm: None,
        }
    }

    pub(super) fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        let Self {
            sending,
            timeout,
            alarm,
        } = self;
        if *timeout != Duration::MAX && alarm.is_none() {
            let Some(timers) = sending.sender.shared.clock.timers() else {
                return Poll::Ready(Err(SendError::NoTimers(sending.take())));
            };
            *alarm = Some(Alarm::new(timers, *timeout));
        }
        if let Poll::Ready(sent) = sending.poll_send(cx) {
            *alarm = None;
            return Poll::Ready(sent.map_err(SendError::from));
        }
        let is_over = alarm
            .as_mut()
            .is_some_and(|alarm| alarm.poll(cx).is_ready());
        match is_over {
            true => Poll::Ready(Err(SendError::TimedOut(sending.give_up()))),
            false => Poll::Pending,
        }
    }
}

/// A wait for permits.
pub(super) struct Reserving<'a, T, P: Passage<T>> {
    sender: &'a Sender<T, P>,
    count: usize,
    turn: Turn,
}

impl<'a, T, P: Passage<T>> Reserving<'a, T, P> {
    pub(super) fn new(sender: &'a Sender<T, P>, count: usize) -> Self {
        Self {
            sender,
            count,
            turn: Turn::default(),
        }
    }
}

impl<'a, T, P: Passage<T>> Future for Reserving<'a, T, P> {
    type Output = Result<Permits<'a, T, P>, Closed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self {
            sender,
            count,
            turn,
        } = &mut *self;
        let shared: &'a Shared<T, P> = &sender.shared;
        assert!(
            *count <= shared.capacity(),
            "{count} places asked of a channel of {}",
            shared.capacity()
        );
        if sender.place.has_left() {
            return Poll::Ready(Err(Closed(())));
        }
        let taken = ready!(turn.poll(shared, &sender.run, *count, cx));
        // From here on they are given back whatever happens.
        let permits = taken.and_then(|()| Permits::new(shared, *count));
        turn.leave(shared);
        Poll::Ready(permits)
    }
}

impl<T, P: Passage<T>> Drop for Reserving<'_, T, P> {
    fn drop(&mut self) {
        self.turn.leave(&self.sender.shared);
    }
}

/// A wait for the close.
pub(super) struct Ending<'a, T, P: Passage<T>> {
    sender: &'a Sender<T, P>,
    waiter: Waiter,
}

impl<'a, T, P: Passage<T>> Ending<'a, T, P> {
    pub(super) fn new(sender: &'a Sender<T, P>) -> Self {
        Self {
            sender,
            waiter: Waiter::new(),
        }
    }

    fn leave(&mut self) {
        let shared = &self.sender.shared;
        self.waiter.leave(&shared.closing, || shared.ended());
    }
}

impl<T, P: Passage<T>> Future for Ending<'_, T, P> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { sender, waiter } = &mut *self;
        if sender.is_closed() {
            self.leave();
            return Poll::Ready(());
        }
        let shared = &sender.shared;
        ready!(waiter.poll(&shared.closing, 1, || shared.ended(), cx));
        self.leave();
        Poll::Ready(())
    }
}

impl<T, P: Passage<T>> Drop for Ending<'_, T, P> {
    fn drop(&mut self) {
        self.leave();
    }
}
