//! What can be wrong with a relocation or a storage.

use core::fmt;
use std::error::Error;

use crate::affinity::Affinity;

/// Why [`Arc::try_relocate`](crate::Arc::try_relocate) kept the value that the handle carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelocateError {
    /// The destination is the anonymous affinity of a thread that entered none; it has no
    /// partition.
    Anonymous,
    /// The strategy's index of this affinity is not below its count.
    OutOfRange(Affinity),
    /// Waiting for the destination's value would never have ended: its maker waits, directly or
    /// through other threads, for the calling thread.
    Cycle,
    /// The strategy counts differently for two affinities of one topology.
    CountDiffers {
        /// The affinity whose count differs.
        affinity: Affinity,
        /// The count of the first affinity of that topology.
        first: usize,
        /// The count of this one.
        now: usize,
    },
    /// The strategy counts more partitions than there may be.
    TooManyPartitions(usize),
}

impl fmt::Display for RelocateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anonymous => f.write_str("an anonymous affinity has no partition"),
            Self::OutOfRange(affinity) => {
                write!(
                    f,
                    "{affinity:?} is beyond the strategy's count of partitions"
                )
            }
            Self::Cycle => f.write_str("the value's maker waits for this thread"),
            Self::CountDiffers {
                affinity,
                first,
                now,
            } => write!(
                f,
                "the strategy counts {now} partitions for {affinity:?} and {first} for another \
                 affinity of its topology"
            ),
            Self::TooManyPartitions(count) => {
                write!(f, "the strategy counts {count} partitions, more than 65536")
            }
        }
    }
}

impl Error for RelocateError {}

/// Why no [`Arc`](crate::Arc) was made from values that were there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageError {
    /// The storage has no value for the affinity that was asked for.
    Absent(Affinity),
    /// Two of the values belong to the partition of this affinity.
    Occupied(Affinity),
    /// The affinity names no partition.
    Place(RelocateError),
}

impl fmt::Display for StorageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(affinity) => write!(f, "the storage has no value for {affinity:?}"),
            Self::Occupied(affinity) => {
                write!(f, "there are two values for the partition of {affinity:?}")
            }
            Self::Place(_) => f.write_str("the affinity names no partition"),
        }
    }
}

impl Error for StorageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Place(error) => Some(error),
            Self::Absent(_) | Self::Occupied(_) => None,
        }
    }
}

/// How many relocations of a lineage kept their value although another partition was named.
///
/// The answer of [`Arc::ignored`](crate::Arc::ignored).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ignored {
    /// The destination was anonymous.
    pub anonymous: u64,
    /// The strategy's index of the destination was not below its count.
    pub out_of_range: u64,
    /// Waiting for the destination's value would never have ended.
    pub cycles: u64,
}
