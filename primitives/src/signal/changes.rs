//! The feed of a signal.

use super::handle::Core;
use super::keep::{Keep, Version};
use super::shared::Shared;
use crate::block::block_on_for;
use crate::feed::{Detached, FeedStats, NextError, OnShard};
use crate::panics::Panics;
use crate::park::{How, Rest, Seat};
use futures_core::{FusedStream, Stream};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// A feed of a signal that may be sent to other threads; made by [`Changes::detach`].
pub type DetachedChanges<T, K = Shared<T>> = Changes<T, K, Detached>;

/// A feed of a signal's changes, made by [`Signal::changes`](crate::Signal::changes).
///
/// It is a stream that yields the current value first, and then the latest one whenever it is
/// another; what was replaced before it looked, it skips. It ends once it has yielded the last
/// value of a closed signal. It has no queue: its memory is the same whatever happens.
///
/// Of the feeds of one shard that wait by [`next`](Self::next), one is woken by a set; it wakes the
/// others, and hands that duty on when its future is dropped. So a task that holds such a future
/// goes on polling it when it is woken, or drops it. A feed that waits as a *stream* may be left
/// alone, and is woken by itself; no other feed depends on it.
///
/// ```
/// use corelane_primitives::Signal;
/// use std::time::Duration;
///
/// let temperature = Signal::plain(20.5_f64);
/// let mut feed = temperature.changes().detach();
/// let reading = std::thread::spawn(move || {
///     let mut last = None;
///     while let Ok(value) = feed.blocking_next(Duration::MAX) {
///         last = Some(value);
///     }
///     last
/// });
/// temperature.set(21.0)?;
/// temperature.close_with(22.5)?;
/// assert_eq!(reading.join().expect("it does not panic"), Some(22.5));
/// # Ok::<(), corelane_primitives::Closed<f64>>(())
/// ```
pub struct Changes<T, K: Keep<T> = Shared<T>, P = OnShard> {
    core: Arc<Core<T, K>>,
    seat: Seat<P>,
    /// Every version from this one on is news.
    next: u64,
    /// The version of the first value.
    start: u64,
    delivered: u64,
    rest: Rest,
    /// Whether it has yielded its end.
    ended: bool,
}

impl<T, K: Keep<T>> Changes<T, K> {
    pub(super) fn new(core: Arc<Core<T, K>>) -> Self {
        let seat = Seat::here(&core.bells);
        let Version(start) = core.keep.mark().version;
        Self {
            core,
            seat,
            next: start,
            start,
            delivered: 0,
            rest: Rest::default(),
            ended: false,
        }
    }

    /// Makes a feed of this one that may be sent to other threads, and goes on where this one is.
    ///
    /// It counts as one more shard. It costs two turns of the control plane at most.
    ///
    /// A feed that was not detached stays where it is:
    ///
    /// ```compile_fail,E0277
    /// let mut feed = corelane_primitives::Signal::new(1).changes();
    /// std::thread::spawn(move || feed.try_next());
    /// ```
    pub fn detach(self) -> DetachedChanges<T, K> {
        let detached = Changes {
            core: Arc::clone(&self.core),
            seat: Seat::alone(&self.core.bells),
            next: self.next,
            start: self.start,
            delivered: self.delivered,
            rest: Rest::default(),
            ended: self.ended,
        };
        // It leaves its shard, which may panic, and is not to meet a returned value then.
        drop(self);
        detached
    }
}

/// What a look at the signal found.
enum Found<T> {
    Value(T),
    Nothing,
    End,
}

impl<T: Clone, K: Keep<T>, P> Changes<T, K, P> {
    /// Yields the latest value as soon as it is a new one, and `None` at the end.
    ///
    /// Completes at the first poll when there is news, unless the last value that was taken had
    /// skipped others: then the writer is faster than this feed, which lets the other tasks of its
    /// executor run first, up to 16 times, so that it takes about 16 sets together.
    ///
    /// # Cancel safety
    ///
    /// A value is taken in the poll that completes; a future dropped before takes nothing, and
    /// hands on what it had to do for other feeds.
    #[expect(
        clippy::should_implement_trait,
        reason = "the name that every stream's call has"
    )]
    pub fn next(&mut self) -> impl Future<Output = Option<T>> {
        Next {
            feed: self,
            waits: false,
        }
    }

    /// The latest value, if it is a new one.
    ///
    /// # Errors
    ///
    /// [`NextError::Empty`] when it is not, [`NextError::Closed`] at the end.
    pub fn try_next(&mut self) -> Result<T, NextError> {
        match self.look() {
            Found::Value(value) => Ok(value),
            Found::Nothing => Err(NextError::Empty),
            Found::End => Err(NextError::Closed),
        }
    }

    /// [`next`](Self::next) for a plain thread: sleeps until there is news, at most `timeout`.
    ///
    /// Not for a task: it would hold up all others of its thread. `Duration::MAX` waits without
    /// end.
    ///
    /// # Errors
    ///
    /// [`NextError::Empty`] when none came in time, [`NextError::Closed`] at the end.
    pub fn blocking_next(&mut self, timeout: Duration) -> Result<T, NextError> {
        match block_on_for(self.next(), timeout) {
            Some(Some(value)) => Ok(value),
            Some(None) => Err(NextError::Closed),
            None => Err(NextError::Empty),
        }
    }

    fn poll_value(&mut self, how: How, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if self.rest.goes_on(cx) {
            return Poll::Pending; // it waits nowhere: this task runs again
        }
        if let Poll::Ready(value) = self.poll_look() {
            return Poll::Ready(value);
        }
        if !self.seat.wait(how, cx.waker(), self.next, &self.core.bells) {
            return Poll::Pending; // another feed waits for all
        }
        // Partner of the parked mark's fence: who set before it saw nobody parked.
        self.poll_look()
    }

    fn poll_look(&mut self) -> Poll<Option<T>> {
        let last = self.next;
        match self.look() {
            Found::Value(value) => {
                self.rest.found(self.next - last);
                Poll::Ready(Some(value))
            }
            Found::Nothing => Poll::Pending,
            Found::End => Poll::Ready(None),
        }
    }

    /// Takes the latest value if it is a new one, and then waits no more.
    fn look(&mut self) -> Found<T> {
        let next = self.next;
        let found = self.core.keep.read(|mark, value| {
            if mark.version.0 >= next {
                // First: a clone that panics has taken nothing.
                let value = value.clone();
                self.next = mark.version.0 + 1;
                self.delivered += 1;
                return Found::Value(value);
            }
            match mark.is_last {
                true => Found::End,
                false => Found::Nothing,
            }
        });
        if let Found::Nothing = found {
            return found;
        }
        self.ended = matches!(found, Found::End);
        let core = &*self.core;
        self.seat.found(&core.bells, || core.news());
        found
    }
}

impl<T, K: Keep<T>, P> Changes<T, K, P> {
    /// How many values this feed would yield if nothing else were set: 1 or 0.
    pub fn lag(&self) -> u64 {
        self.stats().lag
    }

    /// What this feed has counted. What it has skipped counts as dropped.
    pub fn stats(&self) -> FeedStats {
        let Version(newest) = self.core.keep.mark().version;
        let news = (newest + 1).saturating_sub(self.next);
        let lag = news.min(1);
        FeedStats {
            delivered: self.delivered,
            dropped: self.next - self.start - self.delivered + news - lag,
            lag,
        }
    }

    /// Takes back a wait that returned Pending, and hands the duty on.
    fn stop_waiting(&mut self) {
        let core = &*self.core;
        self.seat.stop_waiting(&core.bells, || core.news());
    }
}

impl<T, K: Keep<T>, P> Drop for Changes<T, K, P> {
    fn drop(&mut self) {
        let mut panics = Panics::default();
        panics.run(|| self.stop_waiting());
        panics.run(|| self.seat.leave(&self.core.bells));
        panics.resume();
    }
}

impl<T: Clone, K: Keep<T>, P> Stream for Changes<T, K, P> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.get_mut().poll_value(How::Stream, cx)
    }
}

/// It has terminated once it has yielded its end.
impl<T: Clone, K: Keep<T>, P> FusedStream for Changes<T, K, P> {
    fn is_terminated(&self) -> bool {
        self.ended
    }
}

/// Nothing in it is pinned.
impl<T, K: Keep<T>, P> Unpin for Changes<T, K, P> {}

impl<T, K: Keep<T>, P> fmt::Debug for Changes<T, K, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes")
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

struct Next<'a, T: Clone, K: Keep<T>, P> {
    feed: &'a mut Changes<T, K, P>,
    /// Whether it was polled: only then is there a wait of its own to be taken back.
    waits: bool,
}

impl<T: Clone, K: Keep<T>, P> Future for Next<'_, T, K, P> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.waits = true;
        self.feed.poll_value(How::Future, cx)
    }
}

impl<T: Clone, K: Keep<T>, P> Drop for Next<'_, T, K, P> {
    fn drop(&mut self) {
        if self.waits {
            self.feed.stop_waiting();
        }
    }
}
