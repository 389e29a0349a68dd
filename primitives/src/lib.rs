//! Concurrency primitives built from per-core parts, for any executor.
//!
//! Nothing here knows an executor: whoever waits hands in a [`Waker`](std::task::Waker). The same
//! lane works on Corelane, inside glommio, on a current-thread Tokio runtime a core, or under a
//! plain `block_on`.
//!
//! # Lanes
//!
//! A lane, made by [`lane()`], is a bounded ring between one [`Producer`] and one [`Consumer`]. Use
//! it where exactly two parties pass values one way, such as two shards; more senders take one lane
//! each. It keeps order, loses nothing, and says [`Full`] with the value when the consumer is a
//! whole ring behind.
//!
//! ```
//! use corelane_primitives::{Full, lane};
//!
//! let (mut producer, mut consumer) = lane(4);
//! std::thread::scope(|scope| {
//!     scope.spawn(move || {
//!         let mut next = 0;
//!         while next < 1_000 {
//!             match producer.push(next) {
//!                 Ok(()) => next += 1,
//!                 Err(Full(_)) => std::thread::yield_now(),
//!             }
//!         }
//!     });
//!     scope.spawn(move || {
//!         let mut sum = 0;
//!         while !(consumer.is_abandoned() && consumer.is_empty()) {
//!             sum += consumer.read_chunk(256).sum::<u64>();
//!         }
//!         assert_eq!(sum, 499_500);
//!     });
//! });
//! ```
//!
//! Each end has three ways to work, and they mix freely:
//!
//! - One by one, [`push`](Producer::push) and [`pop`](Consumer::pop): one store each, and seldom a
//!   load of the other end's line.
//! - Many as one, [`push_batch`](Producer::push_batch) and [`write_chunk`](Producer::write_chunk),
//!   [`pop_batch`](Consumer::pop_batch) and [`read_chunk`](Consumer::read_chunk): the same for the
//!   whole batch.
//! - Waiting, [`send`](Producer::send), [`room`](Producer::room) and
//!   [`poll_room`](Producer::poll_room), [`recv`](Consumer::recv) and
//!   [`poll_ready`](Consumer::poll_ready): a fence besides, and a wake if the other end sleeps.
//!
//! The first two are wait-free and never wake anybody. If the other end may be asleep, call
//! [`Producer::notify`] or [`Consumer::notify`] once after a batch; it costs a fence and a load
//! when that end is awake. An end that goes to sleep itself announces first what it left unsaid, so
//! two ends never sleep on each other. Memory is `capacity` slots and 768 bytes, allocated once.
//!
//! # Cancel safety
//!
//! A future of this crate may be dropped at any await point. A dropped [`recv`](Consumer::recv) or
//! [`room`](Producer::room) has taken nothing; a dropped [`send`](Producer::send) has pushed
//! nothing and drops its value. None of them is woken afterwards.
//!
//! # Sleep and wake
//!
//! [`SleepWord`] is the protocol alone, for an owner that blocks in its own way (a shard in its
//! driver); [`Parker`] adds the place for a waker, for tasks.
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
