//! Feeds as streams.

use super::{Feed, FeedError};
use crate::park::How;
use futures_core::{FusedStream, Stream};
use std::pin::Pin;
use std::task::{Context, Poll};

impl<T: Clone + Send + Sync, P> Stream for Feed<T, P> {
    type Item = Result<T, FeedError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_value(How::Stream, cx)
    }
}

/// It has terminated once it has yielded its end.
impl<T: Clone + Send + Sync, P> FusedStream for Feed<T, P> {
    fn is_terminated(&self) -> bool {
        self.has_ended()
    }
}

/// Nothing in it is pinned.
impl<T, P> Unpin for Feed<T, P> {}
