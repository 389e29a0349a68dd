//! Rings of 64-bit integers: many producers, one consumer.
//!
//! # Ownership
//!
//! A producer owns the positions that it has claimed, until it publishes each by a Release store of
//! its slot's state word; the consumer owns what is published, until its Release store of the head.
//! The claim is a compare-exchange of the front's word, which succeeds only while there is room, so
//! what is refused leaves no trace. Only the contiguous published prefix is taken. Payloads are
//! atomics, so nothing here is unsafe. Models: `tests/loom_ring64.rs`.
//!
//! # Sleep and wake
//!
//! A producer that publishes would have to fence, and look whether the consumer sleeps. The fence
//! costs more than all the rest of a push, so it is made only while the consumer asks for it, by
//! the flag TELL in the word that a claim reads and compares anyway. A claim stands before or
//! behind the change of that flag: a consumer that sets it knows the last position that was
//! claimed without it, and does not sleep while such a one is unpublished. One that keeps finding
//! values takes the flag back. It is set at the start.

#![forbid(unsafe_code)]

mod builder;
mod channel;
mod claim;
mod consumer;
mod desk;
mod reader;
mod ring;
mod shards;
mod shared;
mod slots;
mod wait;

pub use builder::Ring64Builder;
pub use channel::{HandlerPanic, RingChannel, RingChannelBuilder, RingChannelRun, RingChannelTask};
pub use claim::{Claim64, ClaimError};
pub use consumer::Consumer64;
pub use ring::Ring64;
pub use shards::Shards64;
