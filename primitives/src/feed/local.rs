//! The feed of a subscriber.

use super::{FeedError, FeedStats, NextError, Source};
use crate::block::block_on_for;
use crate::park::How;
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Marks a feed that stays on the thread that made it, with the other feeds there.
pub struct OnShard(PhantomData<*const ()>);

/// Marks a feed that may travel, since it shares nothing with others. It is not Sync.
pub struct Detached(PhantomData<Cell<()>>);

/// A feed that may be sent to other threads; made by [`Feed::detach`].
pub type DetachedFeed<T> = Feed<T, Detached>;

/// A subscriber's end, made by [`Topic::subscribe`](crate::Topic::subscribe) or by
/// [`Subscription::changes`](crate::Subscription::changes).
///
/// It is a stream of `Result<T, FeedError>` that ends when the source is closed and everything was
/// taken, or after its error. Feeds of one shard share one copy of each value and clone out of it;
/// they stay on their thread ([`detach`](Self::detach) makes one that may travel, as an executor
/// that moves tasks wants it). Dropping a feed frees a publisher that waits for it.
///
/// Whichever feed of a shard is polled copies for all of its kind and wakes those that wait. Of
/// those that wait by [`next`](Self::next) or [`next_batch`](Self::next_batch), publishers wake
/// one, which wakes the others and hands that duty on when its future is dropped. So a task that
/// holds such a future goes on polling it when it is woken, or drops it. A feed that waits as a
/// *stream* may be left alone, and is woken by itself; no other feed depends on it.
///
/// ```
/// use corelane_primitives::{NextError, Topic, TopicOverflow};
///
/// let topic = Topic::new(4, TopicOverflow::Backpressure);
/// let mut feed = topic.subscribe();
/// topic.try_publish(1).expect("there is room");
/// assert_eq!(feed.try_next(), Ok(1));
/// assert_eq!(feed.try_next(), Err(NextError::Empty));
/// topic.close();
/// assert_eq!(feed.try_next(), Err(NextError::Closed));
/// ```
pub struct Feed<T, P = OnShard> {
    source: Source<T, P>,
    /// Whether it has yielded its end.
    ended: bool,
}

impl<T> Feed<T> {
    pub(crate) fn new(source: Source<T, OnShard>) -> Self {
        Self {
            source,
            ended: false,
        }
    }
}

impl<T: Clone + Send + Sync> Feed<T> {
    /// Makes a feed of this one that may be sent to other threads, with all that it has not yet
    /// yielded and what it has counted.
    ///
    /// It has its own copies of the values, and publishers look at it as at one more shard. It
    /// costs two turns of the control plane at most.
    ///
    /// ```
    /// use corelane_primitives::{Topic, TopicOverflow};
    /// use std::time::Duration;
    ///
    /// let topic = Topic::new(4, TopicOverflow::Backpressure);
    /// let mut feed = topic.subscribe().detach();
    /// topic.try_publish(1).expect("there is room");
    /// let elsewhere = std::thread::spawn(move || feed.blocking_next(Duration::MAX));
    /// assert_eq!(elsewhere.join().expect("it does not panic"), Ok(1));
    /// ```
    ///
    /// A feed that was not detached stays where it is:
    ///
    /// ```compile_fail,E0277
    /// let topic = corelane_primitives::Topic::new(4, Default::default());
    /// let mut feed = topic.subscribe();
    /// # topic.try_publish(1);
    /// std::thread::spawn(move || feed.try_next());
    /// ```
    pub fn detach(self) -> DetachedFeed<T> {
        Feed {
            source: self.source.detach(),
            ended: self.ended,
        }
    }
}

impl<T: Clone + Send + Sync, P> Feed<T, P> {
    /// Yields the next value as soon as there is one, and `None` at the end.
    ///
    /// Completes at the first poll when there is a value.
    ///
    /// # Cancel safety
    ///
    /// A value is taken in the poll that completes; a future dropped before takes nothing, and
    /// hands on what it had to do for other feeds.
    #[expect(
        clippy::should_implement_trait,
        reason = "the name that every stream's call has"
    )]
    pub fn next(&mut self) -> impl Future<Output = Option<Result<T, FeedError>>> {
        Next {
            feed: self,
            waits: false,
        }
    }

    /// The next value, if there is one.
    ///
    /// # Errors
    ///
    /// [`NextError::Empty`] when there is none now, [`NextError::Failed`] once when the feed has
    /// failed, [`NextError::Closed`] at the end.
    pub fn try_next(&mut self) -> Result<T, NextError> {
        let taken = self.source.try_next();
        self.ended |= matches!(taken, Err(NextError::Closed));
        taken
    }

    /// Puts the next values, up to `max` and up to 256, at the end of `out` as soon as there is
    /// one, and says how many; 0 at the end, or if `max` is 0.
    ///
    /// They are freed as one batch: one store and one look at waiting publishers.
    ///
    /// # Errors
    ///
    /// [`FeedError`] when the feed has failed, which one of a topic never does.
    ///
    /// # Cancel safety
    ///
    /// As [`next`](Self::next).
    ///
    /// # Panics
    ///
    /// If a clone does; what stands in `out` then counts as delivered.
    pub fn next_batch<'a>(
        &'a mut self,
        out: &'a mut Vec<T>,
        max: usize,
    ) -> impl Future<Output = Result<usize, FeedError>> {
        NextBatch {
            feed: self,
            out,
            max,
            waits: false,
        }
    }

    /// [`next`](Self::next) for a plain thread: sleeps until there is a value, at most `timeout`.
    ///
    /// Not for a task: it would hold up all others of its thread. `Duration::MAX` waits without
    /// end.
    ///
    /// # Errors
    ///
    /// As [`try_next`](Self::try_next); [`NextError::Empty`] when none came in time.
    pub fn blocking_next(&mut self, timeout: Duration) -> Result<T, NextError> {
        match block_on_for(self.next(), timeout) {
            Some(Some(Ok(value))) => Ok(value),
            Some(Some(Err(error))) => Err(NextError::Failed(error)),
            Some(None) => Err(NextError::Closed),
            None => Err(NextError::Empty),
        }
    }

    /// How many values this feed has room for and has not yielded: up to its capacity (for each
    /// publishing shard, with [`Order::PerPublisher`](crate::Order::PerPublisher)), and one more
    /// before a subscription's feed has yielded the value that it starts with.
    pub fn lag(&self) -> u64 {
        self.stats().lag
    }

    /// What this feed has counted.
    pub fn stats(&self) -> FeedStats {
        self.source.stats()
    }

    pub(super) fn poll_value(
        &mut self,
        how: How,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<T, FeedError>>> {
        let value = std::task::ready!(self.source.poll_next(how, cx));
        self.ended |= value.is_none();
        Poll::Ready(value)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }
}

impl<T, P> fmt::Debug for Feed<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed")
            .field("stats", &self.source.stats())
            .finish_non_exhaustive()
    }
}

struct Next<'a, T, P> {
    feed: &'a mut Feed<T, P>,
    /// Whether it was polled: only then is there a wait of its own to be taken back.
    waits: bool,
}

impl<T: Clone + Send + Sync, P> Future for Next<'_, T, P> {
    type Output = Option<Result<T, FeedError>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.waits = true;
        self.feed.poll_value(How::Future, cx)
    }
}

impl<T, P> Drop for Next<'_, T, P> {
    fn drop(&mut self) {
        if self.waits {
            self.feed.source.stop_waiting();
        }
    }
}

struct NextBatch<'a, T, P> {
    feed: &'a mut Feed<T, P>,
    out: &'a mut Vec<T>,
    max: usize,
    /// As in [`Next`].
    waits: bool,
}

impl<T: Clone + Send + Sync, P> Future for NextBatch<'_, T, P> {
    type Output = Result<usize, FeedError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self {
            feed,
            out,
            max,
            waits,
        } = &mut *self;
        if *max == 0 {
            return Poll::Ready(Ok(0));
        }
        *waits = true;
        let count = std::task::ready!(feed.source.poll_batch(cx, out, *max));
        feed.ended |= count == Ok(0);
        Poll::Ready(count)
    }
}

impl<T, P> Drop for NextBatch<'_, T, P> {
    fn drop(&mut self) {
        if self.waits {
            self.feed.source.stop_waiting();
        }
    }
}
