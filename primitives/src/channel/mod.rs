//! Channels: work from many senders to one receiver.
//!
//! # Ownership
//!
//! Items go through a ring by claim, in one order. In front of it stands a count of *credits*, one
//! for each place of the channel: whoever sends takes a credit first, by a compare-exchange, and
//! then always finds a slot; the receiver gives credits back, those of one drain as one. A credit
//! is held by an item inside, by a [`Permits`], or by a handle whose `Sink` is ready. Who finds
//! none waits on the list of `waiters`, which grants in the order of coming what each needs.
//!
//! # Turns
//!
//! With one wait an item, a full channel would cost a wake and a poll each. So in a channel of 64
//! places or more, a handle that has waited may send a run of up to 64 items while others wait; the
//! list is told of one place for each run that what is free can hold, and one, and a run leaves as
//! many. Whoever leaves the list has the rest counted anew, so that free places are never left to
//! nobody. While somebody waits for several places there are no runs.
//!
//! # Rules
//!
//! The credits' orderings are Relaxed: no item moves because of them, and each slot's word says by
//! itself whether it is free. What closes is the ring's own word and nothing else, so each send
//! stands before the close, and is received or dropped with the receiver, or gets its value back;
//! and who was told of the close by one call is told so by all later ones. Models:
//! `tests/loom_channel.rs`, `tests/loom_claim.rs`, `tests/loom_waiters.rs`.

#![forbid(unsafe_code)]

mod builder;
mod credits;
mod error;
mod passage;
mod permits;
mod receive;
mod receiver;
mod send;
mod sender;
mod shared;
mod sink;
mod weak;

pub use builder::{ChannelBuilder, channel};
pub use error::{ChannelError, RecvError, SendError};
pub use passage::{AsIs, Passage, Relocating};
pub use permits::Permits;
pub use receiver::Receiver;
pub use sender::Sender;
pub use weak::WeakSender;
