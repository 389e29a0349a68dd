//! Lanes between two parties, and sleep and wake, for threads and any executor.
//!
//! Nothing here knows an executor: whoever waits hands in a [`Waker`](std::task::Waker), or blocks
//! its thread. One set of tests runs on Corelane's shards, in its simulation, on current-thread
//! Tokio runtimes and on plain threads. In this version there are no other primitives.
//!
//! # Lanes
//!
//! A lane, made by [`lane()`], is a bounded ring between one [`Producer`] and one [`Consumer`]. Use
//! it where exactly two parties pass values one way, such as two shards; more senders take one lane
//! each. It keeps order, loses nothing, and says [`Full`] with the value when the consumer is a
//! whole ring behind.
//!
//! ```
//! use corelane_primitives::lane;
//!
//! // Numbers go through three threads: made, squared, summed up.
//! let (mut numbers, mut to_square) = lane(64);
//! let (mut squares, mut to_sum) = lane(64);
//! let sum = std::thread::scope(|scope| {
//!     scope.spawn(move || {
//!         for number in 0..1_000_u64 {
//!             numbers.blocking_send(number).expect("the next stage is there");
//!         }
//!     });
//!     scope.spawn(move || {
//!         while let Some(number) = to_square.blocking_recv() {
//!             squares.blocking_send(number * number).expect("the next stage is there");
//!         }
//!     });
//!     std::iter::from_fn(|| to_sum.blocking_recv()).sum::<u64>()
//! });
//! assert_eq!(sum, 332_833_500);
//! ```
//!
//! A stage that ends drops its producer, and the next one finds the end behind the last value; one
//! that breaks drops its consumer, and the one before it gets its value back.
//!
//! Each end has four ways to work:
//!
//! - One by one, [`push`](Producer::push) and [`pop`](Consumer::pop): one store each, and seldom a
//!   load of the other end's line.
//! - Many as one, [`push_batch`](Producer::push_batch) and [`write_chunk`](Producer::write_chunk),
//!   [`pop_batch`](Consumer::pop_batch) and [`read_chunk`](Consumer::read_chunk): the same for the
//!   whole batch.
//! - Waiting in a task, [`send`](Producer::send) and [`room`](Producer::room),
//!   [`recv`](Consumer::recv) and [`ready`](Consumer::ready), or their polls: a fence besides, and
//!   a wake if the other end sleeps.
//! - Waiting on a thread, [`blocking_send`](Producer::blocking_send) and
//!   [`blocking_recv`](Consumer::blocking_recv), [`blocking_room`](Producer::blocking_room) and
//!   [`blocking_ready`](Consumer::blocking_ready): the same, asleep in the kernel.
//!
//! **The first two are wait-free and never wake anybody.** Where the other end waits, in a task or
//! on a thread, a push or a pop alone leaves it asleep: call [`Producer::notify`] or
//! [`Consumer::notify`] once after a batch, which costs a fence and a load when that end is awake.
//! Sending and receiving, and leaving, notify by themselves. An end that goes to sleep itself
//! announces first what it left unsaid, so two ends never sleep on each other. Memory is `capacity`
//! slots and 768 bytes, allocated once.
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

mod block;
mod control;
mod error;
mod feed;
mod lane;
#[cfg(corelane_loom)]
#[doc(hidden)]
pub mod model;
mod pad;
mod panics;
mod park;
mod sync;
mod timers;
mod topic;
mod waiters;

pub use error::{Closed, Full, LaneError, TryPublishError};
pub use feed::{DetachedFeed, Feed, FeedError, FeedStats, NextError};
#[doc(hidden)]
pub use lane::lane_with_start;
pub use lane::{Consumer, Producer, ReadChunk, WriteChunk, lane, try_lane};
pub use park::{Epoch, Parker, SleepWord};
pub use timers::{TimerId, Timers};

/// What the tests of this crate ask of its inner parts. No part of the public interface.
#[doc(hidden)]
pub mod parts {
    pub use crate::block::block_on_for;
    pub use crate::timers::{Alarm, Clock};
    pub use crate::waiters::{WaitList, Waiter};
}
pub use topic::{Order, Topic, TopicError, TopicOverflow, TopicStats, WeakTopic};
