//! What a feed answers besides values.

use std::error::Error;
use std::fmt;

/// Why a feed has failed. It yields this once, after all that it had, and has then ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeedError {
    /// The feed was full when a change came, and its maker wanted it to fail then. The reader's
    /// fault: it is too slow, or its capacity too small.
    Overrun,
}

impl fmt::Display for FeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overrun => f.write_str("the feed was full when a change came"),
        }
    }
}

impl Error for FeedError {}

/// Why [`Feed::try_next`](crate::Feed::try_next) or
/// [`Feed::blocking_next`](crate::Feed::blocking_next), or those of a signal's
/// [`Changes`](crate::Changes), have no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NextError {
    /// There is none now; in a blocking call, none came in time. Only a fault of timing.
    Empty,
    /// There will never be one: everything was taken, and the source is closed.
    Closed,
    /// The feed has failed, as told once; then it is `Closed`. A signal's never does.
    Failed(FeedError),
}

impl fmt::Display for NextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no value is there"),
            Self::Closed => f.write_str("the source is closed and everything was taken"),
            Self::Failed(_) => f.write_str("the feed has failed"),
        }
    }
}

impl Error for NextError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Failed(error) => Some(error),
            Self::Empty | Self::Closed => None,
        }
    }
}

/// What a feed has counted since it was made.
///
/// The sum of the three is what was published to it, with the value that a feed of a signal or a
/// subscription starts with; at its end the lag is 0, unless it is dropped before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeedStats {
    /// Values that it has yielded.
    pub delivered: u64,
    /// Values that it lost, by its overflow policy, or that a signal's feed skipped. One less when
    /// a subscription's feed yields the last value after all, which it had dropped.
    pub dropped: u64,
    /// Values that it has room for and has not yielded.
    pub lag: u64,
}
