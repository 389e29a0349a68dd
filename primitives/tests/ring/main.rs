//! What a ring by claim promises, on one thread and on many.
#![cfg(not(corelane_loom))]

mod by_hand;
mod claims;
mod clock;
mod counts;
mod flow;
mod values;
mod waits;
mod wakes;
