//! The signal: the latest value, for every reader on every shard.
//!
//! Owner: nobody. A set publishes one whole value with its version, by one compare-exchange; a
//! read takes both as one unit and blocks nobody. Two ways to keep the value: [`Shared`], any
//! type, by atomic snapshot; [`Plain`], up to 64 bytes without pointers, in slots of atomic words.
//!
//! Feeds compare versions, so each costs the same whatever happened since its last look, and no
//! writer ever waits for one. The feeds of one thread are one crew (see `park`), rung as one. A
//! set publishes, fences, then looks whether a crew is parked, which is one load while none is; a
//! feed marks its crew parked, fences, then looks at the version once more. One of the two sees
//! the other.
//!
//! Models: `tests/loom_signal.rs`.

#![forbid(unsafe_code)]

mod changes;
mod handle;
mod keep;
mod plain;
mod replica;
mod shared;
mod slots;

pub use changes::{Changes, DetachedChanges};
pub use handle::{PlainSignal, Signal, SignalStats, WeakSignal};
pub use keep::Version;
pub(crate) use keep::{Follow, Keep};
pub use plain::Plain;
pub use replica::Replica;
pub(crate) use replica::{OfShared, Replicated};
pub use shared::Shared;
pub(crate) use shared::Snapshot;
