//! What all subscribers share: the feed, its errors and its counts.

mod error;
mod local;
mod source;
mod stream;

pub use error::{FeedError, FeedStats, NextError};
pub(crate) use local::{Detached, OnShard};
pub use local::{DetachedFeed, Feed};
pub(crate) use source::Source;
