//! Changes that wait for room.
//!
//! Nothing is taken before the state's exchange, so a future may be dropped at any time: its place
//! among those that wait goes to the next one.

use super::handle::Subscription;
use super::settings::SetError;
use super::state::Refusal;
use crate::Version;
use crate::topic::Bell;
use crate::waiters::Waiter;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Rights of way that one poll uses up, where others keep taking the room first.
const GRANTS_MAX: usize = 16;

/// A writer's place among those that wait for room.
struct Place<'a, T> {
    subscription: &'a Subscription<T>,
    waiter: Waiter,
}

impl<'a, T> Place<'a, T> {
    fn new(subscription: &'a Subscription<T>) -> Self {
        Self {
            subscription,
            waiter: Waiter::new(),
        }
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        mut make: impl FnMut(&T) -> Arc<T>,
    ) -> Poll<Result<Version, Refusal>> {
        let log = &self.subscription.core().log;
        let free = || log.free();
        let _bell = Bell(log);
        if self.waiter.is_new() && log.room.is_idle() {
            match self.subscription.change(u32::MAX, &mut make) {
                Err(Refusal::Full | Refusal::Busy) => {}
                changed => return Poll::Ready(changed),
            }
        }
        for _ in 0..GRANTS_MAX {
            std::task::ready!(self.waiter.poll(&log.room, 1, free, cx));
            match self.subscription.change(u32::MAX, &mut make) {
                Err(Refusal::Full | Refusal::Busy) => self.waiter.retry(&log.room, free),
                changed => {
                    self.waiter.leave(&log.room, free);
                    return Poll::Ready(changed);
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<T> Drop for Place<'_, T> {
    fn drop(&mut self) {
        let log = &self.subscription.core().log;
        self.waiter.leave(&log.room, || log.free());
    }
}

/// See [`Subscription::set`].
pub(super) struct Set<'a, T> {
    place: Place<'a, T>,
    /// Gone once the future is ready.
    value: Option<Arc<T>>,
}

impl<'a, T> Set<'a, T> {
    pub(super) fn new(subscription: &'a Subscription<T>, value: T) -> Self {
        Self {
            place: Place::new(subscription),
            value: Some(Arc::new(value)),
        }
    }

    /// The value, if it was not set.
    pub(super) fn into_value(mut self) -> Option<T> {
        self.value.take().and_then(Arc::into_inner)
    }
}

impl<T> Future for Set<'_, T> {
    type Output = Result<Version, SetError<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { place, value } = &mut *self;
        let own = value.as_ref();
        let own = own.expect("a future is not polled after it was ready");
        let changed = std::task::ready!(place.poll(cx, |_| Arc::clone(own)));
        let value = value.take();
        Poll::Ready(changed.map_err(|refusal| match refusal {
            Refusal::Overrun(version) => SetError::Overrun(version),
            Refusal::Closed | Refusal::Full | Refusal::Busy => {
                let value = value.and_then(Arc::into_inner);
                SetError::Closed(value.expect("what was never published has one holder"))
            }
        }))
    }
}

/// See [`Subscription::update`].
pub(super) struct Update<'a, T, F> {
    place: Place<'a, T>,
    next: F,
}

impl<'a, T, F> Update<'a, T, F> {
    pub(super) fn new(subscription: &'a Subscription<T>, next: F) -> Self {
        let place = Place::new(subscription);
        Self { place, next }
    }
}

/// The function is never pinned.
impl<T, F> Unpin for Update<'_, T, F> {}

impl<T, F: FnMut(&T) -> T> Future for Update<'_, T, F> {
    type Output = Result<Version, SetError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { place, next } = &mut *self;
        let changed = std::task::ready!(place.poll(cx, |last| Arc::new(next(last))));
        Poll::Ready(changed.map_err(|refusal| match refusal {
            Refusal::Overrun(version) => SetError::Overrun(version),
            Refusal::Closed | Refusal::Full | Refusal::Busy => SetError::Closed(()),
        }))
    }
}
