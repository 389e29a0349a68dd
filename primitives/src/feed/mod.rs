//! What all subscribers share: the feed, its errors and its counts.

mod error;
mod local;
mod stream;

pub use error::{FeedError, FeedStats, NextError};
pub use local::{DetachedFeed, Feed};
