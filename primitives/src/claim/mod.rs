//! The ring by claim: many producers, one consumer, values of any type.
//!
//! # Ownership
//!
//! A producer claims the next position by a compare-exchange of the tail, and only when that
//! position's slot is free. It then owns the slot if it can change the slot's word from *free* to
//! *writing*; the consumer, or a producer that found the ring full, may change it from *free* to
//! *skipped* instead, once the claim is old. One of both wins. Between *writing* and *published* no
//! foreign code runs: the value moves, and that is all. The consumer owns what is published, until
//! it stores *free* with the position of the next lap. Each word carries its position, so who comes
//! a lap late never matches. Models: `tests/loom_claim.rs`; all states: `tests/claim_states.rs`.
//!
//! # Cost
//!
//! Two compare-exchanges, two stores, a fence and a load a push. The unsafe code, which is the
//! slots' memory, pays for itself in bench row `flood_N`: values of any type move once, and none is
//! allocated.

#![allow(unsafe_code)]

mod blocking;
mod builder;
mod consumer;
mod held;
mod reader;
mod ring;
mod shared;
mod sight;
mod slots;
mod wait;

pub use builder::RingBuilder;
pub use consumer::RingConsumer;
pub use held::Claim;
pub use ring::Ring;
pub use sight::FirstSight;
