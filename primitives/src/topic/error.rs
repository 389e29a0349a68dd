//! What a topic answers besides Ok. A value that was refused always comes back.

use super::settings::CAPACITY_MAX;
use crate::Closed;
use std::error::Error;
use std::fmt;

/// Why a value was not published now. It comes back in field 0.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TryPublishError<T> {
    /// A feed that wants to lose nothing has no room; in a blocking call, not in time. Only a fault
    /// of timing, or of a slow reader.
    Full(T),
    /// The topic is closed: no later publish succeeds.
    Closed(T),
    /// There is room, but others wait for it or publish at the same moment. Only a fault of timing.
    Busy(T),
}

impl<T> TryPublishError<T> {
    /// Gives the refused value back.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(value) | Self::Closed(value) | Self::Busy(value) => value,
        }
    }

    /// Whether no later publish can succeed; if not, the same one may.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }
}

impl<T> From<Closed<T>> for TryPublishError<T> {
    fn from(Closed(value): Closed<T>) -> Self {
        Self::Closed(value)
    }
}

impl<T> fmt::Debug for TryPublishError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
            Self::Busy(_) => "Busy(..)",
        })
    }
}

impl<T> fmt::Display for TryPublishError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "a feed has no room",
            Self::Closed(_) => "the topic is closed",
            Self::Busy(_) => "others publish first",
        })
    }
}

impl<T> Error for TryPublishError<T> {}

/// Why a topic or a feed was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopicError {
    /// The capacity of a topic, in values, is not from 1 to 2^20. The caller's fault.
    Capacity(usize),
    /// The capacity of a feed, in values, is not from 1 to the topic's. The caller's fault.
    FeedCapacity {
        /// What was asked for.
        asked: usize,
        /// The topic's capacity.
        topic: usize,
    },
}

impl fmt::Display for TopicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capacity(values) => {
                write!(f, "topic capacity {values} is not from 1 to {CAPACITY_MAX}")
            }
            Self::FeedCapacity { asked, topic } => {
                write!(
                    f,
                    "feed capacity {asked} is not from 1 to the topic's {topic}"
                )
            }
        }
    }
}

impl Error for TopicError {}
