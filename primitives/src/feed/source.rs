//! What stands behind a feed.

use super::{Detached, FeedError, FeedStats, NextError, OnShard};
use crate::park::How;
use crate::subscription::Reader;
use crate::topic::Cursors;
use std::task::{Context, Poll};

/// Whose values a feed yields.
pub(crate) enum Source<T, P> {
    /// A topic's messages.
    Topic(Cursors<T, P>),
    /// A subscription's changes.
    Subscription(Reader<T, P>),
}

impl<T, P> Source<T, P> {
    pub(super) fn stats(&self) -> FeedStats {
        match self {
            Self::Topic(cursor) => cursor.stats(),
            Self::Subscription(reader) => reader.stats(),
        }
    }

    /// Takes back a wait that returned Pending.
    pub(super) fn stop_waiting(&mut self) {
        match self {
            Self::Topic(cursor) => cursor.stop_waiting(),
            Self::Subscription(reader) => reader.stop_waiting(),
        }
    }
}

impl<T: Clone + Send + Sync, P> Source<T, P> {
    pub(super) fn try_next(&mut self) -> Result<T, NextError> {
        match self {
            Self::Topic(cursor) => cursor.try_next().map_err(|ended| match ended {
                true => NextError::Closed,
                false => NextError::Empty,
            }),
            Self::Subscription(reader) => reader.try_next(),
        }
    }

    pub(super) fn poll_next(
        &mut self,
        how: How,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<T, FeedError>>> {
        match self {
            Self::Topic(cursor) => cursor.poll_next(how, cx).map(|value| value.map(Ok)),
            Self::Subscription(reader) => reader.poll_next(how, cx),
        }
    }

    /// Puts up to `max` values at the end of `out`; 0 at the end.
    pub(super) fn poll_batch(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Vec<T>,
        max: usize,
    ) -> Poll<Result<usize, FeedError>> {
        match self {
            Self::Topic(cursor) => {
                let count = cursor.poll_batch(How::Future, cx, out, max);
                count.map(|count| Ok(count.unwrap_or(0)))
            }
            Self::Subscription(reader) => reader.poll_batch(cx, out, max),
        }
    }
}

impl<T: Clone + Send + Sync> Source<T, OnShard> {
    /// The same with a part of the log of its own.
    pub(super) fn detach(self) -> Source<T, Detached> {
        match self {
            Self::Topic(cursor) => Source::Topic(cursor.detach()),
            Self::Subscription(reader) => Source::Subscription(reader.detach()),
        }
    }
}
