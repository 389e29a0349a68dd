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
    /// The ring belongs to a [`RingChannel`](crate::RingChannel) whose handler has panicked: no
    /// later push succeeds. The handler's fault.
    Failed(T),
    /// The ring was full until the given time had passed.
    TimedOut(T),
    /// The push was to end by time, and the ring has no [`Timers`](crate::Timers). The caller's
    /// fault.
    NoTimers(T),
}

impl<T> PushError<T> {
    /// Gives the refused value back.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(value)
            | Self::Closed(value)
            | Self::Failed(value)
            | Self::TimedOut(value)
            | Self::NoTimers(value) => value,
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
            Self::Failed(value) => PushError::Failed(with(value)),
            Self::TimedOut(value) => PushError::TimedOut(with(value)),
            Self::NoTimers(value) => PushError::NoTimers(with(value)),
        }
    }
}

impl<T> fmt::Debug for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
            Self::Failed(_) => "Failed(..)",
            Self::TimedOut(_) => "TimedOut(..)",
            Self::NoTimers(_) => "NoTimers(..)",
        })
    }
}

impl<T> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "every slot is taken",
            Self::Closed(_) => "the ring is closed",
            Self::Failed(_) => "the handler has panicked",
            Self::TimedOut(_) => "every slot was taken until the time had passed",
            Self::NoTimers(_) => "a push that ends by time needs a ring with timers",
        })
    }
}

impl<T> Error for PushError<T> {}

/// A claim was not published in time: the ring went on without it. The value comes back in field 0.
///
/// The consumer, or a producer that found the ring full, has waited for it for the ring's
/// `skip_after`; or the consumer is gone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SteppedOver<T>(pub T);

impl<T> SteppedOver<T> {
    /// Gives the refused value back.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for SteppedOver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SteppedOver(..)")
    }
}

impl<T> fmt::Display for SteppedOver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the ring went on without this claim")
    }
}

impl<T> Error for SteppedOver<T> {}

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
