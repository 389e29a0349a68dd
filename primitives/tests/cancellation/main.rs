//! Every future of this crate is dropped in every state that it has: the counts balance afterwards,
//! and nobody is stuck.
//!
//! [`table`] has them all, and fails when one is missing; each world goes through those of its
//! files. A script polls a future, lets something happen, polls again or not, and drops it, while
//! others wait before and behind it, on one shard and on two of one thread. `threads` does the same
//! with what really runs at the same time.
#![cfg(not(corelane_loom))]

#[path = "../support/rings.rs"]
mod bell;
mod ends;
mod feeds;
mod queues;
mod script;
mod signal;
mod table;
mod threads;
