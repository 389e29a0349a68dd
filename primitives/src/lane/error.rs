//! Why a lane was not made.

use std::error::Error;
use std::fmt;

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
