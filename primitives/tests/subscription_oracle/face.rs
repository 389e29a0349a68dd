//! Feeds of a shard and detached ones behind one face, with numbers for values.

use corelane_primitives::{DetachedFeed, Feed, FeedError, FeedStats, NextError};
use futures_core::{FusedStream, Stream};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

/// A value that shows by its count whether all of its copies are gone.
#[derive(Clone)]
pub(crate) struct Token(
    pub(crate) u64,
    #[expect(dead_code, reason = "its count is looked at")] pub(crate) Arc<()>,
);

/// What a feed yields; `None` is its end.
pub(crate) type Item = Option<Result<u64, FeedError>>;

/// What one poll of a batch answered, and took.
pub(crate) type Batch = (Poll<Result<usize, FeedError>>, Vec<u64>);

/// A future that has its feed, and gives it back.
pub(crate) type Wait = Pin<Box<dyn Future<Output = (Box<dyn AnyFeed>, Item)>>>;

pub(crate) trait AnyFeed {
    fn try_next(&mut self) -> Result<u64, NextError>;
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Item>;
    /// Polls a future `polls` times at most, and drops it.
    fn poll_and_drop(&mut self, cx: &mut Context<'_>, polls: usize) -> Poll<Item>;
    /// Polls a batch once, and drops it.
    fn batch(&mut self, cx: &mut Context<'_>, max: usize) -> Batch;
    fn wait(self: Box<Self>) -> Wait;
    fn stats(&self) -> FeedStats;
    fn is_terminated(&self) -> bool;
    fn detach(self: Box<Self>) -> Box<dyn AnyFeed>;
}

fn numbers(item: Option<Result<Token, FeedError>>) -> Item {
    item.map(|answer| answer.map(|token| token.0))
}

macro_rules! any_feed {
    ($feed:ty, |$this:ident| $detach:expr) => {
        impl AnyFeed for $feed {
            fn try_next(&mut self) -> Result<u64, NextError> {
                Self::try_next(self).map(|token| token.0)
            }

            fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Item> {
                Stream::poll_next(Pin::new(self), cx).map(numbers)
            }

            fn poll_and_drop(&mut self, cx: &mut Context<'_>, polls: usize) -> Poll<Item> {
                let mut next = pin!(self.next());
                for _ in 0..polls {
                    if let Poll::Ready(item) = next.as_mut().poll(cx) {
                        return Poll::Ready(numbers(item));
                    }
                }
                Poll::Pending
            }

            fn batch(&mut self, cx: &mut Context<'_>, max: usize) -> Batch {
                let mut out = Vec::new();
                let polled = pin!(self.next_batch(&mut out, max)).poll(cx);
                (polled, out.iter().map(|token| token.0).collect())
            }

            fn wait(mut self: Box<Self>) -> Wait {
                Box::pin(async move {
                    let item = self.next().await;
                    let feed: Box<dyn AnyFeed> = self;
                    (feed, numbers(item))
                })
            }

            fn stats(&self) -> FeedStats {
                assert_eq!(Self::stats(self).lag, self.lag());
                Self::stats(self)
            }

            fn is_terminated(&self) -> bool {
                FusedStream::is_terminated(self)
            }

            fn detach(self: Box<Self>) -> Box<dyn AnyFeed> {
                let $this = self;
                $detach
            }
        }
    };
}

any_feed!(Feed<Token>, |this| Box::new(Feed::detach(*this)));
any_feed!(DetachedFeed<Token>, |this| this);
