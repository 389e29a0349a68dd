//! Services with a part on every shard.
//!
//! Owner: each part lives, works and drops on its shard, as a resident there ([`crate::home`]); a
//! service is a handle that knows the parts' places. Rules: a call finds its part when it arrives,
//! so one that arrives after the stop says so; a part goes when nothing uses it any more, and who
//! uses it is counted where it lives, without an atomic operation.

mod calls;
mod error;
mod seat;
mod service;
mod start;

pub use calls::Invoke;
pub use error::{InvokeError, ShardedError, StopError};
pub use seat::Local;
pub use service::Sharded;
