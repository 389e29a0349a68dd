//! What a channel answers besides items. A value that was refused always comes back.

use crate::Closed;
use std::error::Error;
use std::fmt;

/// Why a value was not sent; it comes back in field 0.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError<T> {
    /// Every place is taken, or belongs to those who wait; or a [`Permits`](crate::Permits) has
    /// none left. A fault of timing alone.
    Full(T),
    /// The channel was closed, or its receiver is gone: no later send succeeds.
    Closed(T),
    /// There was no place until the given time had passed.
    TimedOut(T),
    /// The send was to end by time, and the channel has no [`Timers`](crate::Timers). The caller's
    /// fault.
    NoTimers(T),
}

impl<T> SendError<T> {
    /// Gives the refused value back.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(value)
            | Self::Closed(value)
            | Self::TimedOut(value)
            | Self::NoTimers(value) => value,
        }
    }

    /// Whether there was no place, so that the same send may succeed later.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Whether no later send can succeed.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }
}

impl<T> From<Closed<T>> for SendError<T> {
    fn from(Closed(value): Closed<T>) -> Self {
        Self::Closed(value)
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
            Self::TimedOut(_) => "TimedOut(..)",
            Self::NoTimers(_) => "NoTimers(..)",
        })
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the channel is full",
            Self::Closed(_) => "the channel is closed",
            Self::TimedOut(_) => "the channel was full until the time had passed",
            Self::NoTimers(_) => "a send that ends by time needs a channel with timers",
        })
    }
}

impl<T> Error for SendError<T> {}

/// Why a receiver has no item now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecvError {
    /// There is none. A fault of timing alone.
    Empty,
    /// There will never be one: the channel is closed, and everything was taken.
    Closed,
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the channel is empty",
            Self::Closed => "the channel is closed and empty",
        })
    }
}

impl Error for RecvError {}

/// Why a channel was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChannelError {
    /// The capacity, in items, is not from 1 to 2^31. The caller's fault.
    Capacity(usize),
    /// There is no memory for a channel of this capacity.
    Memory(usize),
}

impl fmt::Display for ChannelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capacity(items) => {
                write!(f, "channel capacity {items} is not from 1 to 2^31")
            }
            Self::Memory(items) => write!(f, "no memory for a channel of {items} items"),
        }
    }
}

impl Error for ChannelError {}
