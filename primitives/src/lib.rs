//! Concurrency primitives built from per-core parts, for any executor.
//!
//! | | what it is |
//! |---|---|
//! | [`lane()`] | a bounded ring with one producer and one consumer; both ends try, batch, chunk and await |
//! | [`Parker`], [`SleepWord`] | sleep and wake without lost wakes |
//!
//! Nothing here knows an executor: whoever waits hands in a [`Waker`](std::task::Waker). The same lane
//! works on Corelane, inside glommio, on a current-thread Tokio runtime a core, or under a plain
//! `block_on`.
#![deny(unsafe_code)]

mod error;
mod lane;
#[cfg(corelane_loom)]
#[doc(hidden)]
pub mod model;
mod pad;
mod park;
mod sync;

pub use error::{Closed, Full, LaneError};
#[doc(hidden)]
pub use lane::lane_with_start;
pub use lane::{Consumer, Producer, ReadChunk, WriteChunk, lane, try_lane};
pub use park::{Epoch, Parker, SleepWord};
