//! Sleep and wake.
//!
//! Owner: one thread or task parks; any thread wakes it. Rule: a waker stores its message, fences,
//! then reads the mark; the owner stores the mark, fences, then looks for messages. One of the two
//! must see the other. The ring comes before the mark is changed to `rung`, so a waker stopped in
//! between hangs nobody: the next one rings again. Model: `tests/loom_park.rs`.

mod parker;
mod word;

pub use parker::Parker;
pub use word::{Epoch, SleepWord};
