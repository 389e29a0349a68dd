//! What a channel promises, on one thread and on many.
#![cfg(not(corelane_loom))]

#[path = "../support/bell.rs"]
mod bell;
mod close;
mod fair;
mod order;
#[path = "../../contract/tests/contract/random.rs"]
mod random;
mod relocation;
mod sink;
mod support;
mod values;
mod waits;
