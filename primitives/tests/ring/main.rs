//! What a ring by claim promises, on one thread and on many.
#![cfg(not(corelane_loom))]

#[path = "../support/bell.rs"]
mod bell;
mod claims;
mod clock;
mod counts;
mod flow;
mod ring64;
#[path = "../support/settle.rs"]
mod settle;
mod values;
mod waits;
mod wakes;
