//! Publishes that wait for room.
//!
//! Nothing is taken before the append, so a future may be dropped at any time: its place among
//! those that wait goes to the next one.

use super::handle::Topic;
use super::log::{Bell, Refusal};
use super::stripes::Writer;
use crate::Closed;
use crate::waiters::Waiter;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Rights of way that one poll uses up, where others keep taking the room first.
const GRANTS_MAX: usize = 16;

/// Values that one poll of a batch publishes.
const TURN_MAX: usize = 256;

/// A publisher's place among those that wait for room.
struct Place<'a, T> {
    topic: &'a Topic<T>,
    /// Chosen at the first poll, by the shard that makes it, and kept: the waiter stands there.
    writer: Option<Writer<'a, T>>,
    waiter: Waiter,
}

impl<'a, T> Place<'a, T> {
    fn new(topic: &'a Topic<T>) -> Self {
        Self {
            topic,
            writer: None,
            waiter: Waiter::new(),
        }
    }

    fn writer(&mut self) -> Writer<'a, T> {
        let topic = self.topic;
        *self.writer.get_or_insert_with(|| topic.writer())
    }

    /// Rings for what is appended while it lives.
    fn bell(&mut self) -> Bell<'a, T> {
        Bell(self.writer().log)
    }

    /// Appends what is in `value`, which is empty once this is Ready. The caller holds the bell.
    fn poll(&mut self, value: &mut Option<T>, cx: &mut Context<'_>) -> Poll<Result<(), Closed<T>>> {
        let log = self.writer().log;
        let free = || log.free();
        if self.waiter.is_new() && log.room.is_idle() {
            match self.append(value) {
                Err(Refusal::Full | Refusal::Busy) => {}
                appended => return Poll::Ready(closed(appended, value)),
            }
        }
        for _ in 0..GRANTS_MAX {
            std::task::ready!(self.waiter.poll(&log.room, 1, free, cx));
            match self.append(value) {
                Err(Refusal::Full | Refusal::Busy) => self.waiter.retry(&log.room, free),
                appended => {
                    self.leave();
                    return Poll::Ready(closed(appended, value));
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn append(&mut self, value: &mut Option<T>) -> Result<(), Refusal> {
        let taken = value.take();
        let taken = taken.expect("a future is not polled after it was ready");
        let appended = self.writer().append(taken, u32::MAX);
        appended.map_err(|(back, refusal)| {
            *value = Some(back);
            refusal
        })
    }

    fn leave(&mut self) {
        if let Some(Writer { log, .. }) = self.writer {
            self.waiter.leave(&log.room, || log.free());
        }
    }
}

impl<T> Drop for Place<'_, T> {
    fn drop(&mut self) {
        self.leave();
    }
}

fn closed<T>(appended: Result<(), Refusal>, value: &mut Option<T>) -> Result<(), Closed<T>> {
    appended.map_err(|_| Closed(value.take().expect("a refused value comes back")))
}

/// See [`Topic::publish`].
pub(super) struct Publish<'a, T> {
    place: Place<'a, T>,
    /// Gone once the future is ready.
    value: Option<T>,
}

impl<'a, T> Publish<'a, T> {
    pub(super) fn new(topic: &'a Topic<T>, value: T) -> Self {
        Self {
            place: Place::new(topic),
            value: Some(value),
        }
    }

    /// The value, if it was not published.
    pub(super) fn into_value(mut self) -> Option<T> {
        self.value.take()
    }
}

/// The value is never pinned.
impl<T> Unpin for Publish<'_, T> {}

impl<T> Future for Publish<'_, T> {
    type Output = Result<(), Closed<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { place, value } = &mut *self;
        let _bell = place.bell();
        place.poll(value, cx)
    }
}

/// See [`Topic::publish_batch`].
pub(super) struct PublishBatch<'a, T, I> {
    place: Place<'a, T>,
    values: I,
    /// The value that waits.
    value: Option<T>,
    published: usize,
}

impl<'a, T, I> PublishBatch<'a, T, I> {
    pub(super) fn new(topic: &'a Topic<T>, values: I) -> Self {
        Self {
            place: Place::new(topic),
            values,
            value: None,
            published: 0,
        }
    }
}

/// The values are never pinned, and the iterator need not be.
impl<T, I: Unpin> Unpin for PublishBatch<'_, T, I> {}

impl<T, I: Iterator<Item = T> + Unpin> Future for PublishBatch<'_, T, I> {
    type Output = Result<usize, Closed<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self {
            place,
            values,
            value,
            published,
        } = &mut *self;
        let _bell = place.bell();
        for _ in 0..TURN_MAX {
            if value.is_none() {
                *value = values.next();
            }
            if value.is_none() {
                return Poll::Ready(Ok(*published));
            }
            std::task::ready!(place.poll(value, cx))?;
            *published += 1;
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
