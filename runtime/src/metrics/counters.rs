//! The counters themselves.

use crate::sync::{Counter, SleepTime};

/// What one shard counts.
#[derive(Debug, Default)]
pub(crate) struct ShardCounters {
    /// When the shard began, in the clock's nanoseconds.
    pub(crate) started_ns: Counter,
    /// Task polls.
    pub(crate) polls: Counter,
    /// Tasks spawned.
    pub(crate) spawned: Counter,
    /// Tasks that ended, in any way.
    pub(crate) ended: Counter,
    /// Tasks that panicked.
    pub(crate) panicked: Counter,
    /// Turns of the loop.
    pub(crate) turns: Counter,
    /// Times the shard went to sleep in its driver.
    pub(crate) parks: Counter,
    /// Time asleep in the driver.
    pub(crate) parked: SleepTime,
    /// Nanoseconds awake with nothing to do (spinning).
    pub(crate) idle_ns: Counter,
    /// Wakes of other shards that this shard made and that rang a bell.
    pub(crate) rings_sent: Counter,
    /// Wakes of another shard that rang nothing, since it was awake.
    pub(crate) rings_suppressed: Counter,
    /// Wakes by others that this shard found in its mailbox.
    pub(crate) foreign_wakes: Counter,
    /// Work items taken from lanes.
    pub(crate) lane_items: Counter,
    /// The most items found in one lane at once.
    pub(crate) lane_peak: Counter,
    /// Data of calls that this shard relocated on its arrival.
    pub(crate) relocations: Counter,
    /// `try_submit` calls that found the lane full.
    pub(crate) lane_refusals: Counter,
    /// System calls into the driver (`io_uring_enter` or `epoll_wait`).
    pub(crate) enters: Counter,
    /// Operations that were given to the driver (submissions or registrations).
    pub(crate) operations: Counter,
    /// Completions or readiness events that the driver delivered.
    pub(crate) completions: Counter,
    /// Receives and sends that were done at once, without the driver.
    pub(crate) inline_io: Counter,
    /// Times the pool of receive buffers ran out.
    pub(crate) buffers_exhausted: Counter,
    /// Operations that the kernel had not ended when the driver closed: what they use was leaked.
    pub(crate) leaked_operations: Counter,
    /// Times an accept waited because descriptors or memory had run out.
    pub(crate) accept_backoffs: Counter,
    /// Timers armed.
    pub(crate) timers_armed: Counter,
    /// Timers that fired.
    pub(crate) timers_fired: Counter,
}
