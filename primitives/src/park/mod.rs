//! Sleep and wake, of one task or of all the feeds of a thread.
//!
//! Owner: one thread or task parks; any thread wakes it. Rule: a waker stores its message, fences,
//! then reads the mark; the owner stores the mark, fences, then looks for messages. One of the two
//! must see the other. The ring comes before the mark is changed to `rung`, so a waker stopped in
//! between hangs nobody: the next one rings again. Model: `tests/loom_park.rs`.

#![allow(unsafe_code)]

mod bells;
mod crew;
mod looks;
mod parker;
mod rest;
mod seat;
mod word;

pub(crate) use bells::Bells;
use crew::{Crew, Member};
pub(crate) use looks::Looks;
pub use parker::Parker;
pub(crate) use rest::Rest;
pub(crate) use seat::{How, Seat};
pub use word::{Epoch, SleepWord};
