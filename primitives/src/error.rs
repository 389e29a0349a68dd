//! What a full or closed thing answers. The value always comes back.

use std::error::Error;
use std::fmt;

/// Every slot is taken; the value comes back in field 0.
///
/// Only a fault of timing: the same call succeeds once the other end has made room, unless that end
/// is gone (see [`Producer::is_abandoned`](crate::Producer::is_abandoned)).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Full<T>(pub T);

impl<T> Full<T> {
    /// Gives the refused value back.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Full(..)")
    }
}

impl<T> fmt::Display for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("every slot is taken")
    }
}

impl<T> Error for Full<T> {}

/// It is closed, or its other end is gone; a value that was on its way comes back in field 0.
///
/// No later call succeeds. Errors of calls that may fail otherwise are made of it by `From`, so `?`
/// takes it where they are expected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Closed<T = ()>(pub T);

impl<T> Closed<T> {
    /// Gives the refused value back.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closed(..)")
    }
}

impl<T> fmt::Display for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is closed, or the other end is gone")
    }
}

impl<T> Error for Closed<T> {}

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

/// Why a lane was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaneError {
    /// The capacity, in slots, is not a power of two from 1 to 2^31. The caller's fault.
    Capacity(usize),
    /// There is no memory for this many slots.
    Memory(usize),
}

impl fmt::Display for LaneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capacity(slots) => {
                write!(
                    f,
                    "lane capacity {slots} is not a power of two from 1 to 2^31"
                )
            }
            Self::Memory(slots) => write!(f, "no memory for a lane of {slots} slots"),
        }
    }
}

impl Error for LaneError {}
