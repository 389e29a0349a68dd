//! Time on a shard: one clock, one hierarchical wheel, and the futures that wait on it.
//!
//! All times come from the shard's own clock, which is the monotonic clock of the system or, in a
//! simulation, a virtual one. A jump of the wall clock changes nothing.

mod clock;
mod interval;
mod shard_timers;
mod sleep;
mod timeout;
mod timers;
mod wheel;

pub(crate) use clock::Clock;
pub use clock::Instant;
pub use interval::{Interval, interval, interval_at};
pub use shard_timers::ShardTimers;
pub use sleep::{Sleep, sleep, sleep_until};
pub use timeout::{Elapsed, Timeout, timeout, timeout_at};
pub(crate) use timers::Timers;
