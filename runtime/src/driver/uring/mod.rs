//! The io_uring backend.
//!
//! Owner: one shard's thread, which made the ring. Order rules:
//!
//! - What the kernel may still touch (descriptors, send buffers) is held by the in-flight table
//!   ([`slots`]) until the operation's last completion; a dropped future or handle only asks for a
//!   cancel.
//! - Completions are copied out of the queue first and delivered after every borrow has ended,
//!   since a waker may run anything.
//! - One `enter` a turn submits what was queued and lets the kernel make its completions.
#![allow(
    unsafe_code,
    reason = "submissions hand memory and descriptors to the kernel"
)]

mod bufring;
mod close;
mod driver;
mod gather;
mod hot;
mod listener;
mod msg;
mod probe;
mod receive;
mod ring;
mod send;
mod setup;
mod slots;
mod stash;
mod stream;
mod token;

#[cfg(test)]
mod tests;

pub(crate) use close::RingKeepalive;
pub(crate) use driver::Uring;
pub(crate) use listener::Listener;
pub(crate) use send::Flight;
pub(crate) use stream::Stream;
