//! What a ring answers when it takes no value, and why one was not made.

use std::error::Error;
use std::fmt;

/// Why a ring took no value. The value comes back in field 0.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PushError<T = ()> {
    /// Every slot is taken: the consumer is a whole ring behind. A fault of timing alone.
    Full(T),
    /// The ring was closed, or its consumer is gone: no later push succeeds.
    Closed(T),
}

impl<T> PushError<T> {
    /// Gives the refused value back.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(value) | Self::Closed(value) => value,
        }
    }

    /// Whether the ring was full, so that the same push may succeed later.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// The same refusal of another value.
    pub(crate) fn map<U>(self, with: impl FnOnce(T) -> U) -> PushError<U> {
        match self {
            Self::Full(value) => PushError::Full(with(value)),
            Self::Closed(value) => PushError::Closed(with(value)),
        }
    }
}

impl<T> fmt::Debug for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "every slot is taken",
            Self::Closed(_) => "the ring is closed",
        })
    }
}

impl<T> Error for PushError<T> {}

/// Why a ring was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RingError {
    /// The capacity, in slots, is not a power of two from 1 to 2^31. The caller's fault.
    Capacity(usize),
    /// The number of shards is not from 1 to 2^16. The caller's fault.
    Shards(usize),
    /// There is no memory for this many slots.
    Memory(usize),
}

impl fmt::Display for RingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capacity(slots) => write!(
                f,
                "ring capacity {slots} is not a power of two from 1 to 2^31"
            ),
            Self::Shards(shards) => write!(f, "{shards} shards are not from 1 to 2^16"),
            Self::Memory(slots) => write!(f, "no memory for a ring of {slots} slots"),
        }
    }
}

impl Error for RingError {}
