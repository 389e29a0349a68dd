//! The lane: a bounded ring with one producer and one consumer.
//!
//! # Ownership
//!
//! The producer alone writes slots and the tail, the consumer alone empties slots and moves the
//! head. A slot belongs to the consumer from the tail's Release store until the head's, to the
//! producer otherwise. Positions run freely and wrap; `tail - head` never exceeds the capacity.
//! Models: `tests/loom_lane.rs`. The bench row that pays for the unsafe code:
//! `lanes/one_way_single`.

#![allow(unsafe_code)]

mod blocking;
mod consumer;
mod error;
mod producer;
mod read_chunk;
mod shared;
mod slots;
mod wait;
mod write_chunk;

pub use consumer::Consumer;
pub use error::LaneError;
pub use producer::Producer;
pub use read_chunk::ReadChunk;
pub use shared::{lane, lane_with_start, try_lane};
pub use write_chunk::WriteChunk;
