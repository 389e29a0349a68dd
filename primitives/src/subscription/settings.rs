//! What the maker of a subscription chooses, and what a change answers.

use crate::topic::{CAPACITY_MAX, TopicOverflow};
use crate::{Closed, Version};
use std::error::Error;
use std::fmt;

/// What happens to a change for which a feed has no room.
///
/// With [`Backpressure`](Self::Backpressure) it is made when there is room; with all others the
/// state changes at once. The value that a feed starts with takes no room, and is always yielded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// The writer waits until every feed has room, or is gone. Nothing is lost.
    #[default]
    Backpressure,
    /// The full feed does not get it: it keeps what it has, the oldest changes. The last value of a
    /// subscription that is closed it yields all the same.
    DropNew,
    /// The full feed loses its oldest change instead: it has the newest ones.
    DropOldest,
    /// The full feed fails: it yields what it has, then its error. The writer is told, once, and
    /// looks at each feed for that.
    Fail,
}

impl Overflow {
    /// What the log does for it.
    pub(super) fn of_log(self) -> TopicOverflow {
        match self {
            Self::Backpressure => TopicOverflow::Backpressure,
            Self::DropNew | Self::Fail => TopicOverflow::DropNew,
            Self::DropOldest => TopicOverflow::DropOldest,
        }
    }
}

/// Why a subscription was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubscriptionError {
    /// The capacity, in changes, is not from 1 to 2^20. The caller's fault.
    Capacity(usize),
}

impl fmt::Display for SubscriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capacity(changes) => write!(
                f,
                "subscription capacity {changes} is not from 1 to {CAPACITY_MAX}"
            ),
        }
    }
}

impl Error for SubscriptionError {}

/// What a change that waits for room answers besides its version.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetError<T = ()> {
    /// The subscription is closed; the value comes back.
    Closed(T),
    /// The value *was* set, as this version, and a feed without room for it has failed.
    Overrun(Version),
}

impl<T> SetError<T> {
    /// Gives the refused value back; `None` if it was set.
    pub fn into_inner(self) -> Option<T> {
        match self {
            Self::Closed(value) => Some(value),
            Self::Overrun(_) => None,
        }
    }
}

impl<T> From<Closed<T>> for SetError<T> {
    fn from(Closed(value): Closed<T>) -> Self {
        Self::Closed(value)
    }
}

impl<T> fmt::Debug for SetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(_) => f.write_str("Closed(..)"),
            Self::Overrun(version) => f.debug_tuple("Overrun").field(version).finish(),
        }
    }
}

impl<T> fmt::Display for SetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(_) => f.write_str("the subscription is closed"),
            Self::Overrun(version) => write!(f, "version {version} was set, and a feed has failed"),
        }
    }
}

impl<T> Error for SetError<T> {}

/// What a change that does not wait, or not for long, answers besides its version.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrySetError<T> {
    /// A feed that wants to lose nothing has no room; in a blocking call, not in time. Only a fault
    /// of timing, or of a slow reader. The value comes back.
    Full(T),
    /// There is room, but others wait for it or set at the same moment. Only a fault of timing. The
    /// value comes back.
    Busy(T),
    /// The subscription is closed; the value comes back.
    Closed(T),
    /// The value *was* set, as this version, and a feed without room for it has failed.
    Overrun(Version),
}

impl<T> TrySetError<T> {
    /// Gives the refused value back; `None` if it was set.
    pub fn into_inner(self) -> Option<T> {
        match self {
            Self::Full(value) | Self::Busy(value) | Self::Closed(value) => Some(value),
            Self::Overrun(_) => None,
        }
    }

    /// Whether no later change can succeed.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }
}

impl<T> From<SetError<T>> for TrySetError<T> {
    fn from(error: SetError<T>) -> Self {
        match error {
            SetError::Closed(value) => Self::Closed(value),
            SetError::Overrun(version) => Self::Overrun(version),
        }
    }
}

impl<T> fmt::Debug for TrySetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(_) => f.write_str("Full(..)"),
            Self::Busy(_) => f.write_str("Busy(..)"),
            Self::Closed(_) => f.write_str("Closed(..)"),
            Self::Overrun(version) => f.debug_tuple("Overrun").field(version).finish(),
        }
    }
}

impl<T> fmt::Display for TrySetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(_) => f.write_str("a feed has no room"),
            Self::Busy(_) => f.write_str("others set first"),
            Self::Closed(_) => f.write_str("the subscription is closed"),
            Self::Overrun(version) => write!(f, "version {version} was set, and a feed has failed"),
        }
    }
}

impl<T> Error for TrySetError<T> {}
