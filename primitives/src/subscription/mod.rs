//! The subscription: the latest value for every reader, and every change for every feed.
//!
//! # State and log
//!
//! The state is a snapshot with its version, exchanged as a signal's is (see `signal`); the log is
//! a topic's (see `topic`), where version `v` stands at position `v`. Whoever changes the state
//! reads the snapshot, appends it to the log if nobody has yet, looks whether every feed has room
//! for the next version, exchanges the snapshot, and appends the new one. So the exchange is the
//! reservation; a writer that stops after it is helped by the next one, or by the next feed that
//! looks, and one that stops before it has left nothing. A version is exchanged only when all
//! before it are in the log, so the log has no gaps.
//!
//! *Coming.* A feed joins the log, then takes the snapshot as its first value and skips what the
//! log has up to it. What stood in the log when it joined was the state before.
//!
//! *Closing.* The last snapshot is never appended: the log is sealed behind the version before it,
//! which needs no room, and a feed that reaches the seal yields the last value from the state,
//! unless it had that one. A change that finds the last snapshot seals the log for its owner.
//!
//! *Fail.* A feed of such a subscription keeps the oldest values, and has a [`gauge`](gauge) beside
//! it that says how far it has room. A writer looks at it before its exchange, and says afterwards
//! from which version on the feed has failed.
//!
//! Nothing here is unsafe. Models: `tests/loom_subscription.rs`.

#![forbid(unsafe_code)]

mod change;
mod gauge;
mod handle;
mod reader;
mod settings;
mod state;

pub use handle::{Subscription, SubscriptionStats, WeakSubscription};
pub(crate) use reader::Reader;
pub use settings::{Overflow, SetError, SubscriptionError, TrySetError};
